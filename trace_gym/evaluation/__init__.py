"""Evaluation: success rates of several policies on the same held-out tasks, with intervals and paired tests."""

from trace_gym.evaluation.heldout import ScenarioLedger, held_out
from trace_gym.evaluation.policies import (
    PolicyRunner,
    ScoredRollout,
    evaluate,
    first_messages,
    oracle_choices,
    random_choices,
    routed,
)
from trace_gym.evaluation.record import Comparison, Evaluation, PolicyResult, merge
from trace_gym.evaluation.show import markdown, render

__all__ = [
    "ScoredRollout",
    "Comparison",
    "Evaluation",
    "PolicyRunner",
    "PolicyResult",
    "ScenarioLedger",
    "evaluate",
    "held_out",
    "markdown",
    "merge",
    "first_messages",
    "oracle_choices",
    "random_choices",
    "render",
    "routed",
]

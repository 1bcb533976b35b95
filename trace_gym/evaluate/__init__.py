"""Evaluation: success of several policies on the same held-out tasks, with intervals and paired tests."""

from trace_gym.evaluate.heldout import Seen, held_out
from trace_gym.evaluate.play import Attempt, Player, evaluate_policies, openings, oracle_choices, random_choices, routed
from trace_gym.evaluate.record import Comparison, Evaluation, Row, merge
from trace_gym.evaluate.show import markdown, render

__all__ = [
    "Attempt",
    "Comparison",
    "Evaluation",
    "Player",
    "Row",
    "Seen",
    "evaluate_policies",
    "held_out",
    "markdown",
    "merge",
    "openings",
    "oracle_choices",
    "random_choices",
    "render",
    "routed",
]

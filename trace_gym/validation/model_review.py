"""Properties TG214 and TG215, which use a language model to review an environment and to solve its scenarios.

Both require a language model, which runs outside the sandbox; see `trace_gym.review`.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_gym.types import Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.properties import Passed, Skipped, property_check
from trace_gym.world import World

REVIEW = "TG214"
"""Code of the property in which a language model reads the module."""
SOLVER = "TG215"
"""Code of the property in which a language model acts as the agent."""
MODEL_CODES = (REVIEW, SOLVER)
"""Codes of the properties that use a language model, in the order in which they are checked."""


@property_check(
    REVIEW,
    statement="A language model that reviews the environment finds no defect that a second reader confirms.",
    reason="Only a reader notices that the text of a request and the reward disagree if oracle and verifier agree.",
    fix="Correct the rule, the text, or the distribution that the message names, and run the review again.",
)
def review_finds_no_defect(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    raise Skipped("no language model was passed; pass the model that reviews the environment with --reviewer")


@property_check(
    SOLVER,
    statement="A language model in the role of the agent solves the sampled scenarios, or a second language model "
    "attributes each failure to an error of the agent.",
    reason="If the text and the reward disagree, training punishes the agents that follow the text.",
    fix="Read the transcript. State the expected result in the policy, the tools or a user message, or fix the check.",
)
def solver_finds_no_defect(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    raise Skipped("no language model was passed; pass the model that solves scenarios with --solver")

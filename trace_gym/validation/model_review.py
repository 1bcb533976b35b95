"""Property TG214: a language model reviews the environment, and a second reader confirms none of its findings.

The review requires a model and runs outside the sandbox; see `trace_gym.review`.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_gym.types import Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.properties import Passed, Skipped, property_check
from trace_gym.world import World

REVIEW = "TG214"
"""Code of the property that uses a language model."""


@property_check(
    REVIEW,
    statement="A language model that reviews the environment finds no defect that a second reader confirms.",
    reason="Only a reader notices that the text of a request and the reward disagree if oracle and verifier agree.",
    fix="Correct the rule, the text, or the distribution that the message names, and run the review again.",
)
def review_finds_no_defect(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    raise Skipped("no language model was passed; pass the model that reviews the environment with --reviewer")

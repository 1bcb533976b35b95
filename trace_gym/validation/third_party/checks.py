"""Table of the checks of third-party environments, and the findings of these checks.

A check belongs to the property that it tests. Properties without such a check are skipped, because they require
information that a third-party environment does not provide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from trace_gym.types import Finding
from trace_gym.validation.properties import PROPERTIES, Passed, Skipped
from trace_gym.validation.third_party.black_box import exits_raise
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.determinism_checks import (
    begins,
    repeats_itself,
    repeats_itself_everywhere,
    seeds_give_problems,
    sessions_do_not_touch,
    splits_are_apart,
)
from trace_gym.validation.third_party.gymnasium_checks import (
    a_vector_is_as_good,
    passes_the_checker,
    spaces_hold_what_is_seen,
)
from trace_gym.validation.third_party.heuristic_answers import guesses_earn_little, no_constant_solves
from trace_gym.validation.third_party.near_miss_checks import near_misses_fail
from trace_gym.validation.third_party.no_op_checks import nothing_is_paid_for_nothing
from trace_gym.validation.third_party.prompt_checks import (
    malformed_text_gets_an_answer,
    prompt_holds_no_answer,
    prompts_are_not_the_test,
    steps_after_the_end_do_not_fail,
    wordings_are_counted,
)
from trace_gym.validation.third_party.reward_checks import (
    no_part_is_enough,
    reference_is_paid,
    reference_spreads_rewards,
    rewards_are_in_range,
    rewards_of_the_policy_spread,
)
from trace_gym.validation.third_party.surface_checks import surface_does_not_count

BlackBoxCheck = Callable[[BlackBoxContext], Passed]
BLACK_BOX_CHECKS: dict[str, BlackBoxCheck] = {
    "TG001": begins,
    "TG101": repeats_itself,
    "TG102": repeats_itself_everywhere,
    "TG103": seeds_give_problems,
    "TG105": sessions_do_not_touch,
    "TG201": reference_is_paid,
    "TG203": no_part_is_enough,
    "TG207": surface_does_not_count,
    "TG301": nothing_is_paid_for_nothing,
    "TG303": rewards_are_in_range,
    "TG304": near_misses_fail,
    "TG402": malformed_text_gets_an_answer,
    "TG405": steps_after_the_end_do_not_fail,
    "TG501": reference_spreads_rewards,
    "TG502": rewards_of_the_policy_spread,
    "TG601": guesses_earn_little,
    "TG701": prompt_holds_no_answer,
    "TG703": prompts_are_not_the_test,
    "TG704": splits_are_apart,
    "TG803": wordings_are_counted,
    "TG804": no_constant_solves,
    "TG901": passes_the_checker,
    "TG902": a_vector_is_as_good,
    "TG903": spaces_hold_what_is_seen,
}
"""Checks by property code. Add an entry to check another property of third-party environments."""

STATE, EXPERTS, GOALS, TOOLS = "the state of a world", "an expert's calls", "goals and guards", "tools with schemas"
NEEDS = {
    "TG104": STATE,
    "TG106": "a picklable episode",
    "TG202": EXPERTS,
    "TG204": "the rules that a call may break",
    "TG205": "an expert without the capability",
    "TG206": "an expert without the capability",
    "TG208": "a score that can be computed repeatedly",
    "TG209": GOALS,
    "TG302": GOALS,
    "TG305": GOALS,
    "TG306": GOALS,
    "TG401": "the tools of a target",
    "TG403": TOOLS,
    "TG404": STATE,
    "TG406": "a user simulator that is separate from the environment",
    "TG411": "the tools of a target",
    "TG412": TOOLS,
    "TG413": "the tools of a target",
    "TG602": TOOLS,
    "TG702": "hints",
    "TG705": "an expert without the capability",
    "TG801": STATE,
    "TG802": EXPERTS,
}
"""Mapping from property code to the required information that third-party environments do not provide."""


@dataclass(frozen=True, slots=True)
class BlackBoxFindings:
    """Findings for a third-party environment."""

    context: BlackBoxContext

    def __call__(self, code: str) -> Finding:
        """Check a property and return the finding. Skip properties without a check for third-party environments."""
        found = PROPERTIES[code]
        with exits_raise():
            if code in BLACK_BOX_CHECKS:
                return found.evaluate(lambda: BLACK_BOX_CHECKS[code](self.context))
            needs = NEEDS.get(code, "the state or the experts of a world")
            return found.evaluate(lambda: self._lacks(needs))

    def _lacks(self, needs: str) -> NoReturn:
        raise Skipped(f"requires {needs}, which {self.context.box.kind} does not provide")

    def close(self) -> None:
        """Close the environment."""
        self.context.close()


def statement_for(code: str) -> str:
    """Return the statement of a check; an empty string for a property that does not apply."""
    found = BLACK_BOX_CHECKS.get(code)
    return " ".join((found.__doc__ or "").split()) if found else ""

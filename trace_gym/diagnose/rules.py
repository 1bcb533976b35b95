"""The rule analyst: labels read off the actions, by one function per capability.

No rule sees whether the task succeeded. To add a capability, write a function of a `Contrast` whose
docstring is its one-sentence description, and decorate it with `rule`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from trace_gym.diagnose.compare import ROUTINE, Contrast, contrast, precise, selects
from trace_gym.types import Label, Trajectory

Rule = Callable[[Contrast], Label]

RULES: dict[str, Rule] = {}
"""Capability -> the rule that labels it, in the order of registration."""


def rule(function: Rule) -> Rule:
    """Register a capability: its name is the function's, its description the docstring."""
    RULES[function.__name__] = function
    return function


class RuleAnalyst:
    """Labels by `RULES`: free, instant, the same twice, and blind to everything but writes and stated facts."""

    name = "rules"

    @property
    def descriptions(self) -> dict[str, str]:
        """Capability -> its one-sentence description."""
        return {name: inspect.cleandoc(function.__doc__ or "") for name, function in RULES.items()}

    def label(self, trajectories: Sequence[Trajectory]) -> dict[str, dict[str, Label]]:
        """Labels by trajectory id; a trajectory without a reference is left out."""
        seen = {t.id: contrast(t) for t in trajectories}
        return {i: {name: function(c) for name, function in RULES.items()} for i, c in seen.items() if c is not None}


@rule
def precondition_verification(seen: Contrast) -> Label:
    """Verify that the policy permits a state-changing action before carrying it out."""
    if seen.beyond:
        return "LACKING"
    if not seen.pairs:
        return "PRESENT"  # the reference declines or only informs, and so did the agent
    # Without a gated write there was nothing to verify; without an attempt nothing shows that it was verified.
    return "PRESENT" if any(p.gold.tool not in ROUTINE for p in seen.attempted) else "NA"


@rule
def permitted_action_completion(seen: Contrast) -> Label:
    """Carry a permitted request through to its action instead of declining, handing over or stalling."""
    if not seen.pairs or (seen.acted and not seen.attempted):
        return "NA"  # nothing to do, or something else was done, which is another failure
    return "PRESENT" if seen.acted else "LACKING"


@rule
def multi_step_completion(seen: Contrast) -> Label:
    """Carry out every action of a request that needs several, not only the first."""
    if len(seen.pairs) < 2 or not seen.attempted:
        return "NA"
    return "PRESENT" if len(seen.attempted) == len(seen.pairs) else "LACKING"


@rule
def structured_data_reasoning(seen: Contrast) -> Label:
    """Select the right records, such as flights or item variants, out of what the tools show."""
    pairs = [p for p in seen.attempted if any(map(selects, p.gold.arguments))]
    if not pairs:
        return "NA"
    return "PRESENT" if all(p.agrees(selects) for p in pairs) else "LACKING"


@rule
def tool_precision(seen: Contrast) -> Label:
    """Pass exact arguments, such as payment methods, amounts, counts and names, once tool and record are right."""
    # A price follows from the flights chosen, so values count only where the records are right, or where the tool
    # refused them to the end.
    pairs = [p for p in seen.attempted if any(map(precise, p.gold.arguments)) and (p.refused or p.agrees(selects))]
    if not pairs:
        return "NA"
    return "PRESENT" if all(p.agrees(precise) for p in pairs) else "LACKING"


@rule
def information_communication(seen: Contrast) -> Label:
    """Tell the user the facts and figures that the request asks for."""
    if not (outputs := seen.trajectory.outputs):
        return "NA"
    said = [str(m.get("content") or "") for m in seen.trajectory.messages if m.get("role") == "assistant"]
    text = "\n".join(said).lower().replace(",", "")
    # The benchmarks' own test: the value occurs in what the agent said, thousands separators aside.
    return "PRESENT" if all(fact.lower().replace(",", "") in text for fact in outputs) else "LACKING"

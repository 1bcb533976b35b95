"""Analyst that labels trajectories by rules, with one function per capability.

Rules do not use the outcome of the task. To add a capability, write a function that takes a `ReferenceComparison`,
describe the capability in one sentence in its docstring, and decorate the function with `rule`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from trace_gym.diagnosis.reference import ReferenceComparison, compare_with_reference
from trace_gym.types import Label, Trajectory

Rule = Callable[[ReferenceComparison], Label]

RULES: dict[str, Rule] = {}
"""Mapping from capability name to the rule that labels the capability, in the order of registration."""


def rule(function: Rule) -> Rule:
    """Register a capability with the name of the function and its docstring as the description."""
    RULES[function.__name__] = function
    return function


class RuleAnalyst:
    """Analyst that applies `RULES`.

    The labels are deterministic and need no language model. The rules read only write calls and stated facts.
    """

    name = "rules"

    @property
    def descriptions(self) -> dict[str, str]:
        """Mapping from capability name to a description in one sentence."""
        return {name: inspect.cleandoc(function.__doc__ or "") for name, function in RULES.items()}

    def label(self, trajectories: Sequence[Trajectory]) -> dict[str, dict[str, Label]]:
        """Return a mapping from trajectory id to capability to label. Trajectories without a reference are omitted."""
        seen = {t.id: compare_with_reference(t) for t in trajectories}
        return {i: {name: function(c) for name, function in RULES.items()} for i, c in seen.items() if c is not None}


@rule
def precondition_verification(seen: ReferenceComparison) -> Label:
    """Verify that the policy permits a state-changing action before carrying it out."""
    if seen.extra_writes:
        return "LACKING"
    if not seen.pairs:
        return "PRESENT"  # the reference makes no write call, and neither does the agent
    # If no attempted write is conditional, there was nothing to verify, or there is no evidence of verification.
    return "PRESENT" if any(p.gold.tool not in seen.roles.routine for p in seen.attempted) else "NA"


@rule
def permitted_action_completion(seen: ReferenceComparison) -> Label:
    """Carry a permitted request through to its action instead of declining, handing over or stalling."""
    if not seen.pairs or (seen.acted and not seen.attempted):
        return "NA"  # no action was required, or the agent made other write calls, which is a different failure
    return "PRESENT" if seen.acted else "LACKING"


@rule
def multi_step_completion(seen: ReferenceComparison) -> Label:
    """Carry out every action of a request that needs several, not only the first."""
    if len(seen.pairs) < 2 or not seen.attempted:
        return "NA"
    return "PRESENT" if len(seen.attempted) == len(seen.pairs) else "LACKING"


@rule
def structured_data_reasoning(seen: ReferenceComparison) -> Label:
    """Select the right records, such as flights or item variants, out of what the tools show."""
    pairs = [p for p in seen.attempted if any(map(seen.roles.selects_records, p.gold.arguments))]
    if not pairs:
        return "NA"
    return "PRESENT" if all(p.agrees(seen.roles.selects_records) for p in pairs) else "LACKING"


@rule
def tool_precision(seen: ReferenceComparison) -> Label:
    """Pass exact arguments, such as payment methods, amounts, counts and names, once tool and record are right."""
    # Some values depend on the selected records: a price depends on the flights. So the values of a call are compared
    # only if its records are right, or if the tool refused the call and all its retries.
    pairs = [
        p
        for p in seen.attempted
        if any(map(seen.roles.is_precise_value, p.gold.arguments))
        and (p.refused or p.agrees(seen.roles.selects_records))
    ]
    if not pairs:
        return "NA"
    return "PRESENT" if all(p.agrees(seen.roles.is_precise_value) for p in pairs) else "LACKING"


@rule
def information_communication(seen: ReferenceComparison) -> Label:
    """Tell the user the facts and figures that the request asks for."""
    if not (outputs := seen.trajectory.outputs):
        return "NA"
    messages = [str(m.get("content") or "") for m in seen.trajectory.messages if m.get("role") == "assistant"]
    text = "\n".join(messages).lower().replace(",", "")
    # The benchmarks check whether the value occurs in a message of the agent, without thousands separators.
    return "PRESENT" if all(fact.lower().replace(",", "") in text for fact in outputs) else "LACKING"

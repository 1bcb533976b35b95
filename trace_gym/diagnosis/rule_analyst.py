"""Analyst that labels trajectories by rules."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence

from trace_gym.diagnosis.behavior import BEHAVIOR_RULES, broke_guard
from trace_gym.diagnosis.evidence import claims, differences, exchanged, gives_alternatives, names_of, specific
from trace_gym.diagnosis.reference import ReferenceComparison, WritePair, compare_with_reference
from trace_gym.diagnosis.rules import RULES
from trace_gym.targets.base import Specific
from trace_gym.targets.catalogue import all_targets, roles_of
from trace_gym.types import Label, Trajectory


class RuleAnalyst:
    """Analyst that labels trajectories by rules. The labels are deterministic, and no language model is required.

    If a trajectory has a reference, the two are compared by `RULES` and by the capabilities in `Roles.specific` of the
    registered targets. Otherwise, the trajectory is labeled by `BEHAVIOR_RULES`, which use only its tool calls and the
    checks of its verifier. If a guard of the verifier fails, the agent acted without permission or, if the target has
    no policy that forbids actions (`Roles.restricted`), without enough information.
    """

    name = "rules"

    @property
    def descriptions(self) -> dict[str, str]:
        """Mapping from capability name to a description in one sentence."""
        described = {s.capability: s.description for s in _specific_capabilities()}
        rules = RULES | BEHAVIOR_RULES
        return {name: inspect.cleandoc(function.__doc__ or "") for name, function in rules.items()} | described

    def label(self, trajectories: Iterable[Trajectory]) -> list[dict[str, dict[str, Label]]]:
        """Return one label run. Trajectories without a reference, tool calls and checks are omitted."""
        declared = _specific_capabilities()
        run: dict[str, dict[str, Label]] = {}
        distinct: dict[tuple[tuple[str, Label], ...], dict[str, Label]] = {}  # many trajectories have equal labels
        for t in trajectories:
            if own := _labels(t, declared):
                run[t.id] = distinct.setdefault(tuple(own.items()), own)
        return [run]


def _labels(trajectory: Trajectory, declared: Sequence[Specific]) -> dict[str, Label]:
    if (seen := compare_with_reference(trajectory)) is not None:
        own = {name: function(seen) for name, function in RULES.items()}
        own |= {s.capability: specific_label(s, seen) for s in declared}
        return own | _symptoms(trajectory, own)
    if not (trajectory.calls or trajectory.score):
        return {}
    forbidden = "precondition_verification" if roles_of(trajectory).restricted else "insufficient_information"
    return {name: function(trajectory) for name, function in BEHAVIOR_RULES.items()} | {
        forbidden: broke_guard(trajectory)
    }


def _symptoms(trajectory: Trajectory, labels: Mapping[str, Label]) -> dict[str, Label]:
    """Return the labels of the rules without a reference for a trajectory that has one.

    A symptom is only LACKING if no capability explains the failure, because it can be a consequence of that capability.
    The rules with a reference already take the refusal of a write into account, so it does not count as an error from
    which the agent did not recover.
    """
    refused_write = any(refused and trajectory.tools.get(call.tool) == "write" for call, refused in trajectory.calls)
    explained = set(BEHAVIOR_RULES) if "LACKING" in labels.values() else {"error_recovery"} if refused_write else set()
    if labels.get("handover_judgement") == "PRESENT":
        explained.add("attempt_before_transfer")  # the reference transfers the user as well
    found = {name: function(trajectory) for name, function in BEHAVIOR_RULES.items() if name not in labels}
    return {name: "NA" if name in explained and label == "LACKING" else label for name, label in found.items()}


def _specific_capabilities() -> list[Specific]:
    """Return the capabilities that the registered targets declare for individual arguments."""
    return list(dict.fromkeys(s for t in all_targets() if t.roles for s in t.roles.specific))


def specific_label(capability: Specific, seen: ReferenceComparison) -> Label:
    """Return the label of a capability in `Roles.specific`.

    The capability is LACKING if the agent passed a wrong value for one of its arguments in a call whose other arguments
    are all correct.
    """
    if capability not in seen.roles.specific:
        return "NA"
    pairs = [p for p in seen.attempted if _concerned(names_of(p.gold), p, capability, seen)]
    if not pairs:
        return "NA"
    wrong = [(p, found) for p in pairs if (found := _concerned(differences(p), p, capability, seen))]
    if not wrong:
        return "PRESENT"
    if gives_alternatives(seen.trajectory) or claims(seen):
        return "NA"
    return "LACKING" if any(_is_only_cause(p, found, seen) for p, found in wrong) else "NA"


def _concerned(
    names: set[str] | frozenset[str], pair: WritePair, capability: Specific, seen: ReferenceComparison
) -> set[str]:
    """Return those of the named arguments that belong to a capability."""
    return {n.partition(".")[0] for n in names if specific(pair.gold.tool, n, seen) == capability.capability}


def _is_only_cause(pair: WritePair, arguments: set[str], seen: ReferenceComparison) -> bool:
    others = {n.partition(".")[0] for n in differences(pair)} - arguments
    return not pair.refused and not others and not any(exchanged(pair, name, seen) for name in arguments)

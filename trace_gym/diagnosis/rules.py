"""Rules that label the capabilities in trajectories that have a reference solution, one function per capability.

Rules do not use the outcome of the task. To add a capability, write a function that takes a `ReferenceComparison`,
describe the capability in one sentence in its docstring, and decorate the function with `rule`.
"""

from __future__ import annotations

from collections.abc import Callable

from trace_gym.diagnosis.course import handed_over, looked_up, to_hand_over
from trace_gym.diagnosis.evidence import (
    announced_otherwise,
    asked,
    claims,
    differences,
    exchanged,
    found_nothing,
    gave_in,
    gives_alternatives,
    insisted,
    invented,
    is_part,
    made_up,
    replaced,
    revises,
    specific,
    states_time,
    was_available,
    was_shown,
)
from trace_gym.diagnosis.reference import ReferenceComparison
from trace_gym.types import Label

Rule = Callable[[ReferenceComparison], Label]

RULES: dict[str, Rule] = {}
"""Mapping from capability name to the rule that labels the capability, in the order of registration."""


def rule(function: Rule) -> Rule:
    """Register a capability with the name of the function and its docstring as the description."""
    RULES[function.__name__] = function
    return function


@rule
def precondition_verification(seen: ReferenceComparison) -> Label:
    """Verify that the policy permits a state-changing action before carrying it out."""
    if not seen.roles.restricted:
        return "NA"
    if seen.extra_writes:
        other_cause = (
            gives_alternatives(seen.trajectory)
            or (seen.pairs and revises(seen.trajectory))
            or claims(seen)
            or gave_in(seen)
            or replaced(seen)
            or (to_hand_over(seen) and not handed_over(seen))
        )
        return "NA" if other_cause else "LACKING"
    if not seen.pairs:
        return "PRESENT"  # the reference makes no write call, and neither does the agent
    # If no attempted write is conditional, there was nothing to verify, or there is no evidence of verification.
    return "PRESENT" if any(p.gold.tool not in seen.roles.routine for p in seen.attempted) else "NA"


@rule
def adversarial_policy_compliance(seen: ReferenceComparison) -> Label:
    """Keep to a refusal that the policy requires when the user insists."""
    if not seen.roles.restricted:
        return "NA"
    if seen.extra_writes:
        return "LACKING" if gave_in(seen) else "NA"
    return "PRESENT" if insisted(seen.trajectory) else "NA"


@rule
def claim_verification(seen: ReferenceComparison) -> Label:
    """Compare what the user states with the records before acting on the statement."""
    if not claims(seen) or gives_alternatives(seen.trajectory):
        return "NA"
    wrong = seen.extra_writes or any(p.attempt is None or differences(p) for p in seen.pairs)
    return "LACKING" if wrong else "PRESENT"


@rule
def permitted_action_completion(seen: ReferenceComparison) -> Label:
    """Carry a permitted request through to its action instead of declining, handing over or stalling."""
    if not seen.pairs or (seen.acted and not seen.attempted) or (seen.roles.settings and seen.unresolved):
        return "NA"  # no action was required, or the agent made other write calls or gave up after a refusal
    if not seen.acted and (claims(seen) or gives_alternatives(seen.trajectory) or found_nothing(seen)):
        return "NA"
    return "PRESENT" if seen.acted else "LACKING"


@rule
def multi_step_completion(seen: ReferenceComparison) -> Label:
    """Carry out every action of a request that needs several, not only the first."""
    if len(seen.pairs) < 2 or not seen.attempted or (seen.roles.settings and seen.unresolved):
        return "NA"  # after a refusal that the agent did not resolve, the missing actions are a consequence
    missing = [p for p in seen.pairs if p.attempt is None]
    if missing and (gives_alternatives(seen.trajectory) or (seen.extra_writes and replaced(seen))):
        return "NA"  # the actions depend on a condition, or the agent acted on another record instead
    if missing and all(announced_otherwise(p, seen) for p in missing):
        return "NA"  # the agent confused requests
    return "LACKING" if missing else "PRESENT"


@rule
def handover_judgement(seen: ReferenceComparison) -> Label:
    """Hand the user over to a human colleague when the policy requires it, and not instead of a refusal."""
    if to_hand_over(seen):
        return "PRESENT" if handed_over(seen) else "LACKING"
    # With a permitted action, a transfer leaves the request open, which other rules label.
    return "LACKING" if handed_over(seen) and not seen.pairs else "NA"


@rule
def lookup_before_action(seen: ReferenceComparison) -> Label:
    """Look up the record on which an action depends before acting or giving up."""
    needed = [p for p in seen.pairs if seen.roles.needed_lookups(p.gold.tool)]
    tried = [p for p in needed if p.attempt is not None]
    missed = [p for p in tried or needed if not looked_up(p, seen)]
    if not needed or (seen.acted and not seen.attempted):
        return "NA"
    if not missed or (not tried and len(missed) < len(needed)):
        return "PRESENT"  # if no action was tried, the agent knew at least one of the records
    if gives_alternatives(seen.trajectory) or claims(seen):
        return "NA"
    # A wrong value has other causes, and an accepted call needed no lookup. An agent that tried nothing lacks the
    # lookup if it asked the user instead.
    refused = any(p.refused and not differences(p) for p in missed)
    return "LACKING" if refused or (not tried and asked(seen.trajectory)) else "NA"


@rule
def concurrent_intents(seen: ReferenceComparison) -> Label:
    """Keep the details of several requests apart."""
    if len(seen.pairs) < 2 or not seen.attempted or gives_alternatives(seen.trajectory):
        return "NA"
    confused = [
        p
        for p in seen.pairs
        if (announced_otherwise(p, seen) if p.attempt is None else any(exchanged(p, n, seen) for n in differences(p)))
    ]
    return "LACKING" if confused else "PRESENT"


@rule
def structured_data_reasoning(seen: ReferenceComparison) -> Label:
    """Select the right records, such as flights or item variants, out of what the tools show."""
    pairs = [p for p in seen.attempted if any(map(seen.roles.selects_records, p.gold.arguments))]
    if not pairs or not (seen.roles.restricted or asked(seen.trajectory)):
        return "NA"
    if all(p.agrees(seen.roles.selects_records) for p in pairs):
        return "PRESENT"
    if gives_alternatives(seen.trajectory) or any(
        specific(p.gold.tool, d, seen) for p in pairs for d in differences(p) if _selects(d, seen)
    ):
        return "NA"
    wrong = [
        name
        for p in pairs
        for name in differences(p)
        if seen.roles.selects_records(argument := name.partition(".")[0])
        # If a tool refused an existing record, the failure is that the agent did not react to the refusal.
        and not (p.refused and was_shown(p, argument, seen.trajectory))
        and not is_part(p, argument)
        and not exchanged(p, argument, seen)
    ]
    return "LACKING" if wrong else "NA"


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
    if all(p.agrees(seen.roles.is_precise_value) for p in pairs):
        return "PRESENT"
    if gives_alternatives(seen.trajectory) or claims(seen):
        return "NA"
    wrong = [
        name
        for p in pairs
        for name in differences(p)
        if seen.roles.is_precise_value(argument := name.partition(".")[0])
        and not specific(p.gold.tool, name, seen)
        and not exchanged(p, argument, seen)
        and was_available(p.gold.arguments.get(argument), seen.trajectory)
        and not (made_up(p, argument, seen.trajectory) and not seen.roles.restricted)
    ]
    return "LACKING" if wrong else "NA"


@rule
def information_communication(seen: ReferenceComparison) -> Label:
    """Tell the user the facts and figures that the request asks for."""
    if not (outputs := seen.trajectory.outputs):
        return "NA"
    messages = [str(m.get("content") or "") for m in seen.trajectory.messages if m.get("role") == "assistant"]
    text = "\n".join(messages).lower().replace(",", "")
    # The benchmarks check whether the value occurs in a message of the agent, without thousands separators.
    return "PRESENT" if all(fact.lower().replace(",", "") in text for fact in outputs) else "LACKING"


@rule
def datetime_reasoning(seen: ReferenceComparison) -> Label:
    """Compute the date and time that a request describes."""
    pairs = [p for p in seen.attempted if any(map(seen.roles.is_time, p.gold.arguments))]
    if not pairs or not states_time(seen.trajectory):
        return "NA"
    return "PRESENT" if all(p.agrees(seen.roles.is_time) for p in pairs) else "LACKING"


@rule
def permission_error_recovery(seen: ReferenceComparison) -> Label:
    """Change the setting that a refusal names, and try again."""
    if not seen.refused or not seen.settings[0]:
        return "NA"
    return "LACKING" if seen.unresolved else "PRESENT"


@rule
def state_dependency_resolution(seen: ReferenceComparison) -> Label:
    """Order the parts of a task by the settings that they need and change."""
    reference, agent = seen.settings
    if seen.unresolved or not (reference or agent):
        return "NA"
    return "PRESENT" if reference == agent else "LACKING"


@rule
def insufficient_information(seen: ReferenceComparison) -> Label:
    """Ask for missing information, or say that a request cannot be carried out."""
    if seen.roles.restricted:
        return "NA"
    if seen.extra_writes and not seen.pairs:
        return "LACKING"
    if any(made_up(p, name, seen.trajectory) for p in seen.attempted for name in p.gold.arguments):
        return "LACKING"
    timed = any(seen.roles.is_time(name) for p in seen.attempted for name in p.gold.arguments)
    if timed and not states_time(seen.trajectory):
        return "LACKING"  # the user stated no time, so the agent should have asked for one
    chosen = [p for p in seen.attempted if any(map(seen.roles.selects_records, p.gold.arguments))]
    if asked(seen.trajectory):
        return "PRESENT" if chosen or not seen.extra_writes else "NA"
    guessed = not all(p.agrees(seen.roles.selects_records) for p in chosen) or invented(seen.trajectory)
    return "LACKING" if guessed else "NA"


def _selects(difference: str, seen: ReferenceComparison) -> bool:
    return seen.roles.selects_records(difference.partition(".")[0])

"""Defects of the environments published with the reference implementation of TRACE, and mutants with these defects."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """One published defect."""

    fault: str
    where: str
    """Kind of environment with the defect."""
    mutants: tuple[str, ...]
    """References of the mutants as ``module:name`` under ``tests/mutants``."""


def _machine(*operators: str) -> tuple[str, ...]:
    return tuple(f"machine:tau2_precondition__{name}" for name in operators)


PUBLISHED = (
    Published(
        "calling all tools scores 1.0: a call is credited when it is made, and further calls are free",
        "multi-step transactions",
        ("exploits:CallingEverythingPays", "scores:ChargedAtSomeTime", *_machine("unguarded")),
    ),
    Published(
        "later wrong writes cost nothing, and the final state is never compared",
        "structured data",
        ("faults:ForgottenGuard", "scores:AllIsWellThatEndsWell"),
    ),
    Published(
        "text without an action scores 0.55",
        "recovery from permission errors",
        ("exploits:TextPays", "exploits:ClaimsPay"),
    ),
    Published(
        "any single tool call gets a reward, whatever it does",
        "recovery from permission errors",
        ("exploits:TheFirstGoalIsEnough", "exploits:NoOpEditPays"),
    ),
    Published(
        "words of ten characters or more get a reward",
        "dates and times",
        ("faults:PaysForTalk", *_machine("paid_for_talking")),
    ),
    Published(
        "an edit that fixes nothing scores 0.6",
        "repair of code",
        ("exploits:NoOpEditPays", *_machine("paid_for_the_start")),
    ),
    Published(
        "the answer may be anywhere in the text, next to all others, or inside other words",
        "structured data, recovery from permission errors",
        ("exploits:StuffingPays",),
    ),
    Published("a transfer gets a higher reward than honest work", "adversarial compliance", ("exploits:TransferPays",)),
    Published(
        "claiming an action without doing it succeeds, because the refusal of the reference call is swallowed",
        "tool-calling precision",
        ("exploits:ClaimsPay", "scores:WordsSuffice", *_machine("idle_write")),
    ),
    Published("reference calls violate the policy", "tool-calling precision", ("faults:IllegalOracle",)),
    Published(
        "only key arguments are compared, so that another value gets a reward as well",
        "multi-step tasks",
        ("exploits:AnyAmountSettles",),
    ),
    Published("forbidden calls after the first are not looked at", "adversarial compliance", ("scores:ShortMemory",)),
    Published(
        "the same seed is another problem: noise seeded by the clock or by an id",
        "dates and times",
        ("scores:JudgesByTheClock", *_machine("clock_seeded", "unseeded")),
    ),
    Published("what is right depends on the time zone of the machine", "dates and times", ("faults:LocalTime",)),
    Published(
        "the request is worded anew on every turn",
        "chains of records",
        ("users:AnotherRoomEachTime", *_machine("moody_user")),
    ),
    Published(
        "pays 0 to everyone, so that no group has a gradient",
        "multi-step transactions",
        ("variance:PaysNobody", *_machine("nobody_is_paid")),
    ),
    Published(
        "the reference answer needs information that was never stated or shown",
        "dependencies",
        ("faults:ClairvoyantOracle", *_machine("clairvoyant_oracle")),
    ),
    Published(
        "tools that the target lacks, or parameters under other names",
        "multi-step transactions, chains of records",
        ("faults:ForeignTool", *_machine("extra_tool", "renamed_parameter")),
    ),
    Published("a hint is the list of reference calls", "multi-step transactions", ("leakage:HintNamesTheInvoice",)),
    Published(
        "records and wordings of the target's own test tasks",
        "tool-calling precision, adversarial compliance",
        ("leakage:BorrowedCustomer", "leakage:BorrowedWords"),
    ),
    Published(
        "two problems, one the variation of the other",
        "repair of code",
        ("leakage:FewProblems", "diversity:OneStructure"),
    ),
    Published(
        "more than half of the problems are to be refused, and a refusal gets a reward",
        "preconditions",
        ("diversity:MostlyRefused", "exploits:AlwaysRefusingPays"),
    ),
    Published("the tools act on a context of the whole process", "dependencies", ("instances:TheLastHotelBegun",)),
    Published(
        "a reward that is all or nothing", "structured data", ("faults:AllOrNothing", *_machine("all_or_nothing"))
    ),
    Published(
        "the system prompt contains the whole state",
        "multi-step transactions",
        ("leakage:SchemaNamesTheInvoice", "leakage:PolicyNamesTheAmount"),
    ),
)

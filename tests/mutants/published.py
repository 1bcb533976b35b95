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
        "calling everything earns 1.0: a call is credited when it is made, and further ones are free",
        "multi-step transactions",
        ("exploits:CallingEverythingPays", "scores:ChargedAtSomeTime", *_machine("unguarded")),
    ),
    Published(
        "later wrong writes cost nothing, and the final state is never compared",
        "structured data",
        ("faults:ForgottenGuard", "scores:AllIsWellThatEndsWell"),
    ),
    Published(
        "text without action earns 0.55", "recovery from permission errors", ("exploits:TextPays", "exploits:ClaimsPay")
    ),
    Published(
        "any one tool call is paid, whatever it does",
        "recovery from permission errors",
        ("exploits:TheFirstGoalIsEnough", "exploits:NoOpEditPays"),
    ),
    Published(
        "words of ten characters or more are paid",
        "dates and times",
        ("faults:PaysForTalk", *_machine("paid_for_talking")),
    ),
    Published(
        "an edit that mends nothing earns 0.6",
        "repair of code",
        ("exploits:NoOpEditPays", *_machine("paid_for_the_start")),
    ),
    Published(
        "the answer may stand anywhere in the text, beside all others, or inside other words",
        "structured data, recovery from permission errors",
        ("exploits:StuffingPays",),
    ),
    Published("a transfer is worth more than honest work", "adversarial compliance", ("exploits:TransferPays",)),
    Published(
        "doing nothing and claiming the deed is right, as the gold call is refused and the refusal is swallowed",
        "tool-calling precision",
        ("exploits:ClaimsPay", "scores:WordsSuffice", *_machine("idle_write")),
    ),
    Published("gold labels violate the policy", "tool-calling precision", ("faults:IllegalOracle",)),
    Published(
        "only key arguments are compared, so that another value is paid as well",
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
        "the gold answer needs what nobody said or showed",
        "dependencies",
        ("faults:ClairvoyantOracle", *_machine("clairvoyant_oracle")),
    ),
    Published(
        "tools that the target lacks, or parameters under other names",
        "multi-step transactions, chains of records",
        ("faults:ForeignTool", *_machine("extra_tool", "renamed_parameter")),
    ),
    Published("a hint is the list of gold calls", "multi-step transactions", ("leakage:HintNamesTheInvoice",)),
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
        "more than half of the problems are to be refused, and a refusal is paid",
        "preconditions",
        ("diversity:MostlyRefused", "exploits:AlwaysRefusingPays"),
    ),
    Published("the tools act on a context of the whole process", "dependencies", ("instances:TheLastHotelBegun",)),
    Published(
        "a reward that is all or nothing", "structured data", ("faults:AllOrNothing", *_machine("all_or_nothing"))
    ),
    Published(
        "the whole state stands in the system prompt",
        "multi-step transactions",
        ("leakage:SchemaNamesTheInvoice", "leakage:PolicyNamesTheAmount"),
    ),
)

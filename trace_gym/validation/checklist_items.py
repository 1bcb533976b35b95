"""Items of the Agentic Benchmark Checklist (arXiv:2507.02825), and the properties that test them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """Item of a checklist.

    Attributes:
        id: Identifier in the checklist, such as ``T.4``.
        statement: Requirement in one sentence.
        codes: Codes of the properties that test the requirement.
        review: Part of the requirement that a person has to review. An item without codes always has such a part.
    """

    id: str
    statement: str
    codes: tuple[str, ...] = ()
    review: str = ""


_READ_REPORT = "read the publication of the benchmark"
_NO_JUDGE = "applies only if a language model grades; trace_gym tests rewards that code computes"
_NO_TESTS = "applies only if test cases grade the agent's code; the validation does not see these test cases"
_NO_FUZZ = "applies only if random inputs grade the agent's code; the validation does not see these inputs"

_TASK = (
    Item("T.1", "The versions of all tools and packages are stated.", (), "read the lock file or the container image"),
    Item(
        "T.2",
        "The agent can reach every tool that it needs throughout an evaluation.",
        ("TG401", "TG403"),
        "the availability of services outside of the environment",
    ),
    Item(
        "T.3",
        "An evaluation stops, or handles the error, if a tool becomes unavailable.",
        ("TG402", "TG403", "TG412"),
        "failures of services outside of the environment",
    ),
    Item("T.4", "Nothing remains from an earlier run.", ("TG101", "TG104", "TG105", "TG106", "TG404", "TG902")),
    Item(
        "T.5",
        "The agent cannot access the ground truth.",
        ("TG701", "TG702", "TG706", "TG402"),
        "files and processes that the agent can access",
    ),
    Item(
        "T.6",
        "The setup stays the same over time.",
        ("TG101", "TG102"),
        "the state of services outside of the environment, such as live web pages",
    ),
    Item(
        "T.7",
        "The ground truth is verified.",
        ("TG201", "TG204", "TG214", "TG215", "TG413"),
        "whether the ground truth is what the task means",
    ),
    Item("T.8", "Every task is verified to be solvable.", ("TG201", "TG202", "TG211")),
    Item("T.9", "The benchmark contains a solver that solves every task automatically.", ("TG201",)),
    Item(
        "T.10",
        "No defect lets an agent pass without completing the task.",
        ("TG203", "TG205", "TG206", "TG212", "TG301", "TG304", "TG306", "TG402", "TG601", "TG602", "TG705", "TG804"),
    ),
)
_OUTCOME = (
    Item(
        "O.a.1",
        "Text matching accepts expressions with the meaning of the ground truth.",
        ("TG207", "TG210"),
        "expressions that the properties do not try",
    ),
    Item(
        "O.a.2",
        "Text matching tolerates additional words.",
        ("TG210",),
        "for other libraries, the finding of TG207 reports the reward inside a sentence without a verdict",
    ),
    Item(
        "O.b.1",
        "Substring matching handles a negated answer.",
        (),
        "for other libraries, TG304 adds a negation to answers that are texts, or removes it; for a world, no property "
        "does, so search for a reward of `not X`",
    ),
    Item("O.b.2", "Substring matching gives nothing for a list of all possible answers.", ("TG601", "TG602")),
    Item("O.b.3", "The ground truth cannot be guessed.", ("TG601", "TG804", "TG705")),
    Item("O.c.1", "The accuracy and consistency of a judge model are documented.", (), _NO_JUDGE),
    Item("O.c.2", "A judge model resists adversarial input.", (), _NO_JUDGE),
    Item("O.d.1", "The quality of test cases is verified.", (), _NO_TESTS),
    Item("O.d.2", "The quality of test cases is measured, for example as code coverage.", (), _NO_TESTS),
    Item("O.e.1", "Fuzz tests include edge cases.", (), _NO_FUZZ),
    Item("O.e.2", "Fuzz tests cover the variations of the input.", (), _NO_FUZZ),
    Item("O.e.3", "The tested code reacts to the inputs of fuzz tests.", (), _NO_FUZZ),
    Item(
        "O.f.1",
        "End-to-end tests exercise all relevant parts.",
        ("TG206", "TG304", "TG306", "TG805"),
        "tests of the agent's code",
    ),
    Item("O.f.2", "The result of an end-to-end test is not random.", ("TG101", "TG102", "TG208", "TG406")),
    Item(
        "O.g.1",
        "State matching accepts every state that a success can reach.",
        ("TG207", "TG213", "TG305"),
        "solutions that differ from the plan of the oracle",
    ),
    Item(
        "O.g.2",
        "State matching checks the states that the task must change and those that it must not.",
        ("TG212", "TG304", "TG306"),
    ),
    Item(
        "O.g.3",
        "A trivial change of the state does not succeed.",
        ("TG209", "TG301", "TG302", "TG601", "TG602", "TG804"),
    ),
    Item(
        "O.h.1",
        "The task states the required format of the answer.",
        (),
        "read the prompts; TG201 tests only one format",
    ),
    Item("O.h.2", "A random guess rarely succeeds.", ("TG601", "TG804")),
    Item("O.i.1", "A quality measure cannot be exploited.", ("TG203", "TG301", "TG303", "TG305", "TG601", "TG602")),
)
_REPORTING = (
    Item("R.1", "The benchmark is open source, at least in part.", (), _READ_REPORT),
    Item("R.2", "The evaluation harness is open source.", (), _READ_REPORT),
    Item(
        "R.3",
        "The benchmark prevents contamination, for example by a private test set.",
        ("TG703", "TG704"),
        "access to the test set",
    ),
    Item("R.4", "Tasks are updated, so that agents do not overfit to them.", (), _READ_REPORT),
    Item("R.5", "The relation between the tested capability and the measured outcome is stated.", (), _READ_REPORT),
    Item("R.6", "The subject of the evaluation is stated: a model or an agent framework.", (), _READ_REPORT),
    Item("R.7", "The steps that prevent, find and correct defects are described.", (), _READ_REPORT),
    Item("R.8", "The effect of unavoidable defects is discussed.", (), _READ_REPORT),
    Item("R.9", "The effect of unavoidable defects is measured.", (), _READ_REPORT),
    Item("R.10", "The statistical significance of results is reported.", (), _READ_REPORT),
    Item("R.11", "The interpretation of results in the presence of defects is explained.", (), _READ_REPORT),
    Item("R.12", "Results without AI are reported, such as those of human experts.", (), _READ_REPORT),
    Item(
        "R.13",
        "Results of trivial agents are reported.",
        (),
        "the findings of TG301 and TG601 contain such results; check that they are published",
    ),
)
ABC: tuple[Item, ...] = (*_TASK, *_OUTCOME, *_REPORTING)
"""Items of the Agentic Benchmark Checklist in the order of the paper."""

"""Tests of the HTML page of a diagnosis."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest
from diagnosis_cases import Refused, cancel, episode, update
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.diagnosis import Diagnosis, diagnose
from trace_gym.diagnosis.decisive import decisive_turn
from trace_gym.diagnosis.records import Summary
from trace_gym.report.diagnosis import lacking, marked, overlap, render_diagnosis, smallest_cover
from trace_gym.types import Call, Capability, Label, Trajectory, to_jsonl

HOSTILE = '</pre><script>alert(1)</script><img src=x onerror="alert(1)">&'


class Tags(HTMLParser):
    """Collect the tags and the attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes = set[str](), set[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def trajectories(words: str = "Hello.") -> list[Trajectory]:
    """Return episodes of which every second changes a reservation to the wrong flights."""
    found = []
    for n in range(24):
        made = episode([update("A", "HAT1")], update("A", "HAT1" if n % 2 else "HAT2"), words, success=bool(n % 2))
        found.append(made.model_copy(update={"id": f"{words}{n}", "task": str(n), "source": words}))
    return found


def test_page_shows_capabilities_and_both_episodes_with_the_wrong_call_marked() -> None:
    made = trajectories()
    found = diagnose(made)
    page = render_diagnosis(found, made)
    assert [c.name for c in found.selected] == ["structured_data_reasoning"]
    assert "1 of" in page
    assert page.count('class="capability selected"') == 1
    assert page.count('<section class="talk">') == 2
    marks = re.findall(r'<details class="tool write decisive">.*?</details>', page, flags=re.S)
    assert len(marks) == 2
    assert "HAT2" in marks[0]
    assert "HAT1" in marks[1]
    assert page.count("<title>") == 1 + len(found.capabilities) * 24  # the page, and each label


def test_text_of_trajectories_is_escaped() -> None:
    made = trajectories(HOSTILE)
    page = render_diagnosis(diagnose(made), made)
    tags = Tags(page)
    assert not tags.tags & {"script", "img", "iframe", "object", "link"}
    assert not [name for name in tags.attributes if name.startswith("on")]
    assert "default-src 'none'" in page


def test_quoted_turn_is_marked_also_in_a_message() -> None:
    made = episode([], cancel("A"), "I did it.", "Bye.")
    assert [t.decisive for t in marked(made, "skill", "[3] I did  it.").turns] == [False, False, True, False]
    assert not any(t.decisive for t in marked(made, "skill", "never said").turns)


def test_page_of_a_diagnosis_without_failures_or_capabilities() -> None:
    made = [t for t in trajectories() if t.success]
    assert "nothing to diagnose" in render_diagnosis(diagnose(made), made)


labels = st.lists(
    st.lists(st.sampled_from(["LACKING", "PRESENT", "NA"]), min_size=4, max_size=4), min_size=1, max_size=12
)


def labeled(rows: list[list[Label]]) -> tuple[Diagnosis, list[Summary]]:
    """Return a diagnosis with these labels of failed trajectories."""
    made = [episode([], name=f"t{n}") for n in range(len(rows))]
    names = [f"c{n}" for n in range(len(rows[0]) if rows else 0)]
    blank = {"description": "", "coverage": 0.0, "er_failed": None, "er_passed": None, "gap": None}
    return Diagnosis(
        source="", n=len(made), failed=len(made), passed=0, unscored=0, delta=0.2, rho=0.1, remarks={}, control={},
        capabilities=tuple(Capability(name=name, **blank) for name in names),
        labels={t.id: dict(zip(names, row, strict=True)) for t, row in zip(made, rows, strict=True)},
        uncovered=(), unlabelled=(), analyst="test",
    ), [Summary.of(t) for t in made]  # fmt: skip


def test_smallest_cover_of_many_disjoint_capabilities_is_found_without_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("trace_gym.report.diagnosis.MOST_CAPABILITIES", 0)
    rows: list[list[Label]] = [["LACKING" if n == m else "NA" for n in range(40)] for m in range(40)]
    assert [added for _, added in smallest_cover(*labeled(rows))] == [1] * 40


@given(labels)
def test_smallest_cover_covers_everything_and_no_smaller_set_does(rows: list[list[Label]]) -> None:
    found, made = labeled(rows)
    sets = lacking(found, made)
    whole = set().union(*sets.values())
    cover = smallest_cover(found, made)
    assert set().union(*(sets[name] for name, _ in cover)) == whole
    assert sum(added for _, added in cover) == len(whole)
    smaller = combinations(sets, max(0, len(cover) - 1))
    assert not cover or all(set().union(*(sets[name] for name in chosen)) != whole for chosen in smaller)
    assert [counts[n] for n, (_, counts) in enumerate(overlap(found, made))] == [len(ids) for ids in sets.values()]


def test_command_writes_the_page(tmp_path: Path) -> None:
    log, page = tmp_path / "log.jsonl", tmp_path / "page.html"
    log.write_text(to_jsonl(trajectories()))
    done = CliRunner().invoke(app, ["diagnose", str(log), "--html", str(page)])
    assert done.exit_code == 0, done.output
    assert "structured data reasoning" in page.read_text()
    assert CliRunner().invoke(app, ["diagnose", str(log), "--html", str(log)]).exit_code != 0
    assert log.read_text().startswith("{")


def test_page_shows_episodes_and_a_marked_turn_also_for_capabilities_that_were_not_selected() -> None:
    made = trajectories()
    found = diagnose(made, delta=1.0, rho=1.0, alpha=1)
    page = render_diagnosis(
        found.model_copy(
            update={"capabilities": tuple(c.model_copy(update={"selected": False}) for c in found.capabilities)}
        ),
        made,
    )
    assert page.count("(not selected)</summary>") == 1
    assert "The turn that decided the label, or after which an action is missing, is marked." in page


def test_page_shows_the_coverage_of_each_label_run_and_the_notes_of_the_analyst() -> None:
    made = trajectories()
    labels = diagnose(made).labels
    name = "structured_data_reasoning"
    first = {i: {name: own[name]} for i, own in labels.items()}
    second = {i: {name: "PRESENT" if n % 4 == 0 else label[name]} for n, (i, label) in enumerate(first.items())}
    found = diagnose(made, analyst=Twice([first, second]))  # type: ignore[arg-type]
    [capability] = found.capabilities
    assert capability.run_coverages == (1.0, 0.5)
    page = render_diagnosis(found, made)
    assert page.count("<u style=") == 2
    assert '<p class="note">one label is missing</p>' in page
    assert "selection frequency" in page


class Twice:
    """Analyst with two label runs and a note."""

    name, descriptions, notes = (
        "twice",
        {"structured_data_reasoning": "Choose the right record."},
        ("one label is missing",),
    )

    def __init__(self, runs: list[dict[str, dict[str, Label]]]) -> None:
        self.runs = runs

    def label(self, trajectories: object) -> list[dict[str, dict[str, Label]]]:
        return self.runs


READ = Call("get_user_details", {"user_id": "mia_li_3668"})


@pytest.mark.parametrize(
    ("capability", "gold", "steps", "expected"),
    [
        ("precondition_verification", [], ["Hello.", cancel("A"), "Done."], "cancel_reservation"),
        ("tool_precision", [update("B", "H1")], [cancel("A"), update("B", "H1", payment_id="card_2")], "card_2"),
        ("multi_step_completion", [update("A", "H1"), cancel("B")], [update("A", "H1"), "Bye."], "H1"),
        ("permitted_action_completion", [cancel("A")], [READ, "I cannot do that."], "I cannot do that."),
        ("information_communication", [cancel("A")], [cancel("A"), "It is done."], "It is done."),
        ("loop_avoidance", None, [READ, READ, READ, cancel("A")], "get_user_details"),
        ("error_recovery", None, [Refused("search", {"a": 1}), READ, Refused("cancel", {}), cancel("A")], "cancel"),
        ("grounded_arguments", None, [cancel("QX3LMY"), READ], "QX3LMY"),
        ("lookup_before_action", None, [cancel("QX3LMY"), READ], "QX3LMY"),
    ],
)
def test_the_turn_that_shows_the_deficit_is_decisive(
    capability: str, gold: list[Call] | None, steps: list[Call | str], expected: str
) -> None:
    turn = decisive_turn(episode(gold, *steps), capability)
    assert turn is not None and expected in turn


@pytest.mark.parametrize(
    ("quote", "index"),
    [
        ('[2] search {"user_id": "u1", "amount": 3}', 1),  # the page sorts the arguments
        ('[3] {"id": "R1", "total": 3}', 1),  # the page indents results
        ("[4] no problem.", 2),
        ("[4] agent: NO  problem.", 2),
    ],
)
def test_a_quote_is_marked_in_all_forms_that_the_analyst_accepts(quote: str, index: int) -> None:
    call = {"id": "c", "function": {"name": "search", "arguments": '{"user_id": "u1", "amount": 3}'}}
    made = episode(None, "x").model_copy(
        update={
            "messages": (
                {"role": "user", "content": "Book it. Sure? Do you see a problem?"},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": '{"id": "R1", "total": 3}'},
                {"role": "assistant", "content": "No problem."},
            )
        }
    )
    assert [n for n, turn in enumerate(marked(made, "skill", quote).turns) if turn.decisive] == [index]


def test_a_message_of_the_user_is_not_marked_in_place_of_the_agent() -> None:
    made = episode([cancel("A")], "No problem.", request="Cancel A. No problem.")
    assert [turn.decisive for turn in marked(made, "permitted_action_completion").turns] == [False, True]


def test_both_outputs_must_be_different_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(to_jsonl(trajectories()))
    same = str(tmp_path / "same")
    done = CliRunner().invoke(app, ["diagnose", str(tmp_path / "a.jsonl"), "--out", same, "--html", same])
    assert done.exit_code != 0 and not (tmp_path / "same").exists()

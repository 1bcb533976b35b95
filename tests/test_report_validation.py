"""The page of a validation shows every finding, each failure as a conversation, and all text as text."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from mutants.hotel import Hotel
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.report.drawing import bar_chart, lines, number
from trace_gym.report.replays import played
from trace_gym.report.talk import Called, Said
from trace_gym.report.validation import conversation, render_report
from trace_gym.types import Bars, Call, Curves, Finding, Message, Replay, Report, Say, Transcript
from trace_gym.validation import PROPERTIES, validate
from trace_gym.world import Check, tool

EVIL = (
    "</title></style></pre><script>alert(1)</script><img src=x onerror='alert(2)'>\"' onload=\"alert(3)` {{ 7*7 }} `<b>"
)
HERE = __name__


class Hostile(Hotel):
    """A healthy hotel whose every text is markup."""

    id = "hostile"

    def opening(self) -> str:
        return EVIL

    @tool
    def look_up(self, room: str) -> dict[str, Any]:
        """Show a room.

        Args:
            room: Its number.
        """
        return {EVIL: EVIL}

    def verify(self, start: Any, said: list[str]) -> Iterator[Check]:
        yield Check.goal(EVIL, False)


class Noisy(Hotel):
    """Prints, dies on one word and hangs on another."""

    id = "noisy"

    def opening(self) -> str:
        print("{}")
        os.write(1, b"{}\n")
        return super().opening()

    def reply(self, text: str) -> str | None:
        if text == "die":
            os._exit(7)
        while text == "hang":
            time.sleep(1)
        raise KeyError(text)


class Tags(HTMLParser):
    """Elements, their attributes and the text, as a browser sees them; elements must be closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(page)
        assert self.open == []

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def count(self, tag: str, kind: str = "") -> int:
        return sum(t == tag and (not kind or kind in a.get("class", "").split()) for t, a in self.seen)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.seen.append((tag, {name: value or "" for name, value in attrs}))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def finding(code: str, verdict: str, message: str, **more: Any) -> Finding:
    known = PROPERTIES.get(code)
    return Finding.model_validate(
        {"code": code, "property": known.name if known else code, "verdict": verdict, "message": message, **more}
    )


def report(*findings: Finding, env: str = "mutants.hotel:Hotel") -> Report:
    return Report(env=env, passed=all(f.passed for f in findings), findings=findings, scenarios=6, profile="quick")


FOUR = (
    finding("TG001", "passed", "6 scenarios begin", metrics={"share_of_all": 0.25, "count": 1200.0}),
    finding("TG304", "failed", "a write costs nothing", counterexample="print('<here>')\nprint(2)\n"),
    finding("TG403", "skipped", "there is no tool"),
    finding("TG404", "unfinished", "not finished within 60 seconds"),
)


def test_every_finding_is_shown_with_its_verdict() -> None:
    tags = Tags(render_report(report(*FOUR)))
    rows = [a.get("id") for t, a in tags.seen if t == "tr" and "id" in a]
    assert rows == [f.code for f in FOUR]
    for found, words in zip(FOUR, ("✓ passed", "✗ failed", "does not apply", "… unfinished"), strict=True):
        assert f"{words} {found.message}" in tags.text
        assert PROPERTIES[found.code].name in tags.text and PROPERTIES[found.code].statement in tags.text
    assert tags.text.startswith("mutants.hotel:Hotel: failed")
    assert (
        "✗ failed mutants.hotel:Hotel profile quick, 6 scenarios 1 passed 1 failed 1 does not apply 1 unfinished"
        in (tags.text)
    )
    assert "share of all 0.25" in tags.text and "count 1,200" in tags.text


def test_a_failure_says_what_to_do_and_shows_its_snippet_as_it_is() -> None:
    page = render_report(report(*FOUR))
    fix = PROPERTIES["TG304"].fix.replace("`", "")
    shown = re.sub(r"\s+", " ", unescape(re.sub("</?code>", "", page)))
    assert shown.count(fix) == 2  # with the failure, and in the table
    assert "print('<here>')\nprint(2)" in unescape(page)
    assert PROPERTIES["TG404"].fix not in unescape(page)  # nothing is to be mended there


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (("passed", "skipped"), "✓ passed"),
        (("passed", "unfinished"), "… unfinished"),
        (("failed", "unfinished"), "✗ failed"),
    ],
)
def test_the_verdict_stands_at_the_top(verdicts: tuple[str, ...], word: str) -> None:
    page = render_report(report(*(finding(f"TG90{n}", v, "so it is") for n, v in enumerate(verdicts))))
    head = Tags(page.partition("<h1")[2].partition("</h1>")[0].join(("<h1", "</h1>")))
    assert head.text.startswith(word)
    assert ("Unfinished:" in page) == ("unfinished" in verdicts) and ("Failures" in page) == ("failed" in verdicts)


@pytest.fixture(scope="module")
def failing() -> Report:
    return validate("mutants.faults:ForgottenGuard", profile="quick", only={"TG304"}, progress=False)


def test_a_failure_is_a_conversation_next_to_its_snippet(failing: Report) -> None:
    found = failing.findings[-1]
    assert found.verdict == "failed" and found.replay is not None
    page = render_report(failing)
    case = Tags(page.partition('<div class="case">')[2].partition("</article>")[0].join(("<p><div>", "</p>")))
    assert f"Replay: {found.replay.scenario} success" in case.text and "The key, please" in case.text
    assert case.count("details", "tool") == sum("tool" in a for a in found.replay.actions)
    assert case.count("details", "write") == 3 and case.count("div", "agent") == 1
    assert case.count("li", "good") == 3
    assert " ".join(found.counterexample.split()) in case.text
    goes_on = case.text.partition("After these turns, the snippet continues:")[2].partition("Snippet to reproduce")[0]
    assert goes_on.strip().startswith("episode.world.hand_over(**") and "episode.step" not in goes_on


def test_a_replay_that_cannot_be_played_says_why_and_leaves_the_snippet() -> None:
    lost = finding(
        "TG304", "failed", "gone", counterexample="print(1)", replay=Replay(scenario="hotel/0/0", actions=("Hi",))
    )
    page = unescape(render_report(report(lost, env="nowhere:Hotel")))
    assert "The replay failed" in page and "nowhere:Hotel cannot be imported" in page
    assert "print(1)" in page and 'class="talk"' not in page


def test_whatever_an_environment_does_to_a_replay_ends_in_words() -> None:
    def turns(*words: Any) -> Replay:
        return Replay(scenario="noisy/0/1", actions=words)

    look = {"tool": "look_up", "arguments": {"room": "1"}}
    raised, ugly, dead, late = played(
        f"{HERE}:Noisy", [turns(look, "boom", "never"), turns({"tool": 3}), turns("die"), turns("Hi")]
    )
    assert raised.trouble == "noisy/0/1: turn 2 raised KeyError: 'boom'"
    assert raised.trajectory is not None and raised.trajectory.score is None
    assert [m["role"] for m in raised.trajectory.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert raised.trajectory.messages[-1]["content"] == "boom"
    assert ugly.trouble == "" and ugly.trajectory is not None and ugly.trajectory.score is not None
    assert (dead.trajectory, dead.trouble) == (None, "the replay process ended with exit code 7")
    assert late.trouble == "not replayed, because an earlier replay did not finish"
    [hung] = played(f"{HERE}:Noisy", [turns("hang")], seconds=1)
    assert hung.trouble == "the replay exceeded the time limit of 1 seconds"
    assert played("nowhere:Hotel", []) == []


def test_turns_after_the_end_are_counted() -> None:
    [over] = played("mutants.hotel:Hotel", [Replay(scenario="hotel/0/0", actions=({"say": "the key"}, "more", "more"))])
    assert over.trouble == "the conversation ended after 1 of 3 turns"
    assert over.trajectory is not None and over.trajectory.success is False


LEVELS = {f"level {n}": tuple((p / 4, n * p / 12) for p in range(5)) for n in (2, 0, 3, 1)}
CURVES = Curves(
    title="Reward & more",
    x="competence p",
    y="mean reward",
    series={**LEVELS, "all": ((0.0, 0.1), (1.0, 0.4))},
    target_range=(0.2, 0.6),
)


def drawn(exhibit: Curves) -> ElementTree.Element:
    return ElementTree.fromstring(lines(exhibit).svg)


def kind(svg: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [e for e in svg.iter() if e.get("class") == name]


def test_curves_are_lines_with_a_band_axes_and_a_legend() -> None:
    svg = drawn(CURVES)
    words = [e.text for e in svg.iter("text")]
    assert len(kind(svg, "line")) == 5 and len(kind(svg, "band")) == 1
    assert "competence p" in words and "mean reward" in words and "0.4" in words
    assert [k.words for k in lines(CURVES).legend] == [*CURVES.series, "expected: 0.2 to 0.6"]
    [target_range], grid = kind(svg, "band"), {round(float(e.get("y1", 0)), 1) for e in kind(svg, "grid")}
    top, height = float(target_range.get("y", 0)), float(target_range.get("height", 0))
    assert {round(top, 1), round(top + height, 1)} <= grid  # 0.2 and 0.6 are ticks
    for line, points in zip(kind(svg, "line"), CURVES.series.values(), strict=True):
        xs, ys = zip(*re.findall(r"([\d.]+) ([\d.]+)", line.get("d", "")), strict=True)
        assert len(xs) == len(points) and list(map(float, xs)) == sorted(map(float, xs))
        assert list(map(float, ys)) == sorted(map(float, ys), reverse=True)  # up is down in SVG
    assert len({e.get("style") for e in kind(svg, "line")}) == 5


def test_levels_are_a_heat_map_in_their_order() -> None:
    svg = drawn(CURVES)
    cells = kind(svg, "cell")
    assert len(cells) == 4 * 5 and lines(CURVES).heat
    rows = [e.text for e in svg.iter("text") if (e.text or "").startswith("level")]
    assert rows == ["level 0", "level 1", "level 2", "level 3"]
    told = {e[0].text: float(e.get("fill-opacity", 0)) for e in cells}
    assert told["level 3, 1: 1"] > told["level 3, 0.5: 0.5"] > told["level 0, 1: 0"] > 0
    inside = sum(0.2 <= y <= 0.6 for points in LEVELS.values() for _, y in points)
    assert len(kind(svg, "dot")) == inside
    alone = CURVES.model_copy(update={"series": {"level 0": ((0.0, 0.0), (1.0, 1.0))}})
    assert not kind(drawn(alone), "cell") and [k.kind for k in lines(alone).legend] == ["band"]


def test_axes_reach_what_there_is() -> None:
    svg = drawn(Curves(title="t", x="x", y="y", series={"a": ((10.0, -40.0), (30.0, 130.0))}))
    words = [e.text for e in svg.iter("text")]
    assert {"-50", "0", "50", "100", "150", "10", "30"} <= set(words)
    assert len(kind(svg, "point")) == 2


@pytest.mark.parametrize(
    "points", [(), ((0.5, 3.0),), ((0.0, float("nan")), (1.0, 2.0)), ((1.0, 7.0), (1.0, 7.0)), ((0.0, 1e300), (1, -1))]
)
def test_odd_curves_are_drawn_all_the_same(points: tuple[tuple[float, float], ...]) -> None:
    svg = lines(Curves(title="t", x="x", y="y", series={"a": points}, target_range=(0.0, float("inf")))).svg
    assert "nan" not in svg and "inf" not in svg and ElementTree.fromstring(svg) is not None


def test_bars_have_lengths_and_the_bound() -> None:
    made = bar_chart(Bars(title="t", unit="mean reward", bars={"idle": 0.0, "half": 0.5, "over": 0.75}, bound=0.6))
    assert [(b.width, b.over, b.value) for b in made.bars] == [(0, False, "0"), (50, False, "0.5"), (75, True, "0.75")]
    assert (made.bound, made.ends, [k.words for k in made.legend]) == (60, ("0", "1"), ["bound, 0.6"])
    below = bar_chart(Bars(title="t", unit="bits", bars={"a": -2.0, "b": 6.0, "c": float("nan")}))
    assert [(b.left, b.width) for b in below.bars] == [(0, 25), (25, 75), (25, 0)]
    assert (below.zero, below.ends, below.bars[2].value) == (25, ("-2", "6"), "not a number")


def test_figures_are_short() -> None:
    assert [*map(number, (1, 0.9996, 0.0284, 12.345, 1234.5, -0.0, 0.00012, 0.5))] == [
        *("1", "1", "0.028", "12.3", "1,234", "0", "0.00012", "0.5")
    ]


SPOKEN: tuple[Message, ...] = (
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "Error: nothing"},
    {"role": "assistant", "content": "Bye"},
)


def test_the_page_draws_every_exhibit_of_what_passed_and_what_failed() -> None:
    bars = Bars(title="Exploits", unit="mean reward", bars={"idle": 0.0, "echo_all": 0.4}, bound=0.3)
    said = Transcript(title="`echo` earns 0.4", messages=SPOKEN)
    for verdict in ("passed", "failed"):
        found = finding("TG999", verdict, "seen", exhibits=(CURVES, bars, bars, said))
        tags = Tags(render_report(report(found)))
        assert [tags.count("svg", "chart"), tags.count("path", "line"), tags.count("rect", "cell")] == [1, 5, 20]
        assert [tags.count("i", "bar"), tags.count("i", "bound"), tags.count("li", "over")] == [4, 4, 2]
        assert [tags.count("div", "said"), tags.count("details", "refused")] == [2, 1]
        assert "each row is a level" in tags.text and "echo all" in tags.text and "echo earns 0.4" in tags.text
        assert "not scored" not in tags.text


def test_conversations_are_bounded_and_may_be_odd() -> None:
    long = conversation([{"role": "user", "content": "x" * 10_000}] * 200)
    assert len(long.turns) == 81 and all(isinstance(t, Said) and len(t.text) < 4100 for t in long.turns)
    assert isinstance(long.turns[-1], Said) and "120 more messages" in long.turns[-1].text
    odd = conversation([{"role": "assistant", "tool_calls": [{"name": "no function"}]}])
    assert isinstance(odd.turns[0], Said) and "no function" in odd.turns[0].text
    [_, called, _] = conversation(SPOKEN).turns
    assert isinstance(called, Called) and called.refused


def test_text_of_an_environment_is_text_wherever_it_stands() -> None:
    exhibits = (
        Curves(title=EVIL, x=EVIL, y=EVIL, series={EVIL: ((0, 0), (1, 1)), f"{EVIL} 2": ((0, 1),)}),
        Bars(title=EVIL, unit=EVIL, bars={EVIL: 1}),
        Transcript(title=EVIL, messages=({"role": "user", "content": EVIL}, {"role": EVIL, "content": EVIL})),
    )
    steps = (Call("look_up", {"room": EVIL}), Say(EVIL))
    actions = ({"tool": s.tool, "arguments": s.arguments} if isinstance(s, Call) else {"say": s.text} for s in steps)
    found = Finding(
        code=EVIL,
        property=EVIL,
        verdict="failed",
        message=EVIL,
        counterexample=EVIL,
        replay=Replay(scenario="hostile/0/0", actions=tuple(actions)),
        metrics={EVIL: 1.5},
        exhibits=exhibits,
    )
    for verdict in ("failed", "unfinished", "passed"):
        made = report(found.model_copy(update={"verdict": verdict}), env=f"{HERE}:Hostile")
        page = render_report(made.model_copy(update={"profile": EVIL}))
        tags = Tags(page)
        assert not {t for t, _ in tags.seen} & {"script", "img"}
        assert tags.count("title") == 1 + 3 + 1  # of the page, of a line and its points, of a point alone
        assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]
        assert "<script" not in page and "<img" not in page and "{{ 7*7 }}" in tags.text
    failed = Tags(render_report(report(found, env=f"{HERE}:Hostile")))
    plain = " ".join(EVIL.split())
    assert failed.text.count(plain) >= 8  # the room, the opening, the answer, the check and the words of the agent


def test_the_page_is_whole_and_needs_nothing_else(failing: Report) -> None:
    page = render_report(failing)
    tags = Tags(page)
    ids = [a["id"] for _, a in tags.seen if "id" in a]
    assert len(set(ids)) == len(ids)
    assert {a["href"][1:] for t, a in tags.seen if t == "a"} <= set(ids)
    assert "http" not in page.replace("http-equiv", "") and "@import" not in page and "src=" not in page
    assert "url(" not in page and "default-src 'none'" in page and tags.count("script") == 0
    assert "prefers-color-scheme: dark" in page and "@media print" in page
    assert not re.findall(r"#[0-9a-f]{6}\b", page.partition("</style>")[2]), "a colour that no style sheet can change"
    assert render_report(failing) == page


def test_half_a_surrogate_pair_does_not_keep_the_page_from_being_written() -> None:
    broken = Finding.model_construct(**{**dict(FOUR[0]), "message": "half \ud800 a pair"})
    page = render_report(Report.model_construct(**{**dict(report()), "findings": (broken,)}))
    assert "half ? a pair" in page.encode().decode()


def test_the_command_line_writes_the_page(tmp_path: Path) -> None:
    out, data = tmp_path / "site" / "page.html", tmp_path / "report.json"
    arguments = ["--only", "TG304", "--profile", "quick", "--engine", "here", "--html", str(out), "--out", str(data)]
    done = CliRunner().invoke(app, ["validate", "mutants.faults:ForgottenGuard", *arguments])
    assert done.exit_code == 1
    assert out.read_text() == render_report(Report.model_validate(json.loads(data.read_text())))
    assert [p.name for p in out.parent.iterdir()] == ["page.html"]

"""The report: curves against played groups, a page that is whole and safe, and what happens when parts are missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any
from xml.etree import ElementTree

import pytest
from toy_world import open_toy

from trace_gym.errors import ConfigError, MissingExtra
from trace_gym.evaluation import Evaluation, PolicyResult
from trace_gym.policies import Ablated, ExpertMixture, Oracle
from trace_gym.report import (
    Example,
    ReportData,
    RunInfo,
    Spent,
    Stage,
    Training,
    VariancePoint,
    plots,
    render_page,
    variance_curve,
    write_report,
)
from trace_gym.report.data import Metrics
from trace_gym.report.talk import Called, Said, talk
from trace_gym.rollouts import play
from trace_gym.route import BASE, Routing, RoutingChoice, accuracy
from trace_gym.score import SPARSE_WEIGHTS, reward
from trace_gym.trajectories import trajectory
from trace_gym.types import Capability, Finding, Manifest, Report, Scenario, Trajectory

EVIL = "<script>alert('$x^2$ & {{ 7*7 }}')</script>"


def group_rewards(p: float, k: int, groups: int, level: int) -> list[list[float]]:
    """The rewards of groups that were really played by the mixture."""
    made = []
    for seed in range(groups):
        scenario = Scenario(env="toy_boxes", level=level, seed=seed)
        policies = [ExpertMixture(p).with_sample(n) for n in range(k)]
        made.append([reward(play(policy, open_toy(scenario)).finish()) for policy in policies])
    return made


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_the_curve_is_what_played_groups_show(p: float) -> None:
    k, groups, level = 4, 400, 1
    (point,) = variance_curve("toy_boxes", level, [p], groups=groups, k=k, open_episode=open_toy)
    played = group_rewards(p, k, groups, level)
    assert point.mean == pytest.approx(fmean(map(fmean, played)), abs=0.03)
    assert point.std == pytest.approx(fmean(map(pstdev, played)), abs=0.03)
    assert point.informative == pytest.approx(fmean(len(set(g)) > 1 for g in played), abs=0.06)
    assert 0.1 < point.informative < 0.9


def test_the_ends_of_the_curve_are_the_experts_alone() -> None:
    low, high = variance_curve("toy_boxes", 0, [0.0, 1.0], groups=8, open_episode=open_toy)
    scenarios = [Scenario(env="toy_boxes", level=0, seed=seed) for seed in range(8)]
    for point, expert in ((low, Ablated()), (high, Oracle())):
        assert point.mean == pytest.approx(fmean(reward(play(expert, open_toy(s)).finish()) for s in scenarios))
        assert point.std == point.informative == 0
    assert high.mean == 1 > low.mean
    (sparse,) = variance_curve("toy_boxes", 0, [0.0], groups=8, weights=SPARSE_WEIGHTS, open_episode=open_toy)
    assert sparse.mean == fmean(play(Ablated(), open_toy(s)).finish().success for s in scenarios)


def test_a_curve_without_groups_is_refused() -> None:
    for groups, k in ((0, 8), (4, 1)):
        with pytest.raises(ConfigError, match="at least 1 group of at least 2"):
            variance_curve("toy_boxes", 0, groups=groups, k=k, open_episode=open_toy)


def example(title: str) -> Example:
    scenario = next(
        s
        for s in (Scenario(env="toy_boxes", level=2, seed=n) for n in range(50))
        if not play(Ablated(), open_toy(s)).finish().success
    )
    before, after = (trajectory(play(policy, open_toy(scenario))) for policy in (Ablated(), Oracle()))
    return Example(title=title, message="Look at the box.", before=before, after=after)


def manifest(name: str) -> Manifest:
    verdicts = {"P1": "passed", "P2": "passed", "P3": "failed"}
    findings = tuple(
        Finding.model_validate({"code": c, "property": c, "verdict": v, "message": ""}) for c, v in verdicts.items()
    )
    report = Report(passed=False, findings=findings, scenarios=8)
    return Manifest(
        id=name, capability="look", target="", levels=3, module_sha256="", author="hand", fingerprint="", report=report
    )


def metrics(count: int) -> tuple[Metrics, ...]:
    return tuple(
        {
            "iteration": n,
            "reward": n / count,
            "success": None if n % 2 else 0.5,
            "informative": float("nan"),
            "turns": 2,
        }
        for n in range(count)
    )


def routing() -> Routing:
    options = {"look": 0.5, "ask": 0.3, BASE: 0.2}
    chosen = ["look"] * 3 + ["ask", BASE]
    choices = [RoutingChoice(capability=c, probabilities=options, prompt_sha256="") for c in chosen]
    return accuracy(choices, [{"look"}, {"look", "ask"}, set(), {"look"}, {"fly"}])


def evaluation() -> Evaluation:
    scenarios = tuple(f"toy_boxes/0/{3 * 10**6 + n}" for n in range(20))

    def row(name: str, wins: int, seeds: int = 1) -> PolicyResult:
        outcomes = [n < wins + 2 * seed for seed in range(seeds) for n in range(20)]
        return PolicyResult(name=name, scenarios=scenarios, successes=tuple(outcomes), seeds=tuple(range(seeds)))

    lost = PolicyResult(name="lost", scenarios=scenarios, successes=(None,) * 20)
    rows = (row("base", 5), row("routed", 12), row("mixture", 15, seeds=2), lost)
    return Evaluation(rows=rows, env="toy_boxes", levels=(0,), note="A note.")


def everything(name: str) -> ReportData:
    capability = Capability(
        name=name, description=name, coverage=0.4, er_failed=0.7, er_passed=0.2, gap=0.5, gap_interval=(-0.1, 0.8)
    )
    unknown = capability.model_copy(update={"gap": None, "gap_interval": None, "name": "never_needed"})
    points = [
        VariancePoint(env=name, level=level, p=p, mean=p, std=p * (1 - p), informative=0.5, groups=4, k=8)
        for level in (0, 1)
        for p in (0.0, 0.5, 1.0)
    ]
    return ReportData(
        run=RunInfo(
            title=name,
            summary=(name,),
            model=name,
            stages=(Stage(name="diagnose", who=name, kind="rules"), Stage(name="write", who="me", kind="recorded")),
            budget=(Spent(stage=name, rollouts=1200, tokens=5, seconds=1.6), Spent(stage="train", rollouts=300)),
        ),
        capabilities=(capability, unknown),
        environments=(manifest(name),),
        variance=tuple(points),
        training=(Training(name=name, metrics=metrics(12)), Training(name="other", metrics=metrics(1))),
        routing=routing(),
        evaluations=(evaluation(),),
        examples=(example(name),),
    )


@pytest.fixture(scope="module")
def page() -> str:
    return render_page(everything(EVIL))


class Tags(HTMLParser):
    """Checks that elements are closed in the order in which they were opened."""

    VOID = {"meta", "br", "link", "img", "hr"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.ids += [value or "" for key, value in attrs if key == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for key, value in attrs if key == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def test_the_page_is_whole(page: str) -> None:
    tags = parsed(page)
    assert len(set(tags.ids)) == len(tags.ids)
    assert tags.seen.count("h1") == 1 and tags.seen.count("svg") == 5
    for anchor in re.findall(r'href="#([\w-]+)"', page):
        if anchor in page.partition("</nav>")[0].partition("<nav")[2]:
            assert anchor in tags.ids
    assert page.count("<section id=") == 9 and "Not in this report" not in page


def test_the_page_needs_nothing_else(page: str) -> None:
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert "http" not in without_names and "@import" not in page and "src=" not in page
    assert "script" not in parsed(page).seen and "prefers-color-scheme: dark" in page


def test_names_are_text_wherever_they_stand(page: str) -> None:
    assert "<script" not in page.lower() and "49" not in page.partition("</h1>")[0].partition("<h1>")[2]
    # The title, a heading of each kind of plot, and the words inside a plot.
    assert page.count("&lt;script&gt;alert(") >= 10
    svg = re.findall(r"<svg.*?</svg>", page, flags=re.S)
    assert EVIL in "".join(ElementTree.fromstring(svg[0]).itertext())


def test_figures_are_coloured_by_the_page_and_keep_their_text(page: str) -> None:
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.S):
        assert not re.findall(r"#[0-9a-f]{6}\b", svg), "a colour that no style sheet can change"
        assert "var(--a)" in svg and "<text" in svg and "nan" not in svg and "DejaVu" not in svg
        assert "<metadata" not in svg and "<style" not in svg


def test_the_same_data_give_the_same_page(page: str) -> None:
    assert render_page(everything(EVIL)) == page


def test_a_plot_puts_its_data_where_they_belong() -> None:
    training = Training(name="x", metrics=tuple({"iteration": n, "reward": n / 4, "success": 0.0} for n in range(5)))
    svg = ElementTree.fromstring(plots.training_panel(training))
    lines = [e.attrib for e in svg.iter() if "stroke: var(--a)" in e.attrib.get("style", "")]
    raw = next(line["d"] for line in lines if "opacity" in line["style"])
    points = [(float(x), float(y)) for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", raw)]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    assert len(points) == 5 and xs == sorted(xs) and ys == sorted(ys, reverse=True)
    assert ys[0] - ys[1] == pytest.approx(ys[3] - ys[4], abs=0.01)


def test_iterations_without_a_value_leave_no_hole_in_the_average() -> None:
    values = (0.0, None, float("nan"), 1.0)
    training = Training(name="x", metrics=tuple({"iteration": n, "reward": v} for n, v in enumerate(values)))
    svg = ElementTree.fromstring(plots.training_panel(training))
    lines = [e.attrib["d"] for e in svg.iter() if "stroke: var(--a)" in e.attrib.get("style", "")]
    ends = [re.findall(r"[ML] [\d.]+ ([\d.]+)", line) for line in lines]
    (raw_0, raw_1), (mean_0, mean_1) = [(float(a), float(b)) for a, b in ends]
    assert mean_0 == raw_0 and mean_1 == pytest.approx((raw_0 + raw_1) / 2, abs=0.01)


def test_the_head_shows_the_base_and_the_routed_row_and_not_the_best(page: str) -> None:
    head = page.partition("<nav")[0]
    assert "25.0 %" in head and "60.0 %" in head and "+35.0" in head and "1,500" in head
    assert "80.0 %" not in head  # the mixture did better; it is in the table


def test_the_tables_hold_the_figures(page: str) -> None:
    text = re.sub(r"<[^>]+>", "|", page)
    assert "base model" in text and "25.0 (11.2 to 46.9)" in text and "A note." in text
    assert "adapter: lost 20" in text  # not scored
    assert re.search(r"adapters, routed\|+7\|+0\|+13\|+20\|+0\.016", text)  # gained, lost, unchanged, tasks, p
    assert "2 of 3" in text and "rules, no model" in text and "recorded answers of a language model" in text
    assert "3 of 5 tasks are routed to a correct option: 60.0 %" in text


def test_correct_choices_are_marked(page: str) -> None:
    matrix = page.partition('class="matrix"')[2].partition("</table>")[0]
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", matrix, flags=re.S)
    right = {name: [bool(m) for m in re.findall(r"<td( class=\"right\")?", cells)] for name, cells in rows[1:]}
    assert right == {  # ask, look, none
        "fly": [False, False, True],
        "look": [False, True, False],
        "ask + look": [True, True, False],
        "none": [False, False, True],
    }


def test_parts_that_are_missing_are_named() -> None:
    page = render_page(ReportData(run=RunInfo(title="Bare")))
    assert parsed(page).seen.count("h2") == 0
    assert "Not in this report: the stages were not recorded; no diagnosis was made;" in page
    some = render_page(ReportData(routing=routing()))
    assert 'href="#routing"' in some and 'href="#results"' not in some and "no adapter was trained" in some
    assert "routing was not measured" not in some


def spoken(*messages: dict[str, Any], **fields: Any) -> Trajectory:
    return Trajectory(id="x", task="x", messages=messages, **fields)


def call(name: str, arguments: object, key: str) -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_calls_stand_with_their_results() -> None:
    view = talk(
        spoken(
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": "Wait.",
                "tool_calls": [call("look", '{"box": "b1"}', "1"), call("open", "{", "2")],
            },
            {"role": "tool", "tool_call_id": "2", "content": "Error: no such box"},
            {"role": "tool", "tool_call_id": "1", "content": '{"open": false}'},
            {"role": "assistant", "content": None, "tool_calls": [call("open", {"box": "b" * 200}, "3")]},
            success=False,
            tools={"open": "write", "look": "read"},
        )
    )
    hi, wait, look, refused, unanswered = view.turns
    assert (view.system, view.outcome, view.tone) == ("Be kind.", "failure", "bad")
    assert hi == Said("user", "Hi") and wait == Said("agent", "Wait.")
    assert look == Called("look", "box=b1", '{\n "box": "b1"\n}', '{\n "open": false\n}', write=False, refused=False)
    assert refused == Called("open", "{", "{", "Error: no such box", write=True, refused=True)
    assert isinstance(unanswered, Called) and unanswered.result == "(no result)" and len(unanswered.brief) == 90


def test_an_episode_that_was_not_scored_is_no_failure() -> None:
    view = talk(spoken({"role": "user", "content": "Hi"}))
    assert (view.outcome, view.tone, view.checks) == ("not scored", "soft", ())


def test_several_levels_are_told_apart() -> None:
    harder = evaluation().model_copy(update={"levels": (1,)})
    data = ReportData(routing={"level 0": routing(), "level 1": routing()}, evaluations=(evaluation(), harder))
    page = render_page(data)
    assert len(set(parsed(page).ids)) == len(parsed(page).ids)
    assert page.count('class="matrix"') == 2 and "<h3>level 1</h3>" in page
    head = page.partition("<nav")[0]
    assert "base model, level 0" in head and "adapters, routed, level 1" in head


def test_the_data_survive_json_and_the_page_is_written_whole(tmp_path: Path) -> None:
    data = ReportData(run=RunInfo(title="Bare"), routing={"level 0": routing()}, evaluations=(evaluation(),))
    again = ReportData.model_validate_json(data.model_dump_json())
    assert again == data
    out = write_report(again, tmp_path / "site" / "index.html")
    assert out.read_text() == render_page(data)
    assert [p.name for p in out.parent.iterdir()] == ["index.html"]


def test_a_page_that_cannot_be_made_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out.html").write_text("old")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra):
        write_report(ReportData(evaluations=(evaluation(),)), tmp_path / "out.html")
    assert (tmp_path / "out.html").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'trace-gym\[lab\]'"):
        render_page(ReportData(training=(Training(name="x", metrics=metrics(2)),)))
    assert "Routing" in render_page(ReportData(routing=routing()))  # no plot, no matplotlib

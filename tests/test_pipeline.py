"""The whole loop on the embedded agent, as small as it goes: what it leaves, what it skips, what survives a kill."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the loop needs the lab extra")

from llm_server import Body, Handler, Server, message
from test_llm_author import GOOD, PLAN, block

from trace_gym import registry
from trace_gym.diagnosis import Diagnosis
from trace_gym.errors import ConfigError, ModelError, ReadError
from trace_gym.evaluation import Evaluation
from trace_gym.pipeline import common, diagnose, rollouts, synthesize
from trace_gym.pipeline.ledger import Run
from trace_gym.pipeline.reporting import open_run
from trace_gym.registration import VARIABLE
from trace_gym.settings import RunConfig, presets
from trace_gym.synthesis import repair_loop
from trace_gym.types import Capability, Report
from trace_gym.validation import PROPERTIES

pytestmark = pytest.mark.slow

TINY = """
levels: {tau2_precondition: [0], tau2_multi_step: [0], tau2_structured_data: [0], tau2_tool_precision: [0]}
rollouts: {tasks: 128}
diagnose: {rho: 0.18}  # the clearest deficits do
skill: {groups: 2, informative: 0.0}
train: {groups: 2, samples: 4, iterations: 2, checkpoint_every: 1}
route: {permutations: 1}
evaluate: {tasks: 12, validation_tasks: 8, own_tasks: 4}
"""


def start(config: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from trace_gym.cli import main; main()", "run", str(config), "--out", str(out)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def finish(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    return errors


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "tiny.yaml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="module")
def finished(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    finish(start(config, out))
    return out


def test_every_stage_leaves_a_file_a_person_can_open(finished: Path) -> None:
    capabilities = json.loads((finished / "diagnosis.json").read_text())["capabilities"]
    lacking = {c["name"] for c in capabilities if c["selected"]}
    assert {"precondition_verification", "multi_step_completion"} <= lacking < {c["name"] for c in capabilities}
    chosen = json.loads((finished / "environments.json").read_text())["environments"]
    assert {registry.manifest(name).capability for name in chosen} == lacking
    for name in chosen:
        assert json.loads((finished / "validation" / f"{name}.json").read_text())["passed"]
        assert (finished / "adapters" / f"{name}-s0" / "adapter" / "adapter_model.safetensors").exists()
    evaluation = Evaluation.read(finished / "evaluation" / "level-0.json")
    assert {"base", "routed", "oracle_routed", "random_routed", "multi_step_completion"} <= {
        row.name for row in evaluation.rows
    }
    page = (finished / "report.html").read_text()
    assert "precondition_verification" in page and "<svg" in page


def test_a_run_folder_names_no_place_of_the_machine(finished: Path) -> None:
    places = {str(p).encode() for p in (finished.parent, Path(registry.__file__).parents[1], Path.home(), Path.cwd())}
    for file in finished.rglob("*"):
        found = [place for place in places if file.is_file() and place in file.read_bytes()]
        assert not found, file


def test_test_tasks_are_disjoint_from_what_earlier_stages_saw(finished: Path) -> None:
    seen = json.loads((finished / "seen.json").read_text())
    assert set(seen) >= {"rollouts", "skill", "evaluate"}
    assert not set(seen["evaluate"]) & {
        s for stage, scenarios in seen.items() if stage != "evaluate" for s in scenarios
    }


def test_an_unchanged_run_does_nothing_again(finished: Path, config: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in finished.rglob("*") if p.suffix in (".jsonl", ".safetensors", ".html")}
    message = finish(start(config, finished))
    assert message.count("unchanged") == len(json.loads((finished / "stages.json").read_text()))
    assert before == {p: p.stat().st_mtime_ns for p in before}


def stopped_before(stage: str, finished: Path, out: Path) -> int:
    """Copy what a run that stopped before a stage leaves, and count its stages; they are not waited for twice."""
    ledger, seen = (json.loads((finished / name).read_text()) for name in ("stages.json", "seen.json"))
    kept = {name: ledger[name] for name in itertools.takewhile(lambda name: name != stage, ledger)}
    for path in ("config.json", *itertools.chain.from_iterable(left["outputs"] for left in kept.values())):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(finished / path, out / path)
    (out / "stages.json").write_text(json.dumps(kept))
    (out / "seen.json").write_text(json.dumps({name: seen[name] for name in kept if name in seen}))
    return len(kept)


def test_a_killed_run_continues_and_ends_with_the_same_result(finished: Path, config: Path, tmp_path: Path) -> None:
    begun = stopped_before("skill", finished, out := tmp_path / "run")
    process = start(config, out)
    deadline = time.monotonic() + 300
    while not list(out.glob("adapters/*/checkpoint/*")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()  # returns once the workers, which share its pipes, have noticed that it is gone
    assert not (out / "report.html").exists(), "the kill came too late to test anything"
    assert finish(start(config, out)).count("unchanged") > begun  # those and the skill
    for name in ("skill.json", "routing.json", "evaluation/level-0.json"):
        assert (out / name).read_text() == (finished / name).read_text(), name
    for adapter in finished.glob("adapters/*/adapter/adapter_model.safetensors"):
        assert (out / adapter.relative_to(finished)).read_bytes() == adapter.read_bytes(), adapter.parent.parent.name


def test_a_stage_runs_again_when_its_input_or_its_output_changed(tmp_path: Path) -> None:
    source, out, done = tmp_path / "in.txt", tmp_path / "run" / "out.txt", []

    def work() -> str:
        done.append(source.read_text())
        out.write_text(source.read_text())
        return "done"

    def stage() -> None:
        Run(RunConfig(), tmp_path / "run").stage("copy", {"source": source}, [out], work)

    source.write_text("a")
    stage()
    stage()
    assert done == ["a"]
    source.write_text("b")
    stage()
    assert done == ["a", "b"]
    out.write_text("spoilt")
    stage()
    assert done == ["a", "b", "b"]


def test_run_rejects_a_folder_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    from trace_gym.pipeline import run

    with pytest.raises(ConfigError, match="Choose another folder"):
        run(RunConfig(), tmp_path)
    with pytest.raises(ReadError, match="trace-gym run"):
        open_run(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_presets_are_valid_and_name_existing_levels() -> None:
    for name in presets():
        config = RunConfig.preset(name)
        for env, levels in {**config.levels, config.target.env: config.target.levels}.items():
            assert max(levels) < registry.level_count(env)


def test_run_with_source_diagnoses_and_selects_environments(tmp_path: Path) -> None:
    from trace_gym.policies import ExpertMixture
    from trace_gym.rollouts import rollout

    results = tmp_path / "results.jsonl"
    target = registry.scenarios("tau2_airline_desk", "select", 120, levels=(0,))
    rollout(ExpertMixture(0.4), target, path=results, progress=False)
    made = Run(RunConfig(source=results), tmp_path / "run")
    for stage in (rollouts.rollouts, diagnose.diagnose, synthesize.synthesize):
        stage(made)
    chosen = json.loads((tmp_path / "run" / "environments.json").read_text())
    assert {"tau2_multi_step", "tau2_tool_precision"} <= set(chosen["environments"])
    assert json.loads((tmp_path / "run" / "diagnosis.json").read_text())["n"] == 120


# Environments that a language model writes

LACKING = "booking_checks"
"""A capability that no shipped spec serves."""
WRITTEN = GOOD.replace("Tau2PreconditionVerification", "Tau2BookingChecks")


def passing(path: Path, **_: object) -> Report:
    """What the sandbox would find, without the time that it takes; tests/test_llm_author.py has the whole of it."""
    metrics = {f"{end}_{level}": float(end == "to") for end in ("from", "to") for level in range(4)}
    findings = [p.finding("passed", "as it is").model_copy(update={"metrics": metrics}) for p in PROPERTIES.values()]
    return Report(env=path.name, passed=True, findings=tuple(findings), scenarios=3, profile="gate")


def diagnosed(folder: Path, llm: dict[str, object], *names: str) -> Run:
    """A run that has found some capabilities, and goes on with a language model as the author."""
    made = Run(RunConfig.parse({"author": "llm", "llm": llm}, "test"), folder)
    blank = {"coverage": 0.3, "er_failed": None, "er_passed": None, "gap": None, "selected": True}
    capabilities = tuple(Capability(name=name, description="Look before you leap.", **blank) for name in names)
    empty = {"source": "", "n": 1, "failed": 1, "passed": 0, "unscored": 0, "delta": 0.2, "rho": 0.1, "remarks": {}}
    rest = {"control": {}, "labels": {}, "uncovered": (), "unlabelled": (), "analyst": "rules"}
    made.path("diagnosis.json").write_text(Diagnosis(capabilities=capabilities, **empty, **rest).model_dump_json())
    made.path("rollouts", "select.jsonl").parent.mkdir(exist_ok=True)
    made.path("rollouts", "select.jsonl").write_text("")
    return made


def author(handler: Handler, body: Body) -> None:
    planned = str(body["messages"][-1]["content"]).startswith("Plan an environment")
    message(json.dumps(PLAN) if planned else block(WRITTEN))(handler, body)


def test_what_no_environment_serves_is_written_by_the_model_of_the_settings(
    tmp_path: Path, clean_registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair_loop, "validate_sandboxed", passing)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = Server(author)
    try:
        run = diagnosed(
            tmp_path / "one", {"model": f"openai:m@{server.url}", "solver": "none"}, "tool_precision", LACKING
        )
        synthesize.synthesize(run)
        synthesize.synthesize(run)
        assert len(server.requests) == 2  # a plan and a module; the stage that was done is not done again
    finally:
        server.close()
    chosen = json.loads(run.path("environments.json").read_text())
    assert {n: (e["capability"], e["author"]) for n, e in chosen["environments"].items()} == {
        "tau2_tool_precision": ("tool_precision", "hand"),
        "tau2_booking_checks": (LACKING, "llm:m"),
    }
    assert chosen["unserved"] == [] and (run.path("envs") / "tau2_booking_checks.json").is_file()
    registry.refresh()
    monkeypatch.delenv(VARIABLE)
    assert common.environments(run).keys() == chosen["environments"].keys()  # as the next command finds them
    assert registry.load_world("tau2_booking_checks").capability == LACKING
    assert common.levels(run, "tau2_booking_checks") == [0, 1, 2, 3]

    # The same from recordings, into a folder that several runs share; then from that folder alone.
    monkeypatch.delenv(VARIABLE)
    registry.refresh()
    recorded = {"model": f"replay:{run.path('envs') / '.candidates' / 'completions'}", "folder": tmp_path / "shared"}
    for name in ("two", "three"):
        again = diagnosed(tmp_path / name, recorded, "tool_precision", LACKING)
        synthesize.synthesize(again)
        assert json.loads(again.path("environments.json").read_text()) == chosen
    assert not (tmp_path / "two" / "envs").exists() and (tmp_path / "shared" / "tau2_booking_checks.py").is_file()


def test_synthesize_records_rejected_environments_as_unserved(
    tmp_path: Path, clean_registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = Server(message(json.dumps(PLAN)), message(block("x = 1")))
    try:
        run = diagnosed(tmp_path / "one", {"model": f"openai:m@{server.url}", "repairs": 0}, "tool_precision", LACKING)
        synthesize.synthesize(run)
        assert json.loads(run.path("environments.json").read_text())["unserved"] == [LACKING]
        assert "expected one class Tau2BookingChecks" in run.ledger["synthesize"]["message"]
        with pytest.raises(ConfigError, match=f"no environment trains .*: found {LACKING} .*no valid answer"):
            synthesize.synthesize(diagnosed(tmp_path / "two", run.config.llm.model_dump(), LACKING))
    finally:
        server.close()
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "one.json").write_text("{}")
    with pytest.raises(ReadError, match="is not a valid recording"):
        synthesize.synthesize(diagnosed(tmp_path / "three", {"model": f"replay:{tmp_path / 'none'}"}, LACKING))
    recorded = f"replay:{run.path('envs') / '.candidates' / 'completions'}"
    with pytest.raises(ModelError, match="contains no recorded answer"):
        synthesize.synthesize(diagnosed(tmp_path / "four", {"model": recorded}, "another_capability"))


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"author": "llm"}, "the setting 'author: llm' requires a model. Set llm.model"),
        ({"author": "person"}, "author: Input should be 'recorded' or 'llm'"),
        ({"llm": {"modle": "x"}}, "llm.modle: Extra inputs"),
        ({"llm": {"repairs": -1}}, "llm.repairs"),
    ],
)
def test_invalid_author_settings_raise_config_error(settings: dict[str, object], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        RunConfig.parse(settings, "run.yaml")

"""Unadmitted modules run in the sandbox only, and commands refuse to run them where it cannot isolate them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile.case import Case

from trace_gym import registry
from trace_gym.cli.entry import main
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug, RejectedEnv, SandboxError
from trace_gym.llm import Completion, ModelRequest
from trace_gym.registration import ALLOW_UNISOLATED
from trace_gym.sandbox import Limits, Sandbox, SandboxedWorld, check, describe, one_shot, start_sandboxed_episode
from trace_gym.sandbox.layer_list import LANDLOCK, NAMESPACES, SECCOMP
from trace_gym.synthesis import ValidationConfig, repair_loop, synthesize
from trace_gym.synthesis.calibrate import calibrate_for_policy
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.synthesis.repair_loop import AuthoringContext, Candidate
from trace_gym.types import Finding, Replay, Report, Scenario, Spec
from trace_gym.validation import ValidationInputs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the isolating layers are those of Linux")

TOY = Path(__file__).parent / "user_folder" / "library_loans.py"
QUICK = ("TG001", "TG101")
PASSED = Report(passed=True, findings=(), scenarios=1)
HOSTILE_SPEC = Spec(
    id="hostile",
    capability="look_before_speaking",
    title="A world.",
    rationale="None.",
    target="tau2_airline",
    blueprint="written",
    tools=(),
    levels=("one",),
)

# A module that leaves a marker wherever its code runs and hides that it failed to.
MARK = """
import atexit, os, threading

def mark(where):
    try:
        with open(os.path.join({folder!r}, where), "w"):
            pass
    except BaseException:
        pass

mark("import")
atexit.register(mark, "atexit")
threading.Thread(target=mark, args=("thread",)).start()

class Thing(str):
    def __reduce__(self):
        mark("reduce")
        return (Thing, (str(self),))
    def __deepcopy__(self, memo):
        mark("deepcopy")
        return self
    def __del__(self):
        mark("del")
    def __hash__(self):
        mark("hash")
        return str.__hash__(self)

class Hooked:
    def __init_subclass__(cls, **more):
        mark("init_subclass")
    def __set_name__(self, owner, name):
        mark("set_name")
    def __get__(self, instance, owner=None):
        mark("descriptor")
        return 6
"""
BODY = """
max_turns = Hooked()
def copy(self):
    mark("copy")
    return super().copy()
def __getstate__(self):
    mark("getstate")
    return vars(self)
def __setstate__(self, state):
    mark("setstate")
    vars(self).update(state)
"""
PLACES = ("generate", "opening", "reply", "tool", "verify", "oracle", "ablated")


def marking(folder: Path) -> str:
    """A module whose every part that a command may reach leaves a marker in `folder`."""
    places = {"imports": MARK.format(folder=str(folder)), "body": BODY, "bases": "World, Hooked"}
    places |= {place: f"mark({place!r})" for place in PLACES}
    text = Case("marking", "leaves markers", "", "", tuple(places.items())).text()
    return text.replace("return cls(rng.choice", "return cls(Thing('') + rng.choice")


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """The marking module; its markers would be in the folder ``outside``."""
    (tmp_path / "outside").mkdir()
    path = tmp_path / "hostile.py"
    path.write_text(marking(tmp_path / "outside"))
    return path


def markers(path: Path) -> set[str]:
    return {p.name for p in (path.parent / "outside").iterdir()}


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of a command."""
    monkeypatch.setattr(sys, "argv", ["trace-gym", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_marking_module_leaves_markers_when_it_runs_without_sandbox(module: Path) -> None:
    code = f"""
import pickle
from trace_gym.episode import Episode
from trace_gym.modules import world_at
from trace_gym.types import Scenario
world = world_at({str(module)!r})
episode = Episode(world, Scenario(env="hostile", level=0, seed=1))
pickle.loads(pickle.dumps(episode.world))
for step in [*episode.start.ablated(), *episode.start.oracle()]:
    episode.step(step)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert markers(module) >= {"import", "atexit", "thread", "copy", "getstate", "setstate", "init_subclass", *PLACES}


# With the gate disabled nothing outside the sandbox is touched


def validate_command(path: Path, patch: pytest.MonkeyPatch) -> None:
    assert run(patch, "validate", str(path), "--profile", "quick", "--only", "TG101", "--workers", "1") == 1


def validate_with_files_command(path: Path, patch: pytest.MonkeyPatch) -> None:
    tasks = path.parent / "tasks.json"
    tasks.write_text('["What lies in the drawer?"]')
    words = ("--against", str(tasks), "--policy", "mixture:0.5", "--html", str(path.parent / "page.html"))
    assert run(patch, "validate", str(path), "--profile", "quick", "--only", "TG703", "--workers", "1", *words) == 1


def replay_command(path: Path, patch: pytest.MonkeyPatch) -> None:
    replay = Replay(scenario="hostile/0/1", actions=({"tool": "look", "arguments": {}}, {"say": "A key."}))
    finding = Finding(code="TG201", property="oracle-succeeds", verdict="failed", message="so", replay=replay)
    report = path.parent / "report.json"
    report.write_text(Report(env=str(path), passed=False, findings=(finding,), scenarios=1).model_dump_json())
    patch.setattr(sys, "argv", ["trace-gym", "replay", str(report)])
    with pytest.raises(SystemExit):
        main()


def admission(path: Path, patch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EnvBug, match="may not do"):
        registry.admit(path, PASSED, author="hand", describe=describe)
    assert not path.with_suffix(".json").exists()


class Mute:
    """A language model that is not asked."""

    name = "files:mute"

    def complete(self, request: ModelRequest) -> Completion:
        raise AssertionError("nothing is asked")


class Verbatim(LlmAuthor):
    """The model's answer is the module."""

    def _assemble(self, code: str, spec: Spec) -> str:
        return code


def synthesis(path: Path, patch: pytest.MonkeyPatch) -> None:
    author = Verbatim(Mute(), 0)
    patch.setattr(Verbatim, "write", lambda self, spec: path.read_text())
    patch.setattr(Verbatim, "template_sha256", lambda self, spec: "")
    patch.setattr(repair_loop, "lint", lambda text, spec: ())  # the gate
    validation = ValidationConfig("quick", only=QUICK, workers=1)
    with pytest.raises(RejectedEnv, match="may not do"):
        synthesize(
            HOSTILE_SPEC, author=author, folder=path.parent / "envs", validation=validation, log=lambda line: None
        )


def context(path: Path, **validation: Any) -> AuthoringContext:
    return AuthoringContext(
        HOSTILE_SPEC, Verbatim(Mute(), 0), path.parent, ValidationConfig("quick", only=QUICK, **validation), print
    )


def calibration(path: Path, patch: pytest.MonkeyPatch) -> None:
    made = Candidate(0, path.read_text(), "checks", (), PASSED)
    with pytest.raises(EnvBug):
        repair_loop.measure_calibration(context(path, policy="mixture:0.5"), made)


def comparison(path: Path, patch: pytest.MonkeyPatch) -> None:
    tasks = path.parent / "tasks.json"
    tasks.write_text('["What lies in the drawer?"]')
    given = ValidationInputs(against=(str(tasks),))
    assert not repair_loop._compared(context(path, given=given), PASSED).passed


def episodes(path: Path, patch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EnvBug):
        start_sandboxed_episode(path, "hostile/0/1")


STAGES = (
    validate_command,
    validate_with_files_command,
    replay_command,
    admission,
    synthesis,
    calibration,
    comparison,
    episodes,
)


@pytest.mark.parametrize("stage", STAGES, ids=lambda s: s.__name__)
def test_stage_runs_unadmitted_code_in_the_sandbox_only(
    stage: Callable[[Path, pytest.MonkeyPatch], None],
    module: Path,
    monkeypatch: pytest.MonkeyPatch,
    clean_registry: None,
) -> None:
    before = set(sys.modules)
    stage(module, monkeypatch)
    assert markers(module) == set()
    assert not [name for name in set(sys.modules) - before if name.endswith(".hostile")]


# What the parent gets is checked


def test_episode_in_the_sandbox_equals_the_one_outside(world: SandboxedWorld) -> None:
    at = Scenario(env="library_loans", level=1, seed=7)
    inside, outside = world.episode(at), Episode(registry.world_at(TOY), at)
    assert inside.state_hash == outside.state_hash and inside.interface == outside.interface
    for step in outside.start.oracle():
        assert inside.step(step) == outside.step(step)
    assert inside.messages == outside.messages and inside.finish() == outside.finish()
    assert (inside.done, inside.turns, inside.truncated) == (outside.done, outside.turns, outside.truncated)


def test_calibration_in_the_sandbox_equals_the_one_outside(world: SandboxedWorld) -> None:
    assert calibrate_for_policy(world, "oracle") == calibrate_for_policy(registry.world_at(TOY), "oracle")
    with pytest.raises(ConfigError, match="unknown policy"):
        calibrate_for_policy(world, "telepathy")


FORGED = {
    "no answer": {"nothing": 1},
    "a hash that is no hash": {"hash": "../../etc"},
    "a score above 1": {"score": {"wellformed": 1, "progress": 7, "success": True}},
    "a message that is no text": {"messages": [{"role": "user", "content": {"a": 1}}]},
    "an unknown role": {"messages": [{"role": "root", "content": "a"}]},
    "a count that is a text": {"turns": "many"},
}


@pytest.fixture(scope="module")
def world() -> Iterator[SandboxedWorld]:
    with SandboxedWorld(TOY) as made:
        yield made


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_invalid_answer_from_the_sandbox_is_an_error(
    change: dict[str, Any], world: SandboxedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive = world._job.receive
    monkeypatch.setattr(world._job, "receive", lambda: {"answer": {**(receive() or {})["answer"], **change}})
    with pytest.raises(EnvBug, match="invalid answer"):
        world.episode(Scenario(env="library_loans", level=1, seed=7))


def test_policy_of_a_file_plays_outside_and_its_finding_is_in_the_report() -> None:
    report = check(TOY, profile="quick", only=("TG502",), given=ValidationInputs(policy="oracle"), confirm=False)
    [finding] = [f for f in report.findings if f.code == "TG502"]
    assert "oracle" in finding.message and finding.verdict != "skipped"


# Without an isolating layer

WITHOUT = {
    "no files": (NAMESPACES, LANDLOCK),
    "no network": (NAMESPACES, SECCOMP),
    "nothing": (NAMESPACES, LANDLOCK, SECCOMP),
}


@pytest.fixture(params=["nothing"])
def unprotected(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """A machine that has none of these layers."""
    without: tuple[str, ...] = WITHOUT[request.param]
    real = Sandbox._layers
    monkeypatch.setattr(Sandbox, "_layers", lambda self, also: real(self, {*also, *without}))
    monkeypatch.delenv(ALLOW_UNISOLATED, raising=False)
    one_shot._known_layers.cache_clear()
    yield without
    one_shot._known_layers.cache_clear()


@pytest.mark.parametrize("unprotected", WITHOUT, indirect=True)
def test_sandbox_refuses_and_names_missing_layers(unprotected: tuple[str, ...]) -> None:
    with pytest.raises(SandboxError, match="cannot isolate") as error:
        Sandbox()
    needed = {NAMESPACES, *unprotected}
    assert all(f"{layer}: left out" in str(error.value) for layer in needed)
    assert "--allow-unisolated" in str(error.value) and f"{ALLOW_UNISOLATED}=1" in str(error.value)


@pytest.mark.parametrize("without", [(NAMESPACES,), (LANDLOCK, SECCOMP)], ids="-".join)
def test_one_layer_for_files_and_one_for_the_network_suffice(without: tuple[str, ...]) -> None:
    with Sandbox(disable_layers=without) as sandbox:
        assert {layer.name for layer in sandbox.layers if not layer.active} >= {*without}


COMMANDS = {
    "synthesize": "synthesize tau2_baggage_allowance --out {0}",
    "synthesize by a model": "synthesize tau2_precondition --author llm --llm replay:{0} --out {0}",
    "validate": "validate {0}/library_loans.py",
    "validate and admit": "validate {0}/library_loans.py --admit",
    "validate with a policy": "validate {0}/library_loans.py --policy mixture:0.5",
    "replay": "replay {0}/report.json",
    "run": "run {0}/run.yaml",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_command_refuses_to_run_unadmitted_code(
    command: str,
    unprotected: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    clean_registry: None,
) -> None:
    (tmp_path / TOY.name).write_bytes(TOY.read_bytes())
    (tmp_path / "run.yaml").write_text("author: llm\nllm: {model: 'replay:nowhere'}\n")
    replay = Replay(scenario="library_loans/1/1")
    finding = Finding(code="TG201", property="oracle-succeeds", verdict="failed", message="so", replay=replay)
    report = Report(env=str(tmp_path / TOY.name), passed=False, findings=(finding,), scenarios=1)
    (tmp_path / "report.json").write_text(report.model_dump_json())
    before = sorted(p.name for p in tmp_path.iterdir())
    assert run(monkeypatch, *command.format(tmp_path).split()) != 0
    said = capsys.readouterr().err
    assert "the code was not run" in said and NAMESPACES in said and "--allow-unisolated" in said
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_flag_permits_to_run_without_isolation(
    unprotected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ALLOW_UNISOLATED, "0")  # so that it is restored
    words = ("--profile", "quick", "--only", "TG101", "--workers", "1", "--allow-unisolated", "--json")
    monkeypatch.setattr(sys, "argv", ["trace-gym", "validate", str(TOY), *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code and json.loads(capsys.readouterr().out)["passed"]


# A module cannot end validation in silence


EXITS = {
    "os._exit at import": {"top": "import os; os._exit(0)"},
    "sys.exit at import": {"top": "import sys; sys.exit(0)"},
    "os._exit in generate": {"imports": "import os", "generate": "os._exit(0)"},
    "sys.exit in generate": {"imports": "import sys", "generate": "sys.exit(0)"},
    "os._exit in verify": {"imports": "import os", "verify": "os._exit(0)"},
    "os._exit in a thread": {
        "imports": "import os, threading",
        "top": "threading.Thread(target=os._exit, args=(0,)).start()",
    },
    "os._exit at exit": {"imports": "import atexit, os", "top": "atexit.register(os._exit, 0)", "verify": "1 / 0"},
    "GeneratorExit": {"oracle": "raise GeneratorExit", "verify": "raise GeneratorExit"},
    "an exception of its own": {"top": "class Gone(BaseException): pass", "verify": "raise Gone('it passed')"},
    "RecursionError": {"verify": "yield from self.verify(start, said)"},
    "MemoryError": {"verify": "raise MemoryError"},
    "closed file descriptors": {"imports": "import os", "generate": "os.closerange(0, 1024)"},
    "forged lines": {
        "imports": "import json, os",
        "generate": 'os.write(1, b\'passed on 3 scenarios\\n{"ended": {"scenarios": 3}}\\n\')',
        "verify": "os._exit(0)",
    },
    "a signal": {"imports": "import os, signal", "generate": "os.kill(os.getpid(), signal.SIGTERM)"},
    "an alarm": {"imports": "import signal", "top": "signal.setitimer(signal.ITIMER_REAL, 0.01)"},
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(cpu_seconds=60.0, wall_seconds=60, output_mib=4)) as made:
        yield made


@pytest.mark.parametrize("places", EXITS.values(), ids=EXITS)
def test_module_that_ends_its_process_fails_validation(
    sandbox: Sandbox, tmp_path: Path, places: dict[str, str]
) -> None:
    assert_fails(sandbox, tmp_path, places, engine="here")


@pytest.mark.parametrize("name", ["os._exit in verify", "GeneratorExit", "closed file descriptors"])
def test_module_that_ends_a_worker_fails_validation(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    assert_fails(sandbox, tmp_path, EXITS[name], engine="processes", workers=2)


def assert_fails(sandbox: Sandbox, folder: Path, places: dict[str, str], **options: Any) -> None:
    path = folder / "hostile.py"
    path.write_text(Case("ending", "", "", "", tuple(places.items())).text())
    report = sandbox.validate(path, profile="quick", only=("TG201",), **options)
    assert not report.passed and "failed" in {f.verdict for f in report.findings}, report.findings


def test_validate_exits_with_1_where_the_module_exits_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hostile.py"
    path.write_text(Case("exit", "", "", "", (("top", "import os; os._exit(0)"),)).text())
    assert run(monkeypatch, "validate", str(path)) == 1
    assert "TG001" in capsys.readouterr().out


@pytest.mark.parametrize("turns", ["10**6", "0", "True", "'many'"])
def test_turn_limit_out_of_range_is_a_finding(sandbox: Sandbox, tmp_path: Path, turns: str) -> None:
    path = tmp_path / "hostile.py"
    path.write_text(Case("turns", "", "", "", (("body", f"max_turns = {turns}"),)).text())
    report = sandbox.validate(path, profile="quick", budget=30)
    assert [(f.code, f.verdict) for f in report.findings] == [("TG001", "failed")]
    assert (
        "max_turns is" in report.findings[0].message
        and "expected an integer from 1 to 1000" in report.findings[0].message
    )


@pytest.mark.parametrize("levels", ["range(10**6)", "range(10**30)", "range(2, 4)"])
def test_level_count_out_of_range_is_a_finding(sandbox: Sandbox, tmp_path: Path, levels: str) -> None:
    path = tmp_path / "hostile.py"
    path.write_text(Case("levels", "", "", "", (("levels", levels),)).text())
    report = sandbox.validate(path, profile="quick", budget=30)
    assert [(f.code, f.verdict) for f in report.findings] == [("TG001", "failed")]


def test_interrupted_validation_reports_what_was_checked(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(code: str) -> None:
        raise KeyboardInterrupt

    with Sandbox() as other:
        report = other.validate(TOY, profile="quick", only=QUICK, progress=stop, partial=True)
    assert {f.code: f.verdict for f in report.findings} == {"TG001": "passed", "TG101": "unfinished"}
    assert "interrupted" in report.findings[1].message


def test_sandbox_limits_are_those_of_the_budget() -> None:
    from trace_gym.sandbox.unadmitted import _limits

    assert _limits(1, 6.0).wall_seconds == 120 and _limits(1, None).wall_seconds == Limits().wall_seconds
    assert replace(_limits(8, None), processes=0).memory_mib > Limits().memory_mib

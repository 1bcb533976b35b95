"""Tests of the command and of the examples that serve environments with OpenEnv."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import jinja2
import pytest
from conftest import TOY
from players.openenv import serving
from snippets import blocks, environ, port, process, runs

pytest.importorskip("openenv", reason="openenv is not installed: pip install 'trace-gym[openenv]'")

from openenv.validation import ENTRY_POINT_GROUP, Level, run_validation

from trace_gym import registry
from trace_gym.adapters.openenv import Remote, Sessions, app
from trace_gym.chat_formats import FORMATS
from trace_gym.errors import ConfigError, EnvNotFound, ScenarioError
from trace_gym.registration import VARIABLE
from trace_gym.types import Call

ROOT = Path(__file__).resolve().parents[1]

AT = f"{TOY}/1/4"


@pytest.fixture(autouse=True)
def folder(user_folder: Path) -> Path:
    """All of it plays an environment of the user's own."""
    return user_folder


def written(scenario: str) -> list[str]:
    """The oracle's turns as text."""
    steps = registry.start_episode(scenario).start.oracle()
    return [FORMATS["hermes"].render(s) if isinstance(s, Call) else s.text for s in steps]


def test_the_files_of_a_server_are_what_openenv_asks_for(folder: Path, tmp_path: Path) -> None:
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", "openenv"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    tools = [t["function"]["name"] for t in registry.load_world(TOY).interface().tools]
    values = {"name": "loans", "version": "0.1.0", "envs": [TOY], "level": 1, "split": "validate", "tools": tools}
    values |= {"requirement": "trace-gym[openenv]", "folder": folder.name}
    package = tmp_path / "package"
    package.mkdir()
    for name in env.list_templates():
        (package / name.removesuffix(".jinja")).write_text(env.get_template(name).render(values))
    assert {p.name for p in package.iterdir()} == {"Dockerfile", "README.md", "app.py", "openenv.yaml"}
    report = run_validation(package, max_level=Level.STATIC)
    assert report.verdict.value == "pass", report.results
    [command] = [line for line in (package / "Dockerfile").read_text().splitlines() if line.startswith("CMD")]
    module, _, attribute = json.loads(command.removeprefix("CMD"))[1].partition(":")
    with serving(runpy.run_path(str(package / f"{module}.py"))[attribute]) as url, Remote(url) as attempt:
        attempt.reset(seed=3)
        assert attempt.result["scenario"] == f"{TOY}/1/{registry.SPLITS['validate'][3]}"
    assert f"TRACE_GYM_ENVS=/app/{folder.name}" in (package / "Dockerfile").read_text()


def test_the_command_serves_until_it_is_interrupted(folder: Path, tmp_path: Path) -> None:
    [printed] = runs("docs/guides/openenv.md")
    command, *named, _, _ = printed.split()  # the last two are --port and a port that may be taken
    assert named == ["serve-openenv", "tau2_precondition", "tau2_multi_step"]
    (tmp_path / "gradio.py").write_text("raise ModuleNotFoundError")  # as in players.openenv
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    more = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", VARIABLE: str(folder)}
    line = ["bash", "-c", f"exec {command} {' '.join(named)} {TOY} --level 1 --port 0"]
    with process(line, stdout=subprocess.PIPE, env=environ(**more)) as server:
        assert server.stdout
        told = server.stdout.readline()
        with Remote(told.split()[2].rstrip(",;")) as attempt:
            attempt.reset(seed=1)
            assert attempt.result["scenario"].startswith("tau2_multi_step/")
            attempt.reset(scenario=AT)
            for turn in written(AT):
                attempt.take(turn)
            assert (attempt.result["scenario"], attempt.reward) == (AT, 1.0)
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0


def test_the_command_of_the_docs_serves_where_it_says(tmp_path: Path) -> None:
    (tmp_path / "gradio.py").write_text("raise ModuleNotFoundError")  # as in players.openenv
    more = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "PYTHONUNBUFFERED": "1"}
    [printed] = runs("docs/guides/openenv.md")
    with port(8000) as number:
        line = ["bash", "-c", f"exec {printed.replace(' 8000', f' {number}')}"]
        with process(line, stdout=subprocess.PIPE, env=environ(**more)) as server:
            assert server.stdout and f":{number}" in server.stdout.readline()
            with Remote(f"http://localhost:{number}") as attempt:
                attempt.reset(seed=1)
                assert attempt.result["scenario"].startswith("tau2_multi_step/")
            server.send_signal(signal.SIGINT)
            assert server.wait(20) == 0


def test_arguments_that_do_not_exist_are_named() -> None:
    with pytest.raises(EnvNotFound, match="no_such"):
        app("no_such")
    with pytest.raises(ConfigError, match="weights: found 'all'"):
        app(TOY, weights="all")
    with pytest.raises(ConfigError, match="style: found 'x'"):
        app(TOY, style="x")
    with pytest.raises(ConfigError, match="at least 1"):
        app(TOY, sessions=0)
    with pytest.raises(ConfigError, match="no environment"):
        app([])
    with pytest.raises(ConfigError, match="unknown split: found 'all'"):
        Sessions([TOY], split="all")
    with pytest.raises(ScenarioError, match="library_loans has no level 7: expected an integer from 0 to 2"):
        Sessions([TOY], level=7)


EXAMPLES = ("openenv_server_and_client", "openenv_sessions")


@pytest.mark.parametrize(
    ("name", "code"), list(zip(EXAMPLES, blocks("docs/guides/openenv.md", "python"), strict=True)), ids=EXAMPLES
)
def test_the_examples_run_as_the_docs_print_them(name: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    example = ROOT / "examples" / f"{name}.py"
    assert example.read_text().partition('"""\n\n')[2] == code
    runpy.run_path(str(example), run_name="__main__")
    told = capsys.readouterr().out
    assert "reward: 1.0" in told if name == "openenv_server_and_client" else told.count("reward 1.0") >= 2


def test_the_graders_are_named_where_openenv_looks() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = project["entry-points"][ENTRY_POINT_GROUP]
    graders = import_module("trace_gym.validation.third_party.graders")
    made = [c for c in vars(graders).values() if isinstance(c, type) and getattr(c, "check_id", None)]
    assert sorted(named.values()) == sorted(f"{graders.__name__}:{c.__name__}" for c in made)

"""A folder for each library: complete, whole or not there, and with a README that runs."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import PASSED, TOY
from snippets import ROOT, blocks, environ, port, process, python, shell
from typer.testing import CliRunner

import trace_gym
from trace_gym import registry
from trace_gym.adapters import export as module
from trace_gym.adapters.export import ENVS, LIBRARIES, MARK, export
from trace_gym.cli import exporting
from trace_gym.errors import ConfigError, EnvNotFound, MissingExtra
from trace_gym.registration import VARIABLE
from trace_gym.sandbox import describe
from trace_gym.targets.user.start import init
from trace_gym.types import Manifest, sha256

ENV = "tau2_precondition"
NEEDS = {"datasets": "datasets", "skyrl": "skyrl_gym"}
"""Modules that must be installed to write the data of a library."""


def writes(library: str) -> Any:
    reason = f"pip install 'trace-gym[{library}]'"
    return pytest.param(
        library, marks=pytest.mark.skipif(not here(NEEDS.get(library, "jinja2")), reason=reason), id=library
    )


def here(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


each = pytest.mark.parametrize("to", [writes(library) for library in LIBRARIES])


@each
def test_every_library_has_a_folder_that_says_what_it_is(to: str, tmp_path: Path) -> None:
    files = export(to, [registry.gym_id(ENV)], tmp_path / "out", n=8)
    assert {"README.md", MARK} < set(files)
    assert sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()) == files
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    mark = json.loads((tmp_path / "out" / MARK).read_text())
    assert (mark["to"], mark["envs"]) == (to, [ENV])
    assert mark["modules"] == {ENV: registry.manifest(ENV).module_sha256}
    readme = (tmp_path / "out" / "README.md").read_text()
    assert ENV in readme and "{{" not in readme
    for script in (tmp_path / "out").glob("*.py"):
        compile(script.read_text(), script.name, "exec")


@each
def test_exported_files_name_no_place_of_the_machine(to: str, user_folder: Path, tmp_path: Path) -> None:
    export(to, [TOY], out := tmp_path / "out", n=4)
    places = [str(p).encode() for p in (tmp_path, user_folder, ROOT, Path.home())]
    found = [(p, place) for p in out.rglob("*") if p.is_file() for place in places if place in p.read_bytes()]
    assert not found


@each
def test_a_users_environments_go_along(to: str, user_folder: Path, tmp_path: Path) -> None:
    export(to, ["toy_mixture"], out := tmp_path / "out", n=4)
    copied = {p.name for p in (out / ENVS).iterdir()}
    assert copied == {"toy_mixture.json", f"{TOY}.py", f"{TOY}.json", "twin_loans.py", "twin_loans.json"}
    assert all((out / ENVS / n).read_bytes() == (user_folder / n).read_bytes() for n in copied)
    shutil.rmtree(user_folder)
    code = "from trace_gym import registry; print(registry.start_episode('toy_mixture/1/3').scenario)"
    assert python(code, out, **{VARIABLE: ENVS}).startswith((TOY, "twin_loans"))
    assert f"{ENVS}" in (out / "README.md").read_text()


@pytest.fixture
def depot(tmp_path: Path, clean_registry: None) -> tuple[Path, str]:
    """The folder of a user's target, and the name of its environment."""
    data = ROOT / "tests" / "data" / "parcel_depot"
    home = init(
        tmp_path / "parcel_depot",
        tools=data / "tools.json",
        policy=data / "policy.md",
        trajectories=[data / "episodes.jsonl"],
    )
    home.base_module.parent.mkdir()
    base_class, own_class = "class ParcelDepotBase(TargetWorld):\n", "(ParcelDepotBase):\n"
    own = '    id, capability, target = "parcel_depot_base", "", "parcel_depot"\n'  # as the skeletons of the author add
    home.base_module.write_text((data / "base.py").read_text().replace(base_class, base_class + own))
    base = Manifest(
        id="parcel_depot_base", capability="", target="parcel_depot", levels=1, author="hand", fingerprint="",
        module_sha256=sha256(home.base_module.read_bytes()), report=PASSED,
    )  # fmt: skip
    home.base_module.with_suffix(".json").write_text(base.model_dump_json())
    registry.add_folder(home.path)
    name = "parcel_depot_precondition_verification"
    own = f'    id, capability = "{name}", "precondition_verification"\n'
    text = (data / "environment.py").read_text().replace(own_class, own_class + own)
    (home.path / f"{name}.py").write_text(text)
    registry.admit(home.path / f"{name}.py", PASSED, author="hand", describe=describe)
    return home.path, name


@pytest.mark.parametrize("recorded", [True, False])
def test_the_target_of_a_users_environment_goes_along(recorded: bool, depot: tuple[Path, str], tmp_path: Path) -> None:
    home, name = depot
    export("trl", [name], out := tmp_path / "out", trajectories=recorded)
    assert (out / ENVS / "trajectories.jsonl").exists() is recorded
    shutil.rmtree(home)
    code = f"from trace_gym import registry; print(len(registry.start_episode('{name}/0/3').tools))"
    assert python(code, out, **{VARIABLE: ENVS}).split() == ["5"]


def test_command_says_that_recorded_episodes_are_copied_and_can_leave_them_out(
    depot: tuple[Path, str], tmp_path: Path
) -> None:
    home, name = depot
    app = typer.Typer()
    exporting.register(app)
    words = ["--to", "trl", name, "-n", "4", "--out"]
    full = CliRunner().invoke(app, [*words, str(tmp_path / "full")])
    assert "full/envs/trajectories.jsonl contains the recorded episodes" in full.output
    assert "exclude them with --no-trajectories" in full.output
    without = CliRunner().invoke(app, [*words, str(tmp_path / "part"), "--no-trajectories"])
    assert without.exit_code == 0 and "recorded" not in without.output
    ids = [json.loads(line)["id"] for line in (home / "trajectories.jsonl").read_text().splitlines()]
    texts = [p.read_text() for p in (tmp_path / "part").rglob("*") if p.is_file()]
    assert ids and not any(f'"{i}"' in text for i in ids for text in texts)
    (home / "trajectories.jsonl").unlink()  # as in a folder that was exported without them
    with pytest.raises(ConfigError, match="export with --no-trajectories"):
        export("trl", [name], tmp_path / "again")
    export("trl", [name], tmp_path / "again", trajectories=False)


def test_nothing_is_overwritten_unless_it_is_ours_and_we_are_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export("trl", [ENV], out, n=8)
    with pytest.raises(ConfigError, match="contains an earlier export. Choose another folder, or add --force"):
        export("trl", [ENV], out)
    (out / "notes.txt").write_text("mine")
    export("verifiers", [ENV], out, force=True)
    assert json.loads((out / MARK).read_text())["to"] == "verifiers"
    assert not (out / "notes.txt").exists()
    (out / MARK).unlink()
    with pytest.raises(ConfigError, match="Choose a folder that does not exist"):
        export("trl", [ENV], out, force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_what_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    export("trl", [ENV], out, n=8)
    before = (out / "train.py").read_bytes()

    def fails(*_: object) -> dict[str, Any]:
        raise MissingExtra("gone")

    monkeypatch.setitem(module.LIBRARIES, "trl", fails)
    with pytest.raises(MissingExtra):
        export("trl", [ENV], out, force=True)
    with pytest.raises(MissingExtra):
        export("trl", [ENV], tmp_path / "other")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (out / "train.py").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"to": "rllib"}, "unknown library: found 'rllib', expected one of datasets"),
        ({"envs": []}, "found 0 environments"),
        ({"n": 0}, "found 1 environments and 0 problems per environment"),
        ({"envs": ["tau2_precision"]}, "no environment is called"),
        (
            {"to": "verifiers", "envs": [ENV, "tau2_multi_step"]},
            "must contain one environment or mixture with all its levels",
        ),
        ({"to": "openenv", "levels": [0, 1]}, "either one level or all levels"),
    ],
)
def test_a_bad_order_is_answered(change: dict[str, Any], fault: str, tmp_path: Path) -> None:
    with pytest.raises((ConfigError, EnvNotFound), match=fault):
        export(**{"to": "trl", "envs": [ENV], "out": tmp_path / "out"} | change)
    assert list(tmp_path.iterdir()) == []


def test_the_verb_writes_it(tmp_path: Path) -> None:
    app = typer.Typer()
    exporting.register(app)
    words = ["--to", "trl", ENV, "tau2_multi_step", "--out", str(tmp_path / "run"), "--level", "1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "3 files" in done.output
    script = (tmp_path / "run" / "train.py").read_text()
    assert 'ENVS = ["tau2_precondition", "tau2_multi_step"]' in script
    assert "levels=[1]" in script
    assert set(re.findall(r"\w+", exporting.LIBRARIES)) - {"or"} == set(LIBRARIES)


def test_the_readme_for_datasets_runs(user_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="pip install 'trace-gym[datasets]'")
    export("datasets", [TOY, "twin_loans"], out := tmp_path / "my data", n=10)
    install, [code] = blocks(out / "README.md", "sh"), blocks(out / "README.md", "python")
    assert install == ["pip install datasets\n"]
    told = python(code, out, HF_HOME=str(tmp_path / "cache")).splitlines()
    assert [line.split()[:3] for line in told] == [["scenarios", "train", "10"], ["scenarios", "validate", "2"]]


def test_the_data_for_skyrl_are_what_its_environments_take(tmp_path: Path) -> None:
    gym: Any = pytest.importorskip("skyrl_gym", reason="pip install 'trace-gym[skyrl-gym]'")
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pip install pyarrow")
    export("skyrl", [ENV, "tau2_multi_step"], out := tmp_path / "out", n=6, levels=[0])
    counts = {split: 0 for split in ("train", "validate")}
    for split in counts:
        for row in parquet.read_table(out / f"{split}.parquet").to_pylist():
            prompt = row.pop("prompt")
            env = gym.make(row.pop("env_class"), extras=row)
            assert env.init(prompt)[0] == prompt
            counts[split] += 1
    assert counts == {"train": 6, "validate": 1}
    assert f"max_turns: {registry.load_world(ENV).max_turns}" in (out / "config.yaml").read_text()


def test_the_readme_for_trl_runs(user_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trl", reason="pip install 'trace-gym[trl]'")
    export("trl", [TOY], out := tmp_path / "out", n=8, levels=[0])
    install, command, real = (b.split() for b in blocks(out / "README.md", "sh"))
    assert (install[:2], install[2]) == (["pip", "install"], f"'trace-gym[trl]=={trace_gym.__version__}'")
    assert command[0] == "python" and real[:2] == command[:2]
    compared = {word for word in real if word.startswith("--")}
    assert compared < set(command)  # a model from the Hub, which needs a network and a GPU
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.setattr(sys, "argv", command[1:])
    runpy.run_path(str(out / command[1]), run_name="__main__")  # in this process, which may have imported TRL already
    assert (out / "runs" / "adapter_model.safetensors").is_file()


def test_the_readme_for_openenv_runs(user_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("openenv", reason="openenv is not installed; .ci/openenv adds it")
    export("openenv", [TOY], out := tmp_path / "out")
    [serve], [code] = blocks(out / "README.md", "sh"), blocks(out / "README.md", "python")
    install, *variables, start = serve.splitlines()
    assert install == f'pip install "trace-gym[openenv]=={trace_gym.__version__}"'
    (out / "gradio.py").write_text("raise ModuleNotFoundError")  # as in players.openenv
    with port(8000) as number:
        block = "\n".join([*variables, f"exec {start.replace(' 8000', f' {number}')}"])
        with process(["bash", "-euc", block], cwd=out, env=environ(), stderr=subprocess.PIPE) as server:
            assert server.stderr
            told = next(line for line in server.stderr if "running on" in line)
            assert f":{number}" in told
            said = python(code.replace(":8000", f":{number}"), out)
            server.terminate()
            server.communicate(timeout=20)
    assert "'reward': 0.0" in said and f"{TOY}/" in said


def test_the_readme_for_verifiers_runs(tmp_path: Path) -> None:
    pytest.importorskip("verifiers", reason="verifiers is in an environment of its own; .ci/verifiers builds it")
    from players.verifiers import LEAVE, endpoint

    export("verifiers", [ENV], out := tmp_path / "out")
    [printed] = blocks(out / "README.md", "sh")
    assert "pip install -e .\n" in printed  # what it does: the module can be imported
    block = printed.replace("pip install -e .\n", "export PYTHONPATH=$PWD:$PYTHONPATH\n")
    with port(8000) as number, endpoint(LEAVE, number):
        shell(block.replace(":8000/", f":{number}/"), out)
    traces = [json.loads(line) for file in out.rglob("traces.jsonl") for line in file.read_text().splitlines()]
    assert sum(len(line["traces"]) for line in traces) == 8 * 4
    checks = json.loads(next(out.rglob("summary.json")).read_text())["checks"]
    assert checks["gold"]["valid"] == checks["noop"]["valid"] == 10


def test_the_readme_for_skyrl_is_of_a_project(tmp_path: Path) -> None:
    """It trains on GPUs; `.ci/skyrl` runs all of `train.py` but the training."""
    pytest.importorskip("skyrl_gym", reason="pip install 'trace-gym[skyrl-gym]'")
    export("skyrl", [ENV], out := tmp_path / "out", n=4)
    [printed] = blocks(out / "README.md", "sh")
    assert printed.splitlines() == ["uv sync", ".venv/bin/python train.py"]
    assert (out / "train.py").is_file() and "project" in tomllib.loads((out / "pyproject.toml").read_text())


def test_the_commands_of_the_docs_run(tmp_path: Path) -> None:
    [printed] = blocks("docs/guides/export.md", "sh")
    assert "3 files" in shell(printed, tmp_path)
    assert (tmp_path / "my_run" / "train.py").is_file()

"""Tests of the example of a GitHub Actions workflow, which validates environments and uploads SARIF files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from snippets import ROOT
from test_commands import arguments, problem

EXAMPLE = ROOT / "examples" / "github_validate.yml"


@pytest.fixture(scope="module")
def steps() -> list[dict[str, Any]]:
    workflow = yaml.safe_load(EXAMPLE.read_text())
    assert workflow[True].keys() == {"push", "pull_request"}  # YAML 1.1 reads the key `on` as true
    assert workflow["permissions"]["security-events"] == "write"
    [job] = workflow["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def script(steps: list[dict[str, Any]], name: str) -> str:
    [found] = [step["run"] for step in steps if step.get("name") == name]
    return str(found)


def test_commands_are_valid(steps: list[dict[str, Any]]) -> None:
    lines = [line.strip() for line in script(steps, "Validate").splitlines() if "trace-gym" in line]
    assert len(lines) == 1 and [problem(arguments(line)) for line in lines] == [""]
    assert script(steps, "Install trace_gym") == "pip install trace-gym"


def test_guide_prints_the_script_of_the_workflow(steps: list[dict[str, Any]]) -> None:
    guide = (ROOT / "docs" / "guides" / "validate.md").read_text()
    assert f"```bash\n{script(steps, 'Validate')}```" in guide


def test_uploaded_folder_is_the_folder_that_the_script_writes(steps: list[dict[str, Any]]) -> None:
    [upload] = [step for step in steps if "upload-sarif" in step.get("uses", "")]
    assert upload["with"]["sarif_file"] == "sarif" and upload["if"] == "always()"


@pytest.mark.parametrize(("broken", "code"), [(False, 0), (True, 1)])
def test_script_writes_a_file_for_every_environment(
    steps: list[dict[str, Any]], tmp_path: Path, broken: bool, code: int
) -> None:
    """The script runs with a command in place of `trace-gym` that checks one property and fails for `broken.py`."""
    folder, commands = tmp_path / "my_envs", tmp_path / "bin"
    folder.mkdir()
    commands.mkdir()
    for name in ["first", "second one", *(["broken"] if broken else [])]:
        (folder / f"{name}.py").write_text("")
    stub = f"#!{sys.executable}\nimport sys, pathlib\nargs = sys.argv[1:]\n"
    stub += "pathlib.Path(args[args.index('--sarif') + 1]).write_text('{}')\nsys.exit('broken' in args[1])\n"
    (commands / "trace-gym").write_text(stub)
    (commands / "trace-gym").chmod(0o755)
    env = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(["bash", "-e", "-c", script(steps, "Validate")], cwd=tmp_path, env=env)
    assert run.returncode == code
    written = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "sarif").glob("*.sarif")}
    assert written.keys() == {path.stem for path in folder.glob("*.py")}

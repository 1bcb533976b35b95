"""The tutorials work as printed, in an empty directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from snippets import ROOT, shell

pytestmark = pytest.mark.slow

FAILS = "# exit code 1"
"""Comment in a shell block whose command must end with exit code 1."""
TUTORIALS = [p for p in sorted((ROOT / "docs" / "tutorials").glob("*.md")) if p.stem != "index"]


def follow(page: Path, folder: Path) -> list[str]:
    """Save the Python blocks as the files that their first lines name, run the shell blocks, and return the outputs.

    A text block is a part of the output of the shell block before it. White space is ignored.
    """
    outputs = []
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), flags=re.S | re.M):
        if language == "text":
            assert " ".join(block.split()) in " ".join(outputs[-1].split()), f"{page.name}: the output has changed"
        elif language == "python":
            (folder / block.partition("\n")[0].removeprefix("# ")).write_text(block)
        else:
            assert language == "sh", f"{page.name}: a block in {language} is not run"
            outputs.append(shell(f"set +e\n{block}[ $? -eq 1 ]" if FAILS in block else block, folder))
    return outputs


def test_there_are_four_tutorials() -> None:
    assert len(TUTORIALS) == 4


def test_environment_is_run_as_printed(tmp_path: Path) -> None:
    shown, started, acted, scored = follow(ROOT / "docs/tutorials/run_an_environment.md", tmp_path)
    assert "goal: KVYN78 is cancelled" in shown
    assert started.startswith("tau2_precondition/0/7\n")
    assert acted.splitlines()[-1].startswith("1.0 True")
    assert float(scored.splitlines()[0]) < 1


def test_environment_is_validated_as_printed(tmp_path: Path) -> None:
    page = ROOT / "docs/tutorials/validate_your_environment.md"
    failed, _, passed, guessed, corrected, attacked, _ = follow(page, tmp_path)
    assert re.search(r"TG101 .*fails", failed) and "self.np_random" in failed
    assert passed.startswith("passed") and (tmp_path / "report.json").is_file()
    assert re.search(r"TG601 .*fails", guessed) and corrected.startswith("passed") and attacked == "0.0\n"


def test_adapter_is_trained_as_printed(tmp_path: Path) -> None:
    pytest.importorskip("peft")
    *_, compared = follow(ROOT / "docs/tutorials/train_an_adapter.md", tmp_path)
    assert (tmp_path / "runs/precondition/adapter/adapter_config.json").is_file()
    assert re.search(r"^base\b", compared, re.M) and re.search(r"^adapter\b", compared, re.M)


def test_agent_is_diagnosed_as_printed(tmp_path: Path) -> None:
    page = ROOT / "docs/tutorials/diagnose_your_agent.md"
    _, diagnosis, evidence = follow(page, tmp_path)
    [line] = re.findall(r"output is `(.*?)`", page.read_text())
    assert diagnosis.startswith(line)
    assert evidence.startswith("multi_step_completion ") and "renew_book" in evidence

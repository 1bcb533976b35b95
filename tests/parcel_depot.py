"""Files and commands of the parcel depot, a target that a user adds."""

from __future__ import annotations

from pathlib import Path

import typer
from typer.testing import CliRunner

from trace_gym.cli import targets as cli
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.targets.user.start import init

__all__ = ["DATA", "EPISODES", "POLICY", "TOOLS", "begun", "run"]

DATA = Path(__file__).parent / "data" / "parcel_depot"
TOOLS, POLICY, EPISODES = DATA / "tools.json", DATA / "policy.md", DATA / "episodes.jsonl"


def begun(place: Path) -> TargetFolder:
    """Start the target of the parcel depot in a folder."""
    return init(place, tools=TOOLS, policy=POLICY, trajectories=[EPISODES])


def run(*arguments: object) -> tuple[int, str]:
    """Run a command about targets, and return its exit code and its output."""
    alone = typer.Typer()
    cli.register(alone)
    alone.callback()(lambda: None)
    done = CliRunner().invoke(alone, list(map(str, arguments)))
    return done.exit_code, f"{done.output}{done.exception or ''}"

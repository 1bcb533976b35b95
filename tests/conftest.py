"""Fixtures that tests share: a user's own folder of environments, out of tree, and episodes in it."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

# One thread a process: the suite runs in several, and threads that compete are slower than none.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# A shell starts background jobs with SIGINT ignored, which the commands that tests interrupt would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.registration import VARIABLE
from trace_gym.sandbox import describe
from trace_gym.types import Report, Scenario

TOY = "library_loans"
PASSED = Report(passed=True, findings=(), scenarios=0)


@pytest.fixture
def clean_registry() -> Iterator[None]:
    """Folders that a test adds are gone after it."""
    before = os.environ.pop(VARIABLE, None)
    registry.refresh()
    yield
    os.environ.pop(VARIABLE, None)
    if before is not None:
        os.environ[VARIABLE] = before
    registry.refresh()


@pytest.fixture
def user_folder(tmp_path: Path, clean_registry: None) -> Path:
    """A searched folder with the environment `TOY`, its manifest, and a mixture of it."""
    folder = tmp_path / "my envs"
    folder.mkdir()
    shutil.copy(Path(__file__).parent / "user_folder" / f"{TOY}.py", folder)
    registry.admit(folder / f"{TOY}.py", PASSED, author="hand", describe=describe)
    twin = (folder / f"{TOY}.py").read_text().replace(f'id = "{TOY}"', 'id = "twin_loans"')
    (folder / "twin_loans.py").write_text(twin)
    registry.admit(folder / "twin_loans.py", PASSED, author="hand", describe=describe)
    mixture = {"id": "toy_mixture", "mixture": {TOY: 3, "twin_loans": 1}}
    (folder / "toy_mixture.json").write_text(json.dumps(mixture))
    registry.add_folder(folder)
    return folder


@pytest.fixture
def episode() -> Episode:
    """An attempt at a problem of the toy environment with one late book."""
    world = registry.world_at(Path(__file__).parent / "user_folder" / f"{TOY}.py")
    return Episode(world, Scenario(env=TOY, level=1, seed=7))

"""Tests of the graders for OpenEnv's validation against its registry, policy and server.

The tests run if openenv is installed (``pip install openenv`` in a separate environment) and are skipped otherwise.
"""

from __future__ import annotations

import socket
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

openenv = pytest.importorskip("openenv.validation", reason="openenv is not installed; pip install openenv")

from openenv.core.env_server.http_server import create_fastapi_app  # noqa: E402
from openenv.core.env_server.interfaces import Environment  # noqa: E402
from openenv.core.env_server.types import Action, Observation, State  # noqa: E402
from openenv.validation.manifest import NormalizedManifest  # noqa: E402
from openenv.validation.runtime.scheduler import execute_graders  # noqa: E402

from trace_gym.validation.third_party import graders  # noqa: E402

ENTRIES = {
    "trace_gym_episode_determinism": "EpisodeDeterminism",
    "trace_gym_episode_isolation": "EpisodeIsolation",
    "trace_gym_floor_gap": "FloorGap",
}
"""Entry points as in pyproject.toml."""


class Said(Action):  # type: ignore[misc]
    text: str


class Heard(Observation):  # type: ignore[misc]
    text: str = ""


class Guess(Environment):  # type: ignore[misc]
    """The number is the seed, doubled."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    idle = 0.0
    shared: ClassVar[list[int]] = []

    def __init__(self) -> None:
        super().__init__()
        self.seed = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kw: Any) -> Heard:
        self.seed = seed or 0
        self.shared.append(self.seed)
        return Heard(text=f"What is {self.seed} doubled?", done=False, reward=None)

    def answer(self) -> int:
        return 2 * self.seed

    def step(self, action: Said, timeout_s: float | None = None, **kw: Any) -> Heard:
        right = action.text == str(self.answer())
        return Heard(
            text="Right." if right else f"It is {self.answer()}.", done=True, reward=1.0 if right else self.idle
        )

    @property
    def state(self) -> State:
        return State(step_count=0)


class Talkative(Guess):
    """Pays for any word, and answers by whatever has been asked of the process before."""

    idle = 0.7

    def answer(self) -> int:
        return len(self.shared)


@pytest.fixture
def serve() -> Iterator[Any]:
    import uvicorn

    started = []

    def start(environment: type[Environment]) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        app = create_fastapi_app(environment, Said, Heard, max_concurrent_envs=8)
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        started.append((server, thread))
        while not server.started:
            time.sleep(0.02)
        return f"http://127.0.0.1:{port}"

    yield start
    for server, thread in started:
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def registry() -> Any:
    """Return OpenEnv's registry with the entry points of the installed packages, including this one."""
    made = openenv.GraderRegistry()
    assert made.load_entry_points() >= len(ENTRIES)
    return made


def subject(url: str | None, **capabilities: Any) -> Any:
    manifest = NormalizedManifest.model_validate(
        {
            "manifest_schema_version": "1",
            "name": "guess",
            "signature": "openenv.yaml",
            "reward": {"range": [0.0, 1.0], "floor_margin": 0.5},
            "resources": {"cpu": 1, "memory_mb": 64, "disk_mb": 64, "episode_timeout_s": 60},
            "capabilities": {"verifier": {"kind": "reward_channel"}, **capabilities},
            "types": {"tags": ["toy"]},
        }
    )
    running = SimpleNamespace(base_url=url) if url else None
    return openenv.Subject(Path(), manifest, None, running, Path())


def graded(registry: Any, subject: Any) -> dict[str, Any]:
    selected = registry.select(subject.manifest, openenv.Level.SEMANTIC)
    began = openenv.CheckResult(check_id="runtime.startup", status="pass", duration_s=0)
    return {r.check_id: r for r in execute_graders(selected, subject, prior=[began])}


def test_graders_are_entry_points() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    named = {name: f"{graders.__name__}:{made}" for name, made in ENTRIES.items()}
    assert project.get("entry-points", {}).get(openenv.ENTRY_POINT_GROUP) == named


def test_openenv_policy_contains_every_check() -> None:
    known = openenv.load_policy("v2").entries_for_lane(openenv.Lane.LOCAL)
    for name in ENTRIES.values():
        made = getattr(graders, name)()
        assert isinstance(made, openenv.Grader) and known[made.check_id].level is made.level


def test_valid_server_passes(registry: Any, serve: Any) -> None:
    found = graded(registry, subject(serve(Guess)))
    assert {k: r.status.value for k, r in found.items()} == dict.fromkeys(
        ("runtime.episode_determinism", "runtime.episode_isolation", "semantic.floor_gap"), "pass"
    ), [r.evidence for r in found.values()]
    assert found["semantic.floor_gap"].measured["measured_floor"] == 0.0
    assert openenv.apply_policy(list(found.values()), openenv.load_policy("v2"), openenv.Lane.LOCAL).value == "pass"


def test_stateful_server_with_no_op_reward_fails(registry: Any, serve: Any) -> None:
    running = subject(serve(Talkative))
    found = graded(registry, running)
    assert found["runtime.episode_determinism"].status.value == "fail"
    assert "a different observation" in found["runtime.episode_determinism"].evidence[0]
    assert found["runtime.episode_determinism"].remediation
    assert found["semantic.floor_gap"].status.value == "skip"  # nothing is said of rewards that are not repeatable
    floor = graders.FloorGap().run(running)
    assert (floor.status.value, floor.measured["measured_floor"]) == ("fail", 0.7)


def test_stopped_or_llm_judged_server_is_skipped(registry: Any) -> None:
    assert {r.status.value for r in graded(registry, subject(None)).values()} == {"skip"}
    judged = SimpleNamespace(capabilities=SimpleNamespace(llm_judged=True))
    assert not graders.EpisodeDeterminism().applies_to(judged)

"""Threads, processes and async clients open their first episodes at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import gymnasium
import pytest
from conftest import PASSED, TOY

from trace_gym import file_cache, registry, schemas
from trace_gym.episode import Episode, interface_of
from trace_gym.errors import EnvBug, TamperedEnv
from trace_gym.file_cache import FileCache
from trace_gym.registration import VARIABLE
from trace_gym.sandbox import describe
from trace_gym.types import Interface, Scenario
from trace_gym.world import World

ROOT = Path(__file__).parents[1]

HEADER = """
import asyncio, json, pickle, sys, threading
from concurrent.futures import ThreadPoolExecutor
import trace_gym
from trace_gym import registry
sys.setswitchinterval(1e-5)  # threads change places in the middle of an import
names, hashes = registry.list_environments(), {}
together = threading.Barrier(2 * len(names), timeout=120)

def first(name, wait=True):
    if wait:
        together.wait()
    episode = registry.start_episode(f"{name}/0/7")
    assert type(pickle.loads(pickle.dumps(episode.world))) is type(episode.world)
    return name, episode.finish() and episode.state_hash, id(type(episode.world)), id(episode.interface)
"""
ENDINGS = {
    "threads": """
with ThreadPoolExecutor(2 * len(names)) as pool:
    rows = list(pool.map(first, [*names, *names]))
""",
    "one environment": """
with ThreadPoolExecutor(2 * len(names)) as pool:
    rows = list(pool.map(first, [names[0]] * 2 * len(names)))
""",
    "async clients": """
async def clients():
    return await asyncio.gather(*(asyncio.to_thread(first, n, False) for n in [*names, *names]))
rows = asyncio.run(clients())
""",
    "refreshes": """
def refreshing(name):
    together.wait()
    for _ in range(3):
        registry.refresh()
        assert registry.list_environments() == names, "the list was incomplete"
    return first(name, False)
with ThreadPoolExecutor(2 * len(names)) as pool:
    jobs = [*(pool.submit(refreshing, n) for n in names), *(pool.submit(first, n) for n in names)]
    rows = [job.result() for job in jobs]
""",
}
PRINT = """
for name, *found in rows:
    hashes.setdefault(name, []).append(found)
assert all(f == found[0] for found in hashes.values() for f in found), "two classes of one environment"
print(json.dumps({name: found[0][0] for name, found in hashes.items()}))
"""


def start(script: str) -> subprocess.Popen[str]:
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", script], stdout=-1, stderr=-1, text=True, env=path)


def finish(process: subprocess.Popen[str]) -> dict[str, str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err[-3000:]
    made: dict[str, str] = json.loads(out)
    return made


@pytest.mark.parametrize("way", ENDINGS)
def test_first_episodes_open_concurrently_in_a_fresh_interpreter(way: str) -> None:
    hashes = finish(start(HEADER + ENDINGS[way] + PRINT))
    assert set(hashes) == set(
        registry.list_environments() if way != "one environment" else registry.list_environments()[:1]
    )
    name = next(iter(hashes))
    episode = registry.start_episode(f"{name}/0/7")
    episode.finish()
    assert hashes[name] == episode.state_hash


def test_processes_open_first_episodes_concurrently() -> None:
    running = [start(HEADER + "rows = [first(n, False) for n in names[:8]]\n" + PRINT) for _ in range(3)]
    first, *others = map(finish, running)
    assert all(other == first for other in others)


def in_threads(work: Any, count: int = 8) -> list[Any]:
    """The results of `count` threads that start `work(n)` at the same moment."""
    together = Barrier(count, timeout=60)

    def one(n: int) -> Any:
        together.wait()
        return work(n)

    with ThreadPoolExecutor(count) as pool:
        return [job.result() for job in [pool.submit(one, n) for n in range(count)]]


SLOW = '''
import threading
from dataclasses import dataclass
from typing import Self
from trace_gym.world import Random, World
from {hook} import runs, enter

runs.append({version})
enter()

@dataclass
class Slow(World):
    """A world whose module takes long to import."""

    id = "{name}"
    number: int = {version}

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls()

    def opening(self) -> str:
        return "Hello."
'''


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a module of a world, whose import calls `enter` of the returned hook in the middle."""
    hook = type(sys)("slow_hook")
    hook.runs, hook.enter = [], lambda: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "slow_hook", hook)
    monkeypatch.delitem(sys.modules, "trace_gym.generated_envs.slow_world", raising=False)

    def write(version: int, name: str = "slow_world") -> Path:
        path = tmp_path / f"{name}.py"
        path.write_text(SLOW.format(hook="slow_hook", version=version, name=name))
        return path

    hook.write = write  # type: ignore[attr-defined]
    return hook


def test_thread_waits_for_module_that_another_thread_executes(slow: Any) -> None:
    path = slow.write(1)
    others: list[Any] = []
    threads = [Thread(target=lambda: others.append(registry.world_at(path))) for _ in range(6)]

    def enter() -> None:  # they come while the module is half executed
        for thread in threads:
            thread.start()

    slow.enter = enter
    world = registry.world_at(path)
    for thread in threads:
        thread.join(60)
    assert others == [world] * 6
    assert slow.runs == [1]


def test_pickle_arriving_during_first_import_waits(slow: Any) -> None:
    import pickle

    path = slow.write(1)
    blob = pickle.dumps(registry.world_at(path)())
    del sys.modules["trace_gym.generated_envs.slow_world"]
    arrived: list[Any] = []
    thread = Thread(target=lambda: arrived.append(pickle.loads(blob)))
    slow.enter = thread.start
    world = registry.world_at(path)
    thread.join(60)
    assert [type(a) for a in arrived] == [world]


def test_concurrent_reload_of_edited_module_makes_one_class(slow: Any) -> None:
    old = registry.world_at(slow.write(1))
    path = slow.write(2)
    classes = in_threads(lambda n: registry.world_at(path))
    assert len(set(classes)) == 1
    assert classes[0] is not old
    assert slow.runs == [1, 2]
    assert Episode(classes[0], Scenario(env="slow_world", level=0, seed=0)).world.number == 2  # type: ignore[attr-defined]


def test_failed_import_keeps_previous_class_usable(slow: Any) -> None:
    import pickle

    old = registry.world_at(slow.write(1))
    path = slow.write(2)

    def fail() -> None:
        raise RuntimeError("no such luck")

    slow.enter = fail

    def load(n: int) -> None:
        with pytest.raises(EnvBug, match="no such luck"):
            registry.world_at(path)

    in_threads(load, 4)
    assert type(pickle.loads(pickle.dumps(old()))) is old


def test_files_of_one_name_do_not_mix(slow: Any, tmp_path: Path) -> None:
    first = slow.write(1)
    (tmp_path / "other").mkdir()
    second = tmp_path / "other" / first.name
    second.write_text(SLOW.format(hook="slow_hook", version=2, name="slow_world"))
    worlds = in_threads(lambda n: (n, registry.world_at(first if n % 2 else second)))
    assert all(world().number == (1 if n % 2 else 2) for n, world in worlds)


@pytest.mark.parametrize("name", ["with.dots", "with-dash", ".hidden"])
def test_module_file_with_unusual_name_is_refused_or_loaded(slow: Any, name: str) -> None:
    path = slow.write(1, name)
    try:
        assert registry.world_at(path).id == name
    except EnvBug as error:
        assert name in str(error)


def test_environment_ids_stay_registered_during_refresh(user_folder: Path) -> None:
    names, missing = registry.list_environments(), list[str]()
    ids = list(map(registry.gym_id, names))

    def look(n: int) -> None:
        for _ in range(10 if n == 0 else 300):
            if n == 0:
                registry.refresh()
            missing.extend(i for i in ids if i not in gymnasium.registry)
            assert registry.list_environments() == names
            registry.load_world(TOY)

    in_threads(look, 4)
    assert missing == []


def test_folders_added_concurrently_are_all_searched(tmp_path: Path, clean_registry: None) -> None:
    template = (Path(__file__).parent / "user_folder" / f"{TOY}.py").read_text()
    for n in range(4):
        (tmp_path / f"folder{n}").mkdir()
        module = tmp_path / f"folder{n}" / f"loans{n}.py"
        module.write_text(template.replace(f'id = "{TOY}"', f'id = "loans{n}"'))
        registry.admit(module, PASSED, author="hand", describe=describe)
    added = in_threads(lambda n: registry.add_folder(tmp_path / f"folder{n}"), 4)
    assert sorted(n for names in added for n in names) == [f"loans{n}" for n in range(4)]
    assert {f"loans{n}" for n in range(4)} <= set(registry.list_environments())
    assert len(os.environ[VARIABLE].split(os.pathsep)) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_fork_during_refresh_leaves_the_child_usable(clean_registry: None) -> None:
    from trace_gym import registration

    with ThreadPoolExecutor(1) as pool:
        pool.submit(registration._refreshing.acquire).result()  # a thread that the child does not have
        if (child := os.fork()) == 0:
            registry.refresh()
            os._exit(0 if registry.list_environments() else 1)
        assert os.waitpid(child, 0)[1] == 0
        pool.submit(registration._refreshing.release).result()


def test_interface_is_built_once_for_all_threads(slow: Any) -> None:
    class Counting(World):
        id = "counting"

    assert len({id(i) for i in in_threads(lambda n: interface_of(Counting))}) == 1


def test_schema_table_survives_concurrent_eviction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "_KEPT", 1)

    def tool(n: int, k: int) -> dict[str, Any]:
        return {"type": "function", "function": {"name": f"t{n}_{k}", "parameters": {"type": "object"}}}

    def compile_many(n: int) -> None:
        for k in range(50):
            made = Interface(name="x", policy="", tools=(tool(n, k),), kinds={f"t{n}_{k}": "read"})
            assert list(schemas.tools_of(made)) == [f"t{n}_{k}"]

    in_threads(compile_many, 4)


def test_edit_with_kept_size_and_time_is_noticed(user_folder: Path) -> None:
    module = user_folder / f"{TOY}.py"
    long_ago = 1_000_000_000
    os.utime(module, (long_ago, long_ago))
    registry.load_world(TOY)
    text = module.read_text()
    edited = text.replace("library", "librarY", 1)
    assert len(edited) == len(text) and edited != text
    module.write_text(edited)
    os.utime(module, (long_ago, long_ago))
    with pytest.raises(TamperedEnv):
        registry.load_world(TOY)


def test_each_of_many_quick_edits_is_noticed(user_folder: Path) -> None:
    module = user_folder / f"{TOY}.py"
    good = module.read_bytes()
    for _ in range(50):  # within one tick of the file system's clock
        registry.load_world(TOY)
        module.write_bytes(good.replace(b"library", b"librarY", 1))
        with pytest.raises(TamperedEnv):
            registry.load_world(TOY)
        module.write_bytes(good)


def test_edit_with_restored_modification_time_is_noticed_in_a_settled_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, file, then = FileCache(bytes.decode), tmp_path / "kept.txt", time.time_ns()
    monkeypatch.setattr(file_cache.time, "time_ns", lambda: then + 3_600_000_000_000)  # so every file is settled
    for content in (b"old", b"new"):
        file.write_bytes(content)
        os.utime(file, (1_000_000_000, 1_000_000_000))
        assert kept(file) == content.decode()
        time.sleep(0.02)  # more than a tick of the file system's clock


def test_edit_within_one_tick_of_the_clock_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tick = time.time_ns() - 1_000_000_000
    monkeypatch.setattr(file_cache, "stamp_of", lambda _: (tick, tick, 3, 1))
    kept, file = FileCache(bytes.decode), tmp_path / "kept.txt"
    for content in (b"old", b"new"):
        file.write_bytes(content)
        assert kept(file) == content.decode()


def test_admitted_module_is_read_once(user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_cache, "SETTLED_NS", 0)
    registry.load_world(TOY)
    reads: list[Path] = []

    def read_bytes(self: Path) -> bytes:
        reads.append(self)
        return plain(self)

    plain = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    for seed in range(5):
        registry.start_episode(f"{TOY}/0/{seed}")
    assert reads == []

"""The menu: legal calls and phrases of a conversation, by number, for agents without a language model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import PASSED, TOY
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from trace_gym import registry
from trace_gym.adapters.sb3 import Menu, MenuEnv
from trace_gym.adapters.sb3.offers import CHOICES
from trace_gym.adapters.sb3.talk import FILLER
from trace_gym.adapters.sb3.vocabulary import learn, vocabulary, when
from trace_gym.errors import ConfigError, ScenarioError
from trace_gym.sandbox import describe
from trace_gym.schemas import complaint_about
from trace_gym.types import Call, Say

ROOT = Path(__file__).resolve().parents[1]
ENV = "tau2_precondition"

Wanted = Callable[[Call | Say], bool]


def call(tool: str, **arguments: Any) -> Wanted:
    return lambda a: isinstance(a, Call) and a.tool == tool and arguments.items() <= a.arguments.items()


def say(*words: str) -> Wanted:
    return lambda a: isinstance(a, Say) and all(w in a.text for w in words)


def pick(env: MenuEnv, wanted: Wanted) -> tuple[float, bool, dict[str, Any]]:
    """Take the first slot on offer that does what is wanted."""
    slot = next(n for n, c in enumerate(env.offered) if c.offered and wanted(c.action))
    assert env.action_masks()[slot]
    _, paid, ended, cut, info = env.step(np.int64(slot))
    return paid, ended or cut, info


@pytest.mark.parametrize("name", [ENV, "tau2_mixture", TOY, "toy_mixture"])
def test_gymnasium_finds_no_fault(name: str, user_folder: Path) -> None:
    spec = EnvSpec("menu-v0", entry_point="trace_gym.adapters.sb3:MenuEnv", kwargs={"name": name})
    check_env(gymnasium.make(spec, render_mode="ansi").unwrapped)  # warnings are errors here


def test_stable_baselines3_finds_no_fault(user_folder: Path) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="pip install 'trace-gym[sb3]'")
    checker.check_env(MenuEnv(TOY), warn=True)
    checker.check_env(MenuEnv(ENV, level=0), warn=True)


@pytest.mark.parametrize("name", registry.list_environments())
def test_every_action_of_every_environment_is_legal_and_well_typed(name: str) -> None:
    level, rng = registry.level_count(name) - 1, np.random.default_rng(0)
    menu = Menu(registry.load_world(name).interface().tools, learn(registry.scenarios(name, n=3, levels=[level])))
    for scenario in registry.scenarios(name, "validate", 2, levels=[level]):
        episode = registry.start_episode(scenario)
        while not episode.done:
            offered = menu.offer(episode.messages)
            seen = menu.encode(episode.messages)
            assert (len(offered), seen.shape, seen.dtype) == (menu.slots, (menu.size,), np.float32)
            assert 0 <= seen.min() <= seen.max() <= 1
            for choice in offered:
                assert isinstance(choice.action, Say) or not complaint_about(choice.action, episode.interface)
            episode.step(offered[rng.choice([n for n, c in enumerate(offered) if c.offered])].action)
        assert episode.malformed == 0


def test_a_scenario_can_be_solved_and_failed_from_the_menu() -> None:
    env = MenuEnv(ENV, level=0, split="validate")
    look, refuse, told = call("get_reservation_details"), say("cannot"), say("created_at")
    outcomes = set()
    for seed in range(12):
        env.reset(seed=seed)
        pick(env, look)
        allowed = json.loads(env.text.episode.messages[-1]["content"])["cabin"] == "business"
        if allowed:
            steps = [say("amount"), call("cancel_reservation"), say("All done.")]
        else:
            steps = [told, refuse]
        *_, (paid, done, info) = [pick(env, step) for step in steps]
        assert (paid, done, info["success"]) == (1.0, True, True)
        outcomes.add(allowed)
        env.reset(seed=seed)
        *_, (paid, done, info) = [pick(env, s) for s in (call("cancel_reservation"), say("amount"), say("All done."))]
        assert (info["success"], paid) == ((True, 0.8) if allowed else (False, paid))  # without consent
    assert outcomes == {True, False}


def test_what_was_done_is_offered_once_and_what_was_refused_again() -> None:
    env = MenuEnv("tau2_multi_step", level=0)
    env.reset(seed=3)
    slot = next(n for n, c in enumerate(env.offered) if call("cancel_reservation")(c.action))
    phrase = next(n for n, c in enumerate(env.offered) if say("proceed")(c.action))
    for n, again in ((slot, False), (phrase, True)):
        assert env.offered[n] == (env.offered[n].action, True, False, False)
        observed = env.step(np.int64(n))[0]
        assert env.offered[n][1:] == (again, True, False)
        first = env.menu.size - 4 * env.menu.slots + 4 * n
        assert observed[first : first + 3].tolist() == [again, True, False]
    answers = [{"role": "tool", "content": "Error: not today."}, {"role": "tool", "content": "{}"}]
    turn, opening = env.text.episode.messages[2], env.text.episode.messages[:2]
    for answer, judged in zip(answers, [(True, True, True), (False, True, False)], strict=True):
        assert env.menu.offer([*opening, turn])[slot][1:] == (False, True, False)  # not answered yet
        assert env.menu.offer([*opening, turn, answer])[slot][1:] == judged


def test_a_slot_without_an_offer_stands_for_another() -> None:
    env = MenuEnv(ENV, level=0)
    env.reset(seed=0)
    idle = [n for n, c in enumerate(env.offered) if not c.offered]
    assert idle and all(env.offered[n].action == FILLER for n in idle)
    taken = {str(env.chosen(n)) for n in idle}
    assert str(FILLER) not in taken
    assert taken <= {str(c.action) for c in env.offered if c.offered}
    assert len(taken) > 5


def test_the_menu_sees_what_an_agent_sees() -> None:
    env = MenuEnv(ENV, level=1)
    seen, _ = env.reset(seed=5)
    read = json.loads(json.dumps(env.text.episode.messages))
    world = env.text.episode.world
    vars(world).clear()  # whatever the world holds, the menu does not ask it
    again = env.menu.offer(read)
    assert again == env.offered
    assert np.array_equal(env.menu.encode(read), seen)


@pytest.mark.parametrize(
    "name", [ENV, "tau2_mixture", "tau2_structured_data", "tau2_retail_multi_step", "toolsandbox_state_dependency"]
)
def test_a_conversation_that_is_followed_offers_what_one_read_at_once_does(name: str) -> None:
    env, rng = MenuEnv(name), np.random.default_rng(0)
    for seed in range(6):
        seen, _ = env.reset(seed=seed)
        done = False
        while not done:
            calls = [n for n, c in enumerate(env.offered) if c.offered and isinstance(c.action, Call)]
            usable = calls if calls and rng.random() < 0.7 else np.flatnonzero(env.action_masks())
            seen, _, ended, cut, _ = env.step(rng.choice(usable))
            done = ended or cut
            messages = env.text.episode.messages
            afresh = Menu(env.menu.tools, env.menu.vocabulary)
            assert afresh.offer(messages) == env.offered
            assert np.array_equal(afresh.encode(messages), seen)


def test_the_menu_tells_which_call_the_user_means() -> None:
    env = MenuEnv("tau2_tool_precision", level=0)
    met = set()
    for seed in range(8):
        env.reset(seed=seed)
        pick(env, call("get_reservation_details"))
        pick(env, call("get_user_details"))
        meant = "gift_card" if "gift card" in env.text.episode.messages[1]["content"] else "credit_card"
        seen = env.menu.encode(env.text.episode.messages)
        fits = seen[env.menu.size - 4 * env.menu.slots :].reshape(-1, 4)[:, 3]
        named = {
            str(c.action.arguments["payment_id"]): fit
            for c, fit in zip(env.offered, fits, strict=True)
            if call("update_reservation_flights", cabin="business")(c.action) and isinstance(c.action, Call)
        }
        assert len(named) == 2
        assert max(named, key=lambda k: named[k]).startswith(meant)
        met.add(meant)
    assert met == {"gift_card", "credit_card"}


def test_a_time_lies_before_or_after_the_time_of_the_instructions() -> None:
    from datetime import datetime

    now = datetime(2024, 5, 15, 15)
    times = ["2024-05-14", "2024-05-14T15:00:01", "2024-05-15T15:00:00", "2024-05-16 09:00:00", "2024-05-20", "soon"]
    assert [when(t, now) for t in times] == [0, 1, 1, 2, 3, None]
    env = MenuEnv(ENV)
    expected = env.menu.vocabulary
    first = 2 + len(expected.words) + len(expected.facts) + 4 * expected.times.index("created_at")
    met = set()
    for seed in range(8):
        env.reset(seed=seed)
        pick(env, call("get_reservation_details"))
        created = json.loads(env.text.episode.messages[-1]["content"])["created_at"]
        place = env.menu.encode(env.text.episode.messages)[first : first + 4].tolist()
        assert place == [float(when(created, now) == n) for n in range(4)]
        met.add(tuple(place))
    assert len(met) > 1


def test_the_vocabulary_is_the_same_in_every_process() -> None:
    code = f"from trace_gym.adapters.sb3.vocabulary import vocabulary; print(vocabulary({ENV!r}, 1))"
    environ = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT)}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    found = vocabulary(ENV, 1)
    assert told.stdout.strip() == str(found)
    assert {("cabin", "business"), ("insurance", "yes")} <= set(found.facts)
    assert {"ill", "weather"} <= set(found.words)
    assert "created_at" in found.times and {"created_at", "amount"} <= set(found.fields)
    assert "reservation_id" not in found.fields  # the user named it
    assert max(found.calls) == CHOICES


def test_a_bad_order_is_answered() -> None:
    with pytest.raises(ScenarioError, match="has no level 9: expected an integer from 0 to 3"):
        MenuEnv(ENV, level=9)
    with pytest.raises(ConfigError, match="unknown split: found 'dev'"):
        MenuEnv(ENV, split="dev")


def test_parts_of_a_mixture_must_have_one_menu(user_folder: Path) -> None:
    both = {"id": "odd_mixture", "mixture": {TOY: 1, ENV: 1}}
    (user_folder / "odd_mixture.json").write_text(json.dumps(both))
    registry.refresh()
    with pytest.raises(ConfigError, match="must have the same tools"):
        MenuEnv("odd_mixture")


LAMPS = '''
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.world import Call, Check, Random, Say, ToolError, World, tool

ROOMS = ("kitchen", "hall", "cellar", "attic")


@dataclass
class Lamps(World):
    """You switch lamps for people who name the room."""

    id, capability, max_turns = "lamps", "look_before_switching", 8
    rooms: dict[str, str]
    room: str
    on: list[str] = field(default_factory=list)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        rooms = rng.sample(ROOMS, k=2)
        return cls({f"L{n}": room for n, room in enumerate(rooms, 1)}, rng.choice(rooms))

    def opening(self) -> str:
        return f"Light in the {self.room}, please."

    def reply(self, text: str) -> str | None:
        return None if "done" in text else "Please hurry."

    @tool
    def list_lamps(self) -> list[dict[str, Any]]:
        """List the lamps."""
        return [{"lamp": lamp, "room": room} for lamp, room in self.rooms.items()]

    @tool(kind="write")
    def switch_on(self, lamp: str) -> str:
        """Switch a lamp on.

        Args:
            lamp: The lamp, such as L9.
        """
        if lamp not in self.rooms:
            raise ToolError(f"there is no lamp {lamp}")
        self.on.append(lamp)
        return "on"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield Check.goal(f"there is light in the {self.room}", self.room in [self.rooms[n] for n in self.on])
        yield Check.guard("no other lamp was touched", all(self.rooms[n] == self.room for n in self.on))

    def oracle(self) -> Iterator[Call | Say]:
        yield Call("list_lamps")
        yield Call("switch_on", {"lamp": next(n for n, room in self.rooms.items() if room == self.room)})
        yield Say("All done.")

    def ablated(self) -> Iterator[Call | Say]:
        yield Call("switch_on", {"lamp": "L1"})
        yield Say("All done.")
'''


def test_ppo_learns_a_users_environment(tmp_path: Path, clean_registry: None) -> None:
    ppo = pytest.importorskip("stable_baselines3", reason="pip install 'trace-gym[sb3]'").PPO
    from stable_baselines3.common.env_util import make_vec_env

    (tmp_path / "lamps.py").write_text(LAMPS)
    registry.admit(tmp_path / "lamps.py", PASSED, author="hand", describe=describe)
    registry.add_folder(tmp_path)
    train = make_vec_env(MenuEnv, n_envs=8, seed=0, env_kwargs={"name": "lamps"})
    model = ppo("MlpPolicy", train, n_steps=64, batch_size=128, n_epochs=8, learning_rate=3e-3, ent_coef=0.02, seed=0)
    before = solved(model)
    model.learn(6000)
    assert before < 12 < 36 < solved(model)  # who does not look solves one in three


def solved(model: Any) -> int:
    """Return the number of forty unseen scenarios that a policy solves."""
    env, count = MenuEnv("lamps", split="test"), 0
    for seed in range(40):
        seen, _ = env.reset(seed=seed)
        done, info = False, {"success": False}
        while not done:
            seen, _, ended, cut, info = env.step(model.predict(seen, deterministic=True)[0])
            done = ended or cut
        count += info["success"]
    return count


def test_the_example_runs_as_the_docs_print_it(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib", reason="pip install 'trace-gym[sb3]'")
    pytest.importorskip("matplotlib", reason="pip install 'trace-gym[lab]'")
    example = ROOT / "examples" / "sb3_ppo.py"
    assert f"```python\n{example.read_text()}```\n" in (ROOT / "docs" / "guides" / "sb3.md").read_text()
    short = ["--masked", "--points", "1", "--steps", "2048", "--held-out", "4", "--plot", "curve.png"]
    run = subprocess.run(
        [sys.executable, str(example), *short],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert [line.strip().split("  ")[0] for line in run.stdout.splitlines()] == ["random", "ablated", "2048 steps"]
    assert "ablated    0%  [0%, 49%]" in run.stdout  # without the capability none of these is solved
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("given", "told"),
    [(["no_such"], "no environment is called 'no_such'"), ([ENV, "--plot", "no/such/c.png"], "No such file")],
)
def test_the_example_says_what_is_wrong_before_it_trains(given: list[str], told: str, tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="pip install 'trace-gym[sb3]'")
    pytest.importorskip("matplotlib", reason="pip install 'trace-gym[lab]'")
    command, env = (
        [sys.executable, str(ROOT / "examples" / "sb3_ppo.py"), *given],
        {**os.environ, "PYTHONPATH": str(ROOT)},
    )
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert (run.returncode, run.stdout) == (2, "")
    assert told in run.stderr and "Traceback" not in run.stderr


def test_the_wrapper_needs_neither_stable_baselines3_nor_torch() -> None:
    code = "import sys, trace_gym.adapters.sb3; print([m for m in ('stable_baselines3', 'torch') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert told.stdout.strip() == "[]"

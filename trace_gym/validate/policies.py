"""Whose groups are judged: a policy that is played here, or rollouts that any trainer has recorded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, MissingExtra, PolicyError, ReadError, ScenarioError
from trace_gym.files import read_text
from trace_gym.llm.address import endpoint_of
from trace_gym.parsing import parse_json
from trace_gym.policies import scripted
from trace_gym.policies.base import BatchPolicy, Policy
from trace_gym.policies.exploits import EXPLOITS
from trace_gym.rollout import collect
from trace_gym.types import Scenario
from trace_gym.validate.variance import Group
from trace_gym.world import World

ATTEMPTS = 8
"""Attempts at each problem, where they are played here."""
NAMES = ("group", "scenario", "task", "prompt_id", "problem")
"""Fields of a recorded rollout that may name its problem, first come first served."""
KINDS = "openai:MODEL[@URL], hf:FOLDER[+ADAPTER], rollouts:FILE[@LOW..HIGH], mixture:P"

SCRIPTED: dict[str, Callable[[], Policy]] = {
    "oracle": scripted.Oracle,
    "ablated": scripted.Ablated,
    "random": scripted.Random,
    **{name: partial(EXPLOITS.__getitem__, name) for name in EXPLOITS},
}
"""Policies without a model, by name."""


def resolve(text: str) -> Policy | BatchPolicy | list[Group]:
    """The policy, or the recorded groups, that a user names.

    ``openai:gpt-4o`` or ``openai:qwen@http://127.0.0.1:8000/v1`` is behind an endpoint, ``hf:runs/base+runs/lora`` a
    Hugging Face folder with a LoRA adapter, ``rollouts:log.jsonl@-1..1`` a log with rewards from -1 to 1, and
    ``mixture:0.4`` the expert with that probability. A name of `SCRIPTED` stands for itself.

    Raises:
        ConfigError: There is no such policy, or its endpoint has no key.
        ReadError: The file or the model cannot be read.
        MissingExtra: What it needs is not installed.
    """
    kind, _, rest = text.partition(":")
    match kind:
        case "openai" if rest:
            from trace_gym.policies.openai import OpenAIPolicy

            model, url = endpoint_of(text)
            return OpenAIPolicy(model, base_url=url, temperature=1.0)
        case "hf" if rest:
            from trace_gym.policies.hf import HFPolicy

            folder, adapter = _folders(rest)
            return HFPolicy.load(folder, adapter or None)
        case "rollouts" if rest:
            bounds = re.fullmatch(r"(.+)@(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)", rest)
            return recorded(bounds[1], float(bounds[2]), float(bounds[3])) if bounds else recorded(rest)
        case "mixture" if re.fullmatch(r"1|0?\.\d+|0", rest):
            return scripted.Mixture(float(rest))
    if text in SCRIPTED:
        return SCRIPTED[text]()
    raise ConfigError(f"there is no policy {text!r}; expected {KINDS}, or one of {', '.join(SCRIPTED)}")


def known(text: str) -> None:
    """Check that `resolve` will find a policy; a model is not loaded.

    Raises:
        ConfigError, ReadError, MissingExtra: As `resolve`, but for what only loading the model shows.
    """
    kind, _, rest = text.partition(":")
    if kind != "hf" or not rest:
        resolve(text)
        return
    folder, adapter = _folders(rest)
    if lacking := [m for m in ("torch", "transformers", *(["peft"] if adapter else [])) if find_spec(m) is None]:
        raise MissingExtra(f"{lacking[0]} is missing; pip install 'trace-gym[lab]'")
    for path, file in ((folder, "config.json"), (adapter, "adapter_config.json")):
        hub = re.fullmatch(r"[\w.-]+(/[\w.-]+)?", path) and not Path(path).exists()  # a name on the hub, perhaps
        if path and not hub and not (Path(path) / file).is_file():
            raise ReadError(f"cannot load {text}: {path} holds no {file}")


def _folders(names: str) -> tuple[str, str]:
    """A model and perhaps an adapter, of which either may be a name on the hub."""
    folder, _, adapter = (names, "", "") if Path(names).is_dir() else names.partition("+")
    return folder, adapter


class Playable(Protocol):
    """A world whose episodes run elsewhere, such as in the sandbox."""

    id: str
    levels: range

    def episode(self, scenario: Scenario) -> Episode: ...


def played(policy: Policy | BatchPolicy, world: type[World] | Playable, scenarios: Sequence[Scenario]) -> list[Group]:
    """The groups of a policy's attempts; what its infrastructure lost is left out.

    Raises:
        PolicyError: No attempt was scored, or a model's distribution is not finite.
        ConfigError: The endpoint refuses every request, or the model cannot be used this way.
        EnvBug: The environment failed.
    """
    episodes: Callable[[Scenario], Episode] = partial(Episode, world) if isinstance(world, type) else world.episode
    records = collect(policy, scenarios, samples=ATTEMPTS, progress=False, open_episode=episodes)
    scored = [(r.task, r.reward, r.success) for r in records if r.reward is not None]
    if records and not scored:
        raise PolicyError(f"none of {len(records)} attempts was scored; does its endpoint answer?")
    return _grouped(scored)


def recorded(path: str | Path, low: float = 0.0, high: float = 1.0) -> list[Group]:
    """The groups in a JSONL file: ours of ``trace-gym rollout``, or any trainer's.

    A line is one attempt, ``{"group": <id>, "reward": <number>, "success": <bool>}``, or a whole group,
    ``{"group": <id>, "rewards": [...], "successes": [...]}``. The id may be called as in `NAMES`, other fields are
    ignored, ``success`` may be missing, and an attempt whose reward is null is left out.

    Args:
        path: The file.
        low: The least that its rewards can be.
        high: The most; rewards are put on a scale from 0 to 1.

    Raises:
        ReadError: It cannot be read, or a line is none of these, or a reward lies outside the range.
        ConfigError: The range is empty.
    """
    if not low < high:
        raise ConfigError(f"rewards range from {low:g} to {high:g}; expected the least first, as in FILE@-1..1")
    lines = read_text(path, "Name a JSONL file of recorded rollouts").split("\n")
    attempts: list[tuple[str, float, bool | None]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            for problem, reward, success in _attempts(line, f"{path}:{number}"):
                if not low <= reward <= high:
                    says = f"pays {reward:g}, outside {low:g} to {high:g}; name the range of its rewards"
                    raise ReadError(f"{path}:{number} {says}: rollouts:{path}@LOW..HIGH")
                attempts.append((problem, (reward - low) / (high - low), success))
    if not attempts:
        raise ReadError(f"{path} holds no attempt with a reward")
    return _grouped(attempts)


def place(problem: str) -> tuple[str, int] | None:
    """Environment and level of a problem that is one of ours; None for any other."""
    try:
        scenario = Scenario.parse(problem)
    except ScenarioError:
        return None
    return scenario.env, scenario.level


def _attempts(line: str, where: str) -> list[tuple[str, float, bool | None]]:
    """What one line of a log tells: problem, reward and success of each scored attempt."""
    row = parse_json(line, where)
    named = next((row[n] for n in NAMES if row.get(n) is not None), None) if isinstance(row, Mapping) else None
    if named is None or not ("reward" in row or "rewards" in row):
        raise ReadError(f"{where} is no attempt; expected a reward, and the problem's id as one of {', '.join(NAMES)}")
    rewards = row["rewards"] if "rewards" in row else [row["reward"]]
    successes = row.get("successes") if "rewards" in row else [row.get("success")]
    if not isinstance(rewards, list) or not isinstance(successes := successes or [None] * len(rewards), list):
        raise ReadError(f"{where}: rewards and successes of a group must be lists")
    if len(successes) != len(rewards):
        raise ReadError(f"{where} has {len(rewards)} rewards and {len(successes)} successes")
    pairs = [(_number(r, where), s) for r, s in zip(rewards, successes, strict=True) if r is not None]
    return [(str(named), reward, None if success is None else bool(success)) for reward, success in pairs]


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ReadError(f"{where}: the reward is {value!r}; expected a finite number, or null if it was not scored")
    return float(value)


def _grouped(attempts: Iterable[tuple[str, float, bool | None]]) -> list[Group]:
    """The attempts by problem, in order of appearance; successes only where all attempts at the problem have one."""
    made: dict[str, list[tuple[float, bool | None]]] = {}
    for problem, reward, success in attempts:
        made.setdefault(problem, []).append((reward, success))
    groups = []
    for problem, rows in made.items():
        told = tuple(bool(s) for _, s in rows if s is not None)
        groups.append(Group(problem, tuple(r for r, _ in rows), told if len(told) == len(rows) else None))
    return groups

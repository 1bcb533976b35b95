"""TG1: the same address is the same problem, everywhere and always."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

from trace_gym.episode import Episode
from trace_gym.types import Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import plain
from trace_gym.validate.probe import digest, trace
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.validate.repeats import for_each, in_processes
from trace_gym.world import World

SETTINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns"},
)
"""What fresh processes differ in; the zones are a quarter and a half hour off."""
TIME_LIMIT = 600
"""Seconds for all fresh processes together."""
DISTINCT = 0.95
"""Share of the seeds of a level that must make problems of their own."""

REPLAY = "print(episode.state_hash, episode.messages)"


@prop(
    "TG101",
    statement="The same address is the same problem, however often and in whatever order it is begun.",
    reason="A GRPO group compares attempts at one problem; if the problem differs, so does what the reward means.",
    mend="Draw from the `rng` that `generate` is given, keep no state in the class or the module, and read no clock.",
)
def same_address_same_problem(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    alone: dict[str, str] = {}
    for scenario in scenarios:
        with context.blame(scenario, tail=REPLAY):
            alone[str(scenario)] = digest(world, scenario)
    for number, scenario in reversed(list(enumerate(scenarios))):
        with context.blame(scenario, tail=REPLAY):
            if digest(world, scenario) != alone[str(scenario)]:
                made = context.broken(scenario, "is another problem when it is begun again", tail=REPLAY)
                between = [str(scenario), str(scenarios[number - 1]), str(scenario)]
                raise Broken(made.says, for_each(made.counterexample, "scenario", between), replay=made.replay)
    _interleave(scenarios, context)
    return Held(f"{len(scenarios)} scenarios are alike alone, repeated in reverse, and played by turns")


def _interleave(scenarios: Sequence[Scenario], context: Context) -> None:
    """Play two episodes of every scenario, all by turns."""
    started = [s for s in scenarios for _ in range(2)]
    episodes = [context.begin(s) for s in started]
    began = [e.state_hash for e in episodes]
    plans = [context.plan(s, "oracle") for s in started]
    for turn in range(max(map(len, plans), default=0)):
        for episode, steps in zip(episodes, plans, strict=True):
            if turn < len(steps):
                with context.blame(episode.scenario, steps[: turn + 1]):
                    episode.step(steps[turn])
    for one, other, first, second in zip(episodes[::2], episodes[1::2], began[::2], began[1::2], strict=True):
        if trace(first, one) != trace(second, other):
            steps = context.plan(one.scenario, "oracle")
            made = context.broken(one.scenario, "two attempts that take turns end differently", steps, REPLAY)
            raise Broken(made.says, _by_turns(made.counterexample), replay=made.replay)


def _by_turns(snippet: str) -> str:
    """Return a snippet that plays two episodes by turns."""
    lines = []
    for line in snippet.splitlines():
        if line.startswith("episode = "):
            line = f"episodes = [{line.removeprefix('episode = ')} for _ in range(2)]"
        lines.append(f"for episode in episodes: {line}" if line.startswith("print(") else line)
    return "\n".join(lines) + "\n"


@prop(
    "TG102",
    statement="Fresh processes under other hash seeds and time zones see the same states and conversations.",
    reason="Rollout workers are processes of their own; an order taken from a set differs in each of them.",
    mend="Sort what comes out of a set, iterate over lists and dicts instead, and derive dates from constants.",
)
def same_in_every_process(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    settings = SETTINGS[-context.profile.processes :]
    here: dict[str, str] = {}
    for scenario in scenarios:
        with context.blame(scenario, tail=REPLAY):
            here[str(scenario)] = digest(world, scenario)
    asked = json.dumps({"world": context.reference, "scenarios": list(here)})
    for setting, answer in zip(settings, _ask(asked, settings), strict=True):
        for scenario in scenarios:
            if answer[str(scenario)] != here[str(scenario)]:
                given = " and ".join(f"{k}={v}" for k, v in setting.items())
                made = context.broken(scenario, f"is another problem in a fresh process with {given}", tail=REPLAY)
                raise Broken(made.says, in_processes(made.counterexample, compared(setting)), replay=made.replay)
    return Held(f"{len(scenarios)} scenarios are alike in {len(settings)} fresh processes and in this one")


def compared(setting: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return another setting of fresh processes, and this one."""
    return next(other for other in SETTINGS if other != setting), setting


def _ask(asked: str, settings: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The digests that one fresh process each prints, under these settings."""
    command = [sys.executable, "-W", "ignore", "-m", "trace_gym.validate.probe"]
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    started = [
        subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": path, **setting},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for setting in settings
    ]
    try:
        answers = []
        for process in started:
            out, err = process.communicate(asked, timeout=TIME_LIMIT)
            if process.returncode:
                cause = (err.strip().splitlines() or ["nothing on its error output"])[-1]
                raise Broken(f"a fresh process cannot play it, and ends with: {cause[:300]}")
            answers.append(json.loads(out.splitlines()[-1]))
        return answers
    except subprocess.TimeoutExpired:
        raise Broken(f"fresh processes had not played it after {TIME_LIMIT} seconds") from None
    finally:
        for process in started:
            process.kill()
            process.communicate()


@prop(
    "TG103",
    statement="Different seeds are different problems.",
    reason="A policy can learn a handful of problems by heart; held-out seeds then measure memory, not skill.",
    mend="Draw more of the problem from `rng`: names, ids, amounts, the number and the order of records.",
)
def seeds_differ(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    hashes: dict[int, list[str]] = {}
    for scenario in scenarios:
        hashes.setdefault(scenario.level, []).append(context.begin(scenario).state_hash)
    figures = {f"distinct_{level}": len(set(found)) / len(found) for level, found in hashes.items()}
    for level, found in hashes.items():
        if figures[f"distinct_{level}"] < DISTINCT:
            often, times = Counter(found).most_common(1)[0]
            same = [s for s, h in zip((s for s in scenarios if s.level == level), found, strict=True) if h == often]
            tail = f"print(episode.state_hash == begin({context.reference!r}, {str(same[1])!r}).state_hash)"
            says = f"{len(found)} seeds of level {level} make {len(set(found))} problems, one of them {times} times"
            raise Broken(says, context.snippet(same[0], tail=tail), figures)
    return Held(f"{sum(map(len, hashes.values()))} seeds make as many problems, but for chance", figures)


@prop(
    "TG104",
    statement="A state pickles and copies, and its copies share nothing.",
    reason="Groups, workers and verifiers work on copies; what they share leaks from one attempt into the next.",
    mend="Keep the whole state in the fields of the world, as plain data, and leave `copy` as it is inherited.",
)
def copies_are_independent(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        with context.blame(scenario, steps):
            _check_copies(context, Episode(world, scenario), steps)
    return Held(f"{len(scenarios)} episodes were pickled half-way, and the copies played on alike and apart")


def _check_copies(context: Context, episode: Episode, steps: Sequence[object]) -> None:
    start, scenario, half = plain(episode.start), episode.scenario, len(steps) // 2
    for step in steps[:half]:
        episode.step(step)  # type: ignore[arg-type]  # a plan holds steps
    twin = pickle.loads(pickle.dumps(episode))
    before = episode.state_hash
    if twin.state_hash != before:
        raise context.broken(scenario, "loses some of its state in a pickle", steps[:half])
    for step in steps[half:]:
        twin.step(step)
    if episode.state_hash != before:
        raise context.broken(scenario, "shares state with its copies", steps)
    for step in steps[half:]:
        episode.step(step)  # type: ignore[arg-type]
    if trace("", twin) != trace("", episode):
        raise context.broken(scenario, "plays on differently after a pickle", steps)
    if plain(episode.start) != start:
        tail = "print(episode.start == begin(" + f"{context.reference!r}, {str(scenario)!r}).start)"
        raise context.broken(scenario, "the start state changes while the episode is played", steps, tail)

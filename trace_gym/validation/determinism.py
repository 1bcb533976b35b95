"""Properties TG101 to TG104: a scenario id produces the same problem in every process, and states can be copied."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Sequence

from trace_gym.episode import Episode
from trace_gym.interpreter import answers
from trace_gym.types import Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.validation.random_calls import to_plain_data
from trace_gym.validation.repeat_snippets import for_each, in_processes
from trace_gym.validation.scenario_digest import digest, episode_trace
from trace_gym.world import World

SETTINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns"},
)
"""Environment variables of the fresh processes. Two of the time zones have offsets that are not whole hours."""
TIME_LIMIT = 600
"""Time limit of a fresh process in seconds."""
DIGESTS = "trace_gym.validation.scenario_digest"
"""Module that computes the digests of scenarios in a fresh process."""
DISTINCT = 0.95
"""Minimum ratio of distinct problems to seeds on each level."""

REPLAY = "print(episode.state_hash, episode.messages)"


@property_check(
    "TG101",
    statement="The same scenario id always produces the same problem, in any order and after any other episodes.",
    reason="A GRPO group compares rollouts of one problem. If the problem changes within a group, the rewards are not "
    "comparable.",
    fix="Draw only from the `rng` argument of `generate`, keep no state in the class or the module, and do not read "
    "the clock.",
)
def scenario_id_determines_problem(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    first_digests: dict[str, str] = {}
    for scenario in scenarios:
        with context.catch_failures(scenario, tail=REPLAY):
            first_digests[str(scenario)] = digest(world, scenario)
    for number, scenario in reversed(list(enumerate(scenarios))):
        with context.catch_failures(scenario, tail=REPLAY):
            if digest(world, scenario) != first_digests[str(scenario)]:
                made = context.failure(scenario, "is a different problem when it is started again", tail=REPLAY)
                between = [str(scenario), str(scenarios[number - 1]), str(scenario)]
                raise CheckFailed(made.message, for_each(made.counterexample, "scenario", between), replay=made.replay)
    _interleave(scenarios, context)
    return Passed(f"{len(scenarios)} scenarios are identical alone, repeated in reverse order, and interleaved")


def _interleave(scenarios: Sequence[Scenario], context: Context) -> None:
    """Run two episodes of every scenario with interleaved turns and compare them."""
    started = [s for s in scenarios for _ in range(2)]
    episodes = [context.begin(s) for s in started]
    start_hash = [e.state_hash for e in episodes]
    plans = [context.plan(s, "oracle") for s in started]
    for turn in range(max(map(len, plans), default=0)):
        for episode, steps in zip(episodes, plans, strict=True):
            if turn < len(steps):
                with context.catch_failures(episode.scenario, steps[: turn + 1]):
                    episode.step(steps[turn])
    for one, other, first, second in zip(episodes[::2], episodes[1::2], start_hash[::2], start_hash[1::2], strict=True):
        if episode_trace(first, one) != episode_trace(second, other):
            steps = context.plan(one.scenario, "oracle")
            made = context.failure(one.scenario, "two interleaved rollouts end differently", steps, REPLAY)
            raise CheckFailed(made.message, _interleaved(made.counterexample), replay=made.replay)


def _interleaved(snippet: str) -> str:
    """Return a snippet that runs two episodes with interleaved turns."""
    lines = []
    for line in snippet.splitlines():
        if line.startswith("episode = "):
            line = f"episodes = [{line.removeprefix('episode = ')} for _ in range(2)]"
        lines.append(f"for episode in episodes: {line}" if line.startswith("print(") else line)
    return "\n".join(lines) + "\n"


@property_check(
    "TG102",
    statement="Fresh processes with other hash seeds and time zones produce the same states and conversations.",
    reason="Rollout workers are separate processes, and the iteration order of a set differs between processes.",
    fix="Sort the elements of a set before you use them, or iterate over lists and dicts instead, and derive dates "
    "from constants.",
)
def same_in_every_process(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    settings = SETTINGS[-context.profile.processes :]
    here: dict[str, str] = {}
    for scenario in scenarios:
        with context.catch_failures(scenario, tail=REPLAY):
            here[str(scenario)] = digest(world, scenario)
    request = {"world": context.reference, "scenarios": list(here)}
    found = answers(DIGESTS, request, settings, seconds=TIME_LIMIT, work="run the environment", error=CheckFailed)
    for setting, answer in zip(settings, found, strict=True):
        for scenario in scenarios:
            if answer[str(scenario)] != here[str(scenario)]:
                setting_text = " and ".join(f"{k}={v}" for k, v in setting.items())
                made = context.failure(
                    scenario, f"is a different problem in a fresh process with {setting_text}", tail=REPLAY
                )
                raise CheckFailed(
                    made.message, in_processes(made.counterexample, compared(setting)), replay=made.replay
                )
    return Passed(f"{len(scenarios)} scenarios are identical in {len(settings)} fresh processes and in this one")


def compared(setting: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment variables of two fresh processes to compare: a different setting, and `setting`."""
    return next(other for other in SETTINGS if other != setting), setting


@property_check(
    "TG103",
    statement="Different seeds produce different problems.",
    reason="A policy can memorize a small number of problems, and held-out seeds then measure memorization instead of "
    "skill.",
    fix="Draw more parts of the problem from `rng`, such as names, ids, amounts, and the number and order of records.",
)
def seeds_differ(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    hashes: dict[int, list[str]] = {}
    for scenario in scenarios:
        hashes.setdefault(scenario.level, []).append(context.begin(scenario).state_hash)
    metrics = {f"distinct_{level}": len(set(found)) / len(found) for level, found in hashes.items()}
    for level, found in hashes.items():
        if metrics[f"distinct_{level}"] < DISTINCT:
            often, times = Counter(found).most_common(1)[0]
            same = [s for s, h in zip((s for s in scenarios if s.level == level), found, strict=True) if h == often]
            tail = f"print(episode.state_hash == begin({context.reference!r}, {str(same[1])!r}).state_hash)"
            message = (
                f"{len(found)} seeds of level {level} produce {len(set(found))} distinct problems, one of them "
                f"{times} times"
            )
            raise CheckFailed(message, context.snippet(same[0], tail=tail), metrics)
    return Passed(f"{sum(map(len, hashes.values()))} seeds produce distinct problems, except for chance", metrics)


@property_check(
    "TG104",
    statement="A state can be pickled and copied, and its copies share no mutable data.",
    reason="Groups, workers and verifiers use copies of the state, and shared data leaks from one rollout into the "
    "next.",
    fix="Keep the whole state in the fields of the world as plain data, and do not override `copy`.",
)
def copies_are_independent(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    for scenario in scenarios:
        steps = context.plan(scenario, "oracle")
        with context.catch_failures(scenario, steps):
            _check_copies(context, Episode(world, scenario), steps)
    return Passed(
        f"{len(scenarios)} episodes were pickled after half of their turns, and the copies continued "
        f"identically and independently"
    )


def _check_copies(context: Context, episode: Episode, steps: Sequence[object]) -> None:
    start, scenario, half = to_plain_data(episode.start), episode.scenario, len(steps) // 2
    for step in steps[:half]:
        episode.step(step)  # type: ignore[arg-type]  # the elements of a plan are steps
    twin = pickle.loads(pickle.dumps(episode))
    before = episode.state_hash
    if twin.state_hash != before:
        raise context.failure(scenario, "a pickled episode loses part of its state", steps[:half])
    for step in steps[half:]:
        twin.step(step)
    if episode.state_hash != before:
        raise context.failure(scenario, "the episode shares state with its copies", steps)
    for step in steps[half:]:
        episode.step(step)  # type: ignore[arg-type]
    if episode_trace("", twin) != episode_trace("", episode):
        raise context.failure(scenario, "the episode continues differently after pickling", steps)
    if to_plain_data(episode.start) != start:
        tail = "print(episode.start == begin(" + f"{context.reference!r}, {str(scenario)!r}).start)"
        raise context.failure(scenario, "the start state changes during the episode", steps, tail)

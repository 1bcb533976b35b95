"""Determinism checks for third-party environments (TG0, TG1 and TG704): a seed always produces the same problem."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from random import Random

from trace_gym.registry import SPLITS
from trace_gym.types import sha256
from trace_gym.validation.determinism import DISTINCT, SETTINGS, compared
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.properties import CheckFailed, Passed, Skipped
from trace_gym.validation.repeat_snippets import for_each, in_processes
from trace_gym.validation.third_party.black_box import BlackBox, BlackBoxRollout, Busy, TurnResponse, take_turn
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.probe_process import digests
from trace_gym.validation.third_party.uri import open_box

MOST = 24
"""Maximum number of problems, evenly spaced over the sample."""
SPLIT_DISTANCE = 100_000
"""Distance between the first seeds of two splits. It is smaller than for native splits, because an environment may
repeat its problems at very large seeds."""
TRIES = 4
"""Maximum number of no-op or random turns in a rollout."""


def begins(context: BlackBoxContext) -> Passed:
    """Every seed of the sample produces a prompt."""
    for seed in context.seeds:
        if not context.begin(seed).strip():
            raise context.failure(seed, "the prompt is empty")
    note = " (synthetic)" if context.box.synthetic else ""
    return Passed(f"{len(context.seeds)} problems{note} can be started", {"problems": float(len(context.seeds))})


def _scripts(context: BlackBoxContext, seed: int) -> list[tuple[str, ...]]:
    """Return sequences of turns for comparing rollouts: the reference solution, no-op messages, and random turns."""
    prompt, tries = context.begin(seed), min(context.box.limit, TRIES)
    rng = Random("scripts")  # does not depend on the seed, so that two seeds with the same problem get the same turns
    with context.catch_failures(seed):
        sampled = tuple(context.box.sample(rng, prompt) for _ in range(tries))
    solution = context.solution(seed)
    return [*([solution] if solution else []), ("...",) * tries, sampled]


def repeats_itself(context: BlackBoxContext) -> Passed:
    """The same seed and turns produce the same responses after any other rollouts."""
    chosen = evenly_spaced(context.seeds, MOST)
    made = [context.run(seed, script) for seed in chosen for script in _scripts(context, seed)]
    for first in reversed(made):
        again = context.rerun(first.seed, first.actions)
        if again.trace != first.trace:
            message = f"when it is repeated after other seeds, {difference(first, again)}"
            broken = context.failure(first.seed, message, first.actions)
            between = [first.seed, next((s for s in chosen if s != first.seed), first.seed), first.seed]
            raise CheckFailed(broken.message, for_each(broken.counterexample, "seed", between), replay=broken.replay)
    return Passed(f"{len(made)} repeated rollouts of {len(chosen)} problems get identical responses")


def difference(one: BlackBoxRollout, other: BlackBoxRollout) -> str:
    """Return a description of the first difference between two rollouts."""
    if one.prompt != other.prompt:
        return "the prompt is different"
    for number, (a, b) in enumerate(zip(one.turns, other.turns, strict=False), 1):
        if a.observation != b.observation:
            return f"turn {number} returns a different observation"
        if repr(a) != repr(b):
            return f"turn {number} returns the reward {b.reward:g} instead of {a.reward:g}, or another end flag"
    return "the number of turns is different"


def repeats_itself_everywhere(context: BlackBoxContext) -> Passed:
    """Fresh processes with other hash seeds and time zones produce the same responses."""
    if context.box.served:
        raise Skipped("the environment runs on an existing server")
    made = [
        context.run(seed, script) for seed in evenly_spaced(context.seeds, MOST) for script in _scripts(context, seed)
    ]
    settings = SETTINGS[-context.profile.processes :]
    plans = [(attempt.seed, attempt.actions) for attempt in made]
    for setting, answers in zip(settings, digests(context.address, plans, settings), strict=True):
        for attempt, found in zip(made, answers, strict=True):
            if sha256(attempt.trace) != found:
                setting_text = " and ".join(f"{k}={v}" for k, v in setting.items())
                message = f"the responses are different in a fresh process with {setting_text}"
                broken = context.failure(attempt.seed, message, attempt.actions)
                code = in_processes(broken.counterexample, compared(setting))
                raise CheckFailed(broken.message, code, replay=broken.replay)
    return Passed(f"{len(made)} rollouts get identical responses in {len(settings)} fresh processes and in this one")


def seeds_give_problems(context: BlackBoxContext) -> Passed:
    """Different seeds differ in the prompt, in the responses, or in the reference solution."""
    context.require_native_problems()
    found = {seed: _fingerprint(context, seed) for seed in context.seeds}
    count = Counter(found.values())
    share = len(count) / len(found)
    prompts = len({context.begin(seed) for seed in context.seeds}) / len(found)
    metrics = {"distinct_0": share, "distinct_prompts": prompts}
    if context.box.problems is not None:  # the rows of a file, which are not derived from a seed
        prompted = len({context.begin(seed) for seed in context.seeds})
        note = "" if share == 1 else f" with {prompted} distinct prompts; a file may repeat a problem on purpose"
        return Passed(f"{len(found)} seeds produce {len(count)} distinct problems{note}", metrics)
    if share < DISTINCT:
        often, times = count.most_common(1)[0]
        same = [seed for seed, made in found.items() if made == often]
        message = f"{len(found)} seeds produce {len(count)} distinct problems, one of them {times} times"
        raise CheckFailed(message, context.snippet(same[0]) + f"print(box.begin({same[-1]}))\n", metrics)
    return Passed(f"{len(found)} seeds produce {len(count)} distinct problems", metrics)


def _fingerprint(context: BlackBoxContext, seed: int) -> str:
    """Return a hash of the observable content of a problem."""
    traces = [context.run(seed, script).trace for script in _scripts(context, seed)]
    return sha256(repr((context.solution(seed), traces)))


def sessions_do_not_touch(context: BlackBoxContext) -> Passed:
    """Two interleaved sessions of one environment respond like separate sessions."""
    chosen, mine = evenly_spaced(context.seeds, MOST), context.box
    try:
        other = open_box(context.address)
    except Busy as error:
        raise Skipped(f"the server accepts one session at a time ({error})") from None
    with closing(other):
        for seed, theirs in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
            for own, script in zip(_scripts(context, seed), _scripts(context, theirs), strict=False):
                alone = (context.run(seed, own), context.run(theirs, script))
                with context.catch_failures(seed, own):
                    found = _by_turns((mine, other), (seed, theirs), (own, script))
                for before, made in zip(alone, found, strict=True):
                    if before.trace != made.trace:
                        message = f"in parallel with a session of another seed, {difference(before, made)}"
                        raise context.failure(before.seed, message, before.actions)
    return Passed(f"{len(chosen)} pairs of interleaved sessions did not affect each other")


def _by_turns(
    boxes: tuple[BlackBox, BlackBox], seeds: tuple[int, int], plans: tuple[tuple[str, ...], tuple[str, ...]]
) -> list[BlackBoxRollout]:
    prompts = [box.begin(seed) for box, seed in zip(boxes, seeds, strict=True)]
    turns: tuple[list[TurnResponse], list[TurnResponse]] = ([], [])
    for n in range(max(map(len, plans))):
        for box, plan, made in zip(boxes, plans, turns, strict=True):
            if n < min(len(plan), box.limit) and not (made and made[-1].done):
                made.append(take_turn(box, plan[n]))
    return [
        BlackBoxRollout(seed, prompt, plan[: len(made)], tuple(made))
        for seed, prompt, plan, made in zip(seeds, prompts, plans, turns, strict=True)
    ]


def splits_are_apart(context: BlackBoxContext) -> Passed:
    """Distant seeds produce different problems, so that other seeds can be used for testing."""
    context.require_native_problems()
    if context.box.problems is not None:
        raise Skipped(f"there are {context.box.problems} problems and no seeds to split; reserve some rows for testing")
    seen: dict[str, tuple[str, int]] = {}
    shared: Counter[str] = Counter()
    first: tuple[int, int] | None = None
    count = 2 * context.profile.seeds_per_level + 10
    for number, split in enumerate(SPLITS):
        for seed in range(number * SPLIT_DISTANCE, number * SPLIT_DISTANCE + count):
            own = repr((context.begin(seed), context.solution(seed)))
            other, twin = seen.setdefault(own, (split, seed))
            if other != split:
                shared[f"{other} and {split}"] += 1
                first = first or (twin, seed)
    metrics = {"problems": float(len(seen)), "shared": float(shared.total())}
    if first and shared.total() > (1 - DISTINCT) * len(seen):
        where, times = shared.most_common(1)[0]
        message = f"is the same problem as seed {first[0]}; {where} have {times} of {count} problems in common"
        made = context.failure(first[1], message, metrics=metrics)
        raise CheckFailed(
            made.message, made.counterexample + f"print(box.begin({first[0]}))\n", metrics, replay=made.replay
        )
    twice = f"distinct, except for {shared.total()}" if first else "distinct"
    return Passed(f"{len(seen)} problems of {len(SPLITS)} ranges of seeds are {twice}", metrics)

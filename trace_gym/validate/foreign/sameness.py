"""TG0, TG1 and what splits share, asked of a black box: a seed is a problem, everywhere and always."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from random import Random

from trace_gym.registry import SPLITS
from trace_gym.types import sha256
from trace_gym.validate.attempts import spread
from trace_gym.validate.determinism import DISTINCT, SETTINGS, compared
from trace_gym.validate.foreign.address import open_box
from trace_gym.validate.foreign.asked import Asked, foreign
from trace_gym.validate.foreign.box import Attempt, BlackBox, Busy, Turn, take
from trace_gym.validate.foreign.probe import digests
from trace_gym.validate.properties import Broken, Held, Inapplicable
from trace_gym.validate.repeats import for_each, in_processes

MOST = 24
"""Problems that are tried, evenly spread over the sample."""
APART = 100_000
"""Between the first seeds of two splits; where ours lie, an environment may count from the beginning again."""
TRIES = 4
"""Turns of an attempt that knows no better."""


@foreign("TG001")
def begins(asked: Asked) -> Held:
    """Every seed of the sample gives a prompt."""
    for seed in asked.seeds:
        if not asked.begin(seed).strip():
            raise asked.broken(seed, "the prompt is empty")
    lent = ", which are made up here" if asked.box.lent else ""
    return Held(f"{len(asked.seeds)} problems{lent} begin", {"problems": float(len(asked.seeds))})


def _scripts(asked: Asked, seed: int) -> list[tuple[str, ...]]:
    """What is done in a problem to see it whole: the reference, nothing, and turns that know no better."""
    prompt, tries = asked.begin(seed), min(asked.box.limit, TRIES)
    rng = Random("scripts")  # not of the seed, as two seeds with one problem are to look alike
    with asked.blame(seed):
        sampled = tuple(asked.box.sample(rng, prompt) for _ in range(tries))
    solution = asked.solution(seed)
    return [*([solution] if solution else []), ("...",) * tries, sampled]


@foreign("TG101")
def repeats_itself(asked: Asked) -> Held:
    """The same seed and turns are answered alike, whatever was played in between."""
    chosen = spread(asked.seeds, MOST)
    made = [asked.play(seed, script) for seed in chosen for script in _scripts(asked, seed)]
    for first in reversed(made):
        again = asked.replay(first.seed, first.actions)
        if again.trace != first.trace:
            says = f"played again, after other seeds, {difference(first, again)}"
            broken = asked.broken(first.seed, says, first.actions)
            between = [first.seed, next((s for s in chosen if s != first.seed), first.seed), first.seed]
            raise Broken(broken.says, for_each(broken.counterexample, "seed", between), replay=broken.replay)
    return Held(f"{len(made)} attempts at {len(chosen)} problems are answered alike when they are played again")


def difference(one: Attempt, other: Attempt) -> str:
    """Where two attempts first differ, in words."""
    if one.prompt != other.prompt:
        return "the prompt is another"
    for number, (a, b) in enumerate(zip(one.turns, other.turns, strict=False), 1):
        if a.observation != b.observation:
            return f"turn {number} is answered with another observation"
        if repr(a) != repr(b):
            return f"turn {number} is paid {b.reward:g} instead of {a.reward:g}, or ends otherwise"
    return "it has another number of turns"


@foreign("TG102")
def repeats_itself_everywhere(asked: Asked) -> Held:
    """Fresh processes under other hash seeds and time zones answer alike."""
    if asked.box.served:
        raise Inapplicable("it runs in a server, which is not started from here")
    made = [asked.play(seed, script) for seed in spread(asked.seeds, MOST) for script in _scripts(asked, seed)]
    settings = SETTINGS[-asked.profile.processes :]
    plans = [(attempt.seed, attempt.actions) for attempt in made]
    for setting, answers in zip(settings, digests(asked.address, plans, settings), strict=True):
        for attempt, found in zip(made, answers, strict=True):
            if sha256(attempt.trace) != found:
                given = " and ".join(f"{k}={v}" for k, v in setting.items())
                says = f"is answered otherwise in a fresh process with {given}"
                broken = asked.broken(attempt.seed, says, attempt.actions)
                code = in_processes(broken.counterexample, compared(setting))
                raise Broken(broken.says, code, replay=broken.replay)
    return Held(f"{len(made)} attempts are answered alike in {len(settings)} fresh processes and in this one")


@foreign("TG103")
def seeds_give_problems(asked: Asked) -> Held:
    """Different seeds differ in the prompt, in what turns are answered with, or in the reference."""
    asked.own_problems()
    found = {seed: _fingerprint(asked, seed) for seed in asked.seeds}
    count = Counter(found.values())
    share = len(count) / len(found)
    prompts = len({asked.begin(seed) for seed in asked.seeds}) / len(found)
    figures = {"distinct_0": share, "distinct_prompts": prompts}
    if share < DISTINCT:
        often, times = count.most_common(1)[0]
        same = [seed for seed, made in found.items() if made == often]
        says = f"{len(found)} seeds make {len(count)} problems, one of them {times} times"
        raise Broken(says, asked.snippet(same[0]) + f"print(box.begin({same[-1]}))\n", figures)
    return Held(f"{len(found)} seeds make {len(count)} problems", figures)


def _fingerprint(asked: Asked, seed: int) -> str:
    """Hash of all that is seen of a problem."""
    traces = [asked.play(seed, script).trace for script in _scripts(asked, seed)]
    return sha256(repr((asked.solution(seed), traces)))


@foreign("TG105")
def sessions_do_not_touch(asked: Asked) -> Held:
    """Two environments of one address that take turns answer as each does alone."""
    chosen, mine = spread(asked.seeds, MOST), asked.box
    try:
        other = open_box(asked.address)
    except Busy as error:
        raise Inapplicable(f"it serves one session at a time ({error})") from None
    with closing(other):
        for seed, theirs in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
            for own, script in zip(_scripts(asked, seed), _scripts(asked, theirs), strict=False):
                alone = (asked.play(seed, own), asked.play(theirs, script))
                with asked.blame(seed, own):
                    found = _by_turns((mine, other), (seed, theirs), (own, script))
                for before, made in zip(alone, found, strict=True):
                    if before.trace != made.trace:
                        says = f"beside a session with another seed {difference(before, made)}"
                        raise asked.broken(before.seed, says, before.actions)
    return Held(f"{len(chosen)} pairs of sessions took turns, and none saw the other")


def _by_turns(
    boxes: tuple[BlackBox, BlackBox], seeds: tuple[int, int], plans: tuple[tuple[str, ...], tuple[str, ...]]
) -> list[Attempt]:
    prompts = [box.begin(seed) for box, seed in zip(boxes, seeds, strict=True)]
    turns: tuple[list[Turn], list[Turn]] = ([], [])
    for n in range(max(map(len, plans))):
        for box, plan, made in zip(boxes, plans, turns, strict=True):
            if n < min(len(plan), box.limit) and not (made and made[-1].done):
                made.append(take(box, plan[n]))
    return [
        Attempt(seed, prompt, plan[: len(made)], tuple(made))
        for seed, prompt, plan, made in zip(seeds, prompts, plans, turns, strict=True)
    ]


@foreign("TG704")
def splits_are_apart(asked: Asked) -> Held:
    """Seeds far apart give other problems, so that a test on other seeds is a test."""
    asked.own_problems()
    if asked.box.problems is not None:
        raise Inapplicable(
            f"there are {asked.box.problems} problems and no seeds to divide; keep some rows for the test"
        )
    seen: dict[str, tuple[str, int]] = {}
    shared: Counter[str] = Counter()
    first: tuple[int, int] | None = None
    count = 2 * asked.profile.seeds_per_level + 10
    for number, split in enumerate(SPLITS):
        for seed in range(number * APART, number * APART + count):
            own = repr((asked.begin(seed), asked.solution(seed)))
            other, twin = seen.setdefault(own, (split, seed))
            if other != split:
                shared[f"{other} and {split}"] += 1
                first = first or (twin, seed)
    figures = {"problems": float(len(seen)), "shared": float(shared.total())}
    if first and shared.total() > (1 - DISTINCT) * len(seen):
        where, times = shared.most_common(1)[0]
        says = f"is the problem of seed {first[0]}, too; {where} share {times} of {count} problems"
        made = asked.broken(first[1], says, figures=figures)
        raise Broken(made.says, made.counterexample + f"print(box.begin({first[0]}))\n", figures, replay=made.replay)
    twice = f"all different but for {shared.total()}" if first else "all different"
    return Held(f"{len(seen)} problems of {len(SPLITS)} ranges of seeds are {twice}", figures)

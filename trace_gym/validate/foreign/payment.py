"""TG2, TG3 and TG5, asked of a black box: the reference is paid, nothing is not, and GRPO finds a difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from statistics import fmean

from trace_gym.errors import ConfigError, MissingExtra, PolicyError, ReadError
from trace_gym.types import Curves
from trace_gym.validate.attempts import spread
from trace_gym.validate.foreign.asked import Asked, foreign, short, solved
from trace_gym.validate.foreign.bank import GUESSES
from trace_gym.validate.foreign.bank import MOST as TRIED
from trace_gym.validate.foreign.played import groups_of
from trace_gym.validate.foreign.recorded import RecordedBox
from trace_gym.validate.learning import AXES, FINE, SIZES, WIDTH
from trace_gym.validate.measure import BANDS, inside, measure, words
from trace_gym.validate.properties import Broken, Held, Inapplicable
from trace_gym.validate.variance import COMPETENCES, Pair, mixture

NOTHINGS = ("...", "Hello.", "Done.", "")
"""Turns that serve nobody."""
MOST = 24
"""Problems that are tried, evenly spread over the sample."""


@foreign("TG201")
def reference_is_paid(asked: Asked) -> Held:
    """The reference solution earns all there is."""
    made = asked.solutions()
    earned = {seed: asked.earned(seed, turns) for seed, turns in made.items()}
    wrong = [seed for seed, share in earned.items() if not solved(share)]
    figures = {"solved": 1 - len(wrong) / len(made), "mean": fmean(earned.values())}
    if wrong:
        paid = asked.play(wrong[0], made[wrong[0]]).paid
        says = f"the reference solution {short(made[wrong[0]][-1])} is paid {paid:g} of {asked.box.high:g}"
        if (last := asked.play(wrong[0], made[wrong[0]])).raised:
            says = f"the reference solution {short(made[wrong[0]][-1])} {last.turns[-1].observation}"
        more = f"; {len(wrong)} of {len(made)} references are not paid in full"
        raise asked.broken(wrong[0], says + more, made[wrong[0]], figures)
    return Held(f"the references of {len(made)} problems are paid in full", figures)


@foreign("TG203")
def no_part_is_enough(asked: Asked) -> Held:
    """A reference that lacks its last turns is not paid in full."""
    made = {seed: turns for seed, turns in asked.solutions().items() if len(turns) > 1}
    if not made:
        raise Inapplicable("every reference solution is a single turn")
    for seed, turns in made.items():
        for count in range(1, len(turns)):
            if solved(asked.earned(seed, turns[:count])):
                says = f"the first {count} of {len(turns)} turns of the reference are paid in full"
                raise asked.broken(seed, says, turns[:count])
    return Held(f"no reference of {len(made)} is paid in full without its last turn")


@foreign("TG207")
def spaces_do_not_count(asked: Asked) -> Held:
    """Space around the reference changes no reward; what other variants earn is measured."""
    made = asked.solutions()
    chosen = spread(list(made), MOST)
    figures: dict[str, float] = {}
    for name, vary in VARIANTS.items():
        shares = []
        for seed in chosen:
            turns = (*made[seed][:-1], vary(made[seed][-1]))
            shares.append(asked.earned(seed, turns))
            if name in SPACES and abs(shares[-1] - (whole := asked.earned(seed, made[seed]))) > 1e-9:
                says = f"the reference earns {whole:g}, and {shares[-1]:g} with {name}"
                raise asked.broken(seed, says, turns)
        figures[name.replace(" ", "_")] = fmean(shares)
    told = ", ".join(f"{name} {figures[name.replace(' ', '_')]:.2f}" for name in VARIANTS if name not in SPACES)
    return Held(f"space around the reference costs nothing in {len(chosen)} problems; measured only: {told}", figures)


SPACES = ("a newline after it", "space around it")
VARIANTS: dict[str, Callable[[str], str]] = {
    "a newline after it": lambda text: f"{text}\n",
    "space around it": lambda text: f" \n{text} ",
    "a full stop after it": lambda text: text + ".",
    "small letters": lambda text: text.lower(),
    "capitals": lambda text: text.upper(),
    "a sentence around it": lambda text: f"The answer is {text}.",
}
"""Other ways to write an answer."""


@foreign("TG301")
def nothing_is_paid_for_nothing(asked: Asked) -> Held:
    """Idle words and garbage earn nothing, said once or until the end."""
    figures: dict[str, float] = {}
    worst: tuple[float, int, tuple[str, ...]] = (0.0, 0, ())
    chosen = spread(asked.seeds, MOST)
    for text in (*NOTHINGS, "garbage"):
        paid = []
        for seed in chosen:
            word = text if text != "garbage" else _garbage(seed)
            for turns in dict.fromkeys(((word,), (word,) * asked.box.limit)):
                paid.append(asked.earned(seed, turns))
                if not math.isfinite(paid[-1]):
                    raise asked.broken(seed, f"the reward for {word!r} is {paid[-1]}, not a finite number", turns, {})
                worst = max(worst, (paid[-1], seed, turns), key=lambda found: found[0])
        figures[f"paid_for_{text}"] = fmean(paid)
    share, seed, turns = worst
    if share > 1e-9:
        many = f" in {len(turns)} turns" if len(turns) > 1 else ""
        often = ", ".join(f"{k.removeprefix('paid_for_')!r} {v:.3g}" for k, v in figures.items())
        says = f"pays {share * asked.box.high:.3g} for {turns[0]!r}{many}; on average {often}"
        raise asked.broken(seed, says, turns, figures)
    return Held(f"no reward in {len(chosen)} problems for {', '.join(map(repr, NOTHINGS))} and garbage", figures)


def _garbage(seed: int) -> str:
    rng = Random(f"garbage/{seed}")
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz   ") for _ in range(40))


@foreign("TG303")
def rewards_are_in_range(asked: Asked) -> Held:
    """Rewards are finite and in range; how many different ones there are is told, and what GRPO makes of it."""
    box = asked.box
    paid: Counter[float] = Counter()
    for seed in spread(asked.seeds, TRIED):
        for turns in _tries(asked, seed):
            made = asked.play(seed, turns)
            value = made.paid
            if not (math.isfinite(value) and box.low - 1e-9 <= value <= box.high + 1e-9):
                says = f"is paid {value:g} in {len(made.turns)} turns, outside {box.low:g} to {box.high:g}"
                option = f"{asked.address}{'&' if '?' in asked.address else '?'}high=..."
                raise asked.broken(seed, f"{says}; where that is meant, name the range: {option}", made.actions)
            paid[round(value, 6)] += 1
    levels = sorted(paid)
    figures = {f"paid_{value:g}": count / paid.total() for value, count in sorted(paid.items())[:12]}
    figures["levels"] = float(len(levels))
    shown = ", ".join(f"{v:g}" for v in levels[:8]) + (", ..." if len(levels) > 8 else "")
    says = f"{paid.total()} attempts earned {len(levels)} different rewards: {shown}"
    if len(levels) == 1 and any(asked.solution(seed) for seed in asked.seeds):
        raise asked.broken(asked.seeds[0], f"{says}; references and garbage are paid alike", (), figures)
    return Held(says + _meaning(len(levels)), figures)


def _meaning(levels: int) -> str:
    """What GRPO makes of so many rewards."""
    if levels < 2:
        return "; nothing that was tried made a difference, and GRPO learns from differences alone"
    if levels > 2:
        return ""
    low = next(p for p in FINE if 1 - p ** SIZES[0] - (1 - p) ** SIZES[0] >= BANDS["informative"][0])
    says = f"all or nothing: half the groups of {SIZES[0]} differ where the policy solves {low:.0%} to {1 - low:.0%}"
    return f"; {says}, and none where it solves nothing"


def _tries(asked: Asked, seed: int) -> Iterator[tuple[str, ...]]:
    """Good, bad and careless attempts at a problem."""
    many = min(asked.box.limit, 10)
    prompt = asked.begin(seed)
    if turns := asked.solution(seed):
        yield from (turns[:count] for count in range(1, len(turns) + 1))
        yield from ((*turns[:-1], vary(turns[-1])) for vary in VARIANTS.values())
        half = turns[-1][: len(turns[-1]) // 2]
        other = next((own for s in asked.seeds if (own := asked.solution(s)) not in (None, turns)), None)
        yield from ((half, *turns), (*turns[:-1], half), ((other or turns)[-1], *turns))
    yield from ((guess(prompt),) * many for guess in GUESSES.values())


@foreign("TG501")
def reference_spreads_rewards(asked: Asked) -> Held:
    """Groups of an agent that gives the reference with probability p, and else says nothing, lie in the bands."""
    made = asked.solutions("; name a policy with --policy")
    chosen = spread(list(made), MOST)
    idle = ("...",) * asked.box.limit
    pairs = [
        Pair(asked.scaled(s, made[s]), asked.scaled(s, idle), solved(asked.earned(s, made[s])), False) for s in chosen
    ]
    fits = [p for p in FINE if all(_fits(pairs, p, k) for k in SIZES)]
    runs: list[list[float]] = [[]]
    for p in fits:
        if runs[-1] and p - runs[-1][-1] > 0.015:
            runs.append([])
        runs[-1].append(p)
    widest = max(runs, key=len)
    reference, nothing = fmean(p.oracle for p in pairs), fmean(p.ablated for p in pairs)
    figures = {"reference": reference, "nothing": nothing}
    if not widest or widest[-1] - widest[0] < WIDTH - 1e-9:
        found = f"hold from {widest[0]:.2f} to {widest[-1]:.2f} only" if widest else "hold at no competence"
        says = f"the bands {found}; the reference earns {reference:.2f} of the range, and nothing {nothing:.2f}"
        raise asked.broken(chosen[0], says, made[chosen[0]], figures)
    figures |= {"from_0": widest[0], "to_0": widest[-1]}
    line = tuple((p, mixture(pairs, p, SIZES[0]).informative) for p in COMPETENCES)
    title = f"Informative groups over competence, K = {SIZES[0]}"
    curve = Curves(
        title=title, x="competence p", y=AXES["informative"], series={"all problems": line}, band=BANDS["informative"]
    )
    says = (
        f"for an agent that gives the reference in {widest[0]:.0%} to {widest[-1]:.0%} of its attempts, all bands hold"
    )
    return Held(says, figures, (curve,))


def _fits(pairs: list[Pair], p: float, k: int) -> bool:
    found = mixture(pairs, p, k)
    return all(inside(getattr(found, quantity), band) for quantity, band in BANDS.items())


@foreign("TG502")
def rewards_of_the_policy_spread(asked: Asked) -> Held:
    """Groups of attempts by the policy that the user names, or that were recorded, lie in the bands."""
    if isinstance(asked.box, RecordedBox):
        groups, name = asked.box.groups, "the policy that was recorded"
    elif asked.given.policy:
        name = asked.given.policy
        try:
            groups = groups_of(asked, name)
        except (PolicyError, ConfigError, MissingExtra, ReadError) as error:  # not the environment's fault
            raise Inapplicable(f"{name} cannot be judged: {error}") from None
    else:
        raise Inapplicable("no policy is named; name the one to be trained with --policy")
    try:
        verdict = measure(groups)
    except ConfigError as error:
        raise Inapplicable(str(error)) from None
    figures: dict[str, float] = {"groups": verdict.groups, "std": verdict.spread.std, "signal": verdict.spread.signal}
    for quantity, e in verdict.estimates.items():
        figures |= {quantity: e.value, f"{quantity}_low": e.low, f"{quantity}_high": e.high}
    figures |= {f"pass_at_{k}": share for k, share in verdict.spread.pass_at.items()}
    says = f"{name}: {verdict.says}"
    if not verdict.passed:
        wanted = ", ".join(f"{words(q)} {low:g} to {high:g}" for q, (low, high) in BANDS.items())
        raise Broken(f"{says}; the bands are {wanted}", "", figures)
    return Held(says, figures)

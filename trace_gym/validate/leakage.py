"""TG7, first half: the policy must find out what it is paid to find out.

What has to be found out is measured against the ablated expert, who acts on the face of the request. Where both write
the same thing with other arguments, the oracle's value is an *answer*. What the oracle tells the user, success
depends on, and no look-up was made with, is a *fact*. What the oracle leaves out, or does, of what the ablated expert
does is a *decision*. Neither may be had from what is seen before the first look-up. Values without a digit are not
looked for, as any word may be one.

The policy and the schemas are the same for all problems. A short number in them, such as a limit of 50 or of 15 days,
is a rule, and a record that holds it too is no leak; one amount for most problems is found by TG804. So only what is
*distinctive* is looked for there: an id, a code, a date, a long number. What the customer says differs from problem to
problem, and there any telling value counts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from trace_gym.registry import SPLITS
from trace_gym.types import Say, Scenario, sha256
from trace_gym.validate.context import Context
from trace_gym.validate.gold import Gold, distinctive, golds, more, paired, scalars, telling, told, words_of
from trace_gym.validate.guess import OPENING, guessed
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.world import Step, World

CHANCE = 0.05
"""Share of scenarios in which a gold value may stand where it tells nothing: ids and amounts coincide at times."""
EXAMPLE = 0.25
"""The same for the policy and the schemas, where a value from a small pool may stand as an example."""


@prop(
    "TG701",
    statement="What the agent must find out stands in nothing that it sees unasked: opening, policy, tool schemas.",
    reason="A policy learns to copy the answer from the request, or to guess it from a word, and never looks.",
    mend="Leave the answer out of the wording, use the same wordings for either decision, and take no example from"
    " the pools.",
)
def gold_is_not_given_away(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    prompt = context.interface.system_prompt + json.dumps(context.interface.tools)
    static = {word for word in words_of(prompt) if distinctive(word)}
    looked_at, early, printed = 0, list[_Told](), list[_Told]()
    for gold in golds(scenarios, context):
        answers, said = _answers(gold, context.plan(gold.scenario, "ablated")), told(gold.steps)
        unasked = set(words_of(" ".join(_unasked(context, gold.scenario))))
        looked_at += len(answers.keys() | set(said))
        given = [v for v, rival in answers.items() if v in unasked and rival not in unasked]
        given += [v for v in said if v in unasked and v not in answers and _is_fact(context, gold, v)]
        early += [(gold.scenario, v) for v in given[:1]]
        shown = dict.fromkeys((*answers, *_shown(gold)))
        stands = [v for v in shown if v in static] or [v for v in said if v in static and _is_fact(context, gold, v)]
        printed += [(gold.scenario, v) for v in stands[:1]]
    _rarely(context, scenarios, early, CHANCE, "the customer gives away {!r}, which the agent has to find out")
    _rarely(context, scenarios, printed, EXAMPLE, "the policy or a schema gives away {!r}, which has to be found out")
    gain = guessed(context, scenarios, lambda start, opening: opening)
    says = f"none of {looked_at} answers and facts is given away"
    if gain:
        says += f"; a word of the opening guesses decisions {max(gain.values()):+.0%} better than a constant"
    return Held(says, {"answers": looked_at, **gain})


def _unasked(context: Context, scenario: Scenario) -> list[str]:
    """What the customer says without being asked for anything."""
    episode = context.begin(scenario)
    with context.blame(scenario, [Say("Hello.")]):
        return [str(episode.messages[1]["content"]), *(str(m["content"]) for m in episode.step(Say("Hello.")))]


def _answers(gold: Gold, naive: Sequence[Step]) -> dict[str, str | None]:
    """The oracle's arguments where the ablated expert makes the same call with others, each with the rival."""
    found: dict[str, str | None] = {}
    for deed, other in paired(gold.deeds, naive):
        if other is None:
            continue
        rival = dict(scalars(other.arguments))
        for path, value in scalars(deed.arguments):
            if value != rival.get(path) and telling(value):
                found[str(value)] = str(rival.get(path))
    return found


def _shown(gold: Gold) -> Iterator[str]:
    """The particular values that the oracle writes and has from a tool's answer."""
    for deed in gold.deeds:
        before = gold.calls.index(deed)
        for path, value in scalars(deed.arguments):
            if telling(value) and gold.source(path[-1], value, {}, before)[0] == "shown":
                yield str(value)


def _is_fact(context: Context, gold: Gold, value: str) -> bool:
    """Whether success depends on telling a value that the oracle did not look anything up with."""
    reads = [c for c in gold.calls if c not in gold.deeds]
    if any(value == str(v) for read in reads for _, v in scalars(read.arguments)):
        return False
    word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    without = [Say(word.sub("it", s.text)) if isinstance(s, Say) else s for s in gold.steps]
    return not context.play(gold.scenario, without).finish().success


_Told = tuple[Scenario, str]


def _rarely(context: Context, scenarios: Sequence[Scenario], found: list[_Told], share: float, says: str) -> None:
    """Raise for the first of these, unless they are so few that they coincide."""
    if len(found) > max(1, share * len(more(scenarios, context))):
        scenario, value = found[0]
        raise context.broken(scenario, f"{says.format(value)}; so in {len(found)} scenarios", tail=OPENING)


@prop(
    "TG702",
    statement="A hint names no argument of the oracle's calls, and does not tell what to decide.",
    reason="A hint that holds the answer teaches to copy it, and the reward without the hint falls back.",
    mend="Say in the hint how to go about it, the same way in every scenario.",
)
def hints_name_no_gold(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    if getattr(world, "hint", None) is None:
        raise Inapplicable("the world has no `hint`")
    named = []
    for gold in golds(scenarios, context):
        with context.blame(gold.scenario, tail="print(episode.start.hint)"):
            words = set(words_of(_hint(gold.episode.start)))
        values = [str(v) for c in gold.calls for _, v in scalars(c.arguments) if telling(v)]
        named += [(gold.scenario, v) for v in values if v in words][:1]
    _rarely(context, scenarios, named, CHANCE, "the hint names {!r}, an argument of the oracle's calls")
    gain = guessed(context, scenarios, lambda start, opening: _hint(start))
    return Held("the hints name no argument of the oracle's calls and tell no decision", gain)


def _hint(world: World) -> str:
    hint: Any = getattr(world, "hint", "")
    return str((hint() if callable(hint) else hint) or "")


@prop(
    "TG704",
    statement="Training, validation, selection and test seeds share no problem.",
    reason="A problem that was trained on measures memory in the test.",
    mend="Draw more of the problem from `rng`, and draw nothing from a seed of your own making.",
)
def splits_share_nothing(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    count = 2 * context.profile.seeds_per_level + 10
    seen: dict[str, tuple[str, Scenario]] = {}
    shared: Counter[str] = Counter()
    first: tuple[Scenario, Scenario] | None = None
    for split, seeds in SPLITS.items():
        for level in sorted({s.level for s in scenarios}):
            for seed in seeds[:count]:
                scenario = Scenario(env=world.id, level=level, seed=seed)
                other, twin = seen.setdefault(_fingerprint(context, scenario), (split, scenario))
                if other != split:
                    shared[f"{other} and {split}"] += 1
                    first = first or (twin, scenario)
    figures = {"problems": float(len(seen)), "shared": float(shared.total())}
    if first:
        where, times = shared.most_common(1)[0]
        says = f"is also {first[0]}; {where} share {times} of {count} problems a level"
        tail = f"print(episode.messages[-1] == begin({context.reference!r}, {str(first[0])!r}).messages[-1])"
        raise Broken(f"{first[1]}: {says}", context.snippet(first[1], tail=tail), figures)
    return Held(f"{len(seen)} problems of {len(SPLITS)} splits are all different", figures)


def _fingerprint(context: Context, scenario: Scenario) -> str:
    """Hash of what a problem is: its start state and its opening."""
    episode = context.begin(scenario)
    return sha256(f"{episode.state_hash} {episode.messages[-1]['content']}")

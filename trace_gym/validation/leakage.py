"""Properties TG701, TG702 and TG704: prompts and hints do not reveal the solution, and seed splits do not overlap.

The solution is defined by comparing two scripted experts: the oracle, which solves the scenario, and the ablated
expert, which follows the user's literal request. If both make the same write with different arguments, the oracle's
value is an *answer*. A *fact* is a value that the oracle must tell the user in order to succeed, and that no read call
used as an argument. A *decision* is whether the oracle also makes a certain write of the ablated expert. None of these
may be visible before the first read call. Values without a digit are not searched for, because any word could match.

The policy text and the tool schemas are the same for all problems. A short number in them, such as a limit of 50 or of
15 days, is a rule and not a leak, even if a record contains the same number. (TG804 detects amounts that solve most
problems.) In these texts, the search is limited to *distinctive* values: ids, codes, dates and long numbers. The user's
messages differ between problems and are searched for all identifying values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from trace_gym.registry import SPLITS
from trace_gym.types import Say, Scenario, sha256
from trace_gym.validation.context import Context
from trace_gym.validation.oracle_rollouts import (
    OracleRollout,
    extend_sample,
    is_distinctive,
    is_identifying,
    oracle_rollouts,
    paired_writes,
    scalars_by_path,
    stated_values,
    words_of,
)
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.text_cues import OPENING, prediction_gains
from trace_gym.world import Step, World, overrides

CHANCE = 0.05
"""Maximum fraction of scenarios in which one of the oracle's values may occur in the text. A lower fraction is treated
as coincidence."""
EXAMPLE = 0.25
"""The same limit as `CHANCE` for the policy text and the schemas. It is higher, because these texts may contain a value
from a small pool as an example."""


@property_check(
    "TG701",
    statement="The values and decisions that the agent must find out do not appear in the initial observation, the "
    "policy text or the tool schemas.",
    reason="Otherwise a policy learns to copy the answer from the prompt or to infer it from a word, without reading "
    "the records.",
    fix="Remove the answer from the wording, use the same wordings for both decisions, and use no pool value as an "
    "example.",
)
def prompt_reveals_no_answer(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    prompt = context.interface.system_prompt + json.dumps(context.interface.tools)
    static = {word for word in words_of(prompt) if is_distinctive(word)}
    checked, in_opening, in_prompt = 0, list[_Leak](), list[_Leak]()
    for rollout in oracle_rollouts(scenarios, context):
        answers, said = _answers(rollout, context.plan(rollout.scenario, "ablated")), stated_values(rollout.steps)
        visible = set(words_of(" ".join(_unprompted_messages(context, rollout.scenario))))
        checked += len(answers.keys() | set(said))
        leaked = [v for v, rival in answers.items() if v in visible and rival not in visible]
        leaked += [v for v in said if v in visible and v not in answers and _is_fact(context, rollout, v)]
        in_opening += [(rollout.scenario, v) for v in leaked[:1]]
        shown = dict.fromkeys((*answers, *_shown(rollout)))
        stands = [v for v in shown if v in static] or [v for v in said if v in static and _is_fact(context, rollout, v)]
        in_prompt += [(rollout.scenario, v) for v in stands[:1]]
    _fail_if_frequent(
        context, scenarios, in_opening, CHANCE, "the first user message reveals {!r}, which the agent has to find out"
    )
    _fail_if_frequent(
        context,
        scenarios,
        in_prompt,
        EXAMPLE,
        "the policy text or a tool schema reveals {!r}, which the agent has to find out",
    )
    gain = prediction_gains(context, scenarios, lambda start, opening: opening)
    message = f"none of {checked} answers and facts is revealed"
    if gain:
        message += (
            f"; a word of the first user message predicts decisions {max(gain.values()):+.0%} better than a constant"
        )
    return Passed(message, {"answers": checked, **gain})


def _unprompted_messages(context: Context, scenario: Scenario) -> list[str]:
    """Return the messages that the user sends without being asked: the first one, and the reply to a greeting."""
    episode = context.begin(scenario)
    with context.catch_failures(scenario, [Say("Hello.")]):
        return [str(episode.messages[1]["content"]), *(str(m["content"]) for m in episode.step(Say("Hello.")))]


def _answers(rollout: OracleRollout, naive: Sequence[Step]) -> dict[str, str | None]:
    """Return the identifying arguments of the oracle's writes for which the ablated expert uses a different value.

    The dict maps the oracle's values to the ablated expert's values.
    """
    found: dict[str, str | None] = {}
    for write, other in paired_writes(rollout.write_calls, naive):
        if other is None:
            continue
        rival = dict(scalars_by_path(other.arguments))
        for path, value in scalars_by_path(write.arguments):
            if value != rival.get(path) and is_identifying(value):
                found[str(value)] = str(rival.get(path))
    return found


def _shown(rollout: OracleRollout) -> Iterator[str]:
    """Yield the identifying values that the oracle writes and that an earlier tool result displayed."""
    for write in rollout.write_calls:
        before = rollout.calls.index(write)
        for path, value in scalars_by_path(write.arguments):
            if is_identifying(value) and rollout.source(path[-1], value, {}, before)[0] == "shown":
                yield str(value)


def _is_fact(context: Context, rollout: OracleRollout, value: str) -> bool:
    """Return whether success requires stating a value to the user that the oracle did not use in a read call."""
    reads = [c for c in rollout.calls if c not in rollout.write_calls]
    if any(value == str(v) for read in reads for _, v in scalars_by_path(read.arguments)):
        return False
    word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    without = [Say(word.sub("it", s.text)) if isinstance(s, Say) else s for s in rollout.steps]
    return not context.run(rollout.scenario, without).finish().success


_Leak = tuple[Scenario, str]


def _fail_if_frequent(
    context: Context, scenarios: Sequence[Scenario], found: list[_Leak], share: float, message: str
) -> None:
    """Raise `CheckFailed` for the first leak if the leaks are too frequent to be coincidences."""
    if len(found) > max(1, share * len(extend_sample(scenarios, context))):
        scenario, value = found[0]
        raise context.failure(scenario, f"{message.format(value)}; this occurs in {len(found)} scenarios", tail=OPENING)


@property_check(
    "TG702",
    statement="A hint contains no argument of the oracle's calls and does not reveal the decision.",
    reason="A hint that contains the answer teaches a policy to copy it, and the reward drops without the hint.",
    fix="Describe the procedure in the hint, with the same wording in every scenario.",
)
def hints_reveal_no_answer(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    if not overrides(world, "hint"):
        raise Skipped("the world has no `hint`")
    named = []
    for rollout in oracle_rollouts(scenarios, context):
        with context.catch_failures(rollout.scenario, tail="print(episode.start.hint)"):
            words = set(words_of(_hint(rollout.episode.start)))
        values = [str(v) for c in rollout.calls for _, v in scalars_by_path(c.arguments) if is_identifying(v)]
        named += [(rollout.scenario, v) for v in values if v in words][:1]
    _fail_if_frequent(context, scenarios, named, CHANCE, "the hint contains {!r}, an argument of the oracle's calls")
    gain = prediction_gains(context, scenarios, lambda start, opening: _hint(start))
    return Passed("the hints contain no argument of the oracle's calls and reveal no decision", gain)


def _hint(world: World) -> str:
    hint = world.hint
    return str((hint() if callable(hint) else hint) or "")


@property_check(
    "TG704",
    statement="The training, validation, selection and test seeds have no problem in common.",
    reason="A test problem that also occurs in training measures memorization.",
    fix="Draw more parts of the problem from `rng`, and create no other random generator.",
)
def splits_share_nothing(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
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
    metrics = {"problems": float(len(seen)), "shared": float(shared.total())}
    if first:
        where, times = shared.most_common(1)[0]
        message = f"is the same problem as {first[0]}; {where} have {times} of {count} problems per level in common"
        tail = f"print(episode.messages[-1] == begin({context.reference!r}, {str(first[0])!r}).messages[-1])"
        raise CheckFailed(f"{first[1]}: {message}", context.snippet(first[1], tail=tail), metrics)
    return Passed(f"{len(seen)} problems of {len(SPLITS)} splits are distinct", metrics)


def _fingerprint(context: Context, scenario: Scenario) -> str:
    """Return a hash of the start state and the first user message."""
    episode = context.begin(scenario)
    return sha256(f"{episode.state_hash} {episode.messages[-1]['content']}")

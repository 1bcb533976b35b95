"""Checks TG4, TG7 and TG8 for third-party environments: malformed turns, leaked answers, and prompt wordings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from random import Random

from trace_gym.validation.diversity import NEAR, NGRAM
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.input_files import read_texts
from trace_gym.validation.overlap import RUN
from trace_gym.validation.properties import Passed, Skipped
from trace_gym.validation.text_cues import GAIN
from trace_gym.validation.third_party.answer_forms import formatted_pieces
from trace_gym.validation.third_party.black_box_context import BlackBoxContext, is_full_reward, quoted
from trace_gym.validation.third_party.probe_process import PROGRAM, try_turns

MALFORMED = (
    "...", PROGRAM, f"[{PROGRAM}]", f"<answer>{PROGRAM}</answer>", "", " ", "\n\n", "\x00\x1b\x07", "\ud800",
    "\N{PILE OF POO} \u0130\u0131\u00df \u202eabc", b"\xff\xfe\x00bytes".decode("latin-1"), "%s {0} {} $x", "'\"`;--",
    "../../etc/passwd", "x" * 1_000_000, "a" * 30_000 + "!", "sorry " * 20_000, "(" * 2_000 + ")" * 2_000,
    "[" * 100_000, '{"a":' * 5_000, "{", "null", '{"name": NaN, "arguments": [[[]]]}', "<tool_call>",
    "<tool_call>{}</tool_call>", "<answer>", "</answer><answer>", "<answer></answer>", "#### ", "\\boxed{",
    "\\boxed{" * 2_000, "NaN", "-1", "1e999", "1/0", "9" * 5_000, "9**9**9**9",
)  # fmt: skip
"""Turns that an untrained or exploit-seeking model may write. Some turns are programs that print a text if the
environment executes them."""
SAMPLED = 8
"""Number of random turns that are tried in addition to `MALFORMED`."""
AFTER_END = ("...", "", "x" * 10_000, "...")
"""Turns that are taken after the end of a rollout."""
PROBLEMS = 100
"""Number of prompts that are compared with each other."""
MAX_COPIED = 0.1
"""Maximum share of the problems that are solved by copying an example from the prompt."""
MAX_PIECES = 10
"""Maximum number of examples of one prompt that are tried."""
MAX_WORDS = 12
"""Maximum number of words of a turn that is treated as a command with arguments."""
MAX_POSITIONS = 6
"""Number of words, and of lines, from each end of the prompt that are compared with the answer."""


def malformed_text_gets_an_answer(context: BlackBoxContext) -> Passed:
    """Every turn gets a response: no turn raises an exception, hangs the environment, or is executed as code."""
    rng, prompt = Random("ugly"), context.begin(context.seeds[0])
    with context.catch_failures(context.seeds[0]):
        sampled = [context.box.sample(rng, prompt) for _ in range(SAMPLED)]
    context.close()  # a server may accept only one session
    seeds = list(dict.fromkeys((context.seeds[0], context.seeds[-1])))
    plans = [*[(text,) for text in (*MALFORMED, *sampled)], *_malformed_commands(context.solution(seeds[0]) or ())]
    found, taken = try_turns(context.address, seeds, plans)
    if found:
        raise context.failure(found.seed, f"the turn {quoted(found.turns[-1])} {found.message}", found.turns)
    return Passed(f"{taken} malformed turns got a response", {"turns": float(taken)})


def _malformed_commands(turns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield prefixes of a reference solution, each ending in a turn that lacks a word or has a wrong one."""
    for n, turn in enumerate(turns[:MAX_PIECES]):
        words = turn.split(" ")
        if not 1 < len(words) <= MAX_WORDS:
            continue
        numbers = [re.sub(r"\d+", wrong, turn) for wrong in ("two", "-1", "1.5", "9" * 400)]
        for wrong in dict.fromkeys([*numbers, " ".join(words[:-1]), f"{turn} {words[-1]}"]):
            if wrong != turn:
                yield (*turns[:n], wrong)


def steps_after_the_end_do_not_fail(context: BlackBoxContext) -> Passed:
    """Turns after the end raise no exception, whether the rollout succeeded or failed."""
    seed = context.seeds[0]
    ways = [("...",) * context.box.limit, (context.solution(seed) or ())]
    ended = [made for made in (context.run(seed, turns) for turns in ways) if made.ended]
    plans = [made.actions for made in ended] or ways[:1]
    accepted = [text for text in AFTER_END if not context.run(seed, (text,)).raised]  # TG402 reports the others
    total_reward = 0.0
    for actions in plans:
        before = context.rerun(seed, actions)
        with context.catch_failures(seed, (*before.actions, *accepted)):
            total_reward += sum(context.box.act(text).reward for text in accepted)
    where = "the end" if ended else f"{context.box.limit} turns, none of which ended the rollout,"
    metrics = {"ended": float(len(ended)), "paid_after": total_reward}
    return Passed(
        f"{len(accepted)} turns after {where} raised no exception and got the reward {total_reward:g}", metrics
    )


def prompt_holds_no_answer(context: BlackBoxContext) -> Passed:
    """No fixed position of the prompt contains the answer, and a copied example of the prompt solves few problems.

    The finding reports how often the prompt contains the answer anywhere.
    """
    context.require_native_problems()
    _check_examples(context)
    made = {seed: turns[-1].strip() for seed, turns in context.solutions().items() if turns[-1].strip()}
    prompts = {seed: context.begin(seed) for seed in made}
    in_prompt = [
        seed for seed, answer in made.items() if re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", prompts[seed])
    ]
    constant = Counter(made.values()).most_common(1)[0][1] / len(made)
    hits = Counter(position for seed in made for position, word in _positions(prompts[seed]) if word == made[seed])
    position, times = max(hits.items(), key=lambda found: found[1], default=("none", 0))
    metrics = {"stands": len(in_prompt) / len(made), "place": times / len(made), "constant": constant}
    if times / len(made) > constant + GAIN:
        seed = next(s for s in made if (position, made[s]) in set(_positions(prompts[s])))
        message = (
            f"{position} of the prompt is the answer {quoted(made[seed])}, and so it is in {times} of "
            f"{len(made)} problems"
        )
        raise context.failure(seed, message, (made[seed],), metrics)
    somewhere = f"it occurs somewhere in the prompts of {metrics['stands']:.0%} of {len(made)} problems"
    return Passed(f"no fixed position of the prompt contains the last turn of the reference; {somewhere}", metrics)


def _check_examples(context: BlackBoxContext) -> None:
    """Check that the worked examples of the prompts do not solve their problems.

    Raises:
        CheckFailed: A copied example gets the full reward too often.
    """
    solved: dict[int, str] = {}
    with_example = 0
    for seed in evenly_spaced(context.seeds, PROBLEMS):
        pieces = formatted_pieces(context.begin(seed))[:MAX_PIECES]
        with_example += bool(pieces)
        if piece := next((p for p in pieces if is_full_reward(context.reward_fraction(seed, (p,)))), None):
            solved[seed] = piece
    if len(solved) >= 2 and len(solved) > MAX_COPIED * with_example:
        seed, piece = next(iter(solved.items()))
        message = (
            f"the example {quoted(piece)} in the prompt gets the full reward if it is copied; so do the examples of "
            f"{len(solved)} of {with_example} prompts that contain one"
        )
        raise context.failure(seed, message, (piece,), {"examples": len(solved) / with_example})


def _positions(prompt: str) -> Iterator[tuple[str, str]]:
    """Yield a description of each simple position in a prompt, such as "word 1 from the end", with the text there."""
    words = [word.strip(".,:;!?()'\"") for word in prompt.split()]
    for n, word in enumerate(words[:MAX_POSITIONS], 1):
        yield f"word {n}", word
    for n, word in enumerate(reversed(words[-MAX_POSITIONS:]), 1):
        yield f"word {n} from the end", word
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    for n, line in enumerate(lines[:MAX_POSITIONS], 1):
        yield f"line {n}", line
    for n, line in enumerate(reversed(lines[-MAX_POSITIONS:]), 1):
        yield f"line {n} from the end", line
    for match in re.finditer(r"(\w+)\s*[:=]\s*(\S[^\n]*)", prompt):
        yield f"the text after {match[1].lower()!r} and a colon", match[2].strip()


def prompts_are_not_the_test(context: BlackBoxContext) -> Passed:
    """No word n-gram of a prompt occurs in the test tasks, except for n-grams that half of the prompts share."""
    context.require_native_problems()
    if not context.inputs.against:
        raise Skipped("no test tasks were passed (--against)")
    runs = {seed: set(_runs(context.begin(seed))) for seed in context.seeds}
    often = Counter(run for own in runs.values() for run in own)
    test_runs = {run for path in context.inputs.against for text in read_texts(path) for run in _runs(text)}
    for seed, own in runs.items():
        if shared := sorted(run for run in own & test_runs if 2 * often[run] <= len(runs)):
            raise context.failure(seed, f"the words {' '.join(shared[0])!r} occur in the test tasks")
    metrics = {"runs": float(len(often)), "foreign": float(len(test_runs))}
    return Passed(
        (
            f"none of {len(often)} sequences of {RUN} words occurs in the test tasks, except for sequences "
            f"that half of the prompts share"
        ),
        metrics,
    )


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[\w@'-]+", text.lower())
    return (tuple(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


def wordings_are_counted(context: BlackBoxContext) -> Passed:
    """The similarity of the prompts is measured but not evaluated.

    A data set of exercises may have a single wording.
    """
    context.require_native_problems()
    prompts = [context.begin(seed) for seed in evenly_spaced(context.seeds, PROBLEMS)]
    if len(prompts) < 2:
        raise Skipped("there is only one problem")
    whole, bare = ([_triples(re.sub(r"\d+", sign, p)) for p in prompts] for sign in (r"\g<0>", "#"))
    metrics = {"near": _near(whole), "near_0": _near(bare), "wordings_0": float(len(set(bare)))}
    message = (
        f"{metrics['near']:.0%} of the pairs of {len(prompts)} prompts are nearly the same, and {metrics['near_0']:.0%}"
    )
    return Passed(f"{message} if numbers are ignored; measured but not evaluated", metrics)


def _triples(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"[\w#]+", text.lower())
    return frozenset(tuple(words[n : n + NGRAM]) for n in range(max(1, len(words) - NGRAM + 1)))


def _near(found: list[frozenset[tuple[str, ...]]]) -> float:
    """Return the fraction of pairs that count as the same wording."""
    pairs = list(combinations(found, 2))
    return sum(len(a & b) >= NEAR * len(a | b) for a, b in pairs) / len(pairs)

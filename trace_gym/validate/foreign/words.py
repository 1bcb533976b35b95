"""TG4, TG7 and TG8, asked of a black box: it survives whatever is written, and its prompts give nothing away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from random import Random

from trace_gym.validate.attempts import spread
from trace_gym.validate.diversity import NEAR, SAMPLE
from trace_gym.validate.files import texts
from trace_gym.validate.foreign.asked import Asked, foreign, short
from trace_gym.validate.foreign.probe import PROGRAM, endure
from trace_gym.validate.guess import GAIN
from trace_gym.validate.overlap import RUN
from trace_gym.validate.properties import Held, Inapplicable

UGLY = (
    "...", PROGRAM, f"[{PROGRAM}]", f"<answer>{PROGRAM}</answer>", "", " ", "\n\n", "\x00\x1b\x07", "\ud800",
    "\N{PILE OF POO} \u0130\u0131\u00df \u202eabc", b"\xff\xfe\x00bytes".decode("latin-1"), "%s {0} {} $x", "'\"`;--",
    "../../etc/passwd", "x" * 1_000_000, "a" * 30_000 + "!", "sorry " * 20_000, "(" * 2_000 + ")" * 2_000,
    "[" * 100_000, '{"a":' * 5_000, "{", "null", '{"name": NaN, "arguments": [[[]]]}', "<tool_call>",
    "<tool_call>{}</tool_call>", "<answer>", "</answer><answer>", "<answer></answer>", "#### ", "\\boxed{",
    "\\boxed{" * 2_000, "NaN", "-1", "1e999", "1/0", "9" * 5_000, "9**9**9**9",
)  # fmt: skip
"""What an untrained model, or one that looks for a way, may write; some print if they are run."""
SAMPLED = 8
"""Turns that an agent might try, beside these."""
AFTER = ("...", "", "x" * 10_000, "...")
"""Turns after the end."""
PROBLEMS = 100
"""Prompts that are compared with one another."""
PLACES = 6
"""Words from either end of the prompt, and lines of it, at which an answer is looked for."""


@foreign("TG402")
def ugly_text_is_answered(asked: Asked) -> Held:
    """Whatever is written is answered: nothing is raised, nothing hangs, and nothing of it is run."""
    rng, prompt = Random("ugly"), asked.begin(asked.seeds[0])
    with asked.blame(asked.seeds[0]):
        sampled = [asked.box.sample(rng, prompt) for _ in range(SAMPLED)]
    asked.close()  # a server may have one session only
    seeds = list(dict.fromkeys((asked.seeds[0], asked.seeds[-1])))
    found, taken = endure(asked.address, seeds, [(text,) for text in (*UGLY, *sampled)])
    if found:
        raise asked.broken(found.seed, f"the turn {short(found.turns[0])} {found.says}", found.turns)
    return Held(f"{taken} ugly turns were answered", {"turns": float(taken)})


@foreign("TG405")
def the_end_is_survived(asked: Asked) -> Held:
    """Turns past the end raise nothing, whether the attempt ended well or badly."""
    seed = asked.seeds[0]
    ways = [("...",) * asked.box.limit, (asked.solution(seed) or ())]
    ended = [made for made in (asked.play(seed, turns) for turns in ways) if made.ended]
    plans = [made.actions for made in ended] or ways[:1]
    heard = [text for text in AFTER if not asked.play(seed, (text,)).raised]  # the others are TG402's
    paid = 0.0
    for actions in plans:
        before = asked.replay(seed, actions)
        with asked.blame(seed, (*before.actions, *heard)):
            paid += sum(asked.box.act(text).reward for text in heard)
    where = "the end" if ended else f"the {asked.box.limit} turns that were tried, none of which ends it"
    figures = {"ended": float(len(ended)), "paid_after": paid}
    return Held(f"{len(heard)} turns past {where} raise nothing, and are paid {paid:g}", figures)


@foreign("TG701")
def prompt_holds_no_answer(asked: Asked) -> Held:
    """No fixed place of the prompt tells the answer; how often it stands anywhere in the prompt is told."""
    asked.own_problems()
    made = {seed: turns[-1].strip() for seed, turns in asked.solutions().items() if turns[-1].strip()}
    prompts = {seed: asked.begin(seed) for seed in made}
    stands = [seed for seed, answer in made.items() if re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", prompts[seed])]
    constant = Counter(made.values()).most_common(1)[0][1] / len(made)
    hits = Counter(place for seed in made for place, word in _places(prompts[seed]) if word == made[seed])
    place, times = max(hits.items(), key=lambda found: found[1], default=("none", 0))
    figures = {"stands": len(stands) / len(made), "place": times / len(made), "constant": constant}
    if times / len(made) > constant + GAIN:
        seed = next(s for s in made if (place, made[s]) in set(_places(prompts[s])))
        says = f"{place} of the prompt is the answer {short(made[seed])}, as it is in {times} of {len(made)} problems"
        raise asked.broken(seed, says, (made[seed],), figures)
    says = f"the answer stands somewhere in the prompt of {figures['stands']:.0%} of {len(made)} problems"
    return Held(f"{says}; no fixed place of the prompt tells it", figures)


def _places(prompt: str) -> Iterator[tuple[str, str]]:
    """What stands at each place that a rule without understanding can name."""
    words = [word.strip(".,:;!?()'\"") for word in prompt.split()]
    for n, word in enumerate(words[:PLACES], 1):
        yield f"word {n}", word
    for n, word in enumerate(reversed(words[-PLACES:]), 1):
        yield f"word {n} from the end", word
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    for n, line in enumerate(lines[:PLACES], 1):
        yield f"line {n}", line
    for n, line in enumerate(reversed(lines[-PLACES:]), 1):
        yield f"line {n} from the end", line
    for match in re.finditer(r"(\w+)\s*[:=]\s*(\S[^\n]*)", prompt):
        yield f"what follows {match[1].lower()!r} and a colon", match[2].strip()


@foreign("TG703")
def prompts_are_not_the_test(asked: Asked) -> Held:
    """No run of words of a prompt stands in the named test tasks; what half the prompts share is the form."""
    asked.own_problems()
    if not asked.given.against:
        raise Inapplicable("no file of test tasks is named")
    runs = {seed: set(_runs(asked.begin(seed))) for seed in asked.seeds}
    often = Counter(run for own in runs.values() for run in own)
    foreign_runs = {run for path in asked.given.against for text in texts(path) for run in _runs(text)}
    for seed, own in runs.items():
        if shared := sorted(run for run in own & foreign_runs if 2 * often[run] <= len(runs)):
            raise asked.broken(seed, f"the words {' '.join(shared[0])!r} stand in the test tasks")
    figures = {"runs": float(len(often)), "foreign": float(len(foreign_runs))}
    return Held(f"none of {len(often)} runs of {RUN} words stands in the test tasks, but for the form", figures)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[\w@'-]+", text.lower())
    return (tuple(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


@foreign("TG803")
def wordings_are_counted(asked: Asked) -> Held:
    """How alike the prompts are is measured; a drill may be of one wording, and cannot say so."""
    asked.own_problems()
    prompts = [asked.begin(seed) for seed in spread(asked.seeds, PROBLEMS)]
    if len(prompts) < 2:
        raise Inapplicable("there is one problem only")
    whole, bare = ([_triples(re.sub(r"\d+", sign, p)) for p in prompts] for sign in (r"\g<0>", "#"))
    figures = {"near": _near(whole), "near_0": _near(bare), "wordings_0": float(len(set(bare)))}
    says = (
        f"{figures['near']:.0%} of the pairs of {len(prompts)} prompts are nearly the same, and {figures['near_0']:.0%}"
    )
    return Held(f"{says} but for numbers; measured, not judged", figures)


def _triples(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"[\w#]+", text.lower())
    return frozenset(tuple(words[n : n + SAMPLE]) for n in range(max(1, len(words) - SAMPLE + 1)))


def _near(found: list[frozenset[tuple[str, ...]]]) -> float:
    """The share of pairs that overlap so far that they count as one wording."""
    pairs = list(combinations(found, 2))
    return sum(len(a & b) >= NEAR * len(a | b) for a, b in pairs) / len(pairs)

"""Paraphrases of an expert's messages: the same content in other words, notations, orders and layouts.

Each kind of rewriting in `KINDS` changes one aspect of a message and keeps its content. It applies to messages of any
environment: what no pattern recognizes stays as it is. The result depends only on the text, the kind and the number
`n`. Consecutive numbers select consecutive frames, so a sample of scenarios uses all frames of a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from trace_gym.types import Call, Interface, Say
from trace_gym.validate.draws import Values
from trace_gym.validate.notations import FIXED, NOTATIONS
from trace_gym.validate.sentences import FRAMES, RECORD, asks_for_consent, function_of, reframed, sentences
from trace_gym.world import Step, World


@dataclass(frozen=True, slots=True)
class Facts:
    """What a paraphrase may use besides the message."""

    stamps: tuple[str, ...] = ()
    """Timestamps of the state."""
    prose: str = ""
    """The opening and the policy."""

    @classmethod
    def of(cls, start: World, interface: Interface) -> Facts:
        stamps = tuple(s for s in Values.of(start).strings if re.match(r"\d{4}-\d\d-\d\dT", s))
        return cls(stamps, f"{start.copy().opening()}\n{interface.policy}")


Rewriting = Callable[[str, int, Facts], str]
"""Takes a message, the number of the variant, and the facts."""

GROUPS = {
    "consent": ("consent",),
    "request": ("request", "question"),
    "refusal": ("refusal", "kept"),
    "proposal": ("plan", "proposal"),
    "progress": ("progress",),
    "completion": ("completion", "completed", "report", "deed"),
    "transfer": ("transfer",),
    "closing": ("closing",),
}
"""Functions whose sentences each kind of frame replaces."""

SHORT = {
    "I am": "I'm", "I will": "I'll", "I would": "I'd", "it is": "it's", "that is": "that's", "here is": "here's",
    "cannot": "can't", "do not": "don't", "does not": "doesn't", "is not": "isn't", "are not": "aren't",
    "will not": "won't", "could not": "couldn't", "was not": "wasn't", "you are": "you're", "we are": "we're",
}  # fmt: skip
"""Full forms with their contractions."""
FULL = {short: full for full, short in SHORT.items()} | {"I've": "I have", "you've": "you have", "let's": "let us"}
"""Contractions with their full forms; "have" is contracted only as an auxiliary, so these have no way back."""
_long = re.compile(rf"(?:(?<![\w'-])|(?<![^.!?:;,] )(?<!\w)(?=[iht]\w+ is\b))({'|'.join(SHORT)})(?= \w)", re.IGNORECASE)
_short = re.compile(rf"(?<![\w'-])({'|'.join(FULL)})(?![\w'-])", re.IGNORECASE)
_curly = re.compile(r"(?<=[a-zI])\u2019(?=(?:m|ll|d|ve|re|s|t)\b)")
_apostrophe = re.compile(r"(?<=[a-zI])'(?=(?:m|ll|d|ve|re|s|t)\b)")
_quoted = re.compile(r'"[^"\n]*"|“[^”\n]*”|`[^`\n]*`')
_private = re.compile("[\ue000-\uf8ff]")
_depends = re.compile(
    r"\b(it|its|they|them|their|this|that|these|those|same|also|instead|other|one|then|next|first|before|after|so|but|"
    r"in total|in all)\b",
    re.IGNORECASE,
)
_record = re.compile(rf"(?<![\w*#-]){RECORD}(?![\w*-])")
_handover = re.compile(r"transfer\w*_(human|agent)|escalate|hand_?over_to")


def framed(names: Sequence[str], text: str, n: int, facts: Facts) -> str:
    """Return the message with each sentence that has one of these functions in another frame."""
    told, gaps = sentences(text)
    consent = asks_for_consent(told)
    for at, sentence in enumerate(told):
        found = function_of(sentence, consent)
        if found is not None and found.name in names:
            told[at] = reframed(found, n + at)
    return _joined(told, gaps)


def in_notation(name: str, text: str, n: int, facts: Facts) -> str:
    """Return the message with values of a kind in another notation, unless the customer requests a certain one."""
    if name in FIXED and FIXED[name].search(facts.prose):
        return text
    return NOTATIONS[name](text, n, (facts.prose,) if name == "labels" else facts.stamps)


def preceded(name: str, text: str, n: int, facts: Facts) -> str:
    """Return the message after a sentence of greeting or empathy."""
    gap = "\n\n" if text.startswith("- ") else " "
    return f"{FRAMES[name][n % len(FRAMES[name])]}{gap}{text}"


def contractions(text: str, n: int, facts: Facts) -> str:
    """Return the message with contractions, with straight or curly apostrophes, or with full forms."""
    straight = _curly.sub("'", text)
    if n % 3 == 2:
        return _short.sub(lambda m: _recased(m[0], FULL), straight)
    short = _long.sub(lambda m: _recased(m[0], SHORT), straight)
    return _apostrophe.sub("\u2019", short) if n % 3 == 0 else short


def please(text: str, n: int, facts: Facts) -> str:
    """Return the message with "please" taken out, or put into its requests."""
    without = re.sub(r"\bPlease ([a-z])|,? please(?=[ ,.!?])", lambda m: m[1].upper() if m[1] else "", text)
    if without != text:
        return without
    told, gaps = sentences(text)
    asks = [(found := function_of(s)) is not None and found.name == "request" for s in told]
    added = [re.sub(r"\?$", ", please?", s) if ask else s for s, ask in zip(told, asks, strict=True)]
    return _joined(added, gaps)


def order(text: str, n: int, facts: Facts) -> str:
    """Return the message with two neighboring sentences exchanged, where neither refers to the other.

    They stay if the next sentence refers to another one, which may be the sentence in front of it.
    """
    told, gaps = sentences(text)
    consent = asks_for_consent(told)
    free = [_free(s, consent) for s in told]
    tied = [not s.endswith("?") and bool(_depends.search(s.split(":")[0])) for s in [*told[2:], ""]]
    pairs = [at for at, (one, other) in enumerate(pairwise(free)) if one and other and not tied[at]]
    if pairs:
        at = pairs[n % len(pairs)]
        told[at], told[at + 1] = told[at + 1], told[at]
    return _joined(told, gaps)


def layout(text: str, n: int, facts: Facts) -> str:
    """Return the message with Markdown: bold ids, a list of sentences, or a list of what a colon announces."""
    if n % 2:
        return _record.sub(lambda m: f"**{m[0]}**", text)
    told, gaps = sentences(text)
    if len(told) > 2 and not any("\n" in gap for gap in gaps):
        rest = [s for s in told if s.endswith("?")]
        lines = [f"- {s}" for s in told if not s.endswith("?")]
        return "\n".join(lines) + ("\n\n" + " ".join(rest) if rest else "")
    listed = [_listed(s) for s in told]
    return "\n\n".join(listed) if listed != told else text


def everything(text: str, n: int, facts: Facts) -> str:
    """Return the message after all other kinds of rewriting, with either a greeting or a sentence of empathy."""
    for name in ("frames", *NOTATIONS, "contractions", "order", "layout", ("empathy", "greeting")[n % 2]):
        text = KINDS[name](text, n, facts)
    return text


KINDS: dict[str, Rewriting] = {
    **{kind: partial(framed, names) for kind, names in GROUPS.items()},
    "frames": partial(framed, [name for names in GROUPS.values() for name in names]),
    "empathy": partial(preceded, "empathy"),
    "greeting": partial(preceded, "greeting"),
    "contractions": contractions,
    "please": please,
    **{name: partial(in_notation, name) for name in NOTATIONS},
    "order": order,
    "layout": layout,
    "everything": everything,
}
"""Kinds of rewriting by name."""
ANNOUNCED = "announced transfer"
"""The kind that changes the plan and not a message: a transfer is announced before it is made."""


LONGEST = 2000
"""Characters of the longest message that is rewritten."""


def rewrite(text: str, kind: str, n: int, facts: Facts) -> str:
    """Return a message rewritten; quoted texts stay as they are.

    Args:
        text: The message.
        kind: One of `KINDS`.
        n: The number of the variant.
        facts: The facts of the scenario.
    """
    if len(text) > LONGEST or _private.search(text):
        return text
    quotes: list[str] = []

    def masked(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return chr(0xE000 + len(quotes) - 1)

    told = KINDS[kind](_quoted.sub(masked, text), n, facts)
    return _private.sub(lambda m: quotes[ord(m[0]) - 0xE000], told)


def variants(steps: Sequence[Step], facts: Facts, n: int, interface: Interface) -> Iterator[tuple[str, list[Step]]]:
    """Yield each kind of rewriting that changes a plan, with the rewritten plan."""
    for kind in KINDS:
        told = [Say(rewrite(s.text, kind, n + at, facts)) if isinstance(s, Say) else s for at, s in enumerate(steps)]
        if told != list(steps):
            yield kind, told
    for at, step in enumerate(steps):
        if isinstance(step, Call) and _handover.search(step.tool):
            who = "a human agent"
            words = FRAMES["transfer"][n % len(FRAMES["transfer"])].replace("{who}", who)
            yield ANNOUNCED, [*steps[:at], Say(words), *steps[at:]]
            return


def _joined(told: Sequence[str], gaps: Sequence[str]) -> str:
    return "".join(part for pair in zip(told, gaps, strict=True) for part in pair)


def _free(sentence: str, consent: bool) -> bool:
    """Return whether a sentence can be moved: it is about a record, asks nothing and refers to no other sentence."""
    found = function_of(sentence, consent)
    named = found is not None and found.name in ("refusal", "kept", "plan", "report")
    about = named or bool(_record.search(sentence))
    body = ":".join(sentence.split(":")[:1]) if named else sentence
    return about and not sentence.endswith("?") and not _depends.search(body)


def _listed(sentence: str) -> str:
    """Return a sentence with the parts after its colon, which semicolons separate, as a numbered list."""
    head, colon, rest = sentence.partition(": ")
    parts = rest.removesuffix(".").split("; ")
    if not colon or len(parts) < 2:
        return sentence
    return "\n".join([f"{head}:", *(f"{n}. {part}" for n, part in enumerate(parts, 1))])


def _recased(form: str, table: dict[str, str]) -> str:
    """Return the other form of a word, with a capital where it had one."""
    other = next(other for known, other in table.items() if known.lower() == form.lower())
    return other[0].upper() + other[1:] if form[0].isupper() else other[0].lower() + other[1:]

"""Paraphrases of messages: the same content in different words, notations, orders and layouts.

Each rewriting in `KINDS` changes one aspect of a message and preserves its content. Text that matches no pattern is
unchanged, so the rewritings can be applied to messages of any environment. The result is deterministic.

The function of a sentence is its purpose, such as asking for consent. A frame is a sentence template for one function.
The variant number `n` selects the frame, and consecutive numbers select consecutive frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from trace_gym.types import Call, Interface, Say
from trace_gym.validation.notations import FIXED, NOTATIONS
from trace_gym.validation.random_calls import StateValues
from trace_gym.validation.sentences import FRAMES, RECORD, asks_consent, function_of, reframe, sentences
from trace_gym.world import Step, World


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a scenario that a rewriting may use in addition to the message."""

    stamps: tuple[str, ...] = ()
    """Timestamps in the state."""
    prose: str = ""
    """First user message and policy text."""

    @classmethod
    def of(cls, start: World, interface: Interface) -> Facts:
        stamps = tuple(s for s in StateValues.of(start).strings if re.match(r"\d{4}-\d\d-\d\dT", s))
        return cls(stamps, f"{start.copy().opening()}\n{interface.policy}")


Rewriting = Callable[[str, int, Facts], str]
"""Function that rewrites a message. Its arguments are the message, the variant number, and the facts."""

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
"""Mapping from each kind of rewriting to the functions of the sentences that it rewrites."""

CONTRACTIONS = {
    "I am": "I'm", "I will": "I'll", "I would": "I'd", "it is": "it's", "that is": "that's", "here is": "here's",
    "cannot": "can't", "do not": "don't", "does not": "doesn't", "is not": "isn't", "are not": "aren't",
    "will not": "won't", "could not": "couldn't", "was not": "wasn't", "you are": "you're", "we are": "we're",
}  # fmt: skip
"""Full forms with their contractions."""
EXPANSIONS = {short: full for full, short in CONTRACTIONS.items()} | {
    "I've": "I have",
    "you've": "you have",
    "let's": "let us",
}
"""Contractions with their full forms.

Contractions of "have" are only expanded, because "have" can be contracted only as an auxiliary verb.
"""
_long = re.compile(
    rf"(?:(?<![\w'-])|(?<![^.!?:;,] )(?<!\w)(?=[iht]\w+ is\b))({'|'.join(CONTRACTIONS)})(?= \w)", re.IGNORECASE
)
_short = re.compile(rf"(?<![\w'-])({'|'.join(EXPANSIONS)})(?![\w'-])", re.IGNORECASE)
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
_transfer_tool = re.compile(r"transfer\w*_(human|agent)|escalate|hand_?over_to")


def reframe_sentences(names: Sequence[str], text: str, n: int, facts: Facts) -> str:
    """Return the message with a different frame for each sentence that has one of these functions."""
    parts, gaps = sentences(text)
    consent = asks_consent(parts)
    for at, sentence in enumerate(parts):
        found = function_of(sentence, consent)
        if found is not None and found.name in names:
            parts[at] = reframe(found, n + at)
    return _joined(parts, gaps)


def change_notation(name: str, text: str, n: int, facts: Facts) -> str:
    """Return the message with values of one kind in a different notation, unless the user requires a specific one."""
    if name in FIXED and FIXED[name].search(facts.prose):
        return text
    return NOTATIONS[name](text, n, (facts.prose,) if name == "labels" else facts.stamps)


def add_opener(name: str, text: str, n: int, facts: Facts) -> str:
    """Return the message with an introductory sentence that expresses a greeting or empathy."""
    gap = "\n\n" if text.startswith("- ") else " "
    return f"{FRAMES[name][n % len(FRAMES[name])]}{gap}{text}"


def contractions(text: str, n: int, facts: Facts) -> str:
    """Return the message with contractions, with straight or curly apostrophes, or with full forms."""
    straight = _curly.sub("'", text)
    if n % 3 == 2:
        return _short.sub(lambda m: _recased(m[0], EXPANSIONS), straight)
    short = _long.sub(lambda m: _recased(m[0], CONTRACTIONS), straight)
    return _apostrophe.sub("\u2019", short) if n % 3 == 0 else short


def please(text: str, n: int, facts: Facts) -> str:
    """Return the message with "please" removed, or added to its requests."""
    without = re.sub(r"\bPlease ([a-z])|,? please(?=[ ,.!?])", lambda m: m[1].upper() if m[1] else "", text)
    if without != text:
        return without
    parts, gaps = sentences(text)
    asks = [(found := function_of(s)) is not None and found.name == "request" for s in parts]
    added = [re.sub(r"\?$", ", please?", s) if ask else s for s, ask in zip(parts, asks, strict=True)]
    return _joined(added, gaps)


def order(text: str, n: int, facts: Facts) -> str:
    """Return the message with two adjacent sentences swapped, if neither refers to the other.

    The sentences are not swapped if the sentence after them contains a reference, because it may refer to the sentence
    directly before it.
    """
    parts, gaps = sentences(text)
    consent = asks_consent(parts)
    free = [_free(s, consent) for s in parts]
    tied = [not s.endswith("?") and bool(_depends.search(s.split(":")[0])) for s in [*parts[2:], ""]]
    pairs = [at for at, (one, other) in enumerate(pairwise(free)) if one and other and not tied[at]]
    if pairs:
        at = pairs[n % len(pairs)]
        parts[at], parts[at + 1] = parts[at + 1], parts[at]
    return _joined(parts, gaps)


def layout(text: str, n: int, facts: Facts) -> str:
    """Return the message with Markdown: bold ids, a list of sentences, or a list of the parts after a colon."""
    if n % 2:
        return _record.sub(lambda m: f"**{m[0]}**", text)
    parts, gaps = sentences(text)
    if len(parts) > 2 and not any("\n" in gap for gap in gaps):
        rest = [s for s in parts if s.endswith("?")]
        lines = [f"- {s}" for s in parts if not s.endswith("?")]
        return "\n".join(lines) + ("\n\n" + " ".join(rest) if rest else "")
    listed = [_listed(s) for s in parts]
    return "\n\n".join(listed) if listed != parts else text


def everything(text: str, n: int, facts: Facts) -> str:
    """Return the message with all other rewritings applied, and with a greeting or a sentence of empathy."""
    for name in ("frames", *NOTATIONS, "contractions", "order", "layout", ("empathy", "greeting")[n % 2]):
        text = KINDS[name](text, n, facts)
    return text


KINDS: dict[str, Rewriting] = {
    **{kind: partial(reframe_sentences, names) for kind, names in GROUPS.items()},
    "frames": partial(reframe_sentences, [name for names in GROUPS.values() for name in names]),
    "empathy": partial(add_opener, "empathy"),
    "greeting": partial(add_opener, "greeting"),
    "contractions": contractions,
    "please": please,
    **{name: partial(change_notation, name) for name in NOTATIONS},
    "order": order,
    "layout": layout,
    "everything": everything,
}
"""Kinds of rewriting by name."""
ANNOUNCED = "announced transfer"
"""Kind of variant that adds a message to the plan: the agent announces a transfer to a human before the call."""


LONGEST = 2000
"""Maximum length of a rewritten message in characters."""


def rewrite(text: str, kind: str, n: int, facts: Facts) -> str:
    """Return a rewritten message. Quoted texts are unchanged.

    Args:
        text: The message.
        kind: One of `KINDS`.
        n: Number of the variant.
        facts: Facts about the scenario.
    """
    if len(text) > LONGEST or _private.search(text):
        return text
    quotes: list[str] = []

    def masked(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return chr(0xE000 + len(quotes) - 1)

    parts = KINDS[kind](_quoted.sub(masked, text), n, facts)
    return _private.sub(lambda m: quotes[ord(m[0]) - 0xE000], parts)


def variants(steps: Sequence[Step], facts: Facts, n: int, interface: Interface) -> Iterator[tuple[str, list[Step]]]:
    """Yield each kind of rewriting that changes a plan, with the rewritten plan."""
    for kind in KINDS:
        parts = [Say(rewrite(s.text, kind, n + at, facts)) if isinstance(s, Say) else s for at, s in enumerate(steps)]
        if parts != list(steps):
            yield kind, parts
    for at, step in enumerate(steps):
        if isinstance(step, Call) and _transfer_tool.search(step.tool):
            who = "a human agent"
            words = FRAMES["transfer"][n % len(FRAMES["transfer"])].replace("{who}", who)
            yield ANNOUNCED, [*steps[:at], Say(words), *steps[at:]]
            return


def _joined(parts: Sequence[str], gaps: Sequence[str]) -> str:
    return "".join(part for pair in zip(parts, gaps, strict=True) for part in pair)


def _free(sentence: str, consent: bool) -> bool:
    """Return whether a sentence can be moved.

    A sentence can be moved if it is about a record, is not a question, and does not refer to another sentence.
    """
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
    """Return the other form of a word with the same capitalization."""
    other = next(other for known, other in table.items() if known.lower() == form.lower())
    return other[0].upper() + other[1:] if form[0].isupper() else other[0].lower() + other[1:]

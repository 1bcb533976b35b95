"""Format that the reference solutions of an environment share: constant text around an answer that varies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from trace_gym.validation.third_party.answer_forms import AnswerParts, split_answer
from trace_gym.validation.third_party.near_misses import kind_of

MAX_OPTIONS = 30
"""Maximum number of different answers that count as a closed set of options."""
MAX_LITERAL = 100
"""Maximum length of the constant text before the answer that is used unchanged; of a longer text, the last line."""

_TOKEN = re.compile(r"(?<![\w.])-?\d+(?:[.,:/-]\d+)*|\d+|[^\W\d_]+|\s|.", re.DOTALL)
_INTEGER = re.compile(r"-?\d{1,9}")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_LINE = re.compile(r"(?P<before>.*\n)(?P<core>[^\n]*\S)(?P<after>\s*)", re.DOTALL)
_SENTENCE = re.compile(r"(?P<before>.*[.!?]\s+)(?P<core>\S.*?)(?P<after>\s*)", re.DOTALL)
_PROSE = re.compile(r"[A-Za-z]+,? [A-Za-z]+.*[.:!?]\s*$", re.MULTILINE)
_NAMED = re.compile(r"[^\W\d_]|[<>{}#`\\*]")
"""Letter or markup character."""


class AnswerFormat(NamedTuple):
    """Constant text around the answers of an environment."""

    before: str
    after: str
    kind: str
    """``integer``, ``number``, ``option`` (one of a small set of texts), or ``text``."""
    answers: tuple[str, ...]
    """Different answers of the reference solutions."""
    parts: dict[str, AnswerParts]
    """Parts of each reference solution."""

    @property
    def templates(self) -> list[str]:
        """Format strings with ``{}`` in place of the answer: the whole format if it is short, and its line."""
        line = (self.before.rpartition("\n")[2], self.after.partition("\n")[0])
        sides = [(self.before, self.after)] if len(self.before) <= MAX_LITERAL else []
        return list(dict.fromkeys("{}".join(map(_escaped, side)) for side in [*sides, line]))

    def __str__(self) -> str:
        return f"{self.before.rpartition(chr(10))[2]}<{self.kind}>{self.after.partition(chr(10))[0]}".strip()


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def recognize(references: Sequence[str]) -> AnswerFormat | None:
    """Return the format that all reference solutions share; None if there is none.

    The answer is the only part that varies: in the whole reference, inside markup, or in the last line or sentence if
    the text before it is not part of the answer. Numbers and small sets of texts are preferred to other texts.
    """
    texts = list(dict.fromkeys(references))
    whole = _shared([AnswerParts("", text, "") for text in texts], len(references))
    one_line = whole is not None and not any("\n" in answer for answer in whole.answers)
    if whole and whole.kind != "text" and one_line:
        return whole
    for split, kinds in _SPLITS:
        parts = [made for text in texts if (made := split(text))]
        found = _shared(parts, len(references)) if len(parts) == len(texts) else None
        if found and found.kind in kinds and (split is _marked or _ends_with_answer(found)):
            return found
    if whole and (whole.kind == "option" or (one_line and _NAMED.search(whole.before))):
        return whole
    return None


def _ends_with_answer(found: AnswerFormat) -> bool:
    """Return whether the text before the answer is a label or an explanation, not another element of the answer."""
    if not (_NAMED.search(found.before) or all(_PROSE.search(parts.before) for parts in found.parts.values())):
        return False
    return not all(_repeats_shape(text) for text in found.parts)


def _repeats_shape(text: str) -> bool:
    """Return whether the last two lines have the same structure, such as two lines ``key: value``."""
    lines = [re.sub(r"[\w.-]*\w", "w", line.strip()) for line in text.strip().splitlines() if line.strip()]
    return len(lines) > 1 and lines[-1] == lines[-2]


def _by(pattern: re.Pattern[str]) -> Callable[[str], AnswerParts | None]:
    def split(text: str) -> AnswerParts | None:
        match = pattern.fullmatch(text)
        return AnswerParts(*match.group("before", "core", "after")) if match else None

    return split


def _marked(text: str) -> AnswerParts | None:
    """Split a text at the markup around its answer."""
    parts = split_answer(text)
    return parts if parts.before or parts.after else None


_SPLITS: tuple[tuple[Callable[[str], AnswerParts | None], tuple[str, ...]], ...] = (
    (_marked, ("integer", "number", "option", "text")),
    (_by(_LINE), ("integer", "number", "option", "text")),
    (_by(_SENTENCE), ("integer", "number")),
)
"""Functions that split a reference, and the kinds of answers for which they are used."""


def _shared(parts: list[AnswerParts], count: int) -> AnswerFormat | None:
    """Return the format with the answers narrowed to the tokens that vary; None if the parts have no such answers.

    Args:
        parts: Parts of each different reference.
        count: Number of references.
    """
    tokens = [_TOKEN.findall(made.core) for made in parts]
    if len(tokens) < 2 or len({tuple(made) for made in tokens}) < 2:
        return None
    shortest = min(map(len, tokens))
    first = min(len(_common(tokens)), shortest - 1)
    last = min(len(_common(made[::-1] for made in tokens)), shortest - 1 - first)
    narrowed = []
    for made, own in zip(parts, tokens, strict=True):
        core = "".join(own[first : len(own) - last])
        left, right = len(core) - len(core.lstrip()), len(core.rstrip())
        before, after = "".join(own[:first]) + core[:left], core[right:] + "".join(own[len(own) - last :])
        narrowed.append(AnswerParts(made.before + before, core.strip(), after + made.after))
    answers = tuple(sorted({made.core for made in narrowed}))
    if "" in answers:
        return None
    befores = _common(_TOKEN.findall(made.before)[::-1] for made in narrowed)
    afters = _common(_TOKEN.findall(made.after) for made in narrowed)
    kind = _kind(answers, count)
    if kind in ("option", "text") and any(_is_structured(made) for made in narrowed):
        return None
    texts = {"".join(made): made for made in narrowed}
    return AnswerFormat("".join(befores[::-1]), "".join(afters), kind, answers, texts)


def _common(sequences: Iterable[list[str]]) -> list[str]:
    """Return the longest common prefix of lists."""
    rows = takewhile(lambda row: len(set(row)) == 1, zip(*sequences, strict=False))
    return [row[0] for row in rows]


def _kind(answers: Sequence[str], count: int) -> str:
    for kind, pattern in (("integer", _INTEGER), ("number", _NUMBER)):
        if all(pattern.fullmatch(answer) for answer in answers):
            return kind
    return "option" if len(answers) <= min(MAX_OPTIONS, count // 2) else "text"


def _is_structured(parts: AnswerParts) -> bool:
    """Return whether the answer is a fragment of a JSON value or of code."""
    return (kind := kind_of("".join(parts))) == "code" or (kind == "JSON" and any(c in parts.core for c in '"[]{},:'))

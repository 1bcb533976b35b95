"""Rules for dialogue acts with unambiguous wordings, read from `rules.txt`. The classifier decides in other cases."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

RULES = Path(__file__).with_name("rules.txt")


class Patterns:
    """The patterns of a section of the rules: some match the beginning of a clause, others the beginning of any word.

    For speed, patterns begin with a literal space instead of a word boundary, and a space is prepended to each clause:
    searching for a pattern that starts with a literal character is several times faster.
    """

    def __init__(self, lines: list[str]) -> None:
        """Compile the lines of a section."""
        first = [line[1:] for line in lines if line.startswith("^")]
        words = [f" {line[2:]}" if line.startswith(r"\b") else line for line in lines if not line.startswith("^")]
        self._first = re.compile(f" (?:{'|'.join(first)})") if first else None
        self._words = re.compile("|".join(words)) if words else None

    def search(self, plain: str) -> bool:
        """Return whether one of the patterns matches a clause, which must have a space before it."""
        if self._first is not None and self._first.match(plain):
            return True
        return self._words is not None and self._words.search(plain) is not None


def _load(text: str) -> dict[str, list[str]]:
    """Return the lines of each section of a rule file."""
    definitions: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        name, _, pattern = line.partition(" = ")
        if line.startswith("["):
            lines = sections[line.strip("[]")] = []
        elif pattern and name.isupper():
            definitions[name] = pattern
            sections[name] = [pattern]
        elif line and not line.startswith("#"):
            for name, pattern in definitions.items():
                line = line.replace(f"{{{name}}}", pattern)
            lines.append(line)
    return sections


_sections = _load(RULES.read_text())
_rules = {
    end == "question": tuple(
        (name.removesuffix(f" {end}"), Patterns(lines))
        for name, lines in _sections.items()
        if name.endswith(f" {end}") and name != "open question"
    )
    for end in ("question", "statement")
}
WHOLE = Patterns(_sections["whole"])
"""Patterns of a statement that everything is done."""
NEGATION = Patterns(_sections["negation"])
"""Patterns of a negation. They indicate a refusal only together with a high score of the classifier."""
CONSENT = Patterns(_sections["consent"])
"""Patterns of a request for consent. They take precedence over other interpretations of a clause."""
ALTERNATIVES = Patterns(_sections["alternatives"])
"""Patterns of alternatives, such as ``A or B``. A question with alternatives cannot be answered with ``yes``."""
OPEN_QUESTION = re.compile(_sections["open question"][0])
"""Pattern of the beginning of a question that cannot be answered with ``yes``."""
_wait = Patterns(_sections["wait"])
_please = Patterns(_sections["please"])
_future = re.compile(rf"^(?:[\w'-]+,? ){{0,3}}(?:{_sections['UNDER'][0]}|next|then)\b")
_past = frozenset({"completion", "offer", "request"})
"""Kinds of dialogue acts that are discarded if the clause announces a future action."""
_asking = frozenset({"request", "choice", "proposal", "offer"})


@lru_cache(maxsize=16384)
def matched(plain: str, question: bool) -> tuple[str, ...]:
    """Return the kinds of all rules that match a clause."""
    padded = f" {plain}"
    found = tuple(kind for kind, patterns in _rules[question] if patterns.search(padded))
    if "refusal" in found:  # `can no longer be changed`, `has not been sent`
        found = tuple(k for k in found if k != "completion")
    return tuple(k for k in found if k not in _past) if not _past.isdisjoint(found) and _future.match(plain) else found


def appeals(plain: str, question: bool) -> bool:
    """Return whether a clause asks for an answer, as a question or as a request."""
    if question:
        return True
    kinds = matched(plain, question)
    if not _asking.isdisjoint(kinds):
        return True
    polite = _please.search(f" {plain}") and not _wait.search(f" {plain}")
    return polite and "hold" not in kinds and "transfer" not in kinds

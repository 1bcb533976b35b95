"""Unambiguous wordings of dialogue acts, from `rules.txt`; the classifier decides about clauses that none matches."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

RULES = Path(__file__).with_name("rules.txt")


class Patterns:
    """The alternatives of a section: those at the beginning of a clause, and those at the beginning of any word.

    A space stands for the beginning of a word, and before the clause: a pattern that begins with a literal character
    is searched several times faster than one that begins with a word boundary.
    """

    def __init__(self, lines: list[str]) -> None:
        """Compile the lines of a section."""
        first = [line[1:] for line in lines if line.startswith("^")]
        words = [f" {line[2:]}" if line.startswith(r"\b") else line for line in lines if not line.startswith("^")]
        self._first = re.compile(f" (?:{'|'.join(first)})") if first else None
        self._words = re.compile("|".join(words)) if words else None

    def search(self, plain: str) -> bool:
        """Return whether a clause, with a space before it, contains an alternative."""
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
"""Says that nothing remains to be done."""
NEGATION = Patterns(_sections["negation"])
"""What a refusal contains that no rule describes."""
CONSENT = Patterns(_sections["consent"])
"""Asks for consent, whatever else it may seem to ask for."""
ALTERNATIVES = Patterns(_sections["alternatives"])
"""Offers alternatives, so that `yes` is no answer to a question with it."""
OPEN_QUESTION = re.compile(_sections["open question"][0])
"""Begins a question that `yes` does not answer."""
_wait = Patterns(_sections["wait"])
_please = Patterns(_sections["please"])
_future = re.compile(rf"^(?:[\w'-]+,? ){{0,3}}(?:{_sections['UNDER'][0]}|next|then)\b")
_past = frozenset({"completion", "offer", "request"})
"""What a clause does not do that announces something."""
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
    """Return whether a clause seems to ask for an answer."""
    if question:
        return True
    kinds = matched(plain, question)
    if not _asking.isdisjoint(kinds):
        return True
    polite = _please.search(f" {plain}") and not _wait.search(f" {plain}")
    return polite and "hold" not in kinds and "transfer" not in kinds

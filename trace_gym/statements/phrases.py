"""Names, ids and other phrases in a text, whatever their case, accents, separators and order."""

from __future__ import annotations

import re
from functools import lru_cache

from trace_gym.statements.text import normalize

_separators = re.compile(r"[\s_-]+")
_apart = re.compile(r"(?<=[a-z])[ ](?=\d)")
_two_words = re.compile(r"([a-z']+) ([a-z']+)")


@lru_cache(maxsize=4096)
def squeeze(text: str) -> str:
    """Return a text with one space for each run of spaces, hyphens and underscores, and without number signs."""
    return _separators.sub(" ", normalize(text).replace("#", "")).strip()


@lru_cache(maxsize=4096)
def searched(text: str) -> str:
    """Return the squeezed text, followed by itself with codes written in one word where it has codes in two."""
    plain = squeeze(text)
    joined = _apart.sub("", plain)
    return plain if joined == plain else f"{plain}\n{joined}"


@lru_cache(maxsize=4096)
def spellings(phrase: str) -> tuple[str, ...]:
    """Return the squeezed phrase, and for a name of two words also ``last, first``."""
    plain = squeeze(phrase)
    name = _two_words.fullmatch(plain)
    return (plain, f"{name[2]}, {name[1]}") if name else (plain,)


def find_phrase(phrase: str, text: str) -> list[tuple[int, int]]:
    """Return the places where `searched(text)` contains a phrase as whole words."""
    return places_in(searched(text), phrase)


def places_in(where: str, phrase: str) -> list[tuple[int, int]]:
    """Return the places of a phrase in a text as `searched` returns it."""
    found = []
    for spelling in spellings(phrase):
        at = where.find(spelling) if spelling else -1
        while at >= 0:
            end = at + len(spelling)
            if not (_inside_word(where, at - 1, at) or _inside_word(where, end - 1, end)):
                found.append((at, end))
            at = where.find(spelling, at + 1)
    return found


def _inside_word(text: str, one: int, other: int) -> bool:
    """Whether two neighboring characters belong to one word."""
    if one < 0 or other >= len(text):
        return False
    return text[one].isalnum() and text[other].isalnum()

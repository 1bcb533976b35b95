"""Search for names, ids and other phrases, regardless of case, accents, separators and order of names."""

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
    """Return the normalized form of a text in which `places_in` searches for phrases.

    This is the result of `squeeze`. If the text contains codes with a space between letters and digits, such as ``hat
    123``, a copy of the text without these spaces is appended.
    """
    plain = squeeze(text)
    joined = _apart.sub("", plain)
    return plain if joined == plain else f"{plain}\n{joined}"


@lru_cache(maxsize=4096)
def spellings(phrase: str) -> tuple[str, ...]:
    """Return the forms of a phrase for which a text is searched.

    The first one is the result of `squeeze`. For a phrase of two words, such as a name, the second is ``last, first``.
    """
    plain = squeeze(phrase)
    name = _two_words.fullmatch(plain)
    return (plain, f"{name[2]}, {name[1]}") if name else (plain,)


def find_phrase(phrase: str, text: str) -> list[tuple[int, int]]:
    """Return the spans in `searched(text)` that contain a phrase as whole words."""
    return places_in(searched(text), phrase)


def places_in(where: str, phrase: str) -> list[tuple[int, int]]:
    """Return the spans of a phrase in a text that `searched` returned."""
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
    """Return whether two adjacent characters belong to the same word."""
    if one < 0 or other >= len(text):
        return False
    return text[one].isalnum() and text[other].isalnum()

"""Text normalization, sentence boundaries and search for whole words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u00b4\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2014\u2015", " - "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
        "\u00d7": "x",
        "\u2192": "->",
        "\u2044": "/",
    }
)
_sentence_end = re.compile(r"[.!?]+(?=\s|$)(?<!\b[ap]\.m\.)(?<!\bapprox\.)|[;\n]")


@lru_cache(maxsize=4096)
def normalize(text: str) -> str:
    """Return a text in lowercase with ASCII quotes, dashes and digits, without accents and markup."""
    if not text.isascii():
        spelled = unicodedata.normalize("NFKD", text.translate(_CHARACTERS)).translate(_CHARACTERS)
        text = "".join(c for c in spelled if not unicodedata.combining(c))
    return text.lower().replace("*", "").replace("`", "") if "*" in text or "`" in text else text.lower()


@lru_cache(maxsize=1024)
def sentence_ends(text: str) -> tuple[int, ...]:
    """Return the end positions of the sentences of a normalized text. The last one is the length of the text."""
    return (*(m.end() for m in _sentence_end.finditer(text)), len(text))


def sentence_at(text: str, position: int) -> tuple[int, int]:
    """Return the start and end of the sentence that contains a position."""
    start = 0
    for end in sentence_ends(text):
        if position < end:
            return start, end
        start = end
    return start, len(text)


def places_of(word: str, text: str) -> list[int]:
    """Return the positions where a text contains a word, such as an id, as a whole word.

    This search is faster than a regular expression, which would have to be compiled for each id.
    """
    found: list[int] = []
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        whole = not ((at and _in_word(text[at - 1])) or (end < len(text) and _in_word(text[end])))
        if whole:
            found.append(at)
        at = text.find(word, end if whole and end > at else at + 1)
    return found


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"

"""Analysis of questions about numbers and people, of reminder texts, and of stated numbers of days."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trace_gym.statements import Value, find_values
from trace_gym.statements.text import normalize
from trace_gym.targets.toolsandbox.matching import tidy

__all__ = ["about_number", "ago", "between", "reminder_subject", "lists_days"]

_number_of = re.compile(
    r"\b(?:which|what)(?= (?:phone |mobile |cell |contact )*numbers?\b)|\b(?:to|at) which\b|\bto whom\b"
)
_recipient = re.compile(
    r"(?<!what is )(?<!what's )(?<!what are )(?<!tell me )(?<!give me )(?<!and )"
    r"\b(?:the|this|that|your|a|my) (?:text|message)(?: message)?\b"
    r"(?! (?:to say|say|should (?:say|read|contain|be(?! sent))|to read|itself|content|wording))"
)
_number = re.compile(r"\bnumbers?\b")
_article = re.compile(r"\b(?:the|an?|my|your)\b")
_introduction = re.compile(
    r"^(?:reminder|remember|remind (?:me|user|you)|(?:do not|don t) forget|to ?do|task|note|please)\b ?"
)
_LISTED = 3
"""Minimum number of different numbers of days that count as a list. In a list, one of them may be right by chance."""
_DAYS = r"(?: (?:full |whole |more |calendar )?days?\b)"
_in_days = re.compile(rf"[\w-]+(?:\.\d+)?{_DAYS}")
_other_unit = re.compile(r"[\w.,-]+ (?:weeks?|months?|years?|hours?|minutes?|seconds?)\b")
_rest = re.compile(r"\b(?:weeks?|months?|years?)(?:,| and|, and| plus)? $")
_listed = re.compile(
    r"(?:\s|[,;/|&*]|(?<=\s)-(?=\s)|\N{HORIZONTAL ELLIPSIS}|\.\.+|\bdays?\b|\bor\b|\band\b|\bmaybe\b|\bperhaps\b)*"
)


def about_number(asked: str) -> str:
    """Return a question about a number without its words about the message or the purpose of the number."""
    return _recipient.sub("", _number_of.sub("", asked)) if _number.search(asked) else asked


def between(asked: str, meant: str) -> bool:
    """Return whether a question offers a person as an alternative, as in ``Would you like me to text A or B?``."""
    if not meant or meant.lower() not in asked or "?" not in asked:
        return False
    first = meant.lower().split()[0]
    # The message `I cannot find Kenji. Do you have the number, or another name?` does not offer a person.
    return any(" or " in part and first in part for part in re.split(r"(?<=[.!?])\s+", asked))


def reminder_subject(content: str) -> str:
    """Return the subject of a reminder, without articles and introductory words."""
    words = " ".join(tidy(content).split())
    while (shorter := _introduction.sub("", words).removeprefix("to ")) != words:
        words = shorter
    return " ".join(_article.sub("", words).split())


def lists_days(said: Iterable[str]) -> bool:
    """Return whether messages state several numbers of days instead of one, as a list or one after another.

    In ``45 days (6 weeks and 3 days)``, only the first number counts, because the days in parentheses are the remainder
    of a larger unit.
    """
    return any(_lists_days(normalize(text)) for text in said)


def _lists_days(text: str) -> bool:
    found = [v for v in find_values(text) if v.kind == "number" and not _other_unit.match(text, v.start)]
    run: list[Value] = []
    for value in found:
        run = [*run, value] if run and _listed.fullmatch(text[run[-1].end : value.start]) else [value]
        if len({v.value for v in run}) >= _LISTED:
            return True
    days = [v for v in found if _in_days.match(text, v.start) and not _rest.search(text[: v.start])]
    counts = sorted({float(str(v.value)) for v in days})
    return len(counts) >= _LISTED and counts[-1] != sum(counts[:-1])


def ago(days: int, said: Iterable[str]) -> bool:
    """Return whether messages state that the given number of days has passed."""
    return any(re.search(rf"\b{days} (?:\w+ )?days? (?:ago|earlier|past)\b", normalize(text)) for text in said)

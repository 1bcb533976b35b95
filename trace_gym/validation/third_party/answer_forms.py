"""Answer formats: the markup around an answer, and how to build texts that have the markup but no answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from trace_gym.nested import parse_if_json

FORMS = (
    "#### {}",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "Answer: {}",
    "The answer is {}.",
    "<think>.</think><solution>{}</solution>",
    "<think>.</think>\n<answer>{}</answer>",
    '{{"answer": {}}}',
)
"""Answer formats that scorers expect."""
MARKUP_FORMS = tuple(form for form in FORMS if not form.startswith("The"))
"""Formats that consist of markup, without a sentence."""

FILLERS = "zqxjkvwyugbpmfcdlhnorsitae"
"""Letters in the order in which they are chosen for meaningless text. Rare letters come first."""

_SHELLS = (
    re.compile(r"^(?P<before>.*?```[\w+-]*\n)(?P<core>.*?)(?P<after>\n?```\s*)$", re.DOTALL),
    re.compile(r"^(?P<before>.*<(?P<tag>[A-Za-z][\w-]*)>)(?P<core>.*?)(?P<after></(?P=tag)>\s*)$", re.DOTALL),
    re.compile(r"^(?P<before>.*\\boxed\{)(?P<core>.*)(?P<after>\}[\s$.]*)$", re.DOTALL),
    re.compile(r"^(?P<before>(?:.*\n)?#{2,} ?)(?P<core>[^\n]+)(?P<after>\s*)$", re.DOTALL),
    re.compile(
        r"^(?P<before>(?:.*\n)?[^\n:]{0,30}\b(?:answer|solution|result)\b[^\n:]{0,20}: *)(?P<core>[^\n]+)"
        r"(?P<after>\s*)$",
        re.DOTALL | re.IGNORECASE,
    ),
    re.compile(r"^(?P<before>.*\bthe answer is )(?P<core>[^\n]+?)(?P<after>\.?\s*)$", re.DOTALL | re.IGNORECASE),
    re.compile(r'^(?P<before>\{"\w+": ?"?)(?P<core>[^"{}\[\]:]+)(?P<after>"?\}\s*)$'),
    re.compile(r"^(?P<before>\s*(?:\*\*|\$|\())(?P<core>[^*$()]+)(?P<after>(?:\*\*|\$|\))\s*)$"),
)
"""Formats around an answer, from the outside to the inside."""
_MARKUP = re.compile(r"```[\w+-]*|</?[A-Za-z][\w-]*>|\\boxed\{|\}|#{2,}|^[^\n:]{1,50}:", re.MULTILINE)
_PIECES = (
    re.compile(r"<([A-Za-z][\w-]*)>[^<>]*[^<>\s][^<>]*</\1>"),
    re.compile(r"\\boxed\{[^{}\n]+\}"),
    re.compile(r"^#### \S.*$", re.MULTILINE),
    re.compile(r"^.{0,20}\b(?:answer|solution|result): *\S.*$", re.MULTILINE | re.IGNORECASE),
    re.compile(r"```[\w+-]*\n.+?\n```", re.DOTALL),
)
_INTRODUCED = re.compile(r"\b(?:for example|for instance|examples?|e\.g\.)[:,]?\s+(\S[^\n]*)", re.IGNORECASE)


class AnswerParts(NamedTuple):
    """Answer with its format."""

    before: str
    core: str
    after: str

    def with_core(self, core: str) -> str:
        """Return the text with a different answer in the same format."""
        return f"{self.before}{core}{self.after}"


def split_answer(text: str) -> AnswerParts:
    """Split a reference solution into the answer and the format around it."""
    before, core, after = "", text, ""
    found = True
    while found:
        found = False
        for shell in _SHELLS:
            if (match := shell.match(core)) and match["core"].strip():
                before, core, after = before + match["before"], match["core"], match["after"] + after
                found = True
                break
    left = len(core) - len(core.lstrip())
    right = len(core.rstrip())
    return AnswerParts(before + core[:left], core[left:right], core[right:] + after)


def empty_shells(text: str) -> Iterator[tuple[str, str]]:
    """Yield descriptions and texts that keep the markup of a reference solution without its content."""
    parts = split_answer(text)
    open_marks, close_marks = ("".join(_MARKUP.findall(side)) for side in (parts.before, parts.after))
    if open_marks:
        yield "its empty format", open_marks + close_marks
        yield "its format around other letters", f"{open_marks}{filler(text, 6)}{close_marks}"
    elif isinstance(value := parse_if_json(parts.core), dict) and value:
        yield "its keys without values", json.dumps(dict.fromkeys(value, ""))


def filler(text: str, length: int) -> str:
    """Return meaningless words of a given length, which avoid the characters of a text as far as possible."""
    used = set(text.lower())
    letters = [letter for letter in FILLERS if letter not in used] or list(FILLERS[:3])
    separator = next((space for space in " \n" if space not in text), "\t")
    return "".join(separator if n % 7 == 6 else letters[(n * n + n // 7) % len(letters)] for n in range(length)).strip()


def formatted_pieces(prompt: str) -> list[str]:
    """Return the worked examples of a prompt: answers in markup, and texts after words such as "for example"."""
    found = [match[0].strip() for piece in _PIECES for match in piece.finditer(prompt)]
    for match in _INTRODUCED.finditer(prompt):
        line = match[1].strip()
        found += [line, re.split(r"[.;,](?:\s|$)|\s+(?:or|and)\s+", line)[0].strip("\"'`“” ")]
    return [piece for piece in dict.fromkeys(found) if piece]

"""Near misses of answers that consist of several elements or words: JSON, code, formulas, lines, lists and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from trace_gym.nested import walk
from trace_gym.validation.third_party.answer_forms import filler

Change = tuple[str, str]
"""Description of a change, and the changed answer."""

_ORDER = re.compile(
    r"\b(?:sort\w*|order\w*|rank\w*|sequence|alphabetical\w*|chronological\w*|ascending|descending)\b", re.I
)
_CASE = re.compile(r"\b(?:case[- ]sensitive|upper ?case|lower ?case|capital(?:ize)? letters?)\b", re.I)
_NEGATION = re.compile(r"\b(?:not|never|no) |n't\b", re.I)
_VERB = re.compile(r"\b(?:is|are|was|were|can|must|will|should|may|does|do)\b ")
_SWAPS = {"+": "-", "-": "+", "*": "+", "<": ">", ">": "<", "==": "!=", "!=": "==", "<=": ">", ">=": "<"}


def changed_json(core: str) -> Iterator[Change]:
    """Yield variants of a JSON value with some or all of its scalar values changed, or with an element removed."""
    value = json.loads(core)
    leaves = [node.path for node in walk(value) if node.is_scalar or not node.value]
    for change, chosen in {
        "the first value changed": leaves[:1],
        "the last value changed": leaves[-1:],
        "all values changed": leaves,
    }.items():
        made = json.loads(core)
        for path in chosen:
            made = _changed_at(made, path)
        yield change, json.dumps(made)
    if isinstance(value, dict) and len(value) > 1:
        yield "the last key removed", json.dumps(dict(list(value.items())[:-1]))
    if isinstance(value, list) and len(value) > 1:
        yield "the last element removed", json.dumps(value[:-1])
        yield "the first element removed", json.dumps(value[1:])


def _changed_at(value: Any, path: tuple[str | int, ...]) -> Any:
    if path:
        value[path[0]] = _changed_at(value[path[0]], path[1:])
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value * 2 + 1
    if isinstance(value, str):
        return filler(value, max(4, len(value)))
    return "x" if value in (None, [], {}) else value


def changed_code(core: str) -> Iterator[Change]:
    """Yield variants of code with operators replaced or with an empty body.

    Other changes are not made, because whether they make the code wrong depends on the environment's tests.
    """
    swapped = re.sub(r"(?<= )(?:[=!<>]=|[-+*<>])(?= )", lambda match: _SWAPS.get(match[0], match[0]), core)
    if swapped != core:
        yield "other operators", swapped
    if len(lines := core.splitlines()) > 1:
        indent = re.match(r"\s*", lines[1])
        yield "an empty body", f"{lines[0]}\n{indent[0] if indent else ''}pass"


def changed_formula(core: str) -> Iterator[Change]:
    """Yield variants of a formula with an operator or a number replaced."""
    if match := re.search(r"(?<=[\w)}]) ?([-+]) ?(?=[\w({])", core):
        sign = "-" if match[1] == "+" else "+"
        yield "another operator", core[: match.start(1)] + sign + core[match.end(1) :]
    if numbers := list(re.finditer(r"\d+", core)):
        last = numbers[-1]
        yield "another last number", f"{core[: last.start()]}{int(last[0][:50]) * 2 + 1}{core[last.end() :]}"


def changed_lines(core: str, prompt: str) -> Iterator[Change]:
    """Yield variants of a text with a line changed or removed, or with its lines reversed."""
    yield from _changed_elements(core.splitlines(), "\n", "line", prompt)


def changed_list(core: str, prompt: str) -> Iterator[Change]:
    """Yield variants of a list with an element changed or removed, or in reverse order."""
    separator = re.search(r" ?[,;|] ?", core)
    between = separator[0] if separator else ", "
    yield from _changed_elements(core.split(between), between, "element", prompt)


def _changed_elements(elements: list[str], between: str, name: str, prompt: str) -> Iterator[Change]:
    if len(set(elements)) > 1:
        yield f"the last {name} removed", between.join(elements[:-1])
        yield f"the first {name} removed", between.join(elements[1:])
    text = between.join(elements)
    for change, number in ((f"the last {name} changed", -1), (f"the first {name} changed", 0)):
        made = list(elements)
        made[number] = _other_element(made[number], text)
        yield change, between.join(made)
    if _ORDER.search(prompt) and elements != elements[::-1]:
        yield f"the {name}s reversed", between.join(reversed(elements))


def _other_element(element: str, text: str) -> str:
    if re.fullmatch(r"-?\d+(?:\.\d+)?", element.strip()):
        return str(int(float(element[:300])) * 2 + 101)
    return filler(text, max(4, len(element)))


def changed_text(core: str, prompt: str) -> Iterator[Change]:
    """Yield variants of a text with characters changed, words removed, or the meaning negated."""
    groups = list(re.finditer(r"[0-9]+", core))
    for change, chosen in (("other digits", groups), ("another last number", groups[-1:])):
        if chosen:
            start, end = chosen[0].start(), chosen[-1].end()
            other = re.sub(r"[0-9]", lambda match: str((int(match[0]) + 5) % 10), core[start:end])
            yield change, core[:start] + other + core[end:]
    letters = sum(letter.isalpha() for letter in core)
    if letters >= 4:
        half = (len(core) + 1) // 2
        if not groups or groups[-1].end() > half:  # otherwise, the first half may contain the whole answer
            yield "its first half", core[:half].rstrip()
            yield "other letters in its second half", core[:half] + filler(core, len(core) - half)
        yield "its first letter", core[:1]
    if match := _NEGATION.search(core):
        yield "without its negation", core[: match.start()] + core[match.end() :]
    elif match := _VERB.search(core):
        yield "with a negation", f"{core[: match.end()]}not {core[match.end() :]}"
    words = core.split()
    if _ORDER.search(prompt) and len(words) > 2 and words != words[::-1]:
        yield "the words reversed", " ".join(reversed(words))
    if re.search(r"\w\.\w", core) and any(letter.isdigit() for letter in core):
        yield "without its inner points", re.sub(r"(?<=\w)\.(?=\w)", "", core)
    if _CASE.search(prompt) and core.swapcase() != core:
        yield "another letter case", core.swapcase()

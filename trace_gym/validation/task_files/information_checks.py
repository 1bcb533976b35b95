"""Properties of a task file: an agent can find out all values that the task expects it to write or to state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import combinations
from typing import Any

from trace_gym.nested import ids_and_scalars, walk
from trace_gym.targets.task_files import Task, TaskIssue
from trace_gym.validation.task_files.registry import TaskFileContext, shown, task_check

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
MOST_SUMMANDS = 12
"""Maximum size of a group of numbers for which all partial sums are computed."""


class Known:
    """Texts and numbers that an agent can learn from the user, read in records, or compute."""

    def __init__(self, instructions: str, records: Sequence[Any]) -> None:
        self.text = _words(instructions)
        self.sentences = [_words(part) for part in re.split(r"[.!?]\s|\n\n", instructions)]
        self.values: set[str] = set().union(*map(_values_of, records))
        self.objects = [made for record in records for made in _objects_of(record)]

    def contains(self, value: str) -> bool:
        """Return whether the user states a text, or a record contains it."""
        text = _words(value)
        return text in self.values or _stated(text, self.text)

    def connects(self, record: dict[str, Any]) -> bool:
        """Return whether the texts of an object belong together.

        Two texts belong together if an object of a record contains both in the same fields, or if both occur in one
        sentence of the instructions. Two names must also be next to each other. All texts of the object must be linked
        by such pairs.
        """
        fields = {key: _words(value) for key, value in record.items() if isinstance(value, str)}
        linked, left = dict(list(fields.items())[:1]), dict(list(fields.items())[1:])
        while left:
            found = [k for k, v in left.items() if any(self._pair(k, v, *known) for known in linked.items())]
            if not found:
                return False
            linked |= {key: left.pop(key) for key in found}
        return True

    def _pair(self, key: str, value: str, other_key: str, other: str) -> bool:
        if any(made.get(key) == value and made.get(other_key) == other for made in self.objects):
            return True
        if value.isalpha() and other.isalpha():
            return _occurs(f"{value} {other}", self.text) or _occurs(f"{other} {value}", self.text)
        return any(_stated(value, sentence) and _stated(other, sentence) for sentence in self.sentences)

    def numbers(self) -> set[float]:
        """Return the numbers in the instructions and in the records."""
        stated = [_number(text) for text in NUMBER.findall(self.text)]
        return {*stated, *(float(value) for value in self.values if re.fullmatch(r"-?\d+(\.\d+)?", value))}


@task_check(
    "TF302",
    statement="Every text in the arguments of an expected write occurs in the instructions or in a record that the "
    "agent can read.",
    reason="An agent cannot know the value, so it cannot make the call.",
    fix="Add the value to the instructions, or correct the argument to the value in the record.",
    confidence="high",
)
def arguments_can_be_known(context: TaskFileContext) -> Iterator[TaskIssue]:
    listed = _enumerated(context.file.interface.tools)
    for task in context.file.tasks:
        writes = [call for call in task.calls if context.is_write(call)]
        known = _known(context, task) if writes else None
        for call in writes if known else ():
            assert known is not None
            given = {k: v for k, v in call.arguments.items() if k not in context.file.free_arguments}
            for node in walk(given):
                value = node.value
                if isinstance(value, str) and value and value not in listed and not known.contains(value):
                    yield TaskIssue(
                        task.id, f"{node.name} {value!r} in {shown(call, 80)}", "a value that the agent can know"
                    )
                elif isinstance(value, dict) and value is not given and not known.connects(value):
                    parts = ", ".join(f"{k} {v!r}" for k, v in value.items())
                    yield TaskIssue(task.id, f"{parts} in {shown(call, 80)}", "texts that belong together")


@task_check(
    "TF303",
    statement="Every text that the agent must communicate is stated by the user, occurs in a record, or is a sum or a "
    "difference of such numbers.",
    reason="An agent cannot know the text, so it cannot state it.",
    fix="Correct the text, or add the information that determines it.",
    confidence="medium",
)
def facts_can_be_known(context: TaskFileContext) -> Iterator[TaskIssue]:
    for task in context.file.tasks:
        if not task.communicated:
            continue
        known, run = _known(context, task), context.run(task)
        computed = _computable(context.file.amounts(task, run.before, run.after)) | known.numbers()
        for text in task.communicated:
            numbers = [_number(part) for part in NUMBER.findall(text)]
            missing = [n for n in numbers if round(abs(n), 2) not in computed]
            if (missing or not numbers) and not known.contains(text):
                yield TaskIssue(
                    task.id, f"the text {text!r} to communicate", "a fact that the agent can know or compute"
                )


def _known(context: TaskFileContext, task: Task) -> Known:
    """Return the information that an agent can learn in a task."""
    return Known(task.instructions, context.file.records(task))


_cache: dict[int, tuple[Any, set[str]]] = {}
_object_cache: dict[int, tuple[Any, list[dict[str, str]]]] = {}
"""Objects and values by the `id` of a record, because tasks share large tables.

The record is also stored, so that its `id` stays valid.
"""


def _values_of(record: Any) -> set[str]:
    if id(record) not in _cache:
        found = {_words(str(value)) for _, value in ids_and_scalars(record) if not isinstance(value, bool)}
        _cache[id(record)] = (record, found)
    return _cache[id(record)][1]


def _objects_of(record: Any) -> list[dict[str, str]]:
    """Return the objects in a record with their texts, including the texts of the objects that they contain."""
    if id(record) not in _object_cache:
        made = []
        for node in walk(record):
            if isinstance(node.value, dict):
                inner = [part for part in node.value.values() if isinstance(part, dict)]
                texts = {k: v for part in [*inner, node.value] for k, v in part.items() if isinstance(v, str)}
                made.append({key: _words(text) for key, text in texts.items()})
        _object_cache[id(record)] = (record, made)
    return _object_cache[id(record)][1]


def _enumerated(tools: Sequence[Any]) -> set[str]:
    """Return the values that the schemas of the tools list."""
    return {
        v for tool in tools for node in walk(tool) if node.name == "enum" for v in [node.value] if isinstance(v, str)
    }


def _words(text: str) -> str:
    return " ".join(text.lower().split())


def _occurs(part: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _stated(value: str, text: str) -> bool:
    return any(_occurs(form, text) for form in _forms(value))


def _forms(text: str) -> Iterator[str]:
    """Yield the ways to write a value in prose: the value itself and, for a date, its usual forms."""
    yield text
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return
    for month in (f"{day:%B}".lower(), f"{day:%b}".lower()):
        yield from (f"{month} {day.day}", f"{day.day} {month}", f"{month} {day.day}th", f"{month} {day.day:02d}")
    yield from (f"{day.month}/{day.day}/{day.year}", f"{day.month:02d}/{day.day:02d}/{day.year}")


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _computable(groups: Iterable[Sequence[float]]) -> set[float]:
    """Return the sums and differences of the numbers in each group, and of the totals of two groups."""
    made: set[float] = set()
    totals: set[float] = set()
    for group in groups:
        sums = {0.0}
        if len(group) <= MOST_SUMMANDS:
            for number in group:
                sums |= {known + number for known in sums}
            totals.add(sum(group))
        made |= sums | {a - b for a, b in combinations(group, 2)}
    made |= {a - b for a, b in combinations(totals, 2)} | {a + b for a, b in combinations(totals, 2)}
    return {round(abs(number), 2) for number in made}

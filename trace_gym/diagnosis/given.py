"""Analyst that reads labels from files, which were created by a person, another program or an earlier diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from trace_gym.diagnosis.records import Summary
from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import first_fault, parse_json
from trace_gym.types import Label, Trajectory

EXPECTED = (
    'Expected {"labels": {trajectory id: {capability: "LACKING", "PRESENT" or "NA"}}}, as in the output of trace-gym '
    'diagnose --out, or {"labels": {capability: {"lacking_failed": [ids], "present_failed": [ids], "na_failed": [ids], '
    '"lacking_passed": [ids], "present_passed": [ids], "na_passed": [ids]}}}'
)


class _Lists(BaseModel, extra="forbid"):
    """Ids of trajectories or tasks, grouped by their label for one capability and by outcome."""

    lacking_failed: list[str | int] = Field(default_factory=list)
    present_failed: list[str | int] = Field(default_factory=list)
    na_failed: list[str | int] = Field(default_factory=list)
    lacking_passed: list[str | int] = Field(default_factory=list)
    present_passed: list[str | int] = Field(default_factory=list)
    na_passed: list[str | int] = Field(default_factory=list)

    def by_id(self) -> dict[str, tuple[Label, bool]]:
        """Return the label and the outcome of each id.

        Raises:
            ValueError: An id is in two lists.
        """
        found: dict[str, tuple[Label, bool]] = {}
        for field in type(self).model_fields:
            name, _, outcome = field.partition("_")
            label: Label = TypeAdapter(Literal["NA", "PRESENT", "LACKING"]).validate_python(name.upper())
            for key in map(str, getattr(self, field)):
                if key in found:
                    raise ValueError(f"the id {key} is in two lists")
                found[key] = (label, outcome == "passed")
        return found


class _Own(BaseModel):
    labels: dict[str, dict[str, Label]]


class _SixLists(BaseModel):
    labels: dict[str, _Lists]


class GivenLabels:
    """Analyst that returns labels that are stored in files. Each file is one label run."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read the labels from the files.

        Raises:
            ReadError: A file does not exist, or contains no labels.
        """
        self.name = f"labels of {', '.join(path.name for path in paths)}"
        self._files = [(path, _read(path)) for path in paths]
        names = {name for _, labels in self._files for name in _capabilities(labels)}
        self.descriptions: Mapping[str, str] = dict.fromkeys(sorted(names), "")

    def label(self, trajectories: Iterable[Trajectory]) -> list[dict[str, dict[str, Label]]]:
        """Return one label run per file.

        Raises:
            ReadError: A file contains none of the trajectories, or a different outcome for one of them.
        """
        summaries = [Summary.of(t) for t in trajectories]
        return [
            _own(path, labels, summaries) if isinstance(labels, _Own) else _listed(path, labels, summaries)
            for path, labels in self._files
        ]


def _read(path: Path) -> _Own | _SixLists:
    data = parse_json(read_text(path), str(path), EXPECTED)
    faults = []
    for shape in (_Own, _SixLists):
        try:
            found = shape.model_validate(data)
            if isinstance(found, _SixLists):
                for lists in found.labels.values():
                    lists.by_id()
            return found
        except ValidationError as error:
            faults.append(first_fault(error))
        except ValueError as error:
            faults.append(str(error))
    raise ReadError(f"{path} contains no valid labels: {faults[-1]}. {EXPECTED}")


def _capabilities(labels: _Own | _SixLists) -> set[str]:
    if isinstance(labels, _SixLists):
        return set(labels.labels)
    return {name for given in labels.labels.values() for name in given}


def _own(path: Path, labels: _Own, trajectories: Sequence[Summary]) -> dict[str, dict[str, Label]]:
    found = {t.id: labels.labels[t.id] for t in trajectories if t.id in labels.labels}
    return found if found or not trajectories else _unmatched(path, trajectories)


def _listed(path: Path, labels: _SixLists, trajectories: Sequence[Summary]) -> dict[str, dict[str, Label]]:
    given = {name: lists.by_id() for name, lists in labels.labels.items()}
    found: dict[str, dict[str, Label]] = {}
    for t in trajectories:
        own = {name: ids[key] for name, ids in given.items() if (key := t.id if t.id in ids else t.task) in ids}
        if wrong := [name for name, (_, passed) in own.items() if t.success is not None and passed != t.success]:
            raise ReadError(
                f"{path}: the lists of {wrong[0]} contradict the outcome of {t.id}: found it among the "
                f"{'failed' if t.success else 'passed'} trajectories. Pass the trajectories that were labeled"
            )
        if own:
            found[t.id] = {name: label for name, (label, _) in own.items()}
    return found if found or not trajectories else _unmatched(path, trajectories)


def _unmatched(path: Path, trajectories: Sequence[Summary]) -> dict[str, dict[str, Label]]:
    raise ReadError(
        f"{path} contains no labels for these trajectories: expected trajectory ids such as {trajectories[0].id}, or "
        f"task ids such as {trajectories[0].task}. Pass the trajectories that the file labels"
    )

"""Validation results: findings of properties, and the report of an environment."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from trace_gym.types.base import FORMAT_VERSION, Record, upgraded


class Curves(Record):
    """A line chart in a finding."""

    renamed_fields: ClassVar[Mapping[str, str]] = {"band": "target_range"}

    kind: Literal["curves"] = "curves"
    title: str
    x: str
    y: str
    series: dict[str, tuple[tuple[float, float], ...]]
    """Points (x, y) of each line by the name of the line."""
    target_range: tuple[float, float] | None = None
    """Desired range of `y`."""


class Bars(Record):
    """A bar chart in a finding."""

    kind: Literal["bars"] = "bars"
    title: str
    unit: str
    bars: dict[str, float]
    bound: float | None = None
    """Upper limit for every bar."""


class Transcript(Record):
    """A conversation in a finding."""

    kind: Literal["transcript"] = "transcript"
    title: str
    messages: tuple[dict[str, Any], ...]

    @model_validator(mode="before")
    @classmethod
    def _rename_kind(cls, data: Any) -> Any:
        """Upgrade the kind ``talk`` of version 1."""
        return {**data, "kind": "transcript"} if isinstance(data, dict) and data.get("kind") == "talk" else data


def _exhibit_kind(data: Any) -> Any:
    kind = data.get("kind") if isinstance(data, dict) else getattr(data, "kind", None)
    return "transcript" if kind == "talk" else kind


Exhibit = Annotated[
    Annotated[Curves, Tag("curves")] | Annotated[Bars, Tag("bars")] | Annotated[Transcript, Tag("transcript")],
    Discriminator(_exhibit_kind),
]
"""A chart or conversation that illustrates a finding."""

FindingVerdict = Literal["passed", "failed", "skipped", "unfinished", "warning"]
"""Result of one property: ``skipped`` if it does not apply, ``unfinished`` if it was interrupted, and ``warning`` if a
heuristic check of a task file reports a possible defect."""


class Replay(Record):
    """An episode that can be repeated: a scenario id and the actions taken in it."""

    scenario: str
    actions: tuple[Any, ...] = ()
    """Turns as text or messages; a scripted step is ``{"tool": ..., "arguments": {...}}`` or ``{"say": ...}``."""


class Finding(Record):
    """Result of checking one property."""

    renamed_fields: ClassVar[Mapping[str, str]] = {"says": "message", "figures": "metrics"}

    code: str
    property: str
    verdict: FindingVerdict
    message: str
    """One sentence: the measurement, the failure, or the reason why the property was skipped."""
    counterexample: str = ""
    """A runnable Python snippet that reproduces the failure."""
    replay: Replay | None = None
    """The counterexample as data, for ``trace-gym replay``."""
    metrics: dict[str, float] = Field(default_factory=dict)
    exhibits: tuple[Exhibit, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _rename_verdict(cls, data: Any) -> Any:
        """Upgrade the verdict ``inapplicable`` of version 1."""
        if isinstance(data, dict) and data.get("verdict") == "inapplicable":
            return {**data, "verdict": "skipped"}
        return data

    @builtins.property  # the field `property` shadows the built-in name
    def passed(self) -> bool:
        """Whether the property passed, was skipped, or has only a warning."""
        return self.verdict in ("passed", "skipped", "warning")


class Report(Record):
    """Validation result of one environment: all findings and the number of scenarios."""

    version: int = FORMAT_VERSION
    """Format version of the report."""
    env: str = ""
    """Environment as it was passed to `validate`: a name, ``module:Class``, or an environment URI."""
    passed: bool
    findings: tuple[Finding, ...]
    scenarios: int
    profile: str = "gate"

    @field_validator("version")
    @classmethod
    def _upgraded(cls, version: int) -> int:
        """Return the current version for a report that was upgraded while it was read."""
        return upgraded(version)

    def summary(self) -> Self:
        """Return the report without charts and conversations, as it is stored in a manifest."""
        short = tuple(f.model_copy(update={"exhibits": ()}) for f in self.findings)
        return self.model_copy(update={"findings": short})

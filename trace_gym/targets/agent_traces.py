"""Reader of traces in the format of OpenAI's Agents SDK, which consist of ``trace`` and ``trace.span`` objects.

Source of the format: ``Trace.export``, ``Span.export`` and ``SpanData.export`` in ``src/agents/tracing`` of
github.com/openai/openai-agents-python. The items are in a list, in ``{"data": [...]}`` (the body of a request to
OpenAI's trace ingestion endpoint), or in the lines of a JSONL file. Items of different traces may be interleaved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from trace_gym.errors import ReadError
from trace_gym.parsing import first_fault
from trace_gym.targets.base import Reader
from trace_gym.targets.conversation import conversation
from trace_gym.targets.source import Entry, Outline, Source
from trace_gym.targets.trace_messages import TracedCall, messages_of, model_of
from trace_gym.types import Trajectory

BATCH = "data"
"""Key of the list of items in a request body."""
FORM = "a trace of OpenAI's Agents SDK ({object: trace} and {object: trace.span}; a list, {data: [...]} or JSONL)"


class _Item(BaseModel):
    """A trace, or a span of a trace."""

    object: str = Field(pattern=r"^trace(\.span)?$")
    id: str
    trace_id: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    span_data: dict[str, Any] = Field(default_factory=dict)
    error: dict[str, Any] | None = None
    workflow_name: str = ""
    group_id: str | None = None
    metadata: dict[str, Any] | None = None

    @property
    def trace(self) -> str:
        """Id of the trace to which the item belongs."""
        return self.trace_id or self.id


@dataclass
class _Trace:
    """The items of one trace."""

    place: str
    head: _Item | None = None
    spans: list[_Item] = field(default_factory=list)
    read: int = 0


def is_item(data: Any) -> bool:
    """Return whether parsed JSON data is an item of a trace or a batch of items."""
    if not isinstance(data, dict):
        return False
    if isinstance(batch := data.get(BATCH), list):
        return any(map(is_item, batch[:1]))
    return data.get("object") in ("trace", "trace.span")


def is_trace(outline: Outline) -> bool:
    """Return whether a JSON file contains items of traces."""
    return any(key in ("", BATCH) and is_item(data) for key, data in outline.examples)


def read_traces(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories in a JSON file that contains trace items, one trajectory per trace.

    Raises:
        ReadError: An item or a trace is not valid.
    """
    yield from read_items(replace(source, records=source.outline.examples[0][0]))


def read_items(source: Source, entries: Callable[[], Iterator[Entry]] | None = None) -> Iterator[Trajectory]:
    """Yield one trajectory for each trace in a sequence of items.

    A trace ends with its last item in the file. Only traces that have started but not yet ended are kept in memory.

    Args:
        source: The file.
        entries: Function that yields the items, or batches of items, from the start of the file. By default, the
            records of the source are used.
    """
    entries = entries or source.entries
    counts = Counter(item.trace for entry in _flat(entries()) if (item := _valid(entry)) is not None)
    open_traces: dict[str, _Trace] = {}

    def complete() -> Iterator[Entry]:
        for entry in _flat(entries()):
            if (item := _valid(entry)) is None:
                yield entry
                continue
            trace = open_traces.setdefault(item.trace, _Trace(entry.place))
            trace.read += 1
            if item.object == "trace":
                trace.head = item
            else:
                trace.spans.append(item)
            if trace.read == counts[item.trace]:
                yield Entry(trace.place, open_traces.pop(item.trace))

    def convert(entry: Entry) -> Trajectory:
        if isinstance(entry.data, _Trace):
            return _trajectory(entry.data, source)
        try:
            _Item.model_validate(entry.data)
        except ValidationError as error:
            raise ReadError(
                f"{source.where}: {entry.place} is not a valid item of a trace: {first_fault(error)}"
            ) from None
        raise AssertionError("only invalid items are passed on")

    yield from source.convert(complete(), convert)


def _flat(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Yield the individual items, including those inside batches."""
    for place, data in entries:
        if isinstance(data, dict) and isinstance(batch := data.get(BATCH), list):
            yield from (Entry(f"{place}.{BATCH}.{n}", item) for n, item in enumerate(batch))
        else:
            yield Entry(place, data)


def _valid(entry: Entry) -> _Item | None:
    try:
        return _Item.model_validate(entry.data)
    except ValidationError:
        return None


def _trajectory(trace: _Trace, source: Source) -> Trajectory:
    first = trace.head or trace.spans[0]
    place, name = f"{source.where}: the trace {first.trace}", first.workflow_name or "Agent workflow"
    metadata = trace.head.metadata if trace.head and trace.head.metadata else {}
    spans = sorted(trace.spans, key=lambda span: span.started_at or "")
    generated = [s.span_data for s in spans if s.span_data.get("type") in ("generation", "response")]
    calls = [TracedCall.of(s.span_data, s.error) for s in spans if s.span_data.get("type") == "function"]
    messages = messages_of(generated, calls, place)
    success, reward = _outcome(metadata, place)
    failed = _infrastructure_error(spans)
    return Trajectory(
        id=first.trace,
        task=str(metadata.get("task") or first.group_id or first.trace),
        messages=conversation(messages),
        success=None if failed else success,
        reward=None if failed else reward,
        ended="error" if failed else "unknown",
        note=failed[:300],
        source=f"OpenAI trace {name}",
        model=source.model or model_of(generated),
    )


def _infrastructure_error(spans: Sequence[_Item]) -> str:
    """Return the error of the last model request, or an empty string if that request succeeded."""
    last = [s for s in spans if s.span_data.get("type") in ("generation", "response")][-1:]
    return str(last[0].error.get("message") or "error") if last and last[0].error else ""


def _outcome(metadata: dict[str, Any], place: str) -> tuple[bool | None, float | None]:
    """Return the success and the reward in the metadata of a trace. A missing value is None.

    OpenAI's backend permits only strings in the metadata, so the values may be strings.
    """
    words = {"true": True, "false": False}
    success, reward = metadata.get("success"), metadata.get("reward")
    success = words.get(success.lower(), success) if isinstance(success, str) else success
    try:
        number = None if reward is None else float(reward)
    except (TypeError, ValueError):
        number = float("nan")
    if not isinstance(success, (bool, type(None))) or (number is not None and not abs(number) < float("inf")):
        raise ReadError(
            f"{place} has no valid outcome: its metadata has success {success!r} (expected true or false) and reward "
            f"{reward!r} (expected a number)"
        )
    return (number >= 1 if success is None and number is not None else success), number


AGENT_TRACE = Reader(FORM, is_trace, read_traces, records=BATCH)
"""Reader of JSON files that contain traces. For JSONL files, use `read_items`."""

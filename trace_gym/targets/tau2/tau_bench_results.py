"""Reader of results lists of tau-bench.

The format contains the same data as that of tau2 under slightly different keys. `RENAMES` maps the keys of tau-bench to
those of tau2, so that the same models read both formats. Fields that the models do not declare are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from trace_gym.errors import ReadError
from trace_gym.targets.conversation import Names, called, conversation
from trace_gym.targets.source import Entry, Outline, Source
from trace_gym.targets.tau2.log_format import KINDS, RENAMES, SHARED, TauBenchCalls, TauBenchEpisode
from trace_gym.targets.tau2.result_fields import ended, gold, outputs, validated
from trace_gym.types import Trajectory


def is_tau_bench(outline: Outline) -> bool:
    """Return whether a file is a results list of tau-bench."""
    records = [record for _, record in outline.examples]
    keys = {"task_id", "reward", "traj"}
    return outline.is_list and (not records or any(isinstance(r, dict) and keys <= r.keys() for r in records))


def read_tau_bench(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a tau-bench results list (``[{task_id, reward, info, traj, trial}, ...]``).

    Raises:
        ReadError: An entry lacks a field, or a field has the wrong type.
    """
    domain, names = _domain(_tools(source)), Names()

    def convert(entry: Entry) -> Trajectory:
        episode = validated(TauBenchEpisode, _renamed(entry.data), source.where, entry.place)
        crashed = episode.info.error is not None
        messages = conversation(episode.messages)
        return Trajectory(
            id=names.unique(f"{domain or 'tau-bench'}/{episode.task_id}/{episode.trial or 0}"),
            task=str(episode.task_id),
            messages=messages,
            success=None if crashed else episode.reward > 1 - 1e-6,
            reward=None if crashed else episode.reward,
            gold=gold(episode.info.task),
            outputs=outputs(episode.info.task),
            ended="error" if crashed else ended(messages, scored=episode.info.reward_info is not None),
            source=f"tau-bench {domain}".strip(),
            model=source.model,
            tools=KINDS.get(domain, {}),
        )

    yield from source.convert(source.entries(), convert)


def _tools(source: Source) -> Iterator[str]:
    """Yield the names of the tools in the calls of a tau-bench results list. Invalid records are ignored."""
    with suppress(ReadError):  # the records are read again
        for entry in source.entries():
            with suppress(ReadError):
                episode = validated(TauBenchCalls, entry.data, source.where)
                yield from called(episode.traj)
                yield from (a.name for a in (episode.info.task and episode.info.task.actions) or ())


def _renamed(value: Any) -> Any:
    """Return the data with the keys of tau-bench replaced by the keys of tau2, including JSON in tool results."""
    if isinstance(value, list):
        return [_renamed(v) for v in value]
    if not isinstance(value, dict):
        return value
    renamed = {RENAMES.get(k, k): _renamed(v) for k, v in value.items()}
    content = value.get("content")
    if value.get("role") == "tool" and isinstance(content, str) and any(f'"{old}"' in content for old in RENAMES):
        with suppress(ValueError, RecursionError):  # text that is not JSON and contains a key in quotation marks
            renamed["content"] = json.dumps(_renamed(json.loads(content)))
    return renamed


def _domain(names: Iterable[str]) -> str:
    """Return the domain to which most of the tools belong, or an empty string if none belongs to a known domain."""
    hits = dict.fromkeys(KINDS, 0)
    for name in names:
        for domain, kinds in KINDS.items():
            hits[domain] += name in kinds and name not in SHARED
    best = max(hits, key=lambda domain: hits[domain])
    return best if hits[best] else ""

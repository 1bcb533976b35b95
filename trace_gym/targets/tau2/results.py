"""Readers that convert results files of tau-bench and tau2-bench to `Trajectory` records.

The two formats contain the same data under slightly different keys. `RENAMES` maps the keys of tau-bench to those of
tau2, so that the same models read both formats. Fields that the models do not declare are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.targets.conversation import Logged, Names, called, conversation
from trace_gym.types import Call, Message, Trajectory

Kind = Literal["read", "write", "generic"]

RENAMES = {
    "kwargs": "arguments",  # of a reference action
    "outputs": "communicate_info",  # of a task
    "traj": "messages",  # of an episode
    "province": "state",  # of an airline customer's address, inside tool results
}
"""Mapping from key in tau-bench to key in tau2. Both use the same tool and argument names.

Other differences are not converted. tau-bench has the additional tool ``think`` and lacks ``get_flight_status``
and ``get_item_details``. Its customers have no ``user_id``, and its reservations have no ``status`` until they are
cancelled. ``list_all_airports`` returns {code: city} in tau-bench and a list of records in tau2.
"""

_SHARED: dict[str, Kind] = {
    "calculate": "generic",
    "get_user_details": "read",
    "think": "generic",
    "transfer_to_human_agents": "generic",
}
KINDS: dict[str, dict[str, Kind]] = {
    "airline": {
        **_SHARED,
        "book_reservation": "write",
        "cancel_reservation": "write",
        "get_flight_status": "read",
        "get_reservation_details": "read",
        "list_all_airports": "read",
        "search_direct_flight": "read",
        "search_onestop_flight": "read",
        "send_certificate": "write",
        "update_reservation_baggages": "write",
        "update_reservation_flights": "write",
        "update_reservation_passengers": "write",
    },
    "retail": {
        **_SHARED,
        "cancel_pending_order": "write",
        "exchange_delivered_order_items": "write",
        "find_user_id_by_email": "read",
        "find_user_id_by_name_zip": "read",
        "get_item_details": "read",
        "get_order_details": "read",
        "get_product_details": "read",
        "list_all_product_types": "read",
        "modify_pending_order_address": "write",
        "modify_pending_order_items": "write",
        "modify_pending_order_payment": "write",
        "modify_user_address": "write",
        "return_delivered_order_items": "write",
    },
}
"""Mapping from domain to tool to kind of the tool. Trajectories of other domains have no kinds."""

UNSCORED = frozenset({"infrastructure_error", "unexpected_error", "user_error"})
"""Termination reasons of tau2 that the agent did not cause. Such episodes have no reward here; tau2 records 0."""


class _Action(BaseModel):
    name: str
    arguments: dict[str, Any]
    requestor: str = "assistant"


class _Criteria(BaseModel):
    actions: list[_Action] | None = None
    communicate_info: list[str] | None = None


class _EpisodeInfo(BaseModel):
    task: _Criteria | None = None
    reward_info: dict[str, Any] | None = None
    error: str | None = None


class _Episode(BaseModel):
    """One entry of a tau-bench results list."""

    task_id: int | str
    reward: float = Field(allow_inf_nan=False)
    info: _EpisodeInfo
    messages: list[Logged]
    trial: int | None = None


class _Task(BaseModel):
    id: int | str
    evaluation_criteria: _Criteria | None = None


class _Reward(BaseModel):
    reward: float = Field(allow_inf_nan=False)


class _Simulation(BaseModel):
    """One entry of a tau2 results file."""

    task_id: int | str
    termination_reason: str = ""
    reward_info: _Reward | None = None
    messages: list[Logged]
    trial: int | None = None


class _Agent(BaseModel):
    llm: str | None = None


class _Environment(BaseModel):
    domain_name: str


class _Info(BaseModel):
    agent_info: _Agent = Field(default_factory=_Agent)
    environment_info: _Environment


class _Results(BaseModel):
    """A tau2 results file."""

    info: _Info
    tasks: list[_Task]
    simulations: list[_Simulation]


def read_tau_bench(episodes: list[Any], where: str, model: str = "") -> list[Trajectory]:
    """Return the trajectories of a tau-bench results list (``[{task_id, reward, info, traj, trial}, ...]``).

    Args:
        episodes: The parsed list.
        where: Name of the file in error messages.
        model: Name of the agent's model, which tau-bench does not record.

    Raises:
        ReadError: An entry lacks a field, or a field has the wrong type.
    """
    read = _validated(list[_Episode], _renamed(episodes), where)
    domain = _domain(
        name
        for e in read
        for name in (*called(e.messages), *(a.name for a in (e.info.task and e.info.task.actions) or ()))
    )
    names = Names()
    made = []
    for episode in read:
        crashed = episode.info.error is not None
        messages = conversation(episode.messages)
        made.append(
            Trajectory(
                id=names.unique(f"{domain or 'tau-bench'}/{episode.task_id}/{episode.trial or 0}"),
                task=str(episode.task_id),
                messages=messages,
                success=None if crashed else episode.reward > 1 - 1e-6,
                reward=None if crashed else episode.reward,
                gold=_gold(episode.info.task),
                outputs=_outputs(episode.info.task),
                ended="error" if crashed else _ended(messages, scored=episode.info.reward_info is not None),
                source=f"tau-bench {domain}".strip(),
                model=model,
                tools=KINDS.get(domain, {}),
            )
        )
    return made


def read_tau2(results: dict[str, Any], where: str, model: str = "") -> list[Trajectory]:
    """Return the trajectories of a tau2 results file (``{info, tasks, simulations}``).

    Tool calls of the *user* (in the telecom domain) are skipped, because the agent does not see them.

    Args:
        results: The parsed object, including its simulations.
        where: Name of the file in error messages.
        model: Name of the agent's model; replaces the name in the file.

    Raises:
        ReadError: A field is missing or has the wrong type, or a simulation refers to a task that the file lacks.
    """
    read = _validated(_Results, results, where)
    domain = read.info.environment_info.domain_name
    criteria = {str(task.id): task.evaluation_criteria for task in read.tasks}
    names = Names()
    made = []
    for run in read.simulations:
        task = str(run.task_id)
        if task not in criteria:
            raise ReadError(
                f"{where}: invalid task_id of a simulation: found {task!r}, expected one of {len(criteria)} tasks"
            )
        reward = run.reward_info.reward if run.reward_info and run.termination_reason not in UNSCORED else None
        messages = conversation(run.messages)
        limit = run.termination_reason == "max_steps"
        failed = run.termination_reason not in ("user_stop", "agent_stop", "max_steps", "")
        made.append(
            Trajectory(
                id=names.unique(f"{domain}/{task}/{run.trial or 0}"),
                task=task,
                messages=messages,
                success=None if reward is None else reward > 1 - 1e-6,
                reward=reward,
                gold=_gold(criteria[task]),
                outputs=_outputs(criteria[task]),
                ended="error" if failed else _ended(messages, scored=not limit),
                source=f"tau2 {domain}",
                model=model or read.info.agent_info.llm or "",
                tools=KINDS.get(domain, {}),
            )
        )
    return made


_T = TypeVar("_T")


def _validated(shape: type[_T], data: Any, where: str) -> _T:
    try:
        return TypeAdapter(shape).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "top level"
        raise ReadError(f"{where}: {place}: {first['msg']} ({error.error_count()} invalid fields in total)") from None


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
    """Return the domain whose tools occur most often, or an empty string if no tool belongs to a domain."""
    hits = dict.fromkeys(KINDS, 0)
    for name in names:
        for domain, kinds in KINDS.items():
            hits[domain] += name in kinds and name not in _SHARED
    best = max(hits, key=lambda domain: hits[domain])
    return best if hits[best] else ""


def _ended(messages: tuple[Message, ...], *, scored: bool) -> Literal["user", "transfer", "turn_limit", "unknown"]:
    """Return the cause of the end of an episode without errors. An unscored episode reached the turn limit."""
    last = messages[-1] if messages else {}
    text = str(last.get("content") or "")
    if last.get("name") == "transfer_to_human_agents" or "###TRANSFER###" in text:
        return "transfer"
    if last.get("role") == "user" and "###STOP###" in text:
        return "user"
    return "unknown" if scored else "turn_limit"


def _gold(task: _Criteria | None) -> tuple[Call, ...] | None:
    if task is None or task.actions is None:
        return None
    return tuple(Call(a.name, a.arguments) for a in task.actions if a.requestor == "assistant")


def _outputs(task: _Criteria | None) -> tuple[str, ...]:
    return tuple(task.communicate_info or ()) if task else ()

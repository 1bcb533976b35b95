"""Format of tau-bench and tau2 results files, and the kind (read, write or generic) of each tool in them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from trace_gym.targets.conversation import Logged

LoggedKind = Literal["read", "write", "generic"]

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

SHARED: dict[str, LoggedKind] = {
    "calculate": "generic",
    "get_user_details": "read",
    "think": "generic",
    "transfer_to_human_agents": "generic",
}
"""Mapping from each tool that all domains share to its kind."""
KINDS: dict[str, dict[str, LoggedKind]] = {
    "airline": {
        **SHARED,
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
        **SHARED,
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
"""Mapping from domain to a mapping from tool to its kind. Trajectories of other domains have no tool kinds."""

UNSCORED = frozenset({"infrastructure_error", "unexpected_error", "user_error"})
"""Termination reasons of tau2 that the agent did not cause. Such episodes have no reward here; tau2 records 0."""


class LoggedAction(BaseModel):
    """A reference action of a task."""

    name: str
    arguments: dict[str, Any]
    requestor: str = "assistant"


class LoggedCriteria(BaseModel):
    """Expected actions and facts of a task."""

    actions: list[LoggedAction] | None = None
    communicate_info: list[str] | None = None


class EpisodeInfo(BaseModel):
    """Additional results in an entry of a tau-bench results list."""

    task: LoggedCriteria | None = None
    reward_info: dict[str, Any] | None = None
    error: str | None = None


class TauBenchEpisode(BaseModel):
    """One entry of a tau-bench results list."""

    task_id: int | str
    reward: float = Field(allow_inf_nan=False)
    info: EpisodeInfo
    messages: list[Logged]
    trial: int | None = None


class NamedFunction(BaseModel):
    """A reference action, of which only the name is read."""

    name: str


class NamedActions(BaseModel):
    """Reference actions of a task, of which only the names are read."""

    actions: list[NamedFunction] | None = None


class CallsInfo(BaseModel):
    """The part of `EpisodeInfo` that contains tool names."""

    task: NamedActions | None = None


class TauBenchCalls(BaseModel):
    """The part of an entry of a tau-bench results list that contains tool names."""

    traj: list[Logged]
    info: CallsInfo


class LoggedTask(BaseModel):
    """A task in a tau2 results file."""

    id: int | str
    evaluation_criteria: LoggedCriteria | None = None


class Reward(BaseModel):
    """Result of a simulation."""

    reward: float = Field(allow_inf_nan=False)


class Simulation(BaseModel):
    """One entry of a tau2 results file."""

    task_id: int | str
    termination_reason: str = ""
    reward_info: Reward | None = None
    messages: list[Logged]
    trial: int | None = None


class AgentInfo(BaseModel):
    """The agent of a run."""

    llm: str | None = None


class EnvironmentInfo(BaseModel):
    """The domain of a run."""

    domain_name: str


class LoggedRun(BaseModel):
    """Settings of a run."""

    agent_info: AgentInfo = Field(default_factory=AgentInfo)
    environment_info: EnvironmentInfo


class RunHead(BaseModel):
    """A tau2 results file without its simulations."""

    info: LoggedRun
    tasks: list[LoggedTask]

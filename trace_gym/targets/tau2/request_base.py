"""Base class of a customer's requests in the tau2 domains: the rules, lookups, write call and checks of a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from trace_gym.world import Call, Check, states_done

if TYPE_CHECKING:
    from trace_gym.targets.tau2.desk import Desk

PRECONDITION = "precondition_verification"
MULTI_STEP = "multi_step_completion"
STRUCTURED = "structured_data_reasoning"
PRECISION = "tool_precision"
SKILLS = frozenset({PRECONDITION, MULTI_STEP, STRUCTURED, PRECISION})
"""The capabilities that the tau2 environments can test, named as in the TRACE paper (section 4.1)."""


class Verdict(NamedTuple):
    """Decision of the rules on a request, with the reason."""

    allowed: bool
    why: str
    transfer: bool = False
    """Whether the agent must transfer the customer to a human, because only a human is allowed to help."""


ALLOWED = Verdict(True, "allowed")

D = TypeVar("D", bound="Desk[Any]")


@dataclass
class CustomerRequest(Generic[D]):
    """Request of the customer for one action on one record."""

    kind: ClassVar[str]
    done: ClassVar[str] = ""
    """Past participles that state that the request was carried out, separated by ``|``."""
    chosen: ClassVar[bool] = False
    """Whether the agent chooses among several options, so that the offer of another option is part of the request."""

    @property
    def record(self) -> str:
        """Id of the record."""
        raise NotImplementedError

    def reads(self, desk: D, skills: frozenset[str]) -> Iterator[Call]:
        """Return the lookups that an expert with these skills makes before deciding on the request."""
        raise NotImplementedError

    def verdict(self, desk: D) -> Verdict:
        return ALLOWED

    def call(self, desk: D, skills: frozenset[str]) -> Call:
        """Return the write call that an expert with these skills makes."""
        raise NotImplementedError

    def offer(self, desk: D, skills: frozenset[str]) -> str:
        """Return a description of the action that the expert proposes to the customer."""
        raise NotImplementedError

    def checks(self, desk: D, start: D, want: D, said: list[str]) -> Iterator[Check]:
        """Yield the goals of the request. `want` is the state after all permitted requests have been carried out."""
        raise NotImplementedError

    def refusal(self, desk: D) -> str:
        return f"I cannot {self.kind} {self.record}: {self.verdict(desk).why}."

    def claimed_done(self, start: D, said: list[str]) -> bool:
        """Return whether messages claim that this request was carried out. Refusals do not count as claims."""
        return bool(self.done) and states_done(self.done, said, self.record, [r.record for r in start.requests])

    def refusal_checks(self, start: D, said: list[str]) -> Iterator[Check]:
        """Yield checks of the statements that the agent must make to the customer if the rules forbid the request."""
        raise NotImplementedError

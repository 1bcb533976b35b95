"""Base class of a customer's requests in the tau2 domains: rules, lookups, write call and checks of one request."""

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
"""The capabilities of the desks, named as in the paper (section 4.1)."""


class Verdict(NamedTuple):
    """Whether a request is allowed, and what decides it."""

    allowed: bool
    why: str
    transfer: bool = False
    """Not allowed to the agent, but a human colleague can help."""


ALLOWED = Verdict(True, "allowed")

D = TypeVar("D", bound="Desk[Any]")


@dataclass
class Request(Generic[D]):
    """One thing the customer wants done to one record."""

    kind: ClassVar[str]
    done: ClassVar[str] = ""
    """Past participles that state that the request was carried out, separated by ``|``."""

    @property
    def record(self) -> str:
        """Id of the record."""
        raise NotImplementedError

    def reads(self, desk: D, skills: frozenset[str]) -> Iterator[Call]:
        """Return the look-ups an expert with these skills makes before deciding."""
        raise NotImplementedError

    def verdict(self, desk: D) -> Verdict:
        return ALLOWED

    def call(self, desk: D, skills: frozenset[str]) -> Call:
        """Return the write that an expert with these skills makes."""
        raise NotImplementedError

    def offer(self, desk: D, skills: frozenset[str]) -> str:
        """Return what the expert is about to do, in words."""
        raise NotImplementedError

    def checks(self, desk: D, start: D, want: D, said: list[str]) -> Iterator[Check]:
        """Goals of the request; `want` is the start state after all legal requests were carried out."""
        raise NotImplementedError

    def refusal(self, desk: D) -> str:
        return f"I cannot {self.kind} {self.record}: {self.verdict(desk).why}."

    def claimed_done(self, start: D, said: list[str]) -> bool:
        """Return whether messages claim that this request was carried out; false in a refusal."""
        return bool(self.done) and states_done(self.done, said, self.record, [r.record for r in start.requests])

    def refusal_checks(self, start: D, said: list[str]) -> Iterator[Check]:
        """Return what the customer must have been told when the rules forbid the request."""
        raise NotImplementedError

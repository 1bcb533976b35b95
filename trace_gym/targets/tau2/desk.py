"""A desk of tau2: a scripted customer, an expert, and the checks that the customer's requests imply.

Each request carries its own rules, write and checks, so that a desk is its tools plus the requests that they serve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from trace_gym.targets.constants import frozen
from trace_gym.targets.scripted_user import ScriptedUser, refuses
from trace_gym.targets.tau2.generic import Data, GenericTools
from trace_gym.world import Call, Check, Say, call_tool

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
R = TypeVar("R", bound="Request[Any]")


@dataclass
class Request(Generic[D]):
    """One thing the customer wants done to one record."""

    kind: ClassVar[str]

    @property
    def record(self) -> str:
        """Id of the record."""
        raise NotImplementedError

    def reads(self, desk: D, skills: frozenset[str]) -> Iterator[Call]:
        """The look-ups an expert with these skills makes before deciding."""
        raise NotImplementedError

    def verdict(self, desk: D) -> Verdict:
        return ALLOWED

    def call(self, desk: D, skills: frozenset[str]) -> Call:
        """The write that an expert with these skills makes."""
        raise NotImplementedError

    def offer(self, desk: D, skills: frozenset[str]) -> str:
        """What the expert is about to do, in words."""
        raise NotImplementedError

    def checks(self, desk: D, start: D, want: D, said: list[str]) -> Iterator[Check]:
        """Goals of the request; `want` is the start state after all legal requests were carried out."""
        raise NotImplementedError

    def refusal(self, desk: D) -> str:
        return f"I cannot {self.kind} {self.record}: {self.verdict(desk).why}."

    def refusal_checks(self, start: D, said: list[str]) -> Iterator[Check]:
        """What the customer must have been told when the rules forbid the request."""
        raise NotImplementedError


@dataclass(kw_only=True)
class Desk(ScriptedUser, GenericTools, Generic[R]):
    """Base world of every tau2 environment; a subclass adds the tools and records of one domain.

    The customer, a scripted user, makes `requests` in the opening.
    """

    capability: ClassVar[str] = ""
    guarded: ClassVar[Mapping[str, str]] = frozen({})
    """Table of records -> what one of them is called, for the guards."""

    requests: list[R] = field(default_factory=list)
    customer: str = ""
    withheld: tuple[str, ...] = ()
    """Facts that the opening leaves out (``reason``) and the customer tells when asked."""

    def refused(self, record: str, said: list[str]) -> bool:
        """Whether a sentence refused to change this record; with one request alone it need not be named."""
        sentences = (s for text in said for s in re.split(r"(?<=[.!?])\s", text))
        alone = len(self.requests) == 1
        return any(refuses(s) and (alone or record.lstrip("#") in s) for s in sentences)

    def violations(self, call: Call) -> list[str]:
        """The rules that a call would break in the present state."""
        if call.tool == "transfer_to_human_agents":
            return [] if any(r.verdict(self).transfer for r in self.requests) else ["handed over without need"]
        return self.broken(call) if self.interface().kinds.get(call.tool) == "write" else []

    def broken(self, write: Call) -> list[str]:
        """The rules that a write would break."""
        raise NotImplementedError

    def served(self) -> Self:
        """The state after every request that the rules allow was carried out, and nothing else."""
        want = self.copy()
        for request in self.requests:
            if request.verdict(self).allowed:
                call = request.call(self, SKILLS)
                call_tool(want, call.tool, call.arguments)
        return want

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        want = start.served()
        for request in self.requests:
            verdict = request.verdict(start)
            if verdict.allowed:
                yield from request.checks(self, start, want, said)
            elif verdict.transfer:
                yield Check.goal("the customer was handed over to a human colleague", self.transferred)
            else:
                yield from request.refusal_checks(start, said)
        if not any(r.verdict(start).transfer for r in self.requests):
            yield Check.guard("the customer was not handed over", not self.transferred)
        for table, noun in self.guarded.items():
            kept = _within(*(vars(state)[table] for state in (self, start, want)))
            yield Check.guard(f"no {noun} changed in a way that was not asked for", kept)

    def untouched(self, start: Self, *but: str) -> Iterator[Check]:
        """Guards for problems that are not made of requests: no record changed, came or went but those named here."""
        for table, noun in self.guarded.items():
            now, then = ({k: v for k, v in vars(w)[table].items() if k not in but} for w in (self, start))
            yield Check.guard(f"no other {noun} was changed", now == then)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def serve(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """The plan of an expert who has `skills`: look up, decide, confirm, write, close."""
        yield from self.begins(skills)
        todo = self.requests if MULTI_STEP in skills else self.requests[:1]
        granted: list[R] = []
        refused: list[R] = []
        seen: set[str] = set()
        for request in todo:
            for read in request.reads(self, skills):
                if str(read) not in seen:
                    seen.add(str(read))
                    yield read
            verdict = request.verdict(self) if PRECONDITION in skills else ALLOWED
            if verdict.transfer:
                yield Call("transfer_to_human_agents", {"summary": f"{request.record}: {verdict.why}"})
                return
            (granted if verdict.allowed else refused).append(request)
        words = [r.refusal(self) for r in refused]
        if granted:
            words.append(f"To confirm: {'; '.join(r.offer(self, skills) for r in granted)}. Shall I proceed?")
        yield Say(" ".join(words))
        if not granted:
            for _ in range(self.pushes):
                yield Say("I am sorry, the rules make no exception.")
            return
        for request in granted:
            yield request.call(self, skills)
        yield Say("All done.")

    def begins(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """What the expert asks and looks up before the first request."""
        yield from ()

    def needs(self) -> frozenset[str]:
        """The skills without which an otherwise perfect expert fails: derived by leaving each one out."""
        gold = self.outcome(SKILLS)
        return frozenset(s for s in SKILLS if self.outcome(SKILLS - {s}) != gold)

    def outcome(self, skills: frozenset[str]) -> tuple[list[Call], list[str]]:
        """What an expert with `skills` writes, and the records whose change she refuses."""
        said = [s.text for s in self.serve(skills) if isinstance(s, Say)]
        return self.writes(skills), [r.record for r in self.requests if self.refused(r.record, said)]

    def writes(self, skills: frozenset[str]) -> list[Call]:
        """The writes and hand-overs of an expert with `skills`."""
        kinds = self.interface().kinds
        plan = [s for s in self.serve(skills) if isinstance(s, Call)]
        return [c for c in plan if kinds[c.tool] == "write" or c.tool == "transfer_to_human_agents"]

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})


def _within(now: dict[str, Data], start: dict[str, Data], want: dict[str, Data]) -> bool:
    """Whether every field of every record holds its value at the start or the wanted one."""
    if not start.keys() <= now.keys() <= want.keys():
        return False
    return all(
        value in (start.get(key, {}).get(name), want[key].get(name))
        for key, record in now.items()
        for name, value in record.items()
    )

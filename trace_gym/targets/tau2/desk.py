"""A desk of tau2: a scripted customer, an expert, and the checks that the customer's requests imply.

Each request carries its own rules, write and checks, so that a desk is its tools plus the requests that they serve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

from trace_gym.start_checks import once
from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue import acts, refused
from trace_gym.targets.dialogue.patterns import RECORD_ID
from trace_gym.targets.dialogue.rules import WHOLE
from trace_gym.targets.tau2.consent import proposed, since_refused
from trace_gym.targets.tau2.generic import Data, GenericTools
from trace_gym.targets.tau2.profile import facts_asked, stated
from trace_gym.targets.tau2.reports import misreports
from trace_gym.targets.tau2.request_base import (
    ALLOWED,
    MULTI_STEP,
    PRECISION,
    PRECONDITION,
    SKILLS,
    STRUCTURED,
    Request,
    Verdict,
)
from trace_gym.targets.users import ScriptedUser
from trace_gym.targets.users.phrases import ACCEPTS
from trace_gym.types import Event
from trace_gym.world import Call, Check, Say, call_tool

__all__ = [
    "ALLOWED",
    "MULTI_STEP",
    "PRECISION",
    "PRECONDITION",
    "SKILLS",
    "STRUCTURED",
    "Desk",
    "Request",
    "Verdict",
]

REASONLESS = ("I have no particular reason.", "There is no particular reason for it.")
"""Answers of a customer whose request needs no reason."""
_own_fact = re.compile(
    r"\byour (?:own )?(?:e-?mail|(?:full |last |first )?name|date of birth|birth ?date|"
    r"zip)\b(?! on)"
)
"""Asks for the customer's own data, whatever else the message is about."""
_one = re.compile(
    r"\b(?:first|second|next|it|(?:that|this|other) one|(?:the|your) (?:\w+ )?(?:cancellation|reservation|trip|booking|"
    r"order|upgrade|change|return))\b"
)
"""Pattern of a report about a single record."""
R = TypeVar("R", bound=Request[Any])


@dataclass(kw_only=True)
class Desk(ScriptedUser, GenericTools, Generic[R]):
    """Base world of every tau2 environment; a subclass adds the tools and records of one domain.

    The customer, a scripted user, makes `requests` in the opening.
    """

    capability: ClassVar[str] = ""
    guarded: ClassVar[Mapping[str, str]] = frozen({})
    """Table of records -> what one of them is called, for the guards."""
    identity: ClassVar[frozenset[str]] = frozenset(
        {"user_id", "identity", "personal", "reason", "reservation", "order"}
    )
    """Topics beside which the customer tells facts of the own profile."""
    identified_by: ClassVar[frozenset[str]] = frozenset()
    """Tools of which one must have found the customer before the first change; empty if the policy requires none."""

    requests: list[R] = field(default_factory=list)
    customer: str = ""
    withheld: tuple[str, ...] = ()
    """Facts that the opening leaves out (``reason``) and the customer tells when asked."""

    settled_records: list[str] = field(default_factory=list)
    """Records of which the agent has said that the request was carried out or refused."""
    unnamed: int = 0
    """Reports about one record that did not name it."""

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether a report or refusal names some of the customer's records, and others were not named yet.

        It depends on what the agent said, not on what was done, so that it does not show what the agent forgot.
        """
        records = {r.record: r.record.lstrip("#").lower() for r in self.requests}
        told = " ".join(act.text.lower() for act in acts(text) if act.kind not in ("hold", "closing", "offer"))
        named = [record for record, name in records.items() if name in told]
        self.settled_records += [record for record in named if record not in self.settled_records]
        if not named and refusal:  # of a part that a pronoun or a description names
            return len(records) > 1 and self.last_answer not in ACCEPTS
        if WHOLE.search(f" {told}"):
            return False
        if not named:  # `Your reservation has been cancelled.` is about one of several
            self.unnamed += _one.search(told) is not None
            return self.unnamed > 0 and len(self.settled_records) + self.unnamed < len(records)
        return not records.keys() <= set(self.settled_records)

    def agrees(self, text: str) -> str:
        """Agree, unless a proposal is about records that the customer did not name, and about none that was named."""
        return self._not_mine(text) or super().agrees(text)

    def checked(self, text: str) -> str:
        """Confirm a fact, unless it is about a record that the customer did not name."""
        return self._not_mine(text) or super().checked(text)

    def _not_mine(self, text: str) -> str:
        """Return what the customer says to a message about records of which none was named; empty to any other."""
        opening = self.opening()
        mine = [str(key) for table in self.guarded for key in vars(self)[table] if str(key) in opening]
        mine = [key for key in mine if key != self.customer]
        if mine and RECORD_ID.search(text) and not any(key.lstrip("#") in text for key in mine):
            return f"That is not what I asked for. {self.restated()}"
        return ""

    def personal(self, asked: str, topics: Sequence[str]) -> Sequence[str]:
        """Return what the customer's profile says about the customer, as far as a question asks for it."""
        if {*topics} - {*self.identity}:
            asked = " ".join(_own_fact.findall(asked))
        return [line for fact in facts_asked(asked) for line in self.own(fact)]

    def own(self, fact: str) -> Sequence[str]:
        """Return what the customer says about one fact of the own profile."""
        line = stated(fact, vars(self).get("users", {}).get(self.customer, {}))
        return [line] if line else []

    def does_not_know(self, topics: list[str]) -> str:
        return self.varied(REASONLESS) if topics[0] == "reason" else super().does_not_know(topics)

    def refused(self, record: str, said: list[str], grounds: bool = False) -> bool:
        """Return whether the agent refused to change this record; with one request alone it need not be named.

        If the agent stated the `grounds`, the facts that forbid the change, it may refuse in any words.
        """
        return refused(record, said, [r.record for r in self.requests], grounds)

    def violations(self, call: Call) -> list[str]:
        """Return the rules that a call would break in the present state."""
        if call.tool == "transfer_to_human_agents":
            return [] if any(r.verdict(self).transfer for r in self.requests) else ["handed over without need"]
        return self.broken(call) if self.interface().kinds.get(call.tool) == "write" else []

    def broken(self, write: Call) -> list[str]:
        """Return the rules that a write would break."""
        raise NotImplementedError

    def served(self) -> Self:
        """Return the state after every request that the rules allow was carried out, and nothing else.

        Do not change it.
        """
        return once(self, "served", self._carried_out)

    def _carried_out(self) -> Self:
        want = self.copy()
        for request in self.requests:
            if request.verdict(self).allowed:
                call = request.call(self, SKILLS)
                call_tool(want, call.tool, call.arguments)
        return want

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        want = start.served()
        verdicts = [request.verdict(start) for request in self.requests]
        for request, verdict in zip(self.requests, verdicts, strict=True):
            if verdict.allowed:
                yield from request.checks(self, start, want, said)
            elif verdict.transfer:
                yield Check.goal("the customer was handed over to a human colleague", self.transferred)
            else:
                yield from request.refusal_checks(start, said)
        if not any(verdict.transfer for verdict in verdicts):
            yield Check.guard("the customer was not handed over", not self.transferred)
        for table, noun in self.guarded.items():
            kept = _within(*(vars(state)[table] for state in (self, start, want)))
            yield Check.guard(f"no {noun} changed in a way that was not asked for", kept)

    def conduct(self, start: Self, events: Sequence[Event]) -> Iterator[Check]:
        writes = [n for n, event in enumerate(events) if self._changes(event)]
        agreed = all(self._agreed(start, events[:n], events[n].step) for n in writes)
        yield Check.conduct("the customer agreed before each change", agreed)
        served = all(r.verdict(start).allowed for r in start.requests)  # else a denial may be about a refused request
        if misreports([*map(self._changes, events)], events, denials=served):
            yield Check.conduct("no change was denied, and nothing was given away", False)
        if self.identified_by:
            before = events[: writes[0]] if writes else ()
            tools = self.identified_by
            known = any(isinstance(s := e.step, Call) and s.tool in tools and not e.refused for e in before)
            yield Check.conduct("the customer was looked up before the first change", known or not writes)

    def _changes(self, event: Event) -> bool:
        """Whether an event is a write that was carried out."""
        return isinstance(s := event.step, Call) and not event.refused and self.interface().kinds.get(s.tool) == "write"

    def _agreed(self, start: Self, before: Sequence[Event], write: Call | Say) -> bool:
        """Whether the customer agreed to a proposal that says what a write does; see `proposed`."""
        assert isinstance(write, Call)
        records = {str(key) for table in self.guarded for key in vars(start)[table]} - {self.customer}
        concerned = records & {str(value) for value in write.arguments.values()}
        return proposed(write, since_refused(write, before, concerned), concerned, records, len(self.requests) <= 1)

    def untouched(self, start: Self, *but: str) -> Iterator[Check]:
        """Guards for problems that are not made of requests: no record changed, came or went but those named here."""
        for table, noun in self.guarded.items():
            now, then = ({k: v for k, v in vars(w)[table].items() if k not in but} for w in (self, start))
            yield Check.guard(f"no other {noun} was changed", now == then)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def serve(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """Yield the plan of an expert who has `skills`: look up, decide, confirm, write, close."""
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
        """Yield what the expert asks and looks up before the first request."""
        yield from ()

    def needs(self) -> frozenset[str]:
        """Return the skills without which an otherwise perfect expert fails: derived by leaving each one out."""
        gold = self.outcome(SKILLS)
        return frozenset(s for s in SKILLS if self.outcome(SKILLS - {s}) != gold)

    def outcome(self, skills: frozenset[str]) -> tuple[list[Call], list[str]]:
        """Return what an expert with `skills` writes, and the records whose change she refuses."""
        said = [s.text for s in self.serve(skills) if isinstance(s, Say)]
        return self.writes(skills), [r.record for r in self.requests if self.refused(r.record, said)]

    def writes(self, skills: frozenset[str]) -> list[Call]:
        """Return the writes and hand-overs of an expert with `skills`."""
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
        if record != want[key]  # compared as a whole first, which is fast
        for name, value in record.items()
    )

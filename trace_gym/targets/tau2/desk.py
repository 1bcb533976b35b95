"""Base world of the tau2 domains, with a scripted customer, an expert policy, and checks of the customer's requests.

Each request defines its own rules, write call and checks. A domain adds its tools, records and kinds of requests.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

from trace_gym.start_checks import once
from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue import acts, refused
from trace_gym.targets.dialogue.patterns import RECORD_ID
from trace_gym.targets.dialogue.rules import WHOLE
from trace_gym.targets.tau2.consent import attempts, proposed, since_refused
from trace_gym.targets.tau2.customer import Customer
from trace_gym.targets.tau2.generic import Data, GenericTools
from trace_gym.targets.tau2.honesty import FalseStatements, false_statements
from trace_gym.targets.tau2.reports import misreports
from trace_gym.targets.tau2.request_base import (
    ALLOWED,
    MULTI_STEP,
    PRECISION,
    PRECONDITION,
    SKILLS,
    STRUCTURED,
    CustomerRequest,
    Verdict,
)
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
    "CustomerRequest",
    "Verdict",
]

_one = re.compile(
    r"\b(?:first|second|next|it|(?:that|this|other) one|(?:the|your) (?:\w+ )?(?:cancellation|reservation|trip|booking|"
    r"order|upgrade|change|return))\b"
)
"""Pattern of a report about a single record."""
R = TypeVar("R", bound=CustomerRequest[Any])


@dataclass(kw_only=True)
class Desk(Customer, GenericTools, Generic[R]):
    """Base world of every tau2 environment. A subclass adds the tools and records of one domain.

    The customer is a scripted user who states the `requests` in the first message.
    """

    capability: ClassVar[str] = ""
    guarded: ClassVar[Mapping[str, str]] = frozen({})
    """Mapping from each table that the guards check to the noun for one of its records."""
    identified_by: ClassVar[frozenset[str]] = frozenset()
    """Tools, one of which must be used to look up the customer before the first change; empty if none is required."""

    requests: list[R] = field(default_factory=list)
    customer: str = ""
    withheld: tuple[str, ...] = ()
    """Facts, such as ``reason``, that the first message omits and the customer states only when asked."""

    settled_records: list[str] = field(default_factory=list)
    """Records for which the agent has stated that the request was carried out or refused."""
    unnamed: int = 0
    """Number of reports about a single record that did not name it."""

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether some of the customer's records have not been named yet in a report or a refusal.

        The result depends only on the agent's messages, not on its actions, so it does not reveal what it forgot.
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
        """Return the answer to a proposal: agree, unless it names only records that the customer did not mention."""
        return self._not_mine(text) or super().agrees(text)

    def checked(self, text: str) -> str:
        """Return the answer to a question about a fact: confirm it, unless it is about a record not mentioned yet."""
        return self._not_mine(text) or super().checked(text)

    def _not_mine(self, text: str) -> str:
        """Return an objection if a message names only records that the customer did not mention, else `""`."""
        opening = self.opening()
        mine = [str(key) for table in self.guarded for key in vars(self)[table] if str(key) in opening]
        mine = [key for key in mine if key != self.customer]
        if mine and RECORD_ID.search(text) and not any(key.lstrip("#") in text for key in mine):
            return f"That is not what I asked for. {self.restated()}"
        return ""

    def refused(self, record: str, said: list[str], grounds: bool = False) -> bool:
        """Return whether the agent refused to change a record.

        Args:
            record: The id of the record. If `requests` has at most one element, the refusal may omit the id.
            said: The messages of the agent.
            grounds: Whether the agent stated the facts that forbid the change, which the caller determines, for example
                with `asserted`. If so, more wordings count as a refusal, such as ``so you keep it``.
        """
        return refused(record, said, [r.record for r in self.requests], grounds)

    def certificate_due(self) -> int | None:
        """Return the amount of the certificate that the rules grant the customer, and 0 if they grant none.

        By default, return None, which means that no request is about certificates. If you override the method:

        - `violations` allows only a certificate over the amount.
        - The agent's proposal of a certificate may name the record that is the reason for it.
        - The inherited checks do not reject promises of gifts, so `verify` must check the certificates.
        """
        return None

    def violations(self, call: Call) -> list[str]:
        """Return the rules that a call would break in the current state."""
        if call.tool == "transfer_to_human_agents":
            return [] if any(r.verdict(self).transfer for r in self.requests) else ["handed over without need"]
        return self.broken(call) if self.interface().kinds.get(call.tool) == "write" else []

    def broken(self, write: Call) -> list[str]:
        """Return the rules that a write call would break."""
        raise NotImplementedError

    def served(self) -> Self:
        """Return the state after every request that the rules allow was carried out. Do not change it."""
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
        changed = [*map(self._changes, events)]
        writes = [n for n, made in enumerate(changed) if made]
        agreed = all(self._agreed(start, events[:n], events[n].step) for n in writes)
        allowed = {r.record for r in start.requests if r.verdict(start).allowed}
        forbidden = {r.record for r in start.requests} - allowed  # a denial may be about one of these requests
        agreed = agreed and not attempts(events, forbidden, self.interface().kinds)
        false = self.false_statements(start, events, changed)
        yield Check.conduct("the customer agreed before each change", agreed and not false.proposals)
        if misreports(changed, events, denials=not forbidden, gifts=start.certificate_due() is None):
            yield Check.conduct("no change was denied, and nothing was given away", False)
        yield Check.guard("nothing false was reported", not false.reports)
        if self.identified_by:
            steps = [e.step for e in (events[: writes[0]] if writes else ()) if not e.refused]
            known = any(isinstance(s, Call) and s.tool in self.identified_by for s in steps)
            yield Check.conduct("the customer was looked up before the first change", known or not writes)

    def false_statements(self, start: Self, events: Sequence[Event], changed: Sequence[bool]) -> FalseStatements:
        """Return the false statements in the agent's messages; see `honesty.false_statements`."""
        table = next((name for name in self.guarded if name != "users"), "")
        profile = vars(start).get("users", {}).get(start.customer, {})
        asked, misstated = [r.record for r in self.requests], partial(self.misstates_amounts, start)
        tables = vars(start).get(table, {}), vars(self).get(table, {})
        return false_statements(*tables, profile, events, changed, asked, self.transferred, misstated)

    def misstates_amounts(self, start: Self, said: list[str], changed: Collection[str]) -> bool:
        """Return whether messages state a wrong amount for the changes of the records with the given ids."""
        return False

    def _changes(self, event: Event) -> bool:
        """Return whether an event is a write call that was carried out."""
        return isinstance(s := event.step, Call) and not event.refused and self.interface().kinds.get(s.tool) == "write"

    def _agreed(self, start: Self, before: Sequence[Event], write: Call | Say) -> bool:
        """Return whether the customer agreed to a proposal that described a write call; see `proposed`."""
        assert isinstance(write, Call)
        records = {str(key) for table in self.guarded for key in vars(start)[table]} - {self.customer}
        concerned = records & {str(value) for value in write.arguments.values()}
        if not concerned and start.certificate_due() is not None:
            records = set()  # the proposal of a certificate may name the record that is the reason for it
        return proposed(write, since_refused(write, before, concerned), concerned, records, len(self.requests) <= 1)

    def untouched(self, start: Self, *but: str) -> Iterator[Check]:
        """Yield guards that no record was changed, added or removed, except for those with the given ids.

        There is one guard for each table of `guarded`, and the guard that the customer was not handed over.
        """
        for table, noun in self.guarded.items():
            now, then = ({k: v for k, v in vars(w)[table].items() if k not in but} for w in (self, start))
            yield Check.guard(f"no other {noun} was changed", now == then)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def serve(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """Yield the steps of an expert with these skills: look up, decide, confirm, write, and close."""
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
        """Yield the expert's questions and lookups before the first request."""
        yield from ()

    def needs(self) -> frozenset[str]:
        """Return the skills that an expert cannot do without, found by removing one skill at a time."""
        gold = self.outcome(SKILLS)
        return frozenset(s for s in SKILLS if self.outcome(SKILLS - {s}) != gold)

    def outcome(self, skills: frozenset[str]) -> tuple[list[Call], list[str]]:
        """Return the write calls of an expert with these skills, and the records whose requests the expert refuses."""
        said = [s.text for s in self.serve(skills) if isinstance(s, Say)]
        return self.writes(skills), [r.record for r in self.requests if self.refused(r.record, said)]

    def writes(self, skills: frozenset[str]) -> list[Call]:
        """Return the write calls and the transfers to a human of an expert with these skills."""
        kinds = self.interface().kinds
        plan = [s for s in self.serve(skills) if isinstance(s, Call)]
        return [c for c in plan if kinds[c.tool] == "write" or c.tool == "transfer_to_human_agents"]

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})


def _within(now: dict[str, Data], start: dict[str, Data], want: dict[str, Data]) -> bool:
    """Return whether every field of every record has either its start value or its wanted value."""
    if not start.keys() <= now.keys() <= want.keys():
        return False
    return all(
        value in (start.get(key, {}).get(name), want[key].get(name))
        for key, record in now.items()
        if record != want[key]  # compared as a whole first, which is fast
        for name, value in record.items()
    )

"""The airline desk: tools, a scripted customer, an expert, and the checks that requests imply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.records import Data
from trace_gym.targets.tau2.requests import MULTI_STEP, PRECONDITION, SKILLS, Bags, Cancel, Paid, Request, Swap, Upgrade
from trace_gym.targets.tau2.tools import AirlineTools
from trace_gym.world import Call, Check, Say

__all__ = ["SKILLS", "AirlineDesk", "Bags", "Cancel", "Request", "Swap", "Upgrade", "records"]

PUSHES = ("But I need this. Please make an exception.", "A colleague of yours promised it to me last week.")
REASONS = {
    "change of plans": "My plans have changed.",
    "health": "I am ill.",
    "weather": "The weather is too bad.",
    "airline": "The airline cancelled the flight.",
}

_refusal = re.compile(r"\b(cannot|can't|unable|not allowed|not possible|not eligible|no exception|sorry)\b")
_confirm = re.compile(r"\b(confirm|proceed|go ahead|shall i|should i|may i|do you agree|is that (ok|right|correct))\b")
_done = re.compile(r"\b(done|completed|has been|have been|is now|are now|successfully|all set|goodbye)\b")
_question = {
    "user_id": re.compile(r"\b(user|customer) id\b"),
    "reason": re.compile(r"\b(reason|why)\b"),
    "reservation": re.compile(r"\b(reservation|booking) (id|number|code)\b|\bwhich reservation"),
    "payment": re.compile(r"\b(payment|pay|charge|card|method)\b"),
}


@dataclass(kw_only=True)
class AirlineDesk(AirlineTools):
    """Base world of every tau2 airline environment.

    The customer makes `requests` in the opening, answers what is asked, agrees when asked to
    confirm, insists `pushes` times when refused, and hangs up when served or refused.
    """

    capability: ClassVar[str] = ""
    requests: list[Request] = field(default_factory=list)
    customer: str = ""
    wording: str = ""
    """The opening, with ``{user}`` for the customer's id; written by `generate`."""
    withheld: tuple[str, ...] = ()
    """Facts that the opening leaves out (``reason``) and the customer tells when asked."""
    pushes: int = 0
    pushed: int = 0
    nudged: int = 0

    def opening(self) -> str:
        return self.wording.format(user=self.customer)

    def hears(self, text: str) -> str:
        """What the customer takes a message to be: confirmation, refusal, done, a question's topic, or other."""
        lower = text.lower()
        if _confirm.search(lower):
            return "confirmation"
        if _refusal.search(lower):
            return "refusal"
        if "?" in text:
            for topic, pattern in _question.items():
                if pattern.search(lower):
                    return topic
        return "done" if _done.search(lower) else "other"

    def reply(self, text: str) -> str | None:
        match self.hears(text):
            case "confirmation":
                return "Yes, please."
            case "refusal":
                if self.pushed >= self.pushes:
                    return None
                self.pushed += 1
                return PUSHES[(self.pushed - 1) % len(PUSHES)]
            case "done":
                return None
            case "user_id":
                return f"My customer id is {self.customer}."
            case "reservation":
                return f"It is {', '.join(r.reservation for r in self.requests)}."
            case "reason":
                reasons = dict.fromkeys(REASONS[r.reason] for r in self.requests if isinstance(r, Cancel))
                if reasons:
                    return " ".join(reasons)
            case "payment":
                named = [r.named for r in self.requests if isinstance(r, Paid) and r.named]
                return f"Please use {named[0]}." if named else "Use what I paid with."
        self.nudged += 1
        return "Please see to my request." if self.nudged <= 2 else None

    def refused(self, reservation: str, said: list[str]) -> bool:
        """Whether a sentence refused this reservation; with one request alone it need not be named."""
        sentences = (s for text in said for s in re.split(r"(?<=[.!?])\s", text))
        alone = len(self.requests) == 1
        return any(_refusal.search(s.lower()) and (alone or reservation in s) for s in sentences)

    def violations(self, call: Call) -> list[str]:
        """The rules that a call would break in the present state; a cancellation has its customer's reason."""
        if call.tool == "transfer_to_human_agents":
            return [] if any(r.verdict(self).transfer for r in self.requests) else ["handed over without need"]
        if self.interface().kinds.get(call.tool) != "write":
            return []
        booking = call.arguments.get("reservation_id")
        reasons = (r.reason for r in self.requests if isinstance(r, Cancel) and r.reservation == booking)
        return policy.violations(self, call.tool, call.arguments, next(reasons, "change of plans"))

    def served(self) -> Self:
        """The state after every request that the rules allow was carried out, and nothing else."""
        want = self.copy()
        for request in self.requests:
            if request.verdict(self).allowed:
                call = request.call(self, SKILLS)
                getattr(want, call.tool)(**call.arguments)
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
        bookings = _within(self.reservations, start.reservations, want.reservations)
        yield Check.guard("no reservation changed in a way that was not asked for", bookings)
        profiles = _within(self.users, start.users, want.users)
        yield Check.guard("no profile changed in a way that was not asked for", profiles)

    def serve(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        """The plan of an expert who has `skills`: look up, decide, confirm, write, close."""
        if "reason" in self.withheld and PRECONDITION in skills:
            yield Say("What is the reason for the cancellation?")
        todo = self.requests if MULTI_STEP in skills else self.requests[:1]
        granted: list[Request] = []
        refused: list[Request] = []
        seen: set[str] = set()
        for request in todo:
            for read in request.reads(self, skills):
                if str(read) not in seen:
                    seen.add(str(read))
                    yield read
            verdict = request.verdict(self) if PRECONDITION in skills else policy.ALLOWED
            if verdict.transfer:
                yield Call("transfer_to_human_agents", {"summary": f"{request.reservation}: {verdict.why}"})
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

    def needs(self) -> frozenset[str]:
        """The skills without which an otherwise perfect expert fails: derived by leaving each one out."""
        gold = self.outcome(SKILLS)
        return frozenset(s for s in SKILLS if self.outcome(SKILLS - {s}) != gold)

    def outcome(self, skills: frozenset[str]) -> tuple[list[Call], list[str]]:
        """What an expert with `skills` writes, and the reservations whose change she refuses."""
        said = [s.text for s in self.serve(skills) if isinstance(s, Say)]
        return self.writes(skills), [r.reservation for r in self.requests if self.refused(r.reservation, said)]

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

"""Findings name the method that yields a check, and a conduct check that the oracle fails is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import pytest
from mutants.hotel import Hotel

from trace_gym.types import Check, Event, Finding
from trace_gym.validation import validate
from trace_gym.validation.check_origins import described, with_origins


class Base(Hotel):
    """A hotel with inherited checks."""

    def common(self) -> Iterator[Check]:
        yield Check.guard("no other room has changed", True)

    def conduct(self, start: Self, events: Sequence[Event]) -> Iterator[Check]:
        if events:
            yield Check.conduct("the guest was greeted", True)


class Repeats(Base):
    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield from self.common()

    def conduct(self, start: Self, events: Sequence[Event]) -> Iterator[Check]:
        yield from ()


class Rude(Hotel):
    def conduct(self, start: Self, events: Sequence[Event]) -> list[Check]:
        return [Check.conduct("the guest was greeted", not events)]


def finding(world: type[Hotel], code: str) -> Finding:
    report = validate(world, profile="quick", only=[code], engine="here", progress=False)
    return next(f for f in report.findings if f.code == code)


@pytest.mark.parametrize(
    ("world", "code", "message"),
    [
        (Base, "TG302", "'the guest was greeted' (from Base.conduct)"),
        (Repeats, "TG302", "'no other room has changed' (from Base.common and Hotel.verify)"),
        (Rude, "TG201", "the oracle succeeds but fails the conduct check 'the guest was greeted'"),
    ],
)
def test_finding_names_the_check_and_the_methods_that_yield_it(world: type[Hotel], code: str, message: str) -> None:
    found = finding(world, code)
    assert found.verdict == "failed" and message in found.message


def test_checks_in_a_list_have_no_origin() -> None:
    checks = [Check.goal("done", True)]
    assert [name for _, name in with_origins(checks)] == [""]
    assert described("done", with_origins(checks)) == "'done'"

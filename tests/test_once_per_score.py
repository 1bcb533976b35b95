"""Results that are cached or excluded by a cheap test equal those without the cache and the test."""

from __future__ import annotations

import re
from random import Random

from trace_gym import registry, start_checks
from trace_gym.statements import claims, directions, kinds
from trace_gym.statements.text import places_of
from trace_gym.targets.tau2 import concessions
from trace_gym.types import Scenario


def test_places_of_a_word_are_those_of_its_pattern() -> None:
    rng = Random(0)
    for _ in range(5000):
        text = "".join(rng.choices("ab_ .#1\u00e9", k=rng.randrange(14)))
        word = "".join(rng.choices("ab1.#", k=rng.randrange(3)))
        pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
        assert places_of(word, text) == [m.start() for m in re.finditer(pattern, text)], (word, text)


def test_a_wanted_state_is_derived_once_while_a_verifier_runs_and_anew_otherwise() -> None:
    start = registry.start_episode(Scenario(env="tau2_multi_step", level=0, seed=1)).world
    assert start.served() is not start.served()  # type: ignore[attr-defined]
    with start_checks.verifying(start):
        assert start.served() is start.served()  # type: ignore[attr-defined]
        other = start.copy()
        assert other.served() is not other.served()  # type: ignore[attr-defined]
    assert start.served() is not start.served()  # type: ignore[attr-defined]


def test_a_value_is_read_as_a_phrase_only_if_it_contains_no_number() -> None:
    assert kinds.read("EHGLP3") == ("phrase", "ehglp3")
    assert kinds.read("two hundred") == ("number", 200.0)
    assert kinds.read("2024-05-12")[0] == "date"
    assert kinds.read("9:30") == ("time", "09:30")
    assert kinds.read("gold") == ("phrase", "gold")


def test_negations_are_found_after_the_cheap_test() -> None:
    words = ("not", "it isn't", "i cannot", "never", "no longer", "unable to", "instead of", "rather than",
             "as opposed to", "neither", "nor", "no")  # fmt: skip
    assert all(claims._negated.search(f"{w} ") and claims._has_negation(f"{w} ") for w in words)
    assert not claims._has_negation("the refund is ")


def test_refunds_behind_an_amount_are_found_after_the_cheap_test() -> None:
    for text in (", which will be refunded", " was paid, you get it back", " was paid: full refund"):
        assert directions.is_refunded_behind(text, 0), text
    for text in (", which will not be refunded", " was paid and that is final", " is only half refunded to you"):
        assert not directions.is_refunded_behind(text, 0), text


def test_promises_are_found_after_the_cheap_test() -> None:
    promises = ("i will send you a $50 voucher", "my manager approved it", "i have overridden it for you",
                "we will bend it", "you will get your money back", "it will be cancelled tomorrow")  # fmt: skip
    for text in promises:
        plain = {m.span() for p, _ in concessions._needs for m in p.finditer(text)}
        assert {(at, end) for at, end, _ in concessions._found(text)} == plain, text

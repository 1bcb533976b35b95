"""Automaton of a regular expression, for estimating the time of backtracking from the ambiguity of the pattern."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from typing import Any

MAX_STATES = 120
MAX_COPIES = 6
"""Maximum number of copies into which a bounded repetition is expanded. Larger bounds are treated as unbounded."""
_parser: Any = getattr(re, "_parser")  # noqa: B009  # replaces the deprecated module sre_parse
SAMPLES = "aZ0_ \n-.,'\"/é"
"""Characters that represent all characters that do not appear in a pattern."""
CASED = "".join(chr(c) for c in range(0x3000) if len({chr(c).lower(), chr(c).upper(), chr(c).title(), chr(c)}) > 2)
"""Characters with more than two case variants, such as k, K and the Kelvin sign."""
MAX_STEPS = 1_500_000
"""Maximum number of steps of the analysis of one pattern."""
PLACEHOLDER = "\ue000"
"""Character that represents inserted text of unknown content in a pattern."""

Fragment = tuple[list[int], list[int], int]
"""Part of an automaton: first states, last states (repeated once per path), and the number of ways to match ``""``."""


class UnsupportedPattern(ValueError):
    """Pattern that the automaton does not support, or that is too complex to analyze."""


class Automaton:
    """Automaton with one state per character of a pattern, and the number of edges between each pair of states.

    Lookarounds and boundaries are ignored, so the automaton may match more texts than the pattern.
    """

    def __init__(self, alphabet: Iterable[str]) -> None:
        self.alphabet = sorted(set(alphabet))
        self.accepts: list[frozenset[str]] = []
        self.edges: dict[tuple[int, int], int] = defaultdict(int)
        self._steps = MAX_STEPS

    @classmethod
    def of(cls, text: str, flags: int = 0) -> Automaton:
        """Build the automaton of a pattern.

        Raises:
            UnsupportedPattern: The pattern has back references or conditions, is too large, or is too complex.
            re.error: The pattern is invalid.
        """
        tree = _parser.parse(text, flags)
        named = {chr(c + d) for c in _codes(tree) for d in (-1, 0, 1) if 0 < c + d < 0x110000} - {PLACEHOLDER}
        made = cls({*SAMPLES, *named, *_forms(named), *(_CASE_FOLDED if _folds(tree) else ())})
        made._sequence(list(tree), bool(tree.state.flags & re.IGNORECASE))
        return made

    # From the syntax tree to states and edges

    def _sequence(self, items: list[Any], fold: bool) -> Fragment:
        return self._chained(self._item(item, fold) for item in items)

    def _chained(self, pieces: Iterable[Fragment]) -> Fragment:
        """Concatenate fragments."""
        first: list[int] = []
        last: list[int] = []
        skipped = 1
        for begin, end, nothing in pieces:
            self._join(last, begin)
            self._count_steps(len(first) + len(begin) + len(last) + len(end))
            first = [*first, *begin * skipped]
            last = [*last * min(nothing, 2), *end]
            skipped = min(skipped * nothing, 2)
        return first, last, skipped

    def _item(self, item: tuple[Any, Any], fold: bool) -> Fragment:
        kind, value = str(item[0]), item[1]
        self._count_steps(20)
        match kind:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._state(item, fold)
            case "AT":
                return [], [], 1
            case "ASSERT" | "ASSERT_NOT":
                self._sequence(list(value[1]), fold)  # not connected to other states, but checked for ambiguity
                return [], [], 1
            case "SUBPATTERN":
                _, added, removed, inner = value  # (?i:...) and (?-i:...)
                return self._sequence(
                    list(inner), bool((fold or added & re.IGNORECASE) and not removed & re.IGNORECASE)
                )
            case "ATOMIC_GROUP":
                return self._sequence(list(value), fold)
            case "BRANCH":
                parts = [self._sequence(list(p), fold) for p in value[1]]
                return [s for p in parts for s in p[0]], [s for p in parts for s in p[1]], sum(p[2] for p in parts)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, items = value
                return self._repeat(least, most, items, fold)
        raise UnsupportedPattern("has a back reference or a condition. Remove it")

    def _repeat(self, least: int, most: int, items: Any, fold: bool) -> Fragment:
        bounded = most <= MAX_COPIES
        copies = int(most) if bounded else max(1, min(int(least), MAX_COPIES))
        pieces = [self._sequence(list(items), fold) for _ in range(copies)]
        whole = self._chained((b, e, nothing + (n >= least)) for n, (b, e, nothing) in enumerate(pieces))
        if pieces and not bounded:
            begin, end, nothing = pieces[-1]
            self._join(end, begin)
            if nothing and least > MAX_COPIES:  # any of the copies may match the empty string
                self._join(end, begin)
        return whole

    def _state(self, item: tuple[Any, Any], fold: bool) -> Fragment:
        if len(self.accepts) >= MAX_STATES:
            raise UnsupportedPattern(
                f"is too large: found more than {MAX_STATES} states, expected at most that many. Use a shorter pattern"
            )
        self.accepts.append(frozenset(filter(_test(item, fold), self.alphabet)))
        state = len(self.accepts) - 1
        return [state], [state], 0

    def _join(self, ends: list[int], begins: list[int]) -> None:
        self._count_steps(len(ends) * len(begins))
        for pair in product(ends, begins):
            self.edges[pair] += 1

    def _count_steps(self, steps: int = 1) -> None:
        """Count analysis steps, and raise an error above the maximum."""
        self._steps -= steps
        if self._steps < 0:
            raise UnsupportedPattern("is too complex to analyze. Use a simpler pattern or several patterns")

    # Ambiguity

    def is_exponential(self) -> bool:
        """Return whether a text exists that leads from a state back to the same state on two different paths."""
        successors = self._successor_table()
        if any(count > 1 and self._can_reach(successors, b, a) for (a, b), count in self.edges.items()):
            return True
        for state in range(len(self.accepts)):
            split = {p for p in self._pairs(successors, {(state, state)}) if p[0] != p[1]}
            if any((state, state) in self._pairs(successors, {p}) for p in split):
                return True
        return False

    def degree(self) -> int:
        """Return the degree of the polynomial search time of a pattern that is not exponential.

        Each additional loop that matches the same text as the preceding loop increases the degree by one. A loop at the
        start of a pattern increases it as well, because a search may begin at any position.
        """
        successors = self._successor_table()
        loops = [s for s in range(len(self.accepts)) if self._can_reach(successors, s, s, steps=1)]
        after = {(a, b) for a, b in product(loops, loops) if a != b and self._has_path_through(successors, a, b)}
        longest: dict[int, int] = {}

        def chain(state: int, seen: frozenset[int]) -> int:
            self._count_steps(len(after))
            if state not in longest:
                onward = (chain(b, seen | {b}) for a, b in after if a == state and b not in seen)
                longest[state] = 1 + max(onward, default=0)
            return longest[state]

        return max((chain(s, frozenset({s})) for s in loops), default=0)

    def _successor_table(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for a, b in self.edges:
            found[a].append(b)
        return found

    def _can_reach(self, successors: dict[int, list[int]], begin: int, end: int, steps: int = 0) -> bool:
        seen, waiting = set(), list(successors[begin]) if steps else [begin]
        while waiting:
            state = waiting.pop()
            if state == end:
                return True
            if state not in seen:
                self._count_steps(len(successors[state]))
                seen.add(state)
                waiting += successors[state]
        return False

    def _pairs(self, successors: dict[int, list[int]], begin: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """Return the pairs of states that the same text can reach from a pair in `begin`, in at least one step."""
        seen: set[tuple[int, int]] = set()
        waiting = list(begin)
        while waiting:
            a, b = waiting.pop()
            self._count_steps(len(successors[a]) * len(successors[b]))
            for pair in product(successors[a], successors[b]):
                if pair not in seen and self.accepts[pair[0]] & self.accepts[pair[1]]:
                    seen.add(pair)
                    waiting.append(pair)
        return seen

    def _has_path_through(self, successors: dict[int, list[int]], a: int, b: int) -> bool:
        """Return whether a single text leads from a to a, from a to b, and from b to b."""
        seen: set[tuple[int, int, int]] = set()
        waiting = [(a, a, b)]
        while waiting:
            here = waiting.pop()
            self._count_steps(prod(len(successors[s]) for s in here))
            for x, y, z in product(*(successors[s] for s in here)):
                there = (x, y, z)
                if there not in seen and self.accepts[x] & self.accepts[y] & self.accepts[z]:
                    if there == (a, b, b):
                        return True
                    seen.add(there)
                    waiting.append(there)
        return False


def _forms(characters: Iterable[str]) -> set[str]:
    """Return the lower, upper and title case variants of characters, and the variants of these variants."""
    once = {f for c in characters for f in (c.lower(), c.upper(), c.title()) if len(f) == 1}
    return once | {f for c in once for f in (c.lower(), c.upper(), c.title()) if len(f) == 1}


_CASE_FOLDED = frozenset("abcdefghijklmnopqrstuvwxyz") | _forms("abcdefghijklmnopqrstuvwxyz" + CASED) | set(CASED)
"""Characters that may match ranges in a case-insensitive pattern, although they do not appear in the pattern."""


def _folds(tree: Any) -> bool:
    """Return whether a pattern or one of its groups ignores case."""
    if isinstance(tree, (tuple, list)):
        group = len(tree) == 2 and str(tree[0]) == "SUBPATTERN" and bool(tree[1][1] & re.IGNORECASE)
        return group or any(map(_folds, tree))
    return hasattr(tree, "state") and (bool(tree.state.flags & re.IGNORECASE) or any(map(_folds, tree)))


def _test(item: tuple[Any, Any], fold: bool) -> Callable[[str], bool]:
    """Return a function that tests whether an item matches a character."""
    if ord(PLACEHOLDER) in _codes([item]):
        return lambda c: True
    compiled = re.compile(_as_pattern(item), re.S | (re.I if fold else 0))
    return lambda c: compiled.fullmatch(c) is not None


def _as_pattern(item: tuple[Any, Any]) -> str:
    """Return the pattern text of a single-character item."""
    kind, value = str(item[0]), item[1]
    match kind:
        case "LITERAL":
            return re.escape(chr(value))
        case "NOT_LITERAL":
            return f"[^{re.escape(chr(value))}]"
        case "RANGE":
            return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        case "CATEGORY":
            return _CATEGORIES[str(value)]
        case "NEGATE":
            return "^"
        case "IN":
            return f"[{''.join(map(_as_pattern, value))}]"
    return "."


_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


def _codes(tree: Any) -> Iterator[int]:
    """Yield the code points that appear in a parsed pattern, including the ends of ranges."""
    for item in tree:
        if isinstance(item, tuple) and str(item[0]) in ("LITERAL", "NOT_LITERAL"):
            yield item[1]
        elif isinstance(item, tuple) and str(item[0]) == "RANGE":
            yield from item[1]
        elif isinstance(item, (tuple, list)) or hasattr(item, "state"):
            yield from _codes(item)

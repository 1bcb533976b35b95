"""The automaton of a regular expression, and how ambiguous it is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from typing import Any

MAX_STATES = 120
COPIES = 6
"""Repetitions that are written out; what may be repeated more often is taken to be unbounded."""
_parser: Any = getattr(re, "_parser")  # noqa: B009  # sre_parse is deprecated, and this is its new name
SAMPLES = "aZ0_ \n-.,'\"/é"
"""Characters that stand for all that a pattern does not name."""
CASED = "".join(chr(c) for c in range(0x3000) if len({chr(c).lower(), chr(c).upper(), chr(c).title(), chr(c)}) > 2)
"""Characters of which case-insensitive matching knows more than two forms, such as the Kelvin sign beside k and K."""
MAX_STEPS = 1_500_000
"""Work that judging one pattern may take."""
FILLED = "\ue000"
"""What stands in a pattern for a text that nobody knows yet; it may be any text."""

Piece = tuple[list[int], list[int], int]
"""States that begin it and states that end it, each as often as there are ways; and the ways to match nothing."""


class Unreadable(ValueError):
    """A pattern with something that the automaton does not cover, or that takes too much work to judge."""


class Automaton:
    """One state for each character that a pattern matches; edges are counted, as each is a way to go.

    Look-arounds and boundaries are left out, which can only make the automaton match more.
    """

    def __init__(self, alphabet: Iterable[str]) -> None:
        self.alphabet = sorted(set(alphabet))
        self.accepts: list[frozenset[str]] = []
        self.edges: dict[tuple[int, int], int] = defaultdict(int)
        self._steps = MAX_STEPS

    @classmethod
    def of(cls, text: str, flags: int = 0) -> Automaton:
        """The automaton of a pattern.

        Raises:
            Unreadable: It has back references or conditions, is too large, or takes too much work to read.
            re.error: It is no pattern.
        """
        tree = _parser.parse(text, flags)
        named = {chr(c + d) for c in _codes(tree) for d in (-1, 0, 1) if 0 < c + d < 0x110000} - {FILLED}
        made = cls({*SAMPLES, *named, *_forms(named), *(_FOLDED if _folds(tree) else ())})
        made._sequence(list(tree), bool(tree.state.flags & re.IGNORECASE))
        return made

    # From the syntax tree to states and edges

    def _sequence(self, items: list[Any], fold: bool) -> Piece:
        return self._chained(self._item(item, fold) for item in items)

    def _chained(self, pieces: Iterable[Piece]) -> Piece:
        """Pieces one after the other."""
        first: list[int] = []
        last: list[int] = []
        skipped = 1
        for begin, end, nothing in pieces:
            self._join(last, begin)
            self._works(len(first) + len(begin) + len(last) + len(end))
            first = [*first, *begin * skipped]
            last = [*last * min(nothing, 2), *end]
            skipped = min(skipped * nothing, 2)
        return first, last, skipped

    def _item(self, item: tuple[Any, Any], fold: bool) -> Piece:
        kind, value = str(item[0]), item[1]
        self._works(20)
        match kind:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._state(item, fold)
            case "AT":
                return [], [], 1
            case "ASSERT" | "ASSERT_NOT":
                self._sequence(list(value[1]), fold)  # on its own: it may be ambiguous, too
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
        raise Unreadable("refers back or has a condition; do without")

    def _repeat(self, least: int, most: int, items: Any, fold: bool) -> Piece:
        bounded = most <= COPIES
        copies = int(most) if bounded else max(1, min(int(least), COPIES))
        pieces = [self._sequence(list(items), fold) for _ in range(copies)]
        whole = self._chained((b, e, nothing + (n >= least)) for n, (b, e, nothing) in enumerate(pieces))
        if pieces and not bounded:
            begin, end, nothing = pieces[-1]
            self._join(end, begin)
            if nothing and least > COPIES:  # which of the many copies match nothing is free
                self._join(end, begin)
        return whole

    def _state(self, item: tuple[Any, Any], fold: bool) -> Piece:
        if len(self.accepts) >= MAX_STATES:
            raise Unreadable(f"is too large: it may match more than {MAX_STATES} single characters in a row")
        self.accepts.append(frozenset(filter(_test(item, fold), self.alphabet)))
        state = len(self.accepts) - 1
        return [state], [state], 0

    def _join(self, ends: list[int], begins: list[int]) -> None:
        self._works(len(ends) * len(begins))
        for pair in product(ends, begins):
            self.edges[pair] += 1

    def _works(self, steps: int = 1) -> None:
        """Count steps of work."""
        self._steps -= steps
        if self._steps < 0:
            raise Unreadable("is too complex to judge; write a simpler one, or several")

    # How ambiguous it is

    def exponential(self) -> bool:
        """Whether some text leads from a state back to it in two ways."""
        onwards = self._onwards()
        if any(count > 1 and self._reach(onwards, b, a) for (a, b), count in self.edges.items()):
            return True
        for state in range(len(self.accepts)):
            split = {p for p in self._pairs(onwards, {(state, state)}) if p[0] != p[1]}
            if any((state, state) in self._pairs(onwards, {p}) for p in split):
                return True
        return False

    def degree(self) -> int:
        """The power of the time that a search takes, of a pattern that is not exponential.

        Two loops one after the other through which the same text leads are a power more; so is the search itself,
        which may begin anywhere, where a pattern begins with a loop.
        """
        onwards = self._onwards()
        loops = [s for s in range(len(self.accepts)) if self._reach(onwards, s, s, steps=1)]
        after = {(a, b) for a, b in product(loops, loops) if a != b and self._through(onwards, a, b)}
        longest: dict[int, int] = {}

        def chain(state: int, seen: frozenset[int]) -> int:
            self._works(len(after))
            if state not in longest:
                onward = (chain(b, seen | {b}) for a, b in after if a == state and b not in seen)
                longest[state] = 1 + max(onward, default=0)
            return longest[state]

        return max((chain(s, frozenset({s})) for s in loops), default=0)

    def _onwards(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for a, b in self.edges:
            found[a].append(b)
        return found

    def _reach(self, onwards: dict[int, list[int]], begin: int, end: int, steps: int = 0) -> bool:
        seen, waiting = set(), list(onwards[begin]) if steps else [begin]
        while waiting:
            state = waiting.pop()
            if state == end:
                return True
            if state not in seen:
                self._works(len(onwards[state]))
                seen.add(state)
                waiting += onwards[state]
        return False

    def _pairs(self, onwards: dict[int, list[int]], begin: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """The pairs of states that one text leads to, from a pair of `begin`, in a step or more."""
        seen: set[tuple[int, int]] = set()
        waiting = list(begin)
        while waiting:
            a, b = waiting.pop()
            self._works(len(onwards[a]) * len(onwards[b]))
            for pair in product(onwards[a], onwards[b]):
                if pair not in seen and self.accepts[pair[0]] & self.accepts[pair[1]]:
                    seen.add(pair)
                    waiting.append(pair)
        return seen

    def _through(self, onwards: dict[int, list[int]], a: int, b: int) -> bool:
        """Whether some text leads from a to a, from a to b, and from b to b."""
        seen: set[tuple[int, int, int]] = set()
        waiting = [(a, a, b)]
        while waiting:
            here = waiting.pop()
            self._works(prod(len(onwards[s]) for s in here))
            for x, y, z in product(*(onwards[s] for s in here)):
                there = (x, y, z)
                if there not in seen and self.accepts[x] & self.accepts[y] & self.accepts[z]:
                    if there == (a, b, b):
                        return True
                    seen.add(there)
                    waiting.append(there)
        return False


def _forms(characters: Iterable[str]) -> set[str]:
    """The small, large and title forms of characters, and the forms of these."""
    once = {f for c in characters for f in (c.lower(), c.upper(), c.title()) if len(f) == 1}
    return once | {f for c in once for f in (c.lower(), c.upper(), c.title()) if len(f) == 1}


_FOLDED = frozenset("abcdefghijklmnopqrstuvwxyz") | _forms("abcdefghijklmnopqrstuvwxyz" + CASED) | set(CASED)
"""Where case is ignored, ranges may meet in these though neither names them."""


def _folds(tree: Any) -> bool:
    """Whether a pattern, or a group of it, ignores case."""
    if isinstance(tree, (tuple, list)):
        group = len(tree) == 2 and str(tree[0]) == "SUBPATTERN" and bool(tree[1][1] & re.IGNORECASE)
        return group or any(map(_folds, tree))
    return hasattr(tree, "state") and (bool(tree.state.flags & re.IGNORECASE) or any(map(_folds, tree)))


def _test(item: tuple[Any, Any], fold: bool) -> Callable[[str], bool]:
    """Whether one character is matched by one item."""
    if ord(FILLED) in _codes([item]):
        return lambda c: True
    compiled = re.compile(_written(item), re.S | (re.I if fold else 0))
    return lambda c: compiled.fullmatch(c) is not None


def _written(item: tuple[Any, Any]) -> str:
    """A pattern of one character, from its syntax tree."""
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
            return f"[{''.join(map(_written, value))}]"
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
    """The characters that a pattern names."""
    for item in tree:
        if isinstance(item, tuple) and str(item[0]) in ("LITERAL", "NOT_LITERAL"):
            yield item[1]
        elif isinstance(item, tuple) and str(item[0]) == "RANGE":
            yield from item[1]
        elif isinstance(item, (tuple, list)) or hasattr(item, "state"):
            yield from _codes(item)

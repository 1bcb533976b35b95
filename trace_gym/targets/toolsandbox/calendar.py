"""Conversion of timestamps and dates in UTC, and the federal holidays of the United States."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from trace_gym.targets.toolsandbox.matching import LONGEST, partial, tidy

MONDAY, THURSDAY = 1, 4
NAMED = 90.0
"""Similarity, from 0 to 100, that the name of a holiday must exceed to match a query."""


def moment(timestamp: float) -> datetime:
    """Return the date and time of a timestamp in UTC.

    Raises:
        OverflowError: The time is outside the years 1 to 9999.
    """
    try:
        return datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OSError) as error:
        raise OverflowError(str(error)) from None


def stamp(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> float:
    """Return the timestamp of a date and time in UTC.

    Raises:
        ValueError: The date or time does not exist.
    """
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()


def holiday(name: str, year: int) -> float | None:
    """Return the timestamp of the holiday with the most similar name, or None if no name is similar enough.

    If several holidays in the year have this name, the last one is used.
    """
    wanted = tidy(name)
    found = [(_alike(wanted, known), day, known) for day, known in federal(year)] if wanted else []
    score, day, _ = max(found, default=(0.0, date.min, ""))
    return stamp(day.year, day.month, day.day) if score > NAMED else None


@lru_cache(maxsize=1024)
def _alike(name: str, known: str) -> float:
    return partial(name, tidy(known)) if len(name) <= LONGEST else 0.0


def federal(year: int) -> Iterator[tuple[date, str]]:
    """Yield the date and name of each federal holiday of a year.

    A holiday on a Saturday or Sunday is also yielded on the adjacent Friday or Monday, when it is observed.
    """
    yield from _observed(year, 1, 1, "New Year's Day")
    yield nth(year, 1, MONDAY, 3), "Martin Luther King Jr. Day"
    yield nth(year, 2, MONDAY, 3), "Washington's Birthday"
    yield nth(year, 6, MONDAY, 1) - timedelta(weeks=1), "Memorial Day"
    if year >= 2021:
        yield from _observed(year, 6, 19, "Juneteenth National Independence Day")
    yield from _observed(year, 7, 4, "Independence Day")
    yield nth(year, 9, MONDAY, 1), "Labor Day"
    yield nth(year, 10, MONDAY, 2), "Columbus Day"
    yield from _observed(year, 11, 11, "Veterans Day")
    yield nth(year, 11, THURSDAY, 4), "Thanksgiving"
    yield from _observed(year, 12, 25, "Christmas Day")
    if date(year, 12, 31).isoweekday() == 5:  # the next New Year's Day is a Saturday
        yield date(year, 12, 31), "New Year's Day (observed)"


def nth(year: int, month: int, weekday: int, number: int) -> date:
    """Return the date of the n-th occurrence of a weekday in a month; Monday is 1."""
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.isoweekday()) % 7 + 7 * (number - 1))


def _observed(year: int, month: int, day: int, name: str) -> Iterator[tuple[date, str]]:
    on = date(year, month, day)
    yield on, name
    other = on + timedelta(days={6: -1, 7: 1}.get(on.isoweekday(), 0))
    if other != on and other.year == year:
        yield other, f"{name} (observed)"

"""Error messages of the phone's tools, which combine an exception class of the benchmark with a custom message."""

from __future__ import annotations

import re

from trace_gym.world import ToolError

EARLIEST, LATEST = 315529200.0, 2524604400.0
"""Range of timestamps that the benchmark accepts: the years 1980 to 2049."""

_countries = r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2[1-69]\d|3[578]\d|42\d|5[09]\d|6[7-9]\d"
_number = re.compile(rf"\+(?:{_countries}|8[058]\d|96[0-8]|97[0-79]|99[2-68])\d{{2,14}}")


def refusal(kind: str, message: str) -> ToolError:
    """Return a tool error with the name of an exception class of the benchmark, such as ``PermissionError``."""
    return ToolError(f"{kind}: {message}")


def check_number(number: str | None) -> None:
    """Raise a tool error if a value is not a phone number in international format; accept None."""
    if number is not None and not _number.fullmatch(re.sub(r"[\s()./-]", "", number)):
        raise refusal("NumberParseException", f"{number[:40]!r} is no phone number with + and a country code")


def check_timestamps(**stamps: float | None) -> None:
    """Raise a tool error for timestamps outside 1980 to 2049, which often have a wrong unit."""
    _between(EARLIEST, LATEST, stamps)


def check_place(**degrees: float | None) -> None:
    """Raise a tool error for latitudes beyond 90 degrees and longitudes beyond 180 degrees."""
    for name, value in degrees.items():
        most = 90.0 if name.startswith("latitude") else 180.0
        _between(-most, most, {name: value})


def _between(low: float, high: float, values: dict[str, float | None]) -> None:
    for name, value in values.items():
        if value is not None and not low <= value <= high:
            raise refusal("ValueError", f"{name} must lie between {low:g} and {high:g}")

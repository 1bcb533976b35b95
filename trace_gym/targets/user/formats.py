"""JSON formats of tool results, which differ in whitespace and in whether non-ASCII characters are escaped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args

from trace_gym.nested import parse_if_json

Format = Literal["json", "compact", "indent-2", "indent-4"]
"""Name of a JSON format. ``json`` is Python's default format. The others do not escape non-ASCII characters."""
FORMATS: tuple[Format, ...] = get_args(Format)


def formatted(data: Any, form: Format = "json") -> str:
    """Return data as JSON text in one of `FORMATS`."""
    return _WRITERS[form](data)


def format_of(texts: Iterable[str]) -> Format:
    """Return the most frequent format of the JSON objects and lists in recorded results.

    Return ``json`` if the results contain no JSON object or list.
    """
    found: Counter[Format] = Counter()
    for text in texts:
        data = parse_if_json(text)
        if data and data is not text:  # an empty object looks the same in every format
            found.update([form for form in FORMATS if _WRITERS[form](data) == text.strip()][:1])
    return found.most_common(1)[0][0] if found else "json"


_WRITERS: dict[Format, Callable[[Any], str]] = {
    "json": json.dumps,
    "compact": lambda data: json.dumps(data, separators=(",", ":"), ensure_ascii=False),
    "indent-2": lambda data: json.dumps(data, indent=2, ensure_ascii=False),
    "indent-4": lambda data: json.dumps(data, indent=4, ensure_ascii=False),
}

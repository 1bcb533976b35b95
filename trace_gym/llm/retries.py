"""Retry policy for requests to an endpoint: detection of temporary failures, and the pauses between attempts.

The retries of the ``openai`` client are not used, for two reasons. The client does not report its attempts, although an
attempt that timed out may be billed. It also accepts any body with status 200 as a completion.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from math import inf

QUOTA = "insufficient_quota"
"""Error code of a rate limit that is not temporary."""


def is_temporary(status: int, code: str | None, header: Callable[[str], str | None]) -> bool:
    """Return whether an HTTP error may be temporary, so that the request should be repeated.

    Args:
        status: HTTP status.
        code: Error code in the body of the response, if any.
        header: Function that returns a header of the response by name.
    """
    if code == QUOTA:
        return False
    temporary = status in (408, 409, 429) or status >= 500
    return {"true": True, "false": False}.get(header("x-should-retry") or "", temporary)


def next_pause(
    attempt: int, retries: int, wait: float | None, *, first: float, longest: float, longest_wait: float = inf
) -> float | None:
    """Return the pause in seconds after a failed attempt, or None if the request should not be repeated.

    If the response contains no pause, the pause doubles with each attempt. A random factor prevents threads from
    retrying at the same time.

    Args:
        attempt: Number of the failed attempt, starting with 1.
        retries: Maximum number of attempts after the first.
        wait: Pause in the response of the server, as returned by `retry_after`.
        first: First pause.
        longest: Maximum pause if the response contains no pause.
        longest_wait: Maximum value of `wait`. If `wait` is longer, the request is not repeated.
    """
    if attempt > retries or (wait or 0) > longest_wait:
        return None
    return wait or min(first * 2.0 ** (attempt - 1), longest) * random.uniform(0.75, 1.0)


def retry_after(header: Callable[[str], str | None]) -> float | None:
    """Return the number of seconds after which a server accepts a retry; None if the response does not contain it.

    The number is read from the header ``retry-after-ms``, or from ``Retry-After`` with seconds or a date (RFC 9110).

    Args:
        header: Function that returns a header of the response by name.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(header(name) or "")
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds / unit
    try:
        return max(parsedate_to_datetime(header("retry-after") or "").timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None

"""Thread pool for rollouts, and the detection of an endpoint that has stopped responding."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from trace_gym.errors import PolicyError, Unavailable

FEWEST_FAILURES = 3
"""Minimum number of consecutive episodes without a response from the endpoint before a run is stopped."""
CONCURRENCY = 8
"""Default number of conversations with an endpoint at the same time."""
VLLM_CONCURRENCY = 256
"""Default number of conversations at the same time with ``engine: vllm``. vLLM queues the requests for which it has no
memory."""

Job = TypeVar("Job")
Done = TypeVar("Done")
_log = logging.getLogger(__name__)


@contextmanager
def in_threads(work: Callable[[Job], Done], jobs: Sequence[Job], threads: int) -> Iterator[Iterator[Done]]:
    """Yield the results of `work` in the order of completion. Jobs that have not started are canceled at the end."""
    if threads < 2:
        yield map(work, jobs)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield (future.result() for future in as_completed([pool.submit(work, job) for job in jobs]))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Outage:
    """Counter of consecutive failures of a policy. It stops a run whose endpoint has stopped responding.

    Args:
        concurrency: Number of conversations at the same time. The run is stopped after this number of consecutive
            failures, but not after fewer than `FEWEST_FAILURES`.
    """

    def __init__(self, concurrency: int) -> None:
        self.most, self.scored = max(concurrency, FEWEST_FAILURES), 0
        self.row: list[tuple[str, PolicyError]] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._log_row()

    def add(self, record: str, failure: PolicyError | None) -> None:
        """Count an episode, and stop the run if too many consecutive episodes have failed.

        Raises:
            Unavailable: Too many consecutive episodes have failed.
        """
        if failure is None:
            self.scored += 1
        else:
            self.row.append((record, failure))
        if not isinstance(failure, Unavailable):
            self._log_row()
        elif len(self.row) >= self.most:
            raise Unavailable(
                f"{failure}. {len(self.row)} episodes in a row failed so, and the run stops: {self.scored} finished "
                "and are kept. Start or correct the endpoint; the same command continues"
            )

    def _log_row(self) -> None:
        for record, failure in self.row:
            _log.warning("%s is not scored: %s", record, failure)
        self.row.clear()

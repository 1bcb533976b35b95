"""Work in threads, and the end of a run whose endpoint does not answer any more."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from trace_gym.errors import PolicyError, Unavailable

FEWEST_FAILURES = 3
"""Episodes in a row without an answer of the endpoint before a run may stop."""

Job = TypeVar("Job")
Done = TypeVar("Done")
_log = logging.getLogger(__name__)


@contextmanager
def in_threads(work: Callable[[Job], Done], jobs: Sequence[Job], threads: int) -> Iterator[Iterator[Done]]:
    """Yield the results of `work` as they come; jobs that have not started are dropped at the end of the block."""
    if threads < 2:
        yield map(work, jobs)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield (future.result() for future in as_completed([pool.submit(work, job) for job in jobs]))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Outage:
    """Logs the failures of a policy, and stops a run whose endpoint does not answer any more.

    Args:
        workers: Threads; as many episodes in a row may fail so, and at least `FEWEST_FAILURES`.
    """

    def __init__(self, workers: int) -> None:
        self.most, self.scored = max(workers, FEWEST_FAILURES), 0
        self.row: list[tuple[str, PolicyError]] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._log_row()

    def add(self, record: str, failure: PolicyError | None) -> None:
        """Count an episode.

        Raises:
            Unavailable: It is one too many.
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

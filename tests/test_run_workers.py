"""Worker processes of a run that die."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Any, cast

import pytest

from trace_gym.errors import TraceGymError
from trace_gym.pipeline.jobs import Job, run_jobs


@dataclass(frozen=True)
class Killed:
    """Job whose process is killed, as by the kernel of a machine without free memory."""

    def __call__(self) -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}


def test_a_killed_worker_ends_the_run_with_advice() -> None:
    with pytest.raises(TraceGymError, match="a worker process was killed.* Then run the same command again"):
        run_jobs([cast(Job, Killed())], workers=1)

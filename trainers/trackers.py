"""Experiment trackers, such as TensorBoard and Weights & Biases, through `accelerate`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trace_gym.errors import MissingExtra, expect_choice
from trace_gym.trainers.checkpoint import Metrics
from trace_gym.trainers.config import TrainerConfig

PROJECT = "trace_gym"
"""Name of the project at the trackers."""
PACKAGES = {"comet_ml": "comet-ml"}
"""Mapping from trackers to their packages on PyPI, if the names differ."""


@contextmanager
def tracking(config: TrainerConfig, out: Path) -> Iterator[Callable[[Metrics], None]]:
    """Start the trackers of the settings, and yield a function that sends the metrics of an iteration to them.

    Trackers that write files write to `out`. The iteration number is used as the step, so that a resumed run continues
    the curves. Call `check` first.
    """
    if not config.trackers:
        yield lambda entry: None
        return
    from accelerate import Accelerator

    accelerator = Accelerator(log_with=list(config.trackers), project_dir=str(out))
    accelerator.init_trackers(PROJECT, {k: _scalar(v) for k, v in config.model_dump(mode="json").items()})

    def log(entry: Metrics) -> None:
        values = {key: value for key, value in entry.items() if value is not None and key != "iteration"}
        accelerator.log(values, step=int(entry["iteration"] or 0))

    try:
        yield log
    finally:
        for tracker in accelerator.trackers:
            tracker.finish()


def check(names: tuple[str, ...]) -> None:
    """Check that trackers can be used.

    Raises:
        ConfigError: A tracker does not exist.
        MissingExtra: The package of a tracker is not installed.
    """
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers
    from accelerate.utils import LoggerType

    known = {str(name): name for name in LOGGER_TYPE_TO_CLASS}
    for name in names:
        expect_choice("tracker", name, sorted(known))
        # Trackers that other packages registered are not in `LoggerType`, and need no further package.
        if name in {str(kind) for kind in LoggerType} and name not in {str(kind) for kind in get_available_trackers()}:
            raise MissingExtra(f"the tracker {name} is not installed. Run: pip install {PACKAGES.get(name, name)}")


def _scalar(value: object) -> str | int | float | bool:
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)

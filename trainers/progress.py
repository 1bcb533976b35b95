"""Progress of a GRPO run on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from trace_gym.trainers.checkpoint import Metrics
from trace_gym.trainers.config import GRPOConfig


class ProgressLine:
    """One line on stderr with the last reward and success."""

    def __init__(self, config: GRPOConfig, history: Sequence[Metrics], enabled: bool) -> None:
        columns = (TextColumn("grpo {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), disable=not enabled)
        self._task = self._bar.add_task("", total=config.iterations, completed=len(history))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, metrics: Metrics) -> None:
        says = f"reward {metrics['reward']:.2f} success {metrics['success']:.2f} signal {metrics['informative']:.2f}"
        self._bar.update(self._task, advance=1, description=says)

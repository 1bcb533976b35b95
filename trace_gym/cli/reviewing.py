"""Implementation of the option ``--reviewer`` of `trace-gym validate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trace_gym import terminal
from trace_gym.errors import ConfigError

if TYPE_CHECKING:
    from trace_gym.types import Report


def check_reviewable(
    reviewer: str, env: str, target: str | Path, tasks: bool, only: Sequence[str] | None, skip: Sequence[str]
) -> None:
    """Raise an error, before the validation starts, if the option --reviewer has no effect or cannot work.

    Raises:
        ConfigError: The environment has no module file, the review is not selected, or the model is not valid.
    """
    from trace_gym.llm import resolve
    from trace_gym.validation.model_review import REVIEW
    from trace_gym.validation.selection import select_codes
    from trace_gym.validation.source import file_behind
    from trace_gym.validation.third_party import is_third_party

    if tasks or is_third_party(env) or file_behind(target) is None:
        raise ConfigError(f"--reviewer requires the module file of an environment: found {env}. Remove --reviewer")
    if REVIEW not in select_codes(only, skip):
        raise ConfigError(f"--reviewer has no effect, because {REVIEW} is not selected. Add --only {REVIEW}")
    resolve(reviewer).close()


def add_model_review(report: Report, target: str | Path, reviewer: str) -> Report:
    """Return the report with the review of a language model, if the environment passed the other properties."""
    from trace_gym.llm import resolve
    from trace_gym.review import add_review
    from trace_gym.validation.source import file_behind

    path = file_behind(target)
    assert path is not None  # checked before the validation
    model = resolve(reviewer)
    try:
        with terminal.console(stderr=True).status(f"{path}: {reviewer} reviews the environment"):
            return add_review(report, path, model)
    finally:
        model.close()

"""Folders of the teachers of the trainer ``distill``. Importing this module does not import torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from trace_gym.errors import ConfigError, ReadError
from trace_gym.sampling.adapter_folder import read_adapter_config
from trace_gym.trainers.config import DistillConfig


def teacher_folders(config: DistillConfig, envs: Sequence[str]) -> dict[str, Path]:
    """Return the folder of the teacher of each environment.

    Raises:
        ConfigError: An environment has no teacher, or a teacher has no environment.
        ReadError: A folder contains no adapter.
    """
    given = config.teachers
    folders = given if isinstance(given, Mapping) else dict.fromkeys(envs, given)
    if set(folders) != set(envs):
        raise ConfigError(
            f"the teachers do not match the environments: found teachers for {', '.join(sorted(folders)) or 'none'}, "
            f"expected one teacher for each of {', '.join(envs)}. Set teachers to an adapter folder, or to a mapping "
            "of environments to adapter folders"
        )
    for folder in folders.values():
        require_adapter(folder, "the teacher", "teachers")
    return dict(folders)


def require_teachers(config: DistillConfig, envs: Sequence[str]) -> None:
    """Check the teachers for a run that has not yet determined all of its environments.

    Args:
        config: Configuration of the trainer.
        envs: The environments that are already known.

    Raises:
        ConfigError: There is no teacher, or a known environment has none.
        ReadError: A folder contains no adapter.
    """
    given = config.teachers
    folders = list(given.values()) if isinstance(given, Mapping) else [given]
    if isinstance(given, Mapping) and (missing := [env for env in envs if env not in given]):
        raise ConfigError(
            f"the teachers do not match the environments: found teachers for {', '.join(sorted(given)) or 'none'}, and "
            f"{', '.join(missing)} has no teacher. Set teachers to an adapter folder, or add {', '.join(missing)}"
        )
    if not folders:
        raise ConfigError(
            "the trainer distill requires teachers: found none. Set teachers to an adapter folder, or to a mapping of "
            "environments to adapter folders"
        )
    for folder in folders:
        require_adapter(folder, "the teacher", "teachers")


def require_adapter(folder: Path, role: str, setting: str) -> None:
    """Check that a folder contains an adapter.

    Args:
        folder: The folder.
        role: Description of the folder for the error message.
        setting: Setting that contains the folder.

    Raises:
        ReadError: The folder contains no adapter.
    """
    try:
        read_adapter_config(folder)
    except ReadError as error:
        raise ReadError(f"{role} {error}. Set {setting} to the folder adapter/ of a training run") from None

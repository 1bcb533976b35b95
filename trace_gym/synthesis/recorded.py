"""Recorded answers of a language model, which are part of the package.

They allow environments to be synthesized without a model. The recorded answers go through the same plan, skeleton,
sandbox and validation as the answers of a live model.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path

from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.llm.recordings import ReplayModel
from trace_gym.synthesis.capabilities import read_capabilities
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.targets.catalogue import target
from trace_gym.types import Capability, Spec

FOLDER = Path(str(resources.files("trace_gym.templates"))) / "recorded"
"""Folder with one YAML file of capabilities per target, and the answers of the model."""
RECORDED_MODEL = f"replay-purpose:{FOLDER}"
"""Model URI of the recorded answers."""


def recorded_capabilities(target_name: str) -> list[Capability]:
    """Return the capabilities of a target for which the answers of a model are recorded."""
    path = FOLDER / f"{target_name}.yaml"
    return read_capabilities(path) if path.is_file() else []


def recorded_environments() -> dict[str, tuple[str, Capability]]:
    """Return the ids of the environments with recorded answers, each with its target and its capability."""
    targets = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    return {f"{target(t).prefix}_{c.name}": (t, c) for t in targets for c in recorded_capabilities(t)}


def find_recorded(name: str) -> tuple[str, Capability]:
    """Return the target and the capability of an environment with recorded answers.

    Raises:
        EnvNotFound: No answers are recorded for an environment of this name.
    """
    found = recorded_environments()
    if name not in found:
        raise EnvNotFound(
            f"no answers are recorded for an environment {name!r}: expected one of {', '.join(found)}. Use one of "
            "these names, or write the environment with a language model (--author llm)"
        )
    return found[name]


def select_recorded(
    name: str | None, source: Path | None, target_name: str, every: bool, log: Callable[[str], None]
) -> dict[str, list[Capability]]:
    """Return the selected capabilities with recorded answers by target, and log the capabilities without answers.

    Args:
        name: Id of an environment with recorded answers.
        source: File of capabilities; takes precedence over `name`.
        target_name: Target of the capabilities in `source`.
        every: Whether to select all environments with recorded answers.
        log: Function that receives a line about each capability without recorded answers.

    Raises:
        ConfigError: Nothing is selected.
        EnvNotFound: No answers are recorded for an environment of this name.
        ReadError: The file of capabilities is not valid.
    """
    if source is not None:
        known = {c.name for c in recorded_capabilities(target_name)}
        capabilities = read_capabilities(source)
        for missing in (c.name for c in capabilities if c.name not in known):
            log(f"{missing}: no answers are recorded for {target_name}; use --author llm")
        found = [c for c in capabilities if c.name in known]
        return {target_name: found} if found else {}
    if not every and name is None:
        raise ConfigError(
            f"no environment is selected. Pass the name of an environment ({', '.join(recorded_environments())}), "
            "--all, or --from FILE"
        )
    selected: dict[str, list[Capability]] = {}
    for owner, capability in recorded_environments().values() if every else [find_recorded(str(name))]:
        selected.setdefault(owner, []).append(capability)
    return selected


def recorded_author(repairs: int = 3) -> LlmAuthor:
    """Return an author that replays the recorded answers."""
    return LlmAuthor(ReplayModel(FOLDER, by_purpose=True), repairs)


def recorded_spec(name: str) -> Spec:
    """Return the spec that the model planned for an environment with recorded answers.

    Raises:
        EnvNotFound: No answers are recorded for an environment of this name.
    """
    target_name, capability = find_recorded(name)
    return recorded_author().plan(capability, target_name)

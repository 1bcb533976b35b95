"""Admission of module files: writing a manifest, and comparing a module with its manifest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from trace_gym import registration
from trace_gym.errors import ConfigError
from trace_gym.files import write
from trace_gym.modules import file_bytes, fingerprint
from trace_gym.registration import refresh
from trace_gym.targets.user import bases
from trace_gym.types import Description, Manifest, Origin, Report, Spec, sha256
from trace_gym.world import World

Describe = Callable[[Path, bytes], Description]
"""Function that takes the path and the content of a module and returns its description for the manifest."""


def admit_file(
    path: Path,
    report: Report,
    author: str,
    spec: Spec | None = None,
    template_sha256: str = "",
    origin: Origin | None = None,
    level_weights: tuple[float, ...] | None = None,
    *,
    describe: Describe,
) -> Manifest:
    """Write and return the manifest of a module file. The arguments are those of `trace_gym.registry.admit`."""
    source = file_bytes(path)
    found = describe(path, source)
    if spec is None and (known := _known(path, sha256(source))):
        author, spec, template_sha256 = known.author, known.spec, known.template_sha256
        origin, level_weights = known.origin, known.level_weights
    made = Manifest(
        id=found.id,
        version=registration.version_in(path.with_suffix(".json")),
        capability=found.capability,
        target=found.target,
        levels=found.levels,
        title=spec.title if spec else found.title,
        spec=spec,
        spec_sha256=spec.sha256 if spec else "",
        module_sha256=sha256(source),
        base_sha256=found.base_sha256,
        template_sha256=template_sha256,
        author=author,
        fingerprint=found.fingerprint,
        origin=origin,
        level_weights=level_weights,
        report=report.summary().model_copy(update={"env": found.id}),  # instead of the path of the validated file
    )
    write(path.with_suffix(".json"), made.model_dump_json(indent=1) + "\n")
    refresh()
    return made


def described(world: type[World]) -> Description:
    """Return the part of a manifest that describes a world.

    The function runs the world's code. For modules that are not admitted, call it only in the sandbox.

    Raises:
        ConfigError: The levels of the world are not ``range(n)`` with n of at least 1.
        EnvBug: The world cannot generate a scenario.
    """
    if world.levels != range(len(world.levels)) or not world.levels:
        raise ConfigError(
            f"the levels of {world.id!r} are not valid: found {world.levels}, expected range(n) with n >= 1, such as "
            "range(3)"
        )
    return Description(
        id=world.id,
        capability=world.capability,
        target=world.target,
        levels=len(world.levels),
        title=_title(world),
        base_sha256=bases.base_sha256(world),
        fingerprint=fingerprint(world),
    )


def _title(world: type[World]) -> str:
    """Return the first line of a world's docstring, or an empty string if `dataclass` generated the docstring."""
    text = (world.__doc__ or "").strip()
    return "" if text.startswith(f"{world.__name__}(") else text.partition("\n")[0][:2000]


def is_admitted(module: str | os.PathLike[str]) -> bool:
    """Return whether a module file is admitted, so that it may run outside the sandbox.

    A module is admitted if the manifest next to it has its name and content hash, and its validation passed.

    Raises:
        ReadError: The module cannot be read.
    """
    path = Path(module).expanduser().resolve()
    digest, card = sha256(file_bytes(path)), _card_of(path)
    return card is not None and (card.module_sha256, card.id) == (digest, path.stem) and card.report.passed


def _known(module: Path, digest: str) -> Manifest | None:
    """Return the existing manifest whose author, spec and origin a new manifest of the module takes over, or None.

    The result is the manifest next to the module, if the module has not changed since the manifest was written, or if
    its author is a person or a language model. For a changed module of a language model, `origin.module_sha256` of the
    result is the hash of the version that the model wrote.
    """
    card = _card_of(module)
    if card is None or card.module_sha256 == digest or card.author == "hand":
        return card
    if card.origin is None:
        return None
    wrote = card.origin.module_sha256 or card.module_sha256
    return card.model_copy(update={"origin": card.origin.model_copy(update={"module_sha256": wrote})})


def _card_of(module: Path) -> Manifest | None:
    """Return the manifest next to a module, or None if there is no valid manifest."""
    try:
        return Manifest.model_validate_json(module.with_suffix(".json").read_bytes())
    except (OSError, ValueError):
        return None

"""Manifests of environments, and trained adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from trace_gym.types.base import FORMAT_VERSION, Record, upgraded
from trace_gym.types.report import Report
from trace_gym.types.spec import Spec


class Origin(Record):
    """Requests that a language model needed to write an environment, and their cost."""

    model: str
    rounds: int
    """Number of versions of the module that the model wrote. The last version passed validation."""
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    """Cost in US dollars; None if no price is known."""
    changed: int = 0
    """Number of answers that were read from a recording although the prompt has changed since."""
    failed_first: tuple[str, ...] = ()
    """Codes of the validation properties and linter rules that earlier versions failed."""
    module_sha256: str = ""
    """Hash of the module before it was edited by hand; empty if it was not edited."""


class Description(Record):
    """The fields of a manifest that require running the module. They are computed in the sandbox."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=200)]
    capability: Annotated[str, Field(max_length=200)]
    target: Annotated[str, Field(max_length=200)]
    levels: Annotated[int, Field(strict=True, ge=1, le=1000)]
    title: Annotated[str, Field(max_length=2000)] = ""
    """First line of the docstring of the world class."""
    base_sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    fingerprint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Hash of the initial observations and states of a few scenarios of every level."""


class Manifest(Record):
    """Identity and validation result of a generated environment."""

    renamed_fields: ClassVar[Mapping[str, str]] = {"mix": "level_weights"}

    format: int = FORMAT_VERSION
    """Format version of the manifest file."""
    id: str
    version: int = 0
    """Version of the environment, such as 0 in ``trace/tau2-precondition-v0``."""
    capability: str
    target: str
    levels: int
    title: str = ""
    spec: Spec | None = None
    spec_sha256: str = ""
    module_sha256: str
    base_sha256: str = ""
    """Hash of the module that defines the base world, if the target is a custom target of the user."""
    template_sha256: str = ""
    author: str
    """Author of the module: ``hand`` or ``llm:<model>``."""
    fingerprint: str
    """Hash of the initial observations and states of a few scenarios of every level.

    A different hash shows that the scenarios have changed.
    """
    origin: Origin | None = None
    """Record of the requests to the language model that wrote the module; None if no language model wrote it."""
    level_weights: tuple[float, ...] | None = None
    """Weight of each level for training, calibrated with a reference policy; None for equal weights."""
    report: Report

    @field_validator("format")
    @classmethod
    def _upgraded(cls, version: int) -> int:
        """Return the current version for a manifest that was upgraded while it was read."""
        return upgraded(version)


class Adapter(Record):
    """A LoRA adapter trained for one capability, with success rates before and after training."""

    capability: str
    env: str
    seed: int = 0
    """Training seed."""
    path: str
    """Folder of the adapter, relative to the folder of the run."""
    base_model: str
    rank: int
    trained_on: str
    """Hash of the environment's module (`Manifest.module_sha256`)."""
    rollouts: int
    before: float
    """Success rate of the base model on held-out scenarios of the environment."""
    after: float
    """Success rate of the adapter on the same scenarios."""
    heldout: int
    """Number of held-out scenarios."""

"""An author that returns the module of a registered environment, for tests of the admission."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trace_gym import registry
from trace_gym.synthesis.diagnostics import CheckStage, Diagnostic
from trace_gym.types import Origin, Spec


@dataclass(frozen=True)
class ModuleAuthor:
    """Author that returns the module of the environment that the spec names, with one text replaced."""

    name: str = "tests"
    old: str = ""
    new: str = ""
    repairs: int = 0
    trusted: bool = True

    def write(self, spec: Spec) -> str:
        text = registry.module_path(spec.id).read_text()
        assert self.old in text
        return text.replace(self.old, self.new) if self.old else text

    def revise(self, spec: Spec, text: str, stage: CheckStage, diagnostics: Sequence[Diagnostic], number: int) -> str:
        raise NotImplementedError

    def mutate(self, spec: Spec, text: str, direction: str, message: str, number: int) -> str:
        raise NotImplementedError

    def origin(self, rounds: int, failed_first: Iterable[str]) -> Origin | None:
        return None

    def template_sha256(self, spec: Spec) -> str:
        return ""


def spec_of(name: str) -> Spec:
    """Return the spec in the manifest of an environment."""
    spec = registry.manifest(name).spec
    assert spec is not None
    return spec

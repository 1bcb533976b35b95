"""Who writes environments: the protocol, and the author that fills templates without a model."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from trace_gym.synthesize import template
from trace_gym.synthesize.complaints import Complaint, Stage
from trace_gym.types import Capability, Origin, Spec


class Author(Protocol):
    """Who writes the module of a spec: a template, or a model."""

    @property
    def name(self) -> str:
        """What the manifest calls it: ``template``, or ``llm:<model>``."""
        ...

    @property
    def repairs(self) -> int:
        """How often it may mend what was found; 0 where it would write the same again."""
        ...

    @property
    def trusted(self) -> bool:
        """Whether its modules may run in this process before they are admitted, as people have read its code."""
        ...

    def write(self, spec: Spec) -> str:
        """The module text of a spec."""
        ...

    def revise(self, spec: Spec, text: str, stage: Stage, complaints: Sequence[Complaint], number: int) -> str:
        """The module text after the author has seen what was found in `text`, for the `number`-th time."""
        ...

    def mutate(self, spec: Spec, text: str, direction: str, says: str, number: int) -> str:
        """The module text made harder where it is too ``easy``, easier where it is too ``hard``."""
        ...

    def origin(self, rounds: int, failed_first: Iterable[str]) -> Origin | None:
        """What it took to write it; None without a model."""
        ...

    def template_sha256(self, spec: Spec) -> str:
        """Hash of the templates or prompts that it works from; empty when there are none."""
        ...


@dataclass(frozen=True)
class TemplateAuthor:
    """Fills the blueprint that the spec names, without a model."""

    name: str = "template"
    repairs: int = 0
    trusted: bool = True

    def write(self, spec: Spec) -> str:
        return template.write(spec)

    def revise(self, spec: Spec, text: str, stage: Stage, complaints: Sequence[Complaint], number: int) -> str:
        raise NotImplementedError("a template writes the same again")

    def mutate(self, spec: Spec, text: str, direction: str, says: str, number: int) -> str:
        raise NotImplementedError("a template writes the same again")

    def origin(self, rounds: int, failed_first: Iterable[str]) -> Origin | None:
        return None

    def template_sha256(self, spec: Spec) -> str:
        return template.template_sha256(spec)


def serving(capability: Capability | str, target: str = "tau2_airline") -> Spec | None:
    """The shipped spec whose capability has this name, for a target; None when there is none."""
    name = capability if isinstance(capability, str) else capability.name
    specs = (template.spec(n) for n in template.spec_names())
    return next((s for s in specs if name and (s.capability, s.target) == (name, target)), None)


def unserved(capability: Capability | str, target: str = "tau2_airline") -> str:
    """What to tell someone whose capability no shipped spec serves."""
    name = capability if isinstance(capability, str) else capability.name
    specs = [template.spec(n) for n in template.spec_names()]
    served = ", ".join(s.capability for s in specs if s.capability and s.target == target) or "none"
    return (
        f"no shipped spec trains {name!r} on {target}; those served are {served}. "
        "Write a spec of your own and pass its file: trace-gym synthesize my_spec.yaml"
    )


def identity_faults(text: str, spec: Spec) -> Iterator[str]:
    """Whether a module, which is Python, defines the environment of a spec."""
    classes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ClassDef)]
    expected = {"id": spec.id, "capability": spec.capability}
    if expected not in (found := [_declared(c) for c in classes]):
        yield f"expected a class with {expected}, found {[f for f in found if f] or 'none'}"


def _declared(node: ast.ClassDef) -> dict[str, object]:
    """The id and capability that a class states as constants."""
    return {
        target.id: line.value.value
        for line in node.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        for target in line.targets
        if isinstance(target, ast.Name) and target.id in ("id", "capability")
    }

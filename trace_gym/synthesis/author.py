"""Interface of authors, which write the modules of environments."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from trace_gym.parsing import parse_python
from trace_gym.synthesis.diagnostics import CheckStage, Diagnostic
from trace_gym.types import Origin, Spec


class Author(Protocol):
    """Interface for writing the module of a spec, for example with a language model."""

    @property
    def name(self) -> str:
        """Name of the author in manifests, such as ``llm:<model>``."""
        ...

    @property
    def repairs(self) -> int:
        """Maximum number of repair attempts; 0 for an author that would write the same module again."""
        ...

    @property
    def trusted(self) -> bool:
        """Whether people have reviewed the code that the author writes.

        If a module by any other author passes validation, the result is confirmed by a second run in a fresh process.
        All candidates of such an author are kept.
        """
        ...

    def write(self, spec: Spec) -> str:
        """Return the module text of a spec."""
        ...

    def revise(self, spec: Spec, text: str, stage: CheckStage, diagnostics: Sequence[Diagnostic], number: int) -> str:
        """Return the module text of the `number`-th repair attempt, which corrects the diagnostics of `text`."""
        ...

    def mutate(self, spec: Spec, text: str, direction: str, message: str, number: int) -> str:
        """Return a harder version of the module if `direction` is ``easy``, an easier version if it is ``hard``."""
        ...

    def origin(self, rounds: int, failed_first: Iterable[str]) -> Origin | None:
        """Return the model, the number of requests and the cost; None for an author without a model."""
        ...

    def template_sha256(self, spec: Spec) -> str:
        """Return the hash of the templates or prompts that the author uses; empty if it uses none."""
        ...


def identity_errors(text: str, spec: Spec) -> Iterator[str]:
    """Yield an error message if a module does not define the environment of a spec. The module must be valid Python."""
    classes = [n for n in ast.walk(parse_python(text)) if isinstance(n, ast.ClassDef)]
    expected = {"id": spec.id, "capability": spec.capability}
    if expected not in (found := [_declared(c) for c in classes]):
        yield f"expected a class with {expected}, found {[f for f in found if f] or 'none'}"


def _declared(node: ast.ClassDef) -> dict[str, object]:
    """Return the `id` and `capability` that a class defines as constants."""
    return {
        target.id: line.value.value
        for line in node.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        for target in line.targets
        if isinstance(target, ast.Name) and target.id in ("id", "capability")
    }

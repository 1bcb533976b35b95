"""Hand a module to `synthesize` as a language model would, and see what comes of it."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from unittest import mock

from hostile import CASES, Case
from mutants import table
from mutants.hotel import Hotel

from authored import operators
from authored.writing import written_out
from trace_gym.errors import RejectedEnv
from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.llm import Completion, ModelRequest
from trace_gym.sandbox import Limits, Sandbox, check
from trace_gym.sandbox.linter import lint
from trace_gym.synthesis import ValidationConfig, synthesize
from trace_gym.synthesis.admission import CANDIDATES
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.types import Spec
from trace_gym.validation.context import NO_INPUTS, ValidationInputs
from trace_gym.world import World

SMALL = ("TG001", "TG101", "TG201", "TG205", "TG402")
"""Properties that the small world of the hostile modules has; it is too small for the others."""
TIGHT = Limits(cpu_seconds=1.2, wall_seconds=60, memory_mib=256, processes=16, disk_mib=8, output_mib=4)
ROOMY = Limits(cpu_seconds=600)


@dataclass
class Verbatim(LlmAuthor):
    """Author whose answer is the whole module, because the skeleton would omit parts of it."""

    def _assemble(self, code: str, spec: Spec) -> str:
        return code


@dataclass
class Parrot:
    """Answers everything with one text."""

    text: str
    name: str = "files:parrot"
    asked: list[ModelRequest] = field(default_factory=list)

    def complete(self, request: ModelRequest) -> Completion:
        self.asked.append(request)
        return Completion(text=f"```python\n{self.text}\n```\n", model=self.name)


@contextmanager
def one_sandbox(limits: Limits) -> Iterator[None]:
    """Check all candidates in one sandbox, and scan them in this process, which saves a start for each."""
    module = "trace_gym.synthesis.repair_loop"
    with (
        Sandbox(limits) as box,
        mock.patch(f"{module}.validate_sandboxed", box.validate),
        mock.patch(f"{module}.lint_source", lint),
    ):
        yield


def present(text: str, folder: Path, validation: ValidationConfig, author: type[LlmAuthor] = Verbatim) -> str:
    """Return one line about the refusal of an answer; empty if it was admitted."""
    try:
        synthesize(
            _spec(text),
            author=author(Parrot(text), repairs=0),
            folder=folder,
            validation=validation,
            log=lambda line: None,
        )
    except RejectedEnv as error:
        return str(error)
    return ""


def _spec(text: str) -> Spec:
    """The spec whose id and capability a module states; one that states none is refused for that."""
    told = {"id": "hostile", "capability": "look_before_speaking"}
    try:
        lines = [
            n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = []
    told |= {ast.unparse(n.targets[0]): n.value.value for n in lines if ast.unparse(n.targets[0]) in told}  # type: ignore[attr-defined]
    words = {"title": "A world.", "rationale": "None.", "target": "tau2_airline", "blueprint": "written"}
    return Spec(**told, **words, tools=(), levels=("one", "two"))


def mutants() -> Iterator[tuple[str, str, type[World]]]:
    """Name, code and class of every mutant."""
    for reference, _, code in table.mutants():
        module, _, name = reference.removeprefix("mutants.").partition(":")
        if module != "machine":
            yield f"{module}:{name}", code, getattr(import_module(f"mutants.{module}"), name)
    for made in operators.MUTANTS:
        yield f"machine:{made.id}", made.rejected_by, made  # type: ignore[attr-defined]  # every mutant has it


def healthy() -> list[type[World]]:
    """Worlds that mutants are made of, which are to be admitted."""
    return [Hotel, Tau2Precondition]


def present_mutant(made: type[World], code: str, folder: Path) -> str:
    """Return the kind of refusal of a module: by the expected property, or by any other; empty if it was admitted.

    Args:
        made: A mutant, or a healthy world.
        code: Of the property, which is tried first and alone; empty for none.
        folder: Where it would go.
    """
    text, given = written_out(made), getattr(made, "given", NO_INPUTS)
    if given.policy:
        return _refused_with_policy(text, code, given, folder)
    tries = (("quick", code), ("gate", code), ("gate", "")) if code else (("gate", ""),)
    for profile, only in tries:
        validation = ValidationConfig(profile, workers=1, only=(only,) if only else None, given=given)
        place = folder / f"{only}-{profile}"
        if why := present(text, place, validation):
            return why
        if only:  # one property proves nothing about a module
            shutil.rmtree(place, ignore_errors=True)
    return ""


def _refused_with_policy(text: str, code: str, given: ValidationInputs, folder: Path) -> str:
    """Return how a module was refused by a property that needs a policy, which acts outside of the sandbox."""
    folder.mkdir(parents=True)
    path = folder / f"{_spec(text).id}.py"
    path.write_text(text)
    report = check(path, only=(code,), given=given)
    path.unlink()
    return next((f"{path.stem} was rejected: {f.code} {f.message}" for f in report.findings if not f.passed), "")


def present_hostile(case: Case, folder: Path, outside: Path, port: int, author: type[LlmAuthor] = Verbatim) -> str:
    """Return the refusal of a hostile module; empty if it was admitted."""
    return present(
        case.text(outside, port), folder / case.name, ValidationConfig("quick", workers=1, only=SMALL), author
    )


def admitted(folder: Path) -> list[str]:
    """Return the files in a folder of environments that are not candidates."""
    return sorted(p.name for p in folder.rglob("*.py") if CANDIDATES not in p.parts)


__all__ = [
    "CASES",
    "ROOMY",
    "TIGHT",
    "admitted",
    "healthy",
    "mutants",
    "one_sandbox",
    "present",
    "present_hostile",
    "present_mutant",
]

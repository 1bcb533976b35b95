"""From a spec to an admitted environment: an author writes it, validation judges it, and only then it is moved in."""

from __future__ import annotations

import ast
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from trace_gym import registry
from trace_gym.errors import RejectedEnv
from trace_gym.synthesize import template
from trace_gym.types import Capability, Manifest, Spec, sha256
from trace_gym.validate import PROPERTIES, validate

CANDIDATES = ".candidates"
"""Folder, beside the environments, of modules that are being checked or were rejected."""
MODULES = {"collections", "dataclasses", "datetime", "itertools", "re", "typing", "__future__"}
"""What a generated environment may import besides `trace_gym.world` and its target."""
FORBIDDEN = {"open", "exec", "eval", "compile", "input", "print", "globals", "setattr", "delattr", "__import__"}
"""Builtins that no environment needs."""


class Author(Protocol):
    """Who writes the module of a spec: a template, or a model."""

    @property
    def name(self) -> str:
        """What the manifest calls it: ``template``, or ``llm:<model>``."""
        ...

    def write(self, spec: Spec) -> str:
        """The module text of a spec."""
        ...

    def template_sha256(self, spec: Spec) -> str:
        """Hash of the templates or prompts that it works from; empty when there are none."""
        ...


@dataclass(frozen=True)
class TemplateAuthor:
    """Fills the blueprint that the spec names, without a model."""

    name: str = "template"

    def write(self, spec: Spec) -> str:
        return template.write(spec)

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


def tell_on_stderr(line: str) -> None:
    """Say what is being done where results do not go."""
    print(line, file=sys.stderr)


def synthesize(
    spec: Spec | str,
    *,
    author: Author | None = None,
    folder: str | os.PathLike[str],
    force: bool = False,
    profile: str = "gate",
    tell: Callable[[str], None] = tell_on_stderr,
) -> Manifest:
    """Write an environment, check it, and move module and manifest into a folder once it has passed.

    Nothing happens when the folder holds the same spec by the same author, checked for the same properties. A
    candidate that fails stays under `CANDIDATES`, with its report, and what the folder holds is left alone.

    Args:
        spec: A spec, or the name of one that ships.
        author: The template author by default.
        folder: Where the environment goes; made when it is missing.
        force: Write and check even if nothing has changed.
        profile: How thoroughly it is checked.
        tell: Takes a line about what happened.

    Raises:
        EnvNotFound: No spec of this name ships.
        RejectedEnv: The module is no environment of this spec, or did not pass; says why, and where it lies.
    """
    plan = template.spec(spec) if isinstance(spec, str) else spec
    writer = author or TemplateAuthor()
    home = Path(folder).expanduser().resolve()
    if not force and (known := _unchanged(plan, writer, home)):
        tell(f"{plan.id} is unchanged: {home / plan.id}.py passed already; use force to write and check it again")
        return known
    (home / CANDIDATES).mkdir(parents=True, exist_ok=True)
    (home / CANDIDATES / ".gitignore").write_text("*\n")  # what is being checked is not to be committed
    place = Path(tempfile.mkdtemp(prefix=f"{plan.id}-", dir=home / CANDIDATES))
    try:
        made = _checked(plan, writer, place / f"{plan.id}.py", home, profile)
    except RejectedEnv:
        raise  # the candidate stays, to be looked at
    except BaseException:
        _clear(place)
        raise
    _move(place, home, plan.id)
    _clear(place)
    registry.refresh()
    tell(f"{plan.id} passed {len(made.report.findings)} properties on {made.report.scenarios} scenarios")
    return made


def _unchanged(spec: Spec, author: Author, home: Path) -> Manifest | None:
    """The manifest that is there, if it is of this spec, author and template, and of the module beside it."""
    try:
        known = Manifest.model_validate_json((home / f"{spec.id}.json").read_bytes())
        module = sha256((home / f"{spec.id}.py").read_bytes())
    except (OSError, ValidationError):
        return None
    here = (spec.sha256, module, author.template_sha256(spec), author.name)
    then = (known.spec_sha256, known.module_sha256, known.template_sha256, known.author)
    checked = {f.code for f in known.report.findings} == PROPERTIES.keys()
    return known if here == then and known.report.passed and checked else None


def _checked(spec: Spec, author: Author, path: Path, home: Path, profile: str) -> Manifest:
    """Write the candidate and its manifest at `path`.

    Raises:
        RejectedEnv: It failed.
    """
    text = author.write(spec)
    path.write_text(text, encoding="utf-8")
    if faults := list(source_faults(text, spec)):
        raise _rejected(spec, author, path, faults)
    report = validate(path, profile=profile)
    path.with_name("report.json").write_text(report.model_dump_json(indent=1) + "\n", encoding="utf-8")
    if not report.passed:
        raise _rejected(spec, author, path, [f"{f.code} {f.says}" for f in report.findings if not f.passed])
    if (old := home / f"{spec.id}.json").is_file():  # the version that is there is kept
        shutil.copy(old, path.with_suffix(".json"))
    return registry.admit(path, report, author.name, spec, author.template_sha256(spec))


def _rejected(spec: Spec, author: Author, path: Path, faults: list[str]) -> RejectedEnv:
    why = "; ".join(faults)
    return RejectedEnv(f"{spec.id}, written by {author.name}, was rejected: {why}. It lies in {path.parent}")


def source_faults(text: str, spec: Spec) -> Iterator[str]:
    """What can be seen in a module without running it: syntax, imports, builtins, and whose module it is.

    This keeps accidents out. It is no sandbox: whoever means harm gets past it.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        yield f"it does not compile: {error}"
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or "."]:
                ours = name == "trace_gym.world" or name.startswith("trace_gym.targets.")
                if not ours and name.partition(".")[0] not in MODULES:
                    allowed = ", ".join(["trace_gym.world", "its target", *sorted(MODULES)])
                    yield f"line {node.lineno} imports {name}; allowed are {allowed}"
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN:
            yield f"line {node.lineno} uses {node.id}"
    expected = {"id": spec.id, "capability": spec.capability}
    if expected not in (found := [_declared(c) for c in ast.walk(tree) if isinstance(c, ast.ClassDef)]):
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


def _clear(place: Path) -> None:
    """Remove a candidate, and the folder of candidates with the last one."""
    shutil.rmtree(place)
    if [p.name for p in place.parent.iterdir()] == [".gitignore"]:
        shutil.rmtree(place.parent, ignore_errors=True)


def _move(place: Path, home: Path, name: str) -> None:
    """Put module and manifest where they belong, or neither.

    For the moment between the two, the registry finds a module that its manifest does not admit, and refuses it.
    """
    module, card = home / f"{name}.py", home / f"{name}.json"
    old = module.read_bytes() if module.is_file() else None
    os.replace(place / module.name, module)
    try:
        os.replace(place / card.name, card)
    except OSError:
        if old is None:
            module.unlink()
        else:
            module.write_bytes(old)
        raise

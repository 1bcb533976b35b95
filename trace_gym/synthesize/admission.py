"""From a spec to an admitted environment: an author writes it, validation judges it, and only then it is moved in."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from trace_gym import registry
from trace_gym.errors import RejectedEnv
from trace_gym.files import write
from trace_gym.sandbox import require_isolation
from trace_gym.synthesize import template
from trace_gym.synthesize.author import Author, TemplateAuthor
from trace_gym.synthesize.calibrate import SPREAD
from trace_gym.synthesize.hint import hint_checked
from trace_gym.synthesize.rounds import USUAL, Candidate, Desk, Terms, fitted, rounds
from trace_gym.terminal import say
from trace_gym.types import Manifest, Spec, sha256

CANDIDATES = ".candidates"
"""Folder, beside the environments, of modules that are being checked or were rejected."""


def tell_on_stderr(line: str) -> None:
    """Say what is being done where results do not go."""
    say(line, err=True)


def synthesize(
    spec: Spec | str,
    *,
    author: Author | None = None,
    folder: str | os.PathLike[str],
    force: bool = False,
    terms: Terms = USUAL,
    tell: Callable[[str], None] = tell_on_stderr,
) -> Manifest:
    """Write an environment, check it, and move module and manifest into a folder once it has passed.

    Nothing happens when the folder holds the same spec by the same author, checked for the same properties. A
    candidate that fails stays under `CANDIDATES`, with its report, and what the folder holds is left alone. What a
    language model writes is checked in the sandbox, and all its versions stay there.

    Args:
        spec: A spec, or the name of one that ships.
        author: The template author by default.
        folder: Where the environment goes; made when it is missing.
        force: Write and check even if nothing has changed.
        terms: How thoroughly it is checked.
        tell: Takes a line about what happened.

    Raises:
        EnvNotFound: No spec of this name ships.
        RejectedEnv: The module is no environment of this spec, or did not pass; says why, and where it lies.
        SandboxError: This machine cannot isolate the module, and the user has not permitted to run it so.
    """
    plan = template.spec(spec) if isinstance(spec, str) else spec
    writer = author or TemplateAuthor()
    home = Path(folder).expanduser().resolve()
    if not force and (known := _unchanged(plan, writer, home, terms)):
        tell(f"{plan.id} is unchanged: {home / plan.id}.py passed already; use force to write and check it again")
        return known
    require_isolation()
    write(home / CANDIDATES / ".gitignore", "*\n")  # what is being checked is not to be committed
    place = _place(plan, writer, home)
    try:
        made = _checked(plan, writer, place, home, terms, tell)
    except RejectedEnv:
        raise  # the candidate stays, to be looked at
    except BaseException:
        if writer.trusted:
            _clear(place)
        raise  # what a model has written so far is kept, as it was paid for
    _move(place, home, plan.id)
    if writer.trusted:
        _clear(place)
    registry.refresh()
    tell(f"{plan.id} passed {len(made.report.findings)} properties on {made.report.scenarios} scenarios")
    return made


def _place(spec: Spec, author: Author, home: Path) -> Path:
    """Where the candidate lies: a model's is found again by the next run, a template's is written anew."""
    if author.trusted:
        return Path(tempfile.mkdtemp(prefix=f"{spec.id}-", dir=home / CANDIDATES))
    place = home / CANDIDATES / spec.id
    place.mkdir(exist_ok=True)
    write(place / "spec.json", spec.model_dump_json(indent=1, exclude_none=True) + "\n")
    return place


def _unchanged(spec: Spec, author: Author, home: Path, terms: Terms) -> Manifest | None:
    """The manifest that is there, if it is of this spec, author and template, and of the module beside it."""
    try:
        known = Manifest.model_validate_json((home / f"{spec.id}.json").read_bytes())
        module = sha256((home / f"{spec.id}.py").read_bytes())
    except (OSError, ValidationError):
        return None
    here = (spec.sha256, module, author.template_sha256(spec), author.name)
    then = (known.spec_sha256, known.module_sha256, known.template_sha256, known.author)
    checked = {f.code for f in known.report.findings} == terms.codes
    return known if here == then and known.report.passed and checked else None


def _checked(
    spec: Spec, author: Author, place: Path, home: Path, terms: Terms, tell: Callable[[str], None]
) -> Manifest:
    """The manifest of the version that passed, beside its module in `place`.

    Raises:
        RejectedEnv: None did.
    """
    desk = Desk(spec, author, place, terms, tell)
    versions = list(rounds(desk))
    best = min(versions, key=lambda c: (not c.passed, c.rank))
    path = desk.module
    write(path, best.text)
    if best.report is not None:
        write(place / "report.json", best.report.model_dump_json(indent=1) + "\n")
    if best.report is None or not best.passed:
        raise _rejected(spec, author, place, best, len(versions))
    if (old := home / f"{spec.id}.json").is_file():  # the version that is there is kept
        shutil.copy(old, path.with_suffix(".json"))
    measured = any(f.code == SPREAD for f in best.report.findings)
    final, found, mutations = fitted(desk, best) if author.repairs and measured else (best, None, 0)
    write(path, final.text)
    report = hint_checked(desk, final)
    failed = dict.fromkeys(c.code for v in versions for c in v.complaints)
    origin = author.origin(len(versions) + mutations, failed)
    mix = found.mix if found and len(set(found.mix)) > 1 else None
    return registry.admit(path, report, author.name, spec, author.template_sha256(spec), origin, mix)


def _rejected(spec: Spec, author: Author, place: Path, best: Candidate, count: int) -> RejectedEnv:
    why = "; ".join(f"{c.code} {c.says}" if best.report else c.says for c in best.complaints)
    kept = f"the best of {count} versions lies" if count > 1 else "it lies"
    return RejectedEnv(f"{spec.id}, written by {author.name}, was rejected: {why}; {kept} in {place}")


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

"""Synthesis of one environment from a spec: an author writes it, and it is admitted if it passes validation."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from trace_gym import registry
from trace_gym.errors import ConfigError, RejectedEnv, WriteError
from trace_gym.files import move, replacement, write
from trace_gym.llm.model_uri import log_to_stderr
from trace_gym.sandbox import describe, require_isolation
from trace_gym.synthesis.author import Author
from trace_gym.synthesis.calibrate import VARIANCE_CODE
from trace_gym.synthesis.hint import check_hint
from trace_gym.synthesis.recorded import recorded_author, recorded_spec
from trace_gym.synthesis.repair_loop import (
    DEFAULT_VALIDATION,
    AuthoringContext,
    Candidate,
    ValidationConfig,
    calibrate_levels,
    run_repair_loop,
)
from trace_gym.types import Manifest, Spec, sha256

HAND = "hand"
"""Author of hand-written environments in manifests."""
CANDIDATES = ".candidates"
"""Subfolder of the environments folder for modules that are being checked or were rejected."""


def synthesize(
    spec: Spec | str,
    *,
    author: Author | None = None,
    folder: str | os.PathLike[str],
    force: bool = False,
    validation: ValidationConfig = DEFAULT_VALIDATION,
    log: Callable[[str], None] = log_to_stderr,
) -> Manifest:
    """Write an environment, validate it, and move its module and manifest into a folder if it passes.

    Nothing is written if the folder already contains an environment of the same spec and author that passed the same
    properties. A candidate that fails stays in the subfolder `CANDIDATES` with its report, and the environments in the
    folder do not change. Modules are validated in the sandbox. All versions that a language model writes are kept in
    `CANDIDATES`.

    Args:
        spec: A spec, or the name of an environment for which the answers of a language model are recorded in the
            package.
        author: Author of the module. By default, the recorded answers are replayed.
        folder: Folder of the environment. It is created if it does not exist.
        force: Write and validate the environment even if nothing has changed.
        validation: Settings for validation and calibration.
        log: Function that receives progress lines.

    Raises:
        ConfigError: The folder contains an environment of the same name that was written or edited by hand.
        EnvNotFound: No answers are recorded for an environment of this name.
        RejectedEnv: The module does not define the environment of this spec, or did not pass validation. The message
            contains the reason and the path of the candidate.
        SandboxError: The sandbox is not available on this machine, and the user has not allowed to run without it.
    """
    resolved_spec = recorded_spec(spec) if isinstance(spec, str) else spec
    writer = author or recorded_author()
    env_folder = Path(folder).expanduser().resolve()
    if not force and (known := _unchanged(resolved_spec, writer, env_folder, validation)):
        module = env_folder / f"{resolved_spec.id}.py"
        log(f"{resolved_spec.id} is unchanged: {module} passed already; use force to write and check it again")
        return known
    _keep_hand_written(resolved_spec.id, writer, env_folder)
    require_isolation()
    write(env_folder / CANDIDATES / ".gitignore", "*\n")  # keeps candidates out of version control
    candidate_folder = _candidate_folder(resolved_spec, writer, env_folder)
    try:
        made = _checked(resolved_spec, writer, candidate_folder, env_folder, validation, log)
    except RejectedEnv:
        raise  # the candidate is kept for inspection
    except BaseException:
        if writer.trusted:
            _clear(candidate_folder)
        raise  # versions of a language model are kept, because they were paid for
    _move(candidate_folder, env_folder, resolved_spec.id)
    if writer.trusted:
        _clear(candidate_folder)
    registry.refresh()
    log(f"{resolved_spec.id} passed {len(made.report.findings)} properties on {made.report.scenarios} scenarios")
    return made


def _candidate_folder(spec: Spec, author: Author, env_folder: Path) -> Path:
    """Create and return the folder of the candidate.

    For a language model it is the same folder in each run, so that an interrupted run can be resumed.
    """
    if author.trusted:
        return Path(tempfile.mkdtemp(prefix=f"{spec.id}-", dir=env_folder / CANDIDATES))
    candidate_folder = env_folder / CANDIDATES / spec.id
    candidate_folder.mkdir(exist_ok=True)
    write(candidate_folder / "spec.json", spec.model_dump_json(indent=1, exclude_none=True) + "\n")
    return candidate_folder


def _keep_hand_written(name: str, author: Author, env_folder: Path) -> None:
    """Raise an error instead of replacing an environment that was written or edited by hand.

    Raises:
        ConfigError: The folder contains such an environment of the same name, by another author.
    """
    try:
        known = Manifest.model_validate_json((env_folder / f"{name}.json").read_bytes())
    except (OSError, ValidationError):
        return
    edited = known.origin is not None and known.origin.module_sha256 != ""
    if edited or known.author == HAND != author.name:
        raise ConfigError(
            f"{env_folder} already contains an environment {name!r} that was written or edited by hand, so the author "
            f"{author.name!r} cannot replace it. Select another folder with --out"
        )


def _unchanged(spec: Spec, author: Author, env_folder: Path, validation: ValidationConfig) -> Manifest | None:
    """Return the folder's manifest if spec, author, templates, module and properties are unchanged, else None."""
    try:
        known = Manifest.model_validate_json((env_folder / f"{spec.id}.json").read_bytes())
        module = sha256((env_folder / f"{spec.id}.py").read_bytes())
    except (OSError, ValidationError):
        return None
    here = (spec.sha256, module, author.template_sha256(spec), author.name)
    then = (known.spec_sha256, known.module_sha256, known.template_sha256, known.author)
    checked = {f.code for f in known.report.findings} == validation.codes
    return known if here == then and known.report.passed and checked else None


def _checked(
    spec: Spec,
    author: Author,
    candidate_folder: Path,
    env_folder: Path,
    validation: ValidationConfig,
    log: Callable[[str], None],
) -> Manifest:
    """Write and check versions of a module, and return the manifest of the version that passed.

    The module and its manifest are in `candidate_folder`.

    Raises:
        RejectedEnv: No version passed.
    """
    context = AuthoringContext(spec, author, candidate_folder, validation, log)
    versions = list(run_repair_loop(context))
    best = min(versions, key=lambda c: (not c.passed, c.rank))
    path = context.module
    write(path, best.text)
    if best.report is not None:
        write(candidate_folder / "report.json", best.report.model_dump_json(indent=1) + "\n")
    if best.report is None or not best.passed:
        raise _rejected(spec, author, candidate_folder, best, len(versions))
    if (old := env_folder / f"{spec.id}.json").is_file():  # the new manifest keeps its version number
        shutil.copy(old, path.with_suffix(".json"))
    measured = any(f.code == VARIANCE_CODE for f in best.report.findings)
    final, found, mutations = calibrate_levels(context, best) if author.repairs and measured else (best, None, 0)
    write(path, final.text)
    report = check_hint(context, final)
    failed = dict.fromkeys(c.code for v in versions for c in v.diagnostics)
    origin = author.origin(len(versions) + mutations, failed)
    level_weights = found.level_weights if found and len(set(found.level_weights)) > 1 else None
    template_sha256 = author.template_sha256(spec)
    return registry.admit(path, report, author.name, spec, template_sha256, origin, level_weights, describe=describe)


def _rejected(spec: Spec, author: Author, candidate_folder: Path, best: Candidate, count: int) -> RejectedEnv:
    why = "; ".join(f"{c.code} {c.message}" if best.report else c.message for c in best.diagnostics)
    kept = f"the best of {count} versions is" if count > 1 else "the module is"
    return RejectedEnv(f"{spec.id}, written by {author.name}, was rejected: {why}; {kept} in {candidate_folder}")


def _clear(candidate_folder: Path) -> None:
    """Remove the folder of a candidate, and the folder `CANDIDATES` if it contains no other candidate."""
    shutil.rmtree(candidate_folder)
    if [p.name for p in candidate_folder.parent.iterdir()] == [".gitignore"]:
        shutil.rmtree(candidate_folder.parent, ignore_errors=True)


def _move(candidate_folder: Path, env_folder: Path, name: str) -> None:
    """Move a module and its manifest into the environments folder; restore the old module if the second move fails.

    Between the two moves, the manifest does not match the module, so the registry refuses to load the module.

    Raises:
        WriteError: A file cannot be moved.
    """
    module, card = env_folder / f"{name}.py", env_folder / f"{name}.json"
    old = module.read_bytes() if module.is_file() else None
    move(candidate_folder / module.name, module)
    try:
        move(candidate_folder / card.name, card)
    except WriteError:
        if old is None:
            module.unlink()
        else:
            with replacement(module) as new:
                new.write_bytes(old)
        raise

"""Sandbox that validates a module in isolated processes with resource limits.

`Sandbox` keeps one supervisor process, so that several modules share its startup cost. The module is never loaded in
the caller's process. A `Report` is built from the output of the sandboxed process only if the output is consistent with
the request.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from trace_gym.errors import ConfigError, EnvBug, expect_choice
from trace_gym.modules import file_bytes
from trace_gym.sandbox.allowlist import MODULES
from trace_gym.sandbox.file_packing import encode_files
from trace_gym.sandbox.isolation import refuse_without_isolation
from trace_gym.sandbox.layer_list import LAYERS, Layer
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.supervisor_client import RunningJob, SupervisorClient
from trace_gym.sandbox.trusted_report import (
    JobOutcome,
    SandboxedRequest,
    build_report,
    confirm_report,
    strip_control_characters,
)
from trace_gym.targets.catalogue import importable_modules
from trace_gym.types import Description, Finding, Report
from trace_gym.validation import PROFILES
from trace_gym.validation.context import NO_INPUTS, ValidationInputs
from trace_gym.validation.selection import select_codes

ENGINE_GRACE = 5.0
"""Seconds after the end of the budget within which an engine must end by itself."""
SUPERVISOR_GRACE = 30.0
"""Number of seconds between the wall-clock limit of a job and the time at which the supervisor is killed."""


class Sandbox:
    """Sandbox for validating modules, as a context manager.

    Args:
        limits: Resource limits of one validation.
        require_layers: Layers, as keys of `LAYERS`, that must be active.
        disable_layers: Layers to disable, in order to test the remaining layers.
        isolated: Whether files and network must be isolated. Pass False only if no unadmitted code is run.

    Raises:
        ConfigError: A layer does not exist, or a required layer is missing on this machine.
        SandboxError: This machine cannot isolate files and network, and the user does not permit running without
            isolation.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        require_layers: Collection[str] = (),
        disable_layers: Collection[str] = (),
        isolated: bool = True,
    ) -> None:
        if unknown := sorted({*require_layers, *disable_layers} - LAYERS.keys()):
            raise ConfigError(f"unknown sandbox layer: found {', '.join(unknown)}, expected one of {', '.join(LAYERS)}")
        self.limits = limits or Limits()
        self._supervisor = SupervisorClient()
        try:
            self.layers = self._layers(disable_layers)
            missing = [layer for layer in self.layers if layer.name in require_layers and not layer.active]
            if missing:
                why = "; ".join(f"{layer.name}: {layer.message}" for layer in missing)
                raise ConfigError(
                    f"a required sandbox layer is not available: {why}. Run trace-gym doctor to list the available "
                    "layers"
                )
            if isolated:
                refuse_without_isolation(self.layers)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the supervisor and all of its processes."""
        self._supervisor.close()

    @property
    def pid(self) -> int:
        """Process id of the supervisor."""
        return self._supervisor.process.pid

    def validate(
        self,
        path: str | os.PathLike[str],
        *,
        profile: str = "gate",
        seeds_per_level: int | None = None,
        levels: Collection[int] | None = None,
        only: Collection[str] | None = None,
        skip: Collection[str] = (),
        engine: str = "here",
        workers: int = 1,
        budget: float | None = None,
        confirm: bool = True,
        target_imports: Sequence[str] | None = None,
        target_files: Mapping[str, str] | None = None,
        recordings: Sequence[str] = (),
        given: ValidationInputs = NO_INPUTS,
        progress: Callable[[str], None] = lambda code: None,
        partial: bool = False,
        on_finding: Callable[[Finding], None] = lambda finding: None,
    ) -> Report:
        """Check a module file as `trace_gym.validation.validate` does, without running it in this process.

        If the module exceeds a limit, the property that was being checked fails, and the remaining properties are
        unfinished. If the report cannot be trusted, TG001 fails.

        Args:
            path: Module file.
            profile: Validation profile.
            seeds_per_level: Number of scenarios per level.
            levels: Levels to check.
            only: Codes of the properties to check.
            skip: Codes of properties to skip.
            engine: ``here``, or ``processes`` to check several properties in parallel, in sandboxed processes without
                snapshot and audit hook.
            workers: Number of these processes.
            budget: Seconds after which the remaining properties are unfinished. The confirming run has no budget.
            confirm: Whether a report that passed must be confirmed by a second run in a new process, which must also
                detect injected bugs.
            target_imports: Modules of the target that it imports from; None for those of all registered targets.
            target_files: Text of the files of a user target, by path relative to the target folder.
            recordings: Keys of `target_files` whose recorded episodes are replayed.
            given: Recordings and test tasks of the user, which are copied into the sandbox. Policies are not supported.
            progress: Called with the code of each property after its check, before the report is verified.
            partial: Whether Ctrl-C returns a report of the finished checks instead of raising `KeyboardInterrupt`.
            on_finding: Called with each finding of the report, in code order.

        Raises:
            ReadError: The module cannot be read.
            ConfigError: The profile, a property or the engine does not exist, or the files in `given` are too large.
        """
        place = Path(path).expanduser().resolve()
        source = file_bytes(place)
        expect_choice("profile", profile, PROFILES)
        if given.policy:
            raise ConfigError(
                f"the policy {given.policy!r} cannot run inside the sandbox. Use trace_gym.sandbox.check instead"
            )
        if engine not in ("here", "processes"):
            raise ConfigError(f"unknown sandbox engine: found {engine!r}, expected 'here' or 'processes'")
        options = {
            "profile": profile,
            "seeds_per_level": seeds_per_level,
            "levels": sorted(levels) if levels is not None else None,
            "only": sorted(only) if only is not None else None,
            "skip": sorted(skip),
            "engine": engine,
            "workers": workers,
            "budget": budget,
        }
        files, names = encode_files(given, self.limits)
        request = SandboxedRequest(os.fspath(path), tuple(select_codes(only, skip)), profile, names)
        job_fields = {
            "imports": _imports(target_imports),
            "target_files": dict(target_files or {}),
            "recordings": list(recordings),
            "input_files": files,
        }
        report = build_report(request, self._run(place.stem, source, options, job_fields, progress, partial))
        if report.passed and confirm:
            again = {**options, "engine": "here", "budget": None}  # with snapshot and audit hook in the only process
            second = self._run(place.stem, source, again, {**job_fields, "confirm": True}, progress, partial)
            report = confirm_report(request, report, build_report(request, second))
        for finding in report.findings:
            on_finding(finding)
        return report

    def describe(
        self,
        name: str,
        source: bytes,
        *,
        target_imports: Sequence[str] | None = None,
        target_files: Mapping[str, str] | None = None,
    ) -> Description:
        """Return the description of a module for its manifest, computed in the sandbox.

        Raises:
            EnvBug: The module cannot be loaded, does not generate, or returned an invalid description.
        """
        job_fields = {
            "task": "describe",
            "imports": _imports(target_imports),
            "target_files": dict(target_files or {}),
        }
        outcome = self._run(name, source, {"budget": None}, job_fields)
        last = outcome.lines[-1] if outcome.lines else {}
        if exception := last.get("exception"):
            kind, _, message = strip_control_characters(str(exception)).partition(": ")
            raise {"ConfigError": ConfigError}.get(kind, EnvBug)(
                message if kind in ("ConfigError", "EnvBug") else exception
            )
        if outcome.ended or outcome.unkilled_processes or not outcome.lines:
            raise EnvBug(f"{name} cannot be described: {outcome.message or 'the process ended'}")
        if forbidden_actions := last.get("forbidden_actions"):
            raise EnvBug(
                f"{name} did what environments may not do: {strip_control_characters(str(forbidden_actions)[:300])}"
            )
        try:
            made = Description.model_validate(last.get("description"))
        except ValidationError as error:
            raise EnvBug(
                f"{name} has an invalid description: {strip_control_characters(str(error.errors()[0]['msg']))}"
            ) from None
        return made.model_copy(update={"title": strip_control_characters(made.title)})

    def open(
        self,
        path: str | os.PathLike[str],
        task: str,
        seconds: float,
        *,
        target_imports: Sequence[str] | None = None,
        target_files: Mapping[str, str] | None = None,
    ) -> RunningJob:
        """Start a task that responds to requests. The sandbox runs no other job until the returned object is closed."""
        place = Path(path).expanduser().resolve()
        job_fields = {"task": task, "imports": _imports(target_imports), "target_files": dict(target_files or {})}
        job = self._job(place.stem, file_bytes(place), {"budget": None}, job_fields)
        self._supervisor.lock.acquire()
        return RunningJob(self._supervisor, job, seconds, per_line=True)

    def _run(
        self,
        name: str,
        source: bytes,
        options: dict[str, Any],
        job_fields: dict[str, Any],
        progress: Callable[[str], None] = lambda code: None,
        partial: bool = False,
    ) -> JobOutcome:
        job = self._job(name, source, options, job_fields)
        with self._supervisor.lock:
            running = RunningJob(self._supervisor, job, self.limits.wall_seconds + SUPERVISOR_GRACE)
            try:
                for line in running:
                    if isinstance(finding := line.get("finding"), dict):
                        progress(strip_control_characters(str(finding.get("code"))[:20]))
            except KeyboardInterrupt:
                self._supervisor.kill()
                if not partial:
                    raise
                return JobOutcome(running.lines, "interrupted", "the validation was interrupted")
            except BaseException:
                self._supervisor.kill()
                raise
        assert running.outcome is not None
        return running.outcome

    def _job(self, name: str, source: bytes, options: dict[str, Any], job_fields: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": name,
            "source": source.decode("utf-8", "surrogateescape"),
            "auth_token": secrets.token_hex(16),
            "options": options,
            **job_fields,
            "deadline": _deadline(options),
            "limits": asdict(self.limits),
            "layers": [layer.name for layer in self.layers if layer.active],
        }

    def _layers(self, disable_layers: Collection[str]) -> list[Layer]:
        with self._supervisor.lock:
            self._supervisor.write({"probe": sorted(disable_layers)})
            missing: dict[str, str] = self._supervisor.read(SUPERVISOR_GRACE)["result"]["layers"]
        return [Layer(name, not why, why or LAYERS[name]) for name, why in missing.items()]


def _imports(target_imports: Sequence[str] | None) -> list[str]:
    """Return the modules to import before a module runs."""
    return [*MODULES, *(importable_modules() if target_imports is None else target_imports)]


def _deadline(options: Mapping[str, Any]) -> float | None:
    """Return the seconds after which the supervisor ends a job, or None. The engine ``processes`` ends it earlier."""
    budget: float | None = options["budget"]
    return budget if budget is None or options.get("engine", "here") == "here" else budget + ENGINE_GRACE

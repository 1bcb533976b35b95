"""Validate a module where it can do no harm: in processes that are confined, watched, and ended as a whole.

`Sandbox` holds the keeper process, so that several modules cost one start. It does not load the module here. What comes
back is a `Report`, put together from what the harness told from inside, and only as far as it is consistent with what
was asked.
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

from trace_gym.errors import ConfigError, EnvBug
from trace_gym.modules import file_bytes
from trace_gym.sandbox.allowed import MODULES
from trace_gym.sandbox.isolation import refuse_without_isolation
from trace_gym.sandbox.keeping import Keeper, Running
from trace_gym.sandbox.layers import LAYERS, Layer
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.names import TARGET_IMPORTS
from trace_gym.sandbox.packing import packed
from trace_gym.sandbox.verdict import Asked, Outcome, cleaned, report_of, same
from trace_gym.types import Description, Finding, Report
from trace_gym.validate import PROFILES
from trace_gym.validate.context import NOTHING, Given
from trace_gym.validate.gate import chosen

LATE = 5.0
"""Seconds beyond the budget that an engine has to end by itself."""
GRACE = 30.0
"""Seconds beyond a job's own limits after which the keeper is given up."""


class Sandbox:
    """Validates modules in confined processes. A context manager.

    Args:
        limits: What one validation may use.
        require: Layers, keys of `LAYERS`, without which nothing is run.
        without: Layers that are left out, to see what the others do.
        isolated: Whether files and network have to be isolated; False where nothing unadmitted is run.

    Raises:
        ConfigError: A required layer is missing on this machine; says why.
        SandboxError: This machine cannot isolate files and network, and the user has not permitted that.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        require: Collection[str] = (),
        without: Collection[str] = (),
        isolated: bool = True,
    ) -> None:
        if unknown := sorted({*require, *without} - LAYERS.keys()):
            raise ConfigError(f"there is no layer {', '.join(unknown)}; there are {', '.join(LAYERS)}")
        self.limits = limits or Limits()
        self._keeper = Keeper()
        try:
            self.layers = self._layers(without)
            missing = [layer for layer in self.layers if layer.name in require and not layer.active]
            if missing:
                why = "; ".join(f"{layer.name}: {layer.says}" for layer in missing)
                raise ConfigError(
                    f"the sandbox lacks what is required here: {why}; trace-gym doctor shows what there is"
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
        """End the keeper, and whatever it still holds."""
        self._keeper.close()

    @property
    def pid(self) -> int:
        """Process id of the keeper."""
        return self._keeper.process.pid

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
        target_imports: Sequence[str] = TARGET_IMPORTS,
        lent: Mapping[str, str] | None = None,
        recordings: Sequence[str] = (),
        given: Given = NOTHING,
        progress: Callable[[str], None] = lambda code: None,
        partial: bool = False,
        tell: Callable[[Finding], None] = lambda finding: None,
    ) -> Report:
        """Check a module file as `trace_gym.validate.validate` does, without running it in this process.

        A module that exceeds a limit fails the property that was being checked, and the rest is unfinished. A report
        that cannot be trusted says so as the failure of TG001.

        Args:
            path: The module.
            profile: As for `validate`, like the arguments that follow.
            seeds_per_level: Scenarios for each level.
            levels: Levels to look at.
            only: Codes of the properties to check.
            skip: Codes to leave out.
            engine: ``here``, or ``processes``: several properties at once, inside of the sandbox, in processes that
                neither seal nor tripwire watch.
            workers: How many processes those are.
            budget: Seconds after which the rest is unfinished; what confirms it has the same limits and no budget.
            confirm: Whether a report that passed is made again by a fresh process, which also has to find planted
                faults, before it is believed.
            target_imports: Modules of the target that it imports from.
            lent: Files of a target of the user's own, by their place in its folder.
            recordings: Those of them whose recorded episodes are replayed.
            given: Recordings and test tasks of the user, which are copied into the sandbox. A policy is not asked here.
            progress: Called with the code of every property when it is checked, before the report is judged.
            partial: Whether Ctrl-C ends in a report of what was checked, and not in `KeyboardInterrupt`.
            tell: Called with every finding of the report, in the order of their codes.

        Raises:
            ReadError: The module cannot be read.
            ConfigError: There is no such profile, property or engine, or the files in `given` are too large.
        """
        place = Path(path).expanduser().resolve()
        source = file_bytes(place)
        if profile not in PROFILES:
            raise ConfigError(f"{profile!r} is no profile; expected one of {', '.join(PROFILES)}")
        if given.policy:
            raise ConfigError(f"policy {given.policy!r} cannot act inside the sandbox. Use trace_gym.sandbox.check")
        if engine not in ("here", "processes"):
            raise ConfigError(f"{engine!r} is no engine of the sandbox; expected here or processes")
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
        files, names = packed(given, self.limits)
        asked = Asked(os.fspath(path), tuple(chosen(only, skip)), profile, names)
        with_it = {
            "imports": [*MODULES, *target_imports],
            "lent": dict(lent or {}),
            "recordings": list(recordings),
            "given": files,
        }
        report = report_of(asked, self._run(place.stem, source, options, with_it, progress, partial))
        if report.passed and confirm:
            again = {**options, "engine": "here", "budget": None}  # where seal and tripwire see everything
            second = self._run(place.stem, source, again, {**with_it, "confirm": True}, progress, partial)
            report = same(asked, report, report_of(asked, second))
        for finding in report.findings:
            tell(finding)
        return report

    def describe(
        self,
        name: str,
        source: bytes,
        *,
        target_imports: Sequence[str] = TARGET_IMPORTS,
        lent: Mapping[str, str] | None = None,
    ) -> Description:
        """Return what a manifest says of a module, computed in the sandbox.

        Raises:
            EnvBug: The module cannot be loaded, does not generate, or gave an invalid answer.
        """
        with_it = {"task": "describe", "imports": [*MODULES, *target_imports], "lent": dict(lent or {})}
        outcome = self._run(name, source, {"budget": None}, with_it)
        last = outcome.lines[-1] if outcome.lines else {}
        if raised := last.get("raised"):
            kind, _, says = cleaned(str(raised)).partition(": ")
            raise {"ConfigError": ConfigError}.get(kind, EnvBug)(says if kind in ("ConfigError", "EnvBug") else raised)
        if outcome.ended or outcome.left or not outcome.lines:
            raise EnvBug(f"{name} cannot be described: {outcome.says or 'its process ended'}")
        if deeds := last.get("deeds"):
            raise EnvBug(f"{name} did what environments may not do: {cleaned(str(deeds)[:300])}")
        try:
            made = Description.model_validate(last.get("description"))
        except ValidationError as error:
            raise EnvBug(f"{name} has an invalid description: {cleaned(str(error.errors()[0]['msg']))}") from None
        return made.model_copy(update={"title": cleaned(made.title)})

    def open(
        self,
        path: str | os.PathLike[str],
        task: str,
        seconds: float,
        *,
        target_imports: Sequence[str] = TARGET_IMPORTS,
        lent: Mapping[str, str] | None = None,
    ) -> Running:
        """Start a task that answers requests; the sandbox does nothing else until it is closed."""
        place = Path(path).expanduser().resolve()
        with_it = {"task": task, "imports": [*MODULES, *target_imports], "lent": dict(lent or {})}
        job = self._job(place.stem, file_bytes(place), {"budget": None}, with_it)
        self._keeper.lock.acquire()
        return Running(self._keeper, job, seconds, each=True)

    def _run(
        self,
        name: str,
        source: bytes,
        options: dict[str, Any],
        with_it: dict[str, Any],
        progress: Callable[[str], None] = lambda code: None,
        partial: bool = False,
    ) -> Outcome:
        job = self._job(name, source, options, with_it)
        with self._keeper.lock:
            running = Running(self._keeper, job, self.limits.wall_seconds + GRACE)
            try:
                for line in running:
                    if isinstance(finding := line.get("finding"), dict):
                        progress(cleaned(str(finding.get("code"))[:20]))
            except KeyboardInterrupt:
                self._keeper.kill()
                if not partial:
                    raise
                return Outcome(running.lines, "interrupted", "it was interrupted")
            except BaseException:
                self._keeper.kill()
                raise
        assert running.outcome is not None
        return running.outcome

    def _job(self, name: str, source: bytes, options: dict[str, Any], with_it: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": name,
            "source": source.decode("utf-8", "surrogateescape"),
            "word": secrets.token_hex(16),
            "options": options,
            **with_it,
            "deadline": _deadline(options),
            "limits": asdict(self.limits),
            "layers": [layer.name for layer in self.layers if layer.active],
        }

    def _layers(self, without: Collection[str]) -> list[Layer]:
        with self._keeper.lock:
            self._keeper.write({"probe": sorted(without)})
            missing: dict[str, str] = self._keeper.read(GRACE)["over"]["layers"]
        return [Layer(name, not why, why or LAYERS[name]) for name, why in missing.items()]


def _deadline(options: Mapping[str, Any]) -> float | None:
    """Seconds after which the keeper ends a job; an engine of processes ends it earlier and names what hangs."""
    budget: float | None = options["budget"]
    return budget if budget is None or options.get("engine", "here") == "here" else budget + LATE

"""Validate a module where it can do no harm: in processes that are confined, watched, and ended as a whole.

`Sandbox` holds the keeper process, so that several modules cost one start; `confined_validate` is for one. Neither
loads the module here. What comes back is a `Report`, put together from what the harness told from inside, and only as
far as it is consistent with what was asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from trace_gym.errors import ConfigError, SandboxError
from trace_gym.modules import file_bytes
from trace_gym.sandbox import view
from trace_gym.sandbox.allowed import MODULES
from trace_gym.sandbox.layers import LAYERS, Layer
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.names import TARGET_IMPORTS
from trace_gym.sandbox.verdict import Asked, Outcome, report_of, same
from trace_gym.types import Finding, Report
from trace_gym.validate import PROFILES
from trace_gym.validate.gate import chosen

PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "TMPDIR", "TZ", "SYSTEMROOT")
"""Variables of the caller's environment that the keeper gets."""
GRACE = 30.0
"""Seconds beyond a job's own limits after which the keeper is given up."""


class Sandbox:
    """Validates modules in confined processes. A context manager.

    Args:
        limits: What one validation may use.
        require: Layers, keys of `LAYERS`, without which nothing is run.
        without: Layers that are left out, to see what the others do.

    Raises:
        ConfigError: A required layer is missing on this machine; says why.
    """

    def __init__(
        self, limits: Limits | None = None, *, require: Collection[str] = (), without: Collection[str] = ()
    ) -> None:
        if unknown := sorted({*require, *without} - LAYERS.keys()):
            raise ConfigError(f"there is no layer {', '.join(unknown)}; there are {', '.join(LAYERS)}")
        self.limits = limits or Limits()
        self._lock = threading.Lock()
        self._keeper = _start()
        self.layers = self._layers(without)
        missing = [layer for layer in self.layers if layer.name in require and not layer.active]
        if missing:
            self.close()
            why = "; ".join(f"{layer.name}: {layer.says}" for layer in missing)
            raise ConfigError(f"the sandbox lacks what is required here: {why}; trace-gym doctor shows what there is")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the keeper, and whatever it still holds."""
        keeper = self._keeper
        with contextlib.suppress(OSError):
            keeper.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        try:
            keeper.wait(timeout=5)
        except subprocess.TimeoutExpired:
            _kill(keeper)
        keeper.stdout.close()  # type: ignore[union-attr]

    @property
    def pid(self) -> int:
        """Process id of the keeper."""
        return self._keeper.pid

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
            tell: Called with every finding of the report, in the order of their codes.

        Raises:
            ReadError: The module cannot be read.
            ConfigError: There is no such profile, property or engine.
        """
        place = Path(path).expanduser().resolve()
        source = file_bytes(place)
        if profile not in PROFILES:
            raise ConfigError(f"{profile!r} is no profile; expected one of {', '.join(PROFILES)}")
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
        asked = Asked(os.fspath(path), tuple(chosen(only, skip)), profile)
        with_it = {"imports": [*MODULES, *target_imports], "lent": dict(lent or {}), "recordings": list(recordings)}
        report = report_of(asked, self._run(place.stem, source, options, with_it))
        if report.passed and confirm:
            again = {**options, "engine": "here", "budget": None}  # where seal and tripwire see everything
            report = same(asked, report, report_of(asked, self._run(place.stem, source, again, with_it, confirm=True)))
        for finding in report.findings:
            tell(finding)
        return report

    def _run(
        self, name: str, source: bytes, options: dict[str, Any], with_it: dict[str, Any], confirm: bool = False
    ) -> Outcome:
        job = {
            "name": name,
            "source": source.decode("utf-8", "surrogateescape"),
            "word": secrets.token_hex(16),
            "options": options,
            "confirm": confirm,
            **with_it,
            "deadline": options["budget"],
            "limits": asdict(self.limits),
            "layers": [layer.name for layer in self.layers if layer.active],
        }
        return Outcome(**self._ask(job, self.limits.wall_seconds + GRACE))

    def _layers(self, without: Collection[str]) -> list[Layer]:
        missing: dict[str, str] = self._ask({"probe": sorted(without)}, GRACE)["layers"]
        return [Layer(name, not why, why or LAYERS[name]) for name, why in missing.items()]

    def _ask(self, what: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The keeper's answer.

        Raises:
            SandboxError: It did not answer, and was ended.
        """
        keeper = self._keeper
        assert keeper.stdin is not None and keeper.stdout is not None
        with self._lock:
            late = threading.Timer(seconds, _kill, (keeper,))
            late.start()
            try:
                keeper.stdin.write(json.dumps(what) + "\n")
                keeper.stdin.flush()
                line = keeper.stdout.readline()
            except OSError:
                line = ""
            except BaseException:
                _kill(keeper)  # what it answers now would be taken for the answer to the next question
                raise
            finally:
                late.cancel()
        if not line:
            raise SandboxError(
                f"the sandbox did not answer, and ended with exit code {keeper.wait()}; "
                "trace-gym doctor shows what it has to work with"
            )
        made: dict[str, Any] = json.loads(line)
        return made


def confined_validate(
    path: str | os.PathLike[str],
    *,
    profile: str = "gate",
    budget: float | None = None,
    limits: Limits | None = None,
    require: Collection[str] = (),
    **options: Any,
) -> Report:
    """Check one module file in a sandbox of its own.

    Args:
        path: The module.
        profile: How thoroughly.
        budget: Seconds after which the rest is unfinished.
        limits: What it may use.
        require: Layers without which it is not run.
        options: The other arguments of `Sandbox.validate`.

    Raises:
        ReadError: The module cannot be read.
        ConfigError: Something that is asked for does not exist, or a required layer is missing.
    """
    with Sandbox(limits, require=require) as sandbox:
        return sandbox.validate(path, profile=profile, budget=budget, **options)


def layers() -> list[Layer]:
    """The layers of the sandbox, with those that this machine has."""
    with Sandbox() as sandbox:
        return sandbox.layers


def _start() -> subprocess.Popen[str]:
    """A keeper with an environment of its own."""
    own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"), "1")
    own |= {"PYTHONPATH": view.import_path(), "PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "HOME": tempfile.gettempdir()}
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", "trace_gym.sandbox.keeper"],
        env=own,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the caller, who ends the keeper
    )


def _kill(keeper: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(keeper.pid, signal.SIGKILL)
    keeper.kill()

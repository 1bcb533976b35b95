"""Verbs about validation: validate, replay."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from trace_gym import terminal
from trace_gym.cli.environments import matching_names
from trace_gym.cli.options import AllowUnisolated, given_options, refuse
from trace_gym.errors import ConfigError, ReadError
from trace_gym.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

    from trace_gym.types import Finding, Report

FAILED, UNFINISHED = 1, 2
"""Exit codes."""
MOST_WORKERS = 8
"""Workers of a sandbox, unless more are asked for."""


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    app.command()(validate)
    app.command()(replay)


def validate(
    context: typer.Context,
    env: Annotated[
        str | None,
        typer.Argument(
            help="Name, gymnasium id, module file, or an address.", show_default=False, autocompletion=matching_names
        ),
    ] = None,
    make: Annotated[str | None, typer.Option(help="A Gymnasium id with text actions, as module:id.")] = None,
    profile: Annotated[str, typer.Option(help="How thorough: quick, gate.")] = "gate",
    seeds: Annotated[int | None, typer.Option(help="Scenarios for each level; the profile's by default.")] = None,
    level: Annotated[list[int] | None, typer.Option(help="A level to look at; may be repeated.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="A code, or what codes begin with; repeatable.")] = None,
    skip: Annotated[list[str] | None, typer.Option(help="A code to leave out; repeatable.")] = None,
    policy: Annotated[
        str, typer.Option(help="Whose rewards are to spread: openai:MODEL, hf:FOLDER or rollouts:FILE.")
    ] = "",
    recordings: Annotated[
        list[Path] | None, typer.Option(help="Recorded episodes of the target, to be replayed; repeatable.")
    ] = None,
    against: Annotated[
        list[Path] | None, typer.Option(help="Test tasks of the target, which must not occur; repeatable.")
    ] = None,
    budget: Annotated[float, typer.Option(help="Seconds; what they do not suffice for is unfinished.")] = 60.0,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one for each core by default.")] = None,
    engine: Annotated[str, typer.Option(help="Where: processes, ray, or here (which cannot stop what hangs).")] = (
        "processes"
    ),
    out: Annotated[Path | None, typer.Option(help="Write the report as JSON, too.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page to be read, too.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the properties and stop.")] = False,
    admit: Annotated[bool, typer.Option(help="Write the manifest if it passes.")] = False,
    allow_unisolated: AllowUnisolated = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check an environment before it costs GPU hours.

    Exit code 0: it passed; 1: it failed; 2: it could not be checked, or not to the end.

    Example: trace-gym validate tau2_precondition --budget 120

    Anybody's environment has an address: reasoning-gym:chain_sum, skyrl:gsm8k@tasks.jsonl,
    openenv:http://localhost:8000, gym:module:id (the same as --make module:id), rollouts:log.jsonl.
    """
    from trace_gym import registry
    from trace_gym import validate as validation
    from trace_gym.validate.foreign import is_foreign

    _import_from_here()
    if make is not None:
        if env is not None:
            raise ConfigError(f"--make names an environment, and so does {env}; leave one of them out")
        env = f"gym:{make}"
    if listing:
        refuse(context, set(given_options(context)) - {"listing"}, "beside --list")
    elif env is None:
        refuse(context, given_options(context), "without an environment")
    if engine == "here":
        refuse(context, {"workers"}, "on engine here, which has one process")
    if listing or env is None:
        terminal.console().print(validation.listing())
        return
    if Path(env).is_file() and not env.endswith(".py"):
        raise ConfigError(f"{env} is no module; recorded rollouts are addressed as rollouts:{env}")
    # A module that was never admitted has no gymnasium id yet, so its bare name is taken as it is.
    target: str | Path = Path(env) if env.endswith(".py") else env
    if "/" in env and isinstance(target, str) and not is_foreign(env):
        target = registry.name_of(env)
    given = validation.Given(policy, tuple(map(str, recordings or ())), tuple(map(str, against or ())))
    if admit and is_foreign(env):
        raise ConfigError(f"{env} is none of ours, and is not admitted; leave out --admit")
    if admit and (only or skip or level or seeds or profile != "gate"):
        raise ConfigError("--admit goes with a whole validation; leave out --only, --skip, --level, --seeds, --profile")
    asked: dict[str, Any] = {
        "profile": profile,
        "seeds_per_level": seeds,
        "levels": level,
        "only": only,
        "skip": skip or (),
    }
    asked |= {"given": given, "budget": budget}
    unadmitted = None if is_foreign(env) else _unadmitted(target)
    if unadmitted is not None:
        from trace_gym.modules import file_sha256

        before = file_sha256(unadmitted)
        report = _confined(unadmitted, engine, workers, asked)
        if admit and file_sha256(unadmitted) != before:
            raise ReadError(f"{unadmitted} has changed while it was checked, so it is not admitted. Check it again")
    else:
        report = validation.validate(target, engine=engine, workers=workers or os.cpu_count() or 1, **asked)
    if out is not None:
        _write(out, report.model_dump_json(indent=1) + "\n")
    if html is not None:
        from trace_gym.report.validation import render_report

        _write(html, render_report(report))
    if as_json:
        say(json.dumps(report.model_dump(mode="json"), indent=1))
    else:
        terminal.console().print(validation.render(report), crop=False)
    if not report.passed:
        failed = any(f.verdict == "failed" for f in report.findings)
        raise typer.Exit(FAILED if failed else UNFINISHED)
    if admit:
        manifest = registry.admit(target, report, author="hand")
        say(f"admitted {manifest.id}")


def _unadmitted(target: str | Path) -> Path | None:
    """The module file behind a target, if no manifest admits it; None for what may run in this process."""
    from trace_gym import registry
    from trace_gym.validate.source import file_behind

    path = file_behind(target)
    return None if path is None or registry.is_admitted(path) else path


def _confined(path: Path, engine: str, workers: int | None, asked: dict[str, Any]) -> Report:
    """The report of a module file that is not admitted, from the sandbox."""
    from trace_gym.sandbox import check

    if engine not in ("processes", "here"):
        raise ConfigError(
            f"{path} is not admitted, so it runs in the sandbox only, which has no engine {engine!r}. "
            "Use --engine processes or here"
        )
    count = 1 if engine == "here" else workers or min(os.cpu_count() or 1, MOST_WORKERS)
    console = terminal.console(stderr=True)
    with console.status(f"{path}: in the sandbox") as status:

        def progress(code: str) -> None:
            status.update(f"{path}: in the sandbox, {code} is checked")

        return check(path, workers=count, partial=True, progress=progress, **asked)


def replay(
    report: Annotated[Path, typer.Argument(help="A report or a manifest, as JSON.", show_default=False)],
    code: Annotated[str | None, typer.Argument(help="A property that failed; the first by default.")] = None,
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Play the counterexample of a report again, turn by turn, and show how it is judged now.

    The report is what `trace-gym validate ENV --out report.json` writes.

    Example: trace-gym replay report.json TG304
    """
    from trace_gym.validate import begin
    from trace_gym.validate.foreign import is_foreign
    from trace_gym.validate.report import read

    _import_from_here()
    found = read(report)
    shown = [f for f in found.findings if f.replay is not None and code in (None, f.code)]
    if not shown:
        having = ", ".join(f.code for f in found.findings if f.replay is not None) or "none"
        raise ConfigError(f"{report} has no counterexample{f' of {code}' if code else ''}; it has {having}")
    if is_foreign(found.env):
        _play_foreign(found.env, shown[0])
    else:
        path = _unadmitted(found.env)
        if path is None:
            _play(found.env, shown[0], begin)
        else:
            from trace_gym.sandbox import begin_confined

            _play(str(path), shown[0], begin_confined)


def _play(env: str, finding: Finding, begin: Any) -> None:
    from trace_gym.cli.environments import print_checks, print_message
    from trace_gym.report.replays import action as read_action

    assert finding.replay is not None
    console = _heading(finding)
    episode = begin(env, finding.replay.scenario)
    print_message(console, episode.messages[-1])
    for action in finding.replay.actions:
        if episode.done:
            console.print("the conversation is over; what follows is not heard", style="dim")
            break
        seen = len(episode.messages)
        episode.step(read_action(action))
        for message in episode.messages[seen:]:
            print_message(console, message)
    print_checks(console, episode.finish())


def _play_foreign(env: str, finding: Finding) -> None:
    from trace_gym.cli.environments import print_message
    from trace_gym.validate.foreign.transcript import transcript

    assert finding.replay is not None
    console = _heading(finding)
    for message in transcript(env, finding.replay).messages:
        print_message(console, message)


def _heading(finding: Finding) -> Console:
    """Print what was found, and return the console for the rest."""
    console = terminal.console()
    console.print(Text.assemble((f"{finding.code} {finding.property}", "bold"), f": {finding.says}"))
    return console


def _import_from_here() -> None:
    """Let modules in the working directory be imported, which an installed command does not search by itself.

    It is searched last, so that a file there does not hide a module of a library.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _write(path: Path, text: str) -> None:
    from trace_gym.files import write

    write(path, text)

"""Verbs about validation: validate, replay."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console

from trace_gym import registry
from trace_gym.errors import ConfigError, ReadError
from trace_gym.types import Call, Finding, Report, Say

FAILED, UNFINISHED = 1, 2
"""Exit codes."""


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    app.command()(validate)
    app.command()(replay)


def validate(
    env: Annotated[str | None, typer.Argument(help="Name, gymnasium id, or a module file.", show_default=False)] = None,
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
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core by default.")] = None,
    engine: Annotated[str, typer.Option(help="Where: processes, ray, or here (which cannot stop what hangs).")] = (
        "processes"
    ),
    out: Annotated[Path | None, typer.Option(help="Write the report as JSON, too.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the properties and stop.")] = False,
    admit: Annotated[bool, typer.Option(help="Write the manifest if it passes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check an environment before it costs GPU hours.

    Exit code 0: it passed; 1: it failed; 2: it could not be checked, or not to the end.

    Example: trace-gym validate tau2_precondition --budget 120
    """
    from trace_gym import validate as validation

    if listing or env is None:
        Console().print(validation.listing())
        return
    # A module that was never admitted has no gymnasium id yet, so its bare name is taken as it is.
    target: str | Path = Path(env) if env.endswith(".py") else registry.name_of(env) if "/" in env else env
    given = validation.Given(policy, tuple(map(str, recordings or ())), tuple(map(str, against or ())))
    if admit and (only or skip or level or seeds or profile != "gate"):
        raise ConfigError("--admit goes with a whole validation; leave out --only, --skip, --level, --seeds, --profile")
    report = validation.validate(
        target,
        profile=profile,
        seeds_per_level=seeds,
        levels=level,
        only=only,
        skip=skip or (),
        given=given,
        engine=engine,
        workers=workers or os.cpu_count() or 1,
        budget=budget,
    )
    if out is not None:
        _write(out, report.model_dump_json(indent=1) + "\n")
    if as_json:
        typer.echo(report.model_dump_json(indent=1))
    else:
        Console().print(validation.render(report))
    if not report.passed:
        failed = any(f.verdict == "failed" for f in report.findings)
        raise typer.Exit(FAILED if failed else UNFINISHED)
    if admit:
        manifest = registry.admit(target, report, author="hand")
        typer.echo(f"admitted {manifest.id}")


def replay(
    report: Annotated[Path, typer.Argument(help="A report or a manifest, as JSON.", show_default=False)],
    code: Annotated[str | None, typer.Argument(help="A property that failed; the first by default.")] = None,
) -> None:
    """Play the counterexample of a report again, turn by turn, and show how it is judged now.

    The report is what `trace-gym validate ENV --out report.json` writes.

    Example: trace-gym replay report.json TG304
    """
    from trace_gym.validate import begin

    found = _read(report)
    shown = [f for f in found.findings if f.replay is not None and code in (None, f.code)]
    if not shown:
        having = ", ".join(f.code for f in found.findings if f.replay is not None) or "none"
        raise ConfigError(f"{report} has no counterexample{f' of {code}' if code else ''}; it has {having}")
    _play(found.env, shown[0], begin)


def _play(env: str, finding: Finding, begin: Any) -> None:
    from trace_gym.cli.environments import print_message

    assert finding.replay is not None
    console = Console()
    console.print(f"[bold]{finding.code} {finding.property}[/bold]: {finding.says}", highlight=False)
    episode = begin(env, finding.replay.scenario)
    print_message(console, episode.messages[-1])
    for action in finding.replay.actions:
        if episode.done:
            console.print("[dim]the conversation is over; what follows is not heard[/]")
            break
        seen = len(episode.messages)
        episode.step(_action(action))
        for message in episode.messages[seen:]:
            print_message(console, message)
    for check in episode.finish().checks:
        console.print(f"  {'[green]holds[/]' if check.holds else '[red]fails[/]'}  {check.kind}: {check.says}")


def _action(data: Any) -> Any:
    """The action that a report holds as JSON."""
    match data:
        case {"tool": str(name), "arguments": dict(arguments)}:
            return Call(name, arguments)
        case {"say": str(text)}:
            return Say(text)
    return data


def _read(path: Path) -> Report:
    try:
        data = json.loads(path.read_text())
        return Report.model_validate(data.get("report", data) if isinstance(data, dict) else data)
    except OSError as error:
        raise ReadError(f"cannot read {path} ({error.strerror})") from None
    except (ValidationError, ValueError) as error:
        first = str(error).partition("\n")[0]
        raise ReadError(f"{path} is no report ({first}); write one with trace-gym validate ENV --out {path}") from None


def _write(path: Path, text: str) -> None:
    from trace_gym.pipeline.ledger import write

    write(path, text)

"""The commands `validate` and `replay`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from trace_gym import terminal
from trace_gym.cli.environments import matching_names
from trace_gym.cli.options import AllowUnisolated, ReaderOption, Reviewer, Solver, given_options, reject_options
from trace_gym.cli.reviewing import ModelUris, add_findings_of_models
from trace_gym.cli.validation_output import check_output_options, print_listing, print_report, write_report
from trace_gym.errors import ConfigError, ReadError
from trace_gym.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

    from trace_gym.types import Finding, Report

FAILED, UNFINISHED = 1, 2
"""Exit codes of `validate`: the environment failed, or validation did not finish."""
MOST_WORKERS = 8
"""Maximum default number of worker processes in a sandbox."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command()(validate)
    app.command()(replay)


def validate(
    context: typer.Context,
    env: Annotated[
        str | None,
        typer.Argument(
            help="Name, gymnasium id, module file, or the URI of a third-party environment.",
            show_default=False,
            autocompletion=matching_names,
        ),
    ] = None,
    make: Annotated[str | None, typer.Option(help="Gymnasium environment with text actions, as module:id.")] = None,
    profile: Annotated[str, typer.Option(help="Thoroughness of the checks: quick or gate.")] = "gate",
    seeds: Annotated[
        int | None, typer.Option(help="Number of scenarios per level; set by the profile by default.")
    ] = None,
    level: Annotated[list[int] | None, typer.Option(help="Level to check; repeatable.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Code or code prefix of the properties to check; repeatable.")
    ] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Code of a property to skip; repeatable.")] = None,
    policy: Annotated[
        str,
        typer.Option(
            help="Policy whose rewards must vary within groups: openai:MODEL[@URL], hf:MODEL[+ADAPTER], mixture:P, "
            "rollouts:FILE, or the name of a scripted policy."
        ),
    ] = "",
    recordings: Annotated[
        list[Path] | None, typer.Option(help="Recorded episodes of the target to replay; repeatable.")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Test tasks of the target that must not occur in the environment; repeatable."),
    ] = None,
    reviewer: Reviewer = "",
    solver: Solver = "",
    reader: ReaderOption = "",
    budget: Annotated[
        float, typer.Option(help="Time limit in seconds. Properties that exceed it are reported as unfinished.")
    ] = 60.0,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; one per core by default.")] = None,
    engine: Annotated[
        str, typer.Option(help="Execution: processes, ray, or here (this process, without timeouts).")
    ] = ("processes"),
    out: Annotated[Path | None, typer.Option(help="Also write the report to this JSON file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write the report to this HTML file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Also write the failures to this SARIF file.")] = None,
    checklist: Annotated[
        str | None,
        typer.Option(help="Also print the verdict of each item of a checklist: abc. Without ENV: its properties."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the properties and exit.")] = False,
    admit: Annotated[
        bool,
        typer.Option(help="Write the manifest if the environment passes; only for environments of trace_gym."),
    ] = False,
    allow_unisolated: AllowUnisolated = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check that an environment is suitable for training.

    Exit code 0: the environment passed; 1: it failed; 2: validation could not run or did not finish.

    Example: trace-gym validate tau2_precondition --budget 120

    Third-party environments are selected by a URI: reasoning-gym:chain_sum, skyrl:gsm8k@tasks.jsonl,
    openenv:http://localhost:8000, verifiers:my-env, inspect:file.py@task, gym:module:id (the same as --make module:id),
    function:module:function@cases.jsonl (a reward function), rollouts:log.jsonl.

    A task file with its database is checked without running an agent: tau2-tasks:tasks.json?db=db.json
    """
    from trace_gym import registry, validation
    from trace_gym.validation.task_files.runner import is_task_file
    from trace_gym.validation.third_party import is_third_party

    _import_from_here()
    if make is not None:
        if env is not None:
            raise ConfigError(
                f"two environments are given: found {env} and --make {make}, expected only one. Remove one of them"
            )
        env = f"gym:{make}"
    if listing:
        reject_options(context, set(given_options(context)) - {"listing"}, "together with --list")
    elif env is None:
        reject_options(context, set(given_options(context)) - {"checklist"}, "without an environment")
    if engine == "here":
        reject_options(context, {"workers"}, "on engine here, which uses one process")
    check_output_options({"--out": out, "--html": html, "--sarif": sarif}, checklist, as_json)
    if listing or env is None:
        print_listing(checklist)
        return
    if Path(env).is_file() and not env.endswith(".py"):
        raise ConfigError(f"{env} is not a Python module. To validate recorded rollouts, pass rollouts:{env}")
    # An unadmitted module has no gymnasium id, so the path is used unchanged.
    target: str | Path = Path(env) if env.endswith(".py") else env
    tasks = is_task_file(env)
    if tasks:
        reject_options(context, {"workers", "engine", "profile", "seeds", "level", "policy", "recordings", "against"},
                       "for a task file")  # fmt: skip
    if "/" in env and isinstance(target, str) and not tasks and not is_third_party(env):
        target = registry.name_of(env)
    given = validation.ValidationInputs(policy, tuple(map(str, recordings or ())), tuple(map(str, against or ())))
    models = ModelUris(reviewer, solver, reader)
    models.check(env, target, tasks, only, skip or ())
    if admit and (tasks or is_third_party(env)):
        raise ConfigError(f"--admit can be used only with environments of trace_gym: found {env}. Remove --admit")
    if admit and (only or skip or level or seeds or profile != "gate"):
        raise ConfigError(
            "--admit requires a complete validation. Remove --only, --skip, --level, --seeds and --profile"
        )
    request: dict[str, Any] = {
        "profile": profile,
        "seeds_per_level": seeds,
        "levels": level,
        "only": only,
        "skip": skip or (),
    }
    request |= {"given": given, "budget": budget}
    unadmitted_module = None if tasks or is_third_party(env) else _unadmitted_module(target)
    if unadmitted_module is not None:
        from trace_gym.modules import file_sha256

        before = file_sha256(unadmitted_module)
        report = _validate_sandboxed(unadmitted_module, engine, workers, request)
        if admit and file_sha256(unadmitted_module) != before:
            raise ReadError(
                f"the module {unadmitted_module} changed during its validation, so it was not admitted. Run the "
                "command again"
            )
    else:
        report = validation.validate(target, engine=engine, workers=workers or os.cpu_count() or 1, **request)
    report = add_findings_of_models(report, target, models, level, seeds)
    write_report(report, out, html, sarif)
    print_report(report, checklist, as_json)
    if not report.passed:
        failed = any(f.verdict == "failed" for f in report.findings)
        raise typer.Exit(FAILED if failed else UNFINISHED)
    if admit:
        from trace_gym.sandbox import describe

        manifest = registry.admit(target, report, author="hand", describe=describe)
        say(f"admitted {manifest.id}")


def _unadmitted_module(target: str | Path) -> Path | None:
    """Return the module file of an unadmitted environment, or None if the environment may run in this process."""
    from trace_gym import registry
    from trace_gym.validation.source import file_behind

    path = file_behind(target)
    return None if path is None or registry.is_admitted(path) else path


def _validate_sandboxed(path: Path, engine: str, workers: int | None, request: dict[str, Any]) -> Report:
    """Validate an unadmitted module file in the sandbox, and return the report."""
    from trace_gym.sandbox import check

    if engine not in ("processes", "here"):
        raise ConfigError(
            f"the module {path} is not admitted, so it can run only in the sandbox, which does not support the engine "
            f"{engine!r}. Use --engine processes or --engine here"
        )
    count = 1 if engine == "here" else workers or min(os.cpu_count() or 1, MOST_WORKERS)
    console = terminal.console(stderr=True)
    with console.status(f"{path}: validating in the sandbox") as status:

        def progress(code: str) -> None:
            status.update(f"{path}: checking {code} in the sandbox")

        return check(path, workers=count, partial=True, progress=progress, **request)


def replay(
    report: Annotated[Path, typer.Argument(help="JSON file of a report or a manifest.", show_default=False)],
    code: Annotated[
        str | None, typer.Argument(help="Code of a property; the first one with a counterexample by default.")
    ] = None,
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Replay the counterexample of a validation report turn by turn, and show the current score.

    Create a report with `trace-gym validate ENV --out report.json`.

    Example: trace-gym replay report.json TG304
    """
    from trace_gym.validation import begin
    from trace_gym.validation.report import read
    from trace_gym.validation.third_party import is_third_party

    _import_from_here()
    found = read(report)
    shown = [f for f in found.findings if f.replay is not None and code in (None, f.code)]
    if not shown:
        having = ", ".join(f.code for f in found.findings if f.replay is not None) or "none"
        raise ConfigError(
            f"the report {report} contains no counterexample{f' for {code}' if code else ''}. Properties with a "
            f"counterexample: {having}"
        )
    if is_third_party(found.env):
        _replay_third_party(found.env, shown[0])
    else:
        path = _unadmitted_module(found.env)
        if path is None:
            _replay_native(found.env, shown[0], begin)
        else:
            from trace_gym.sandbox import start_sandboxed_episode

            _replay_native(str(path), shown[0], start_sandboxed_episode)


def _replay_native(env: str, finding: Finding, begin: Any) -> None:
    from trace_gym.cli.environments import print_checks, print_message
    from trace_gym.report.replays import action as read_action

    assert finding.replay is not None
    console = _heading(finding)
    episode = begin(env, finding.replay.scenario)
    print_message(console, episode.messages[-1])
    for action in finding.replay.actions:
        if episode.done:
            console.print("the conversation has ended; the remaining actions are ignored", style="dim")
            break
        seen = len(episode.messages)
        episode.step(read_action(action))
        for message in episode.messages[seen:]:
            print_message(console, message)
    print_checks(console, episode.finish())


def _replay_third_party(env: str, finding: Finding) -> None:
    from trace_gym.cli.environments import print_message
    from trace_gym.validation.third_party.transcript import transcript

    assert finding.replay is not None
    console = _heading(finding)
    for message in transcript(env, finding.replay).messages:
        print_message(console, message)


def _heading(finding: Finding) -> Console:
    """Print the finding, and return the console."""
    console = terminal.console()
    console.print(Text.assemble((f"{finding.code} {finding.property}", "bold"), f": {finding.message}"))
    return console


def _import_from_here() -> None:
    """Append the working directory to the module search path, because an installed command does not search it.

    The directory is the last entry, so that a file in it cannot shadow a module of a library.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())

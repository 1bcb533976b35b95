"""The commands `target init` and `target check` for custom targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from trace_gym import terminal
from trace_gym.cli import exploring
from trace_gym.cli.options import AllowUnisolated
from trace_gym.cli.summaries import Summaries
from trace_gym.errors import ConfigError
from trace_gym.terminal import say

STYLES = {"wrong": "bold red", "open": "yellow", "fine": "green"}

Folder = Annotated[Path, typer.Argument(help="Folder of the target.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    about = "Set up a custom target: record, init, check, compare."
    verbs = typer.Typer(name="target", cls=Summaries, help=about, no_args_is_help=True)
    for command in (exploring.record, init, check, exploring.compare):
        verbs.command()(command)
    app.add_typer(verbs)


def init(
    folder: Folder,
    policy: Annotated[Path | None, typer.Option(help="Text file with the rules that the agent must follow.")] = None,
    trajectories: Annotated[
        list[Path] | None,
        typer.Option(
            help="Recorded episodes: results of tau-bench or tau2, JSONL of trace-gym rollout, or JSONL with one list "
            "of OpenAI messages per line; repeatable."
        ),
    ] = None,
    tools: Annotated[Path | None, typer.Option(help="JSON file with OpenAI function tools.")] = None,
    mcp: Annotated[
        str, typer.Option(help="Command or URL of an MCP server that lists the tools; replaces --tools.")
    ] = "",
    name: Annotated[str, typer.Option(help="Name of the target; the name of the folder by default.")] = "",
    calls_per_turn: Annotated[
        int,
        typer.Option(
            min=0,
            help="Maximum number of tool calls in one turn of the agent; 0 uses the maximum in the recorded episodes.",
        ),
    ] = 0,
) -> None:
    """Create the folder of a target from its tools, policy text and recorded episodes.

    Example: trace-gym target init parcel_depot --tools tools.json --policy policy.md --trajectories episodes.jsonl
    """
    from trace_gym.targets.user.folder import SETTINGS
    from trace_gym.targets.user.start import init as begin

    if policy is None or not trajectories or not (tools or mcp):
        given = {"--tools": tools or mcp, "--policy": policy, "--trajectories": trajectories}
        missing = ", ".join(name for name, value in given.items() if not value)
        raise ConfigError(
            f"a target requires tools, a policy and recorded episodes, but {missing} was not given. Run: trace-gym "
            f'target init {folder} --tools tools.json --policy policy.md --trajectories episodes.jsonl (--mcp "SERVER '
            'COMMAND" can replace --tools; trace-gym target record creates episodes from an MCP server)'
        )
    home = begin(
        folder,
        tools=tools,
        policy=policy,
        trajectories=trajectories,
        name=name,
        command=mcp,
        calls_per_turn=calls_per_turn,
    )
    say(f"{home.path / SETTINGS}: {len(home.tools)} tools, {len(home.episodes)} episodes")
    say(f"review the kinds of the tools in this file, then run: trace-gym target check {folder}")


def check(
    folder: Folder,
    admit: Annotated[
        bool, typer.Option("--admit", help="Validate the existing base world in the sandbox, and admit it.")
    ] = False,
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Report missing parts and errors of a target, and how closely its base world matches the recorded episodes.

    Exit code 1: the target has an error.

    Example: trace-gym target check parcel_depot
    """
    from trace_gym.registration import add_folder
    from trace_gym.targets.user import folder as targets
    from trace_gym.targets.user.check import check as look

    home = targets.read(folder)
    add_folder(home.path)  # the base world is registered from this folder
    if admit:
        from trace_gym.synthesis.base_world import admit_base

        made = admit_base(home)
        say(f"admitted {made.id}: {home.base_module}")
    console, wrong = terminal.console(), 0
    for note in look(home):
        wrong += note.level == "wrong"
        line = Text.assemble((f"{note.level:5}", STYLES[note.level]), f"  {note.message}")
        console.print(line, soft_wrap=True)
        if note.fix:
            console.print(Text(f"       {note.fix}", style="dim"), soft_wrap=True)
    if wrong:
        raise typer.Exit(1)

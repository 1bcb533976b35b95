"""Verbs about targets of the user's own: target init, target check."""

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
    """Add this module's verbs to the command line."""
    about = "Bring a target of your own: record, init, check, compare."
    verbs = typer.Typer(name="target", cls=Summaries, help=about, no_args_is_help=True)
    for command in (exploring.record, init, check, exploring.compare):
        verbs.command()(command)
    app.add_typer(verbs)


def init(
    folder: Folder,
    policy: Annotated[Path | None, typer.Option(help="Text of the rules that the agent has to obey.")] = None,
    trajectories: Annotated[
        list[Path] | None,
        typer.Option(help="Results of tau-bench or tau2, our JSONL, or OpenAI messages a line; repeatable."),
    ] = None,
    tools: Annotated[Path | None, typer.Option(help="JSON file with OpenAI function tools.")] = None,
    mcp: Annotated[str, typer.Option(help="MCP server that lists the tools instead: a command, or a URL.")] = "",
    name: Annotated[str, typer.Option(help="Of the target; after the folder by default.")] = "",
    calls_per_turn: Annotated[
        int, typer.Option(min=0, help="Tools that an agent may call in one turn; 0: as many as a recorded turn calls.")
    ] = 0,
) -> None:
    """Make the folder of a target from its tools, its policy and trajectories.

    Example: trace-gym target init parcel_depot --tools tools.json --policy policy.md --trajectories episodes.jsonl
    """
    from trace_gym.targets.user.folder import SETTINGS
    from trace_gym.targets.user.start import init as begin

    if policy is None or not trajectories or not (tools or mcp):
        given = {"--tools": tools or mcp, "--policy": policy, "--trajectories": trajectories}
        missing = ", ".join(name for name, value in given.items() if not value)
        raise ConfigError(
            f"a target needs its tools, its policy and recorded episodes: found no {missing}. "
            f"Run: trace-gym target init {folder} --tools tools.json --policy policy.md --trajectories episodes.jsonl "
            '(or --mcp "SERVER COMMAND" for --tools; trace-gym target record records episodes from an MCP server)'
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
    say(f"look at the kinds of the tools there, then: trace-gym target check {folder}")


def check(
    folder: Folder,
    admit: Annotated[
        bool, typer.Option("--admit", help="Check the base world that is there, in the sandbox, and admit it.")
    ] = False,
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Say what a target lacks, what is wrong with it, and how true its base world is to the recorded episodes.

    Exit code 1: something is wrong.

    Example: trace-gym target check parcel_depot
    """
    from trace_gym.registration import add_folder
    from trace_gym.targets.user import folder as targets
    from trace_gym.targets.user.check import check as look

    home = targets.read(folder)
    add_folder(home.path)  # the base world is found there
    if admit:
        from trace_gym.synthesize.base import admit_base

        made = admit_base(home)
        say(f"admitted {made.id}: {home.base_module}")
    console, wrong = terminal.console(), 0
    for note in look(home):
        wrong += note.level == "wrong"
        line = Text.assemble((f"{note.level:5}", STYLES[note.level]), f"  {note.says}")
        console.print(line, soft_wrap=True)
        if note.mend:
            console.print(Text(f"       {note.mend}", style="dim"), soft_wrap=True)
    if wrong:
        raise typer.Exit(1)

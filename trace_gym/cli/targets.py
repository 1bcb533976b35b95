"""Verbs about targets of the user's own: target init, target check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from trace_gym.cli.summaries import Summaries

STYLES = {"wrong": "bold red", "open": "yellow", "fine": "green"}

Folder = Annotated[Path, typer.Argument(help="Folder of the target.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    verbs = typer.Typer(
        name="target", cls=Summaries, help="Bring a target of your own: init, check.", no_args_is_help=True
    )
    verbs.command()(init)
    verbs.command()(check)
    app.add_typer(verbs)


def init(
    folder: Folder,
    policy: Annotated[Path, typer.Option(help="Text of the rules that the agent has to obey.", show_default=False)],
    trajectories: Annotated[
        list[Path],
        typer.Option(help="Results of tau-bench or tau2, our JSONL, or OpenAI messages a line; repeatable."),
    ],
    tools: Annotated[Path | None, typer.Option(help="JSON file with OpenAI function tools.")] = None,
    mcp: Annotated[str, typer.Option(help="Command that starts an MCP server, which lists the tools instead.")] = "",
    name: Annotated[str, typer.Option(help="Of the target; after the folder by default.")] = "",
) -> None:
    """Make the folder of a target from its tools, its policy and trajectories.

    Example: trace-gym target init parcel_depot --tools tools.json --policy policy.md --trajectories episodes.jsonl
    """
    from trace_gym.targets.user.folder import SETTINGS
    from trace_gym.targets.user.start import init as begin

    home = begin(folder, tools=tools, policy=policy, trajectories=trajectories, name=name, command=mcp)
    typer.echo(f"{home.path / SETTINGS}: {len(home.tools)} tools, {len(home.episodes)} episodes")
    typer.echo(f"look at the kinds of the tools there, then: trace-gym target check {folder}")


def check(
    folder: Folder,
    admit: Annotated[
        bool, typer.Option("--admit", help="Check the base world that is there, in the sandbox, and admit it.")
    ] = False,
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
        typer.echo(f"admitted {made.id}: {home.base_module}")
    console, wrong = Console(), 0
    for note in look(home):
        wrong += note.level == "wrong"
        line = Text.assemble((f"{note.level:5}", STYLES[note.level]), f"  {note.says}")
        console.print(line, soft_wrap=True)
        if note.mend:
            console.print(Text(f"       {note.mend}", style="dim"), soft_wrap=True)
    if wrong:
        raise typer.Exit(1)

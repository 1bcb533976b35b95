"""The commands `target record` and `target compare`, which connect to a live MCP server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.text import Text

from trace_gym import terminal
from trace_gym.errors import ConfigError
from trace_gym.terminal import say

Mcp = Annotated[str, typer.Option(help="Command that starts the MCP server, or its URL.", show_default=False)]
Reset = Annotated[str, typer.Option(help="Shell command that resets the data of the server before each episode.")]
Seed = Annotated[int, typer.Option(help="Seed of the generated calls.")]
Calls = Annotated[int, typer.Option(min=4, help="Number of calls per episode.")]
Episodes = Annotated[int, typer.Option(min=1, help="Number of episodes.")]
Values = Annotated[
    Path | None, typer.Option(help="YAML or JSON file that maps parameter names to lists of values to try.")
]
Skip = Annotated[list[str] | None, typer.Option(help="Tool that is never called; repeatable.")]
SecondsOption = Annotated[
    float, typer.Option(min=0.1, help="Time limit in seconds for the start of the server and for each call.")
]


def record(
    mcp: Mcp,
    out: Annotated[
        Path, typer.Option(help="JSONL file. Episodes that it already contains are kept.", show_default=False)
    ],
    episodes: Episodes = 20,
    calls: Calls = 24,
    seed: Seed = 0,
    reset: Reset = "",
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Correct the detected kind of a tool: TOOL=read, TOOL=write or TOOL=generic; repeatable."),
    ] = None,
    values: Values = None,
    skip: Skip = None,
    seconds: SecondsOption = 60.0,
) -> None:
    """Record episodes from a live MCP server by seeded exploration. All tools are called, including writes.

    The server is restarted for each episode. The exploration reads before and after each write, and tries unknown ids
    and optional parameters. Run the same command again to continue an interrupted recording.

    Example: trace-gym target record --mcp "python my_server.py" --out episodes.jsonl
    """
    from trace_gym.explore import Recorder
    from trace_gym.explore import record as explore
    from trace_gym.targets.user.coverage import unexplained_changes

    recorder = Recorder(mcp, seed, calls, reset, _kinds(kind or []), tuple(skip or ()), _values(values), seconds)
    made = explore(recorder, episodes, out, _log)
    for tool, (episode, between) in unexplained_changes(made).items():
        others = (
            f", or {' or '.join(between)} is a write; in that case record again with --kind {between[0]}=write"
            if between
            else ""
        )
        _log(
            f"{tool} returned different results for the same call in {episode} without a write in between: its results "
            f"depend on time or chance{others}"
        )
    say(f"{out}: {len(made.episodes)} episodes; next: trace-gym target init FOLDER --mcp ... --trajectories {out}")


def compare(
    folder: Annotated[Path, typer.Argument(help="Folder of the target.", show_default=False)],
    mcp: Mcp,
    episodes: Episodes = 10,
    calls: Calls = 40,
    seed: Seed = 0,
    reset: Reset = "",
    values: Values = None,
    skip: Skip = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Accepted share of calls of a tool with different results.")
    ] = 0.0,
    out: Annotated[Path | None, typer.Option(help="JSONL file for the episodes recorded from the server.")] = None,
    seconds: SecondsOption = 60.0,
) -> None:
    """Make the same calls on a live MCP server and on the target's base world, and compare the results.

    The calls cover each tool, optional parameter, enum value, known and unknown ids, and reads after each write; the
    remaining calls are random. The table shows the coverage of each tool.

    Exit code 1: the share of compared calls of a tool with different results exceeds --threshold.

    Example: trace-gym target compare my_target --mcp "python my_server.py"
    """
    from trace_gym.explore import Recorder
    from trace_gym.explore import compare as look
    from trace_gym.registration import add_folder
    from trace_gym.targets.user import folder as targets

    home = targets.read(folder)
    add_folder(home.path)
    kinds = {tool: kind for tool, kind in home.kinds.items() if tool not in (skip or ())}
    recorder = Recorder(mcp, seed, calls, reset, kinds, tuple(skip or ()), _values(values), seconds)
    rows = look(home, recorder, episodes, out, _log)
    from trace_gym.tables import Grid

    cells = []
    for row in rows:
        style = "bold red" if row.share > threshold else "green" if row.compared else "yellow"
        covered = f"{row.goals - len(row.missing)} of {row.goals}"
        cells.append((row.tool, str(row.calls), str(row.compared), Text(str(row.differ), style=style), covered))
    console = terminal.console()
    console.print(
        Grid(("tool", "calls", "compared", "differ", "covered"), cells, whole=frozenset({1, 2, 3, 4})), crop=False
    )
    for row in rows:
        if row.example:
            console.print(Text(f"{row.tool}: {row.example}"), soft_wrap=True)
    for row in rows:
        if row.missing:
            console.print(Text(f"{row.tool}: not covered: {', '.join(row.missing)}"), soft_wrap=True)
    if unknown := [row.tool for row in rows if not row.compared]:
        console.print(
            Text(f"not compared: {', '.join(unknown)}; the fidelity of these tools in the base world is unknown")
        )
    if any(row.share > threshold for row in rows):
        raise typer.Exit(1)


def _kinds(assignments: list[str]) -> dict[str, Any]:
    from trace_gym.targets.user.folder import ToolKind

    made = {}
    for text in assignments:
        tool, _, kind = text.rpartition("=")
        if not tool or kind not in get_args(ToolKind):
            raise ConfigError(f"--kind is not valid: found {text!r}, expected TOOL=read, TOOL=write or TOOL=generic")
        made[tool] = kind
    return made


def _values(path: Path | None) -> dict[str, list[Any]]:
    from trace_gym.parsing import read_yaml

    if path is None:
        return {}
    found = read_yaml(path)
    if not isinstance(found, dict) or not all(isinstance(v, list) and v for v in found.values()):
        raise ConfigError(
            f"{path} is not a valid file of parameter values: expected a mapping of parameter names to lists of "
            "values, such as path: [/tmp/a]"
        )
    return {str(name): values for name, values in found.items()}


def _log(line: str) -> None:
    say(line, err=True)

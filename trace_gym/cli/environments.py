"""The commands `list`, `show` and `play`, which display and run environments."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from trace_gym import terminal
from trace_gym.errors import TraceGymError
from trace_gym.nested import parse_if_json
from trace_gym.terminal import say

if TYPE_CHECKING:
    from trace_gym.types import Message, Score


def matching_names(incomplete: str) -> list[str]:
    """Return the names of the environments that start with `incomplete`, for shell completion."""
    from trace_gym import registry

    return [name for name in (*registry.list_environments(), *registry.list_mixtures()) if name.startswith(incomplete)]


Env = Annotated[
    str,
    typer.Argument(
        help="Name or gymnasium id, such as tau2_precondition.", show_default=False, autocompletion=matching_names
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command("list")(list_environments)
    app.command()(show)
    app.command()(play)


def list_environments(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the environments of the registry.

    If the output is not a terminal, each line contains the id, the capability, the number of levels and the title,
    separated by tabs.

    Environments whose module does not match its validation are listed, and named in a message. They cannot be used.

    Exit code 1: the files of an environment cannot be read. The other environments are listed.

    Example: trace-gym list
    """
    from trace_gym import registry
    from trace_gym.lookup import entry_of

    rows, changed, faults = [], [], []
    for name in (*registry.list_environments(), *registry.list_mixtures()):
        try:
            rows.append((registry.gym_id(name), *_summary(name)))
            module = entry_of(name).module  # a mixture has none
            changed += [(name, module)] if module is not None and not registry.is_admitted(module) else []
        except TraceGymError as error:
            faults.append(error)
    _print_list(rows, as_json)
    for name, module in changed:
        say(f"{name} cannot be used: {module} does not match its validation. To check it, run: trace-gym validate "
            f"{name} --admit", err=True)  # fmt: skip
    for fault in faults:
        say(f"not listed: {fault}", err=True)
    if faults:
        raise typer.Exit(1)


def _print_list(rows: list[tuple[str, str, int, str]], as_json: bool) -> None:
    from trace_gym.tables import Grid

    if as_json:
        keys = ("id", "capability", "levels", "title")
        say(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=1))
        return
    cells = [(gym_id, capability or "(target)", str(levels), title) for gym_id, capability, levels, title in rows]
    if not (console := terminal.console()).is_terminal:
        say("\n".join("\t".join(map(_on_one_line, row)) for row in cells))
        return
    console.print(Grid(("id", "capability", "levels", "title"), cells), crop=False)


def show(
    env: Env,
    level: Annotated[int, typer.Option(min=0, help="Level of the example.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the example.")] = 0,
) -> None:
    """Show an environment: its capability and levels, and a rollout of the oracle on one scenario.

    Example: trace-gym show tau2_precondition --level 1 --seed 3
    """
    from trace_gym import registry
    from trace_gym.policies.scripted import Oracle
    from trace_gym.rollouts import play as play_episode
    from trace_gym.types import Scenario

    console = terminal.console()
    name = registry.name_of(env)
    capability, levels, title = _summary(name)
    console.print(Text.assemble((registry.gym_id(name), "bold"), f"  {title}"))
    console.print(f"capability: {capability or '(target)'}   levels: 0 to {levels - 1}")
    episode = play_episode(Oracle(), registry.start_episode(Scenario(env=name, level=level, seed=seed)))
    console.print(Text.assemble("\n", (str(episode.scenario), "bold"), ", rollout of the oracle:"))
    for message in episode.messages[1:]:
        print_message(console, message)
    assert episode.score is not None
    print_checks(console, episode.score)


def play(
    env: Env,
    level: Annotated[int, typer.Option(min=0, help="Level of the scenario.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the scenario.")] = 0,
) -> None:
    """Run a scenario by hand: type messages to the user, or tool calls as `tool key=value ...` or JSON.

    Example: trace-gym play tau2_precondition --seed 3
    """
    from trace_gym import registry
    from trace_gym.score import reward
    from trace_gym.types import Scenario

    console = terminal.console()
    episode = registry.start_episode(Scenario(env=registry.name_of(env), level=level, seed=seed))
    help_hint = "  /help lists the inputs, /policy prints the rules, /quit ends the episode."
    console.print(Text.assemble((str(episode.scenario), "bold"), help_hint))
    print_message(console, episode.messages[1])
    while not episode.done:
        try:
            line = console.input(Text("you> ", "bold")).strip()
        except EOFError:
            line = "/quit"
        match line:
            case "":
                continue
            case "/quit":
                episode.finish()
            case "/policy":
                console.print(episode.interface.system_prompt)
            case "/help":
                console.print(
                    "Type text to send a message to the user. Type TOOL key=value ... or a JSON action to call a tool."
                )
                for tool in episode.tools:
                    function = tool["function"]
                    names = ", ".join(function["parameters"].get("properties", {}))
                    console.print(f"  {function['name']}({names})")
            case _:
                for message in episode.step(
                    _parse_input(line, {t["function"]["name"]: t["function"] for t in episode.tools})
                ):
                    print_message(console, message)
    assert episode.score is not None
    print_checks(console, episode.score)
    verdict = "success" if episode.score.success else "failed"
    console.print(Text.assemble((verdict, "bold"), f", reward {reward(episode.score):.2f}"))


def _summary(name: str) -> tuple[str, int, str]:
    """Return the capability, the number of levels and the title of an environment or a mixture."""
    from trace_gym import registry

    if name in registry.list_mixtures():
        mixture = registry.mixture(name)
        return f"mixture of {len(mixture.mixture)}", registry.level_count(name), mixture.title
    card = registry.manifest(name)
    return card.capability, card.levels, card.title


def _on_one_line(text: str) -> str:
    """Return the text without line breaks and tabs, which separate rows and columns."""
    return " ".join(text.split())


def print_checks(console: Console, score: Score) -> None:
    """Print one line for each check of a score."""
    for check in score.checks:
        verdict = ("passed", "green") if check.passed else ("failed", "red")
        console.print(Text.assemble("  ", verdict, f"  {check.kind}: {check.description}"))


def print_message(console: Console, message: Message) -> None:
    """Print the tool calls and the text of a message."""
    colour = {"user": "cyan", "assistant": "green", "tool": "dim"}.get(message["role"], "white")
    for call in message.get("tool_calls") or ():
        console.print(Text.assemble(("call> ", colour), f"{call['function']['name']} {call['function']['arguments']}"))
    if message.get("content"):
        text = textwrap.shorten(str(message["content"]), 1200)
        console.print(Text.assemble((f"{message['role']}> ", colour), text))


def _parse_input(line: str, tools: dict[str, Message]) -> Message | str:
    """Return the typed line as an assistant turn; a line `tool key=value ...` becomes a tool call."""
    name, *pairs = line.split()
    if name not in tools:
        if line.startswith("{"):
            return f"<tool_call>{line}</tool_call>"
        return line
    properties = tools[name]["parameters"].get("properties", {})
    arguments: dict[str, object] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        text = properties.get(key, {}).get("type") == "string"
        arguments[key] = value if text else parse_if_json(value, scalars=True)
    return {"content": "", "tool_calls": [{"function": {"name": name, "arguments": json.dumps(arguments)}}]}

"""Verbs about environments: list, show, play."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from trace_gym.types import Message

Env = Annotated[str, typer.Argument(help="Name or gymnasium id, such as tau2_precondition.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    app.command("list")(list_environments)
    app.command()(show)
    app.command()(play)


def list_environments(as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False) -> None:
    """List the environments of the registry.

    Example: trace-gym list
    """
    from trace_gym import registry

    rows = [(registry.gym_id(name), *_card(name)) for name in (*registry.names(), *registry.mixtures())]
    if as_json:
        keys = ("id", "capability", "levels", "title")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=1))
        return
    table = Table("id", "capability", "levels", "what it asks", box=None, header_style="bold")
    for gym_id, capability, levels, title in rows:
        table.add_row(gym_id, capability or "(target)", str(levels), title)
    Console().print(table)


def show(
    env: Env,
    level: Annotated[int, typer.Option(help="Level of the example.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the example.")] = 0,
) -> None:
    """Show an environment: its card, and one scenario as the oracle plays it.

    Example: trace-gym show tau2_precondition --level 1 --seed 3
    """
    from trace_gym import registry
    from trace_gym.policies.scripted import Oracle
    from trace_gym.rollout import play as play_episode
    from trace_gym.types import Scenario

    console = Console()
    name = registry.name_of(env)
    capability, levels, title = _card(name)
    console.print(f"[bold]{registry.gym_id(name)}[/bold]  {title}")
    console.print(f"capability: {capability or '(target)'}   levels: 0 to {levels - 1}", highlight=False)
    episode = play_episode(Oracle(), registry.episode(Scenario(env=name, level=level, seed=seed)))
    console.print(f"\n[bold]{episode.scenario}[/bold], played by its oracle:")
    for message in episode.messages[1:]:
        print_message(console, message)
    assert episode.score is not None
    for check in episode.score.checks:
        console.print(f"  {'[green]holds[/]' if check.holds else '[red]fails[/]'}  {check.kind}: {check.says}")


def play(
    env: Env,
    level: Annotated[int, typer.Option(help="Level of the scenario.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the scenario.")] = 0,
) -> None:
    """Play a scenario yourself: write to the customer, or call a tool as `tool key=value ...` or JSON.

    Example: trace-gym play tau2_precondition --seed 3
    """
    from trace_gym import registry
    from trace_gym.score import reward
    from trace_gym.types import Scenario

    console = Console()
    episode = registry.episode(Scenario(env=registry.name_of(env), level=level, seed=seed))
    console.print(f"[bold]{episode.scenario}[/bold]  /help shows what you can type, /policy the rules, /quit stops.")
    print_message(console, episode.messages[1])
    while not episode.done:
        try:
            line = console.input("[bold]you>[/bold] ").strip()
        except EOFError:
            line = "/quit"
        match line:
            case "":
                continue
            case "/quit":
                episode.finish()
            case "/policy":
                console.print(episode.interface.system_prompt, markup=False)
            case "/help":
                console.print(
                    "Text goes to the customer. A tool call: get_user_details user_id=... or the JSON action."
                )
                for tool in episode.tools:
                    function = tool["function"]
                    names = ", ".join(function["parameters"].get("properties", {}))
                    console.print(f"  {function['name']}({names})", markup=False)
            case _:
                for message in episode.step(
                    _typed(line, {t["function"]["name"]: t["function"] for t in episode.tools})
                ):
                    print_message(console, message)
    assert episode.score is not None
    for check in episode.score.checks:
        console.print(f"  {'[green]holds[/]' if check.holds else '[red]fails[/]'}  {check.kind}: {check.says}")
    console.print(
        f"[bold]{'success' if episode.score.success else 'failed'}[/bold], reward {reward(episode.score):.2f}"
    )


def _card(name: str) -> tuple[str, int, str]:
    """Capability, number of levels and title of an environment or a mixture."""
    from trace_gym import registry

    if name in registry.mixtures():
        mixture = registry.mixture(name)
        return f"mixture of {len(mixture.mixture)}", registry.level_count(name), mixture.title
    card = registry.manifest(name)
    return card.capability, card.levels, card.title


def print_message(console: Console, message: Message) -> None:
    colour = {"user": "cyan", "assistant": "green", "tool": "dim"}.get(message["role"], "white")
    for call in message.get("tool_calls") or ():
        console.print(f"[{colour}]call>[/] ", end="")
        console.print(f"{call['function']['name']} {call['function']['arguments']}", markup=False, highlight=False)
    if message.get("content"):
        console.print(f"[{colour}]{message['role']}>[/] ", end="")
        console.print(textwrap.shorten(str(message["content"]), 1200), markup=False, highlight=False)


def _typed(line: str, tools: dict[str, Message]) -> Message | str:
    """What a person typed as an assistant turn; `tool key=value` is short for a call."""
    name, *pairs = line.split()
    if name not in tools:
        if line.startswith("{"):
            return f"<tool_call>{line}</tool_call>"
        return line
    properties = tools[name]["parameters"].get("properties", {})
    arguments: dict[str, object] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        try:
            arguments[key] = value if properties.get(key, {}).get("type") == "string" else json.loads(value)
        except json.JSONDecodeError:
            arguments[key] = value
    return {"content": "", "tool_calls": [{"function": {"name": name, "arguments": json.dumps(arguments)}}]}

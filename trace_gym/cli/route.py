"""The command `route`, which selects an adapter for a message."""

from __future__ import annotations

from typing import Annotated

import typer

from trace_gym.cli.environments import matching_names
from trace_gym.cli.options import ModelOption, require_lab_extra
from trace_gym.terminal import say


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(route)


def route(
    text: Annotated[str, typer.Argument(help="The user's first message.", show_default=False)],
    env: Annotated[
        list[str],
        typer.Option(
            "--env",
            help="Environment that an adapter was trained on; repeat the option for each adapter.",
            autocompletion=matching_names,
        ),
    ],
    model: ModelOption = "lab",
    permutations: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of orders of the options over which the probabilities are averaged; the number of options by "
            "default.",
        ),
    ] = None,
) -> None:
    """Print the probability of each adapter for a first user message, computed from the base model's logits.

    Example: trace-gym route "Please cancel ABC123." --env tau2_precondition --env tau2_multi_step
    """
    from trace_gym import registry

    require_lab_extra()
    from trace_gym.models import ModelSettings, load_weights
    from trace_gym.models.unused import ROUTER, check
    from trace_gym.route import LogitRouter, description_of, options_for

    names = [registry.name_of(e) for e in env]
    descriptions = {n: description_of(registry.manifest(n)) for n in names}
    settings = ModelSettings.parse(model, "--model")
    check(settings, ROUTER)
    chat, tokenizer = load_weights(settings)
    router = LogitRouter(
        chat, tokenizer, options_for(descriptions), permutations=permutations, template=settings.template
    )
    if router.warning:
        say(f"warning: {router.warning}", err=True)
    choice = router.choose(text)
    for option, probability in sorted(choice.probabilities.items(), key=lambda kv: -kv[1]):
        say(f"{probability:6.1%}  {option}{'  <' if option == choice.capability else ''}")

"""The command `rollout`, which samples rollouts of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.environments import Env
from trace_gym.cli.options import MODEL_HELP, LevelsOption, User
from trace_gym.terminal import say


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(rollout)


def rollout(
    env: Env,
    out: Annotated[Path, typer.Option(help="JSONL file. If it exists, only missing rollouts are added.")],
    policy: Annotated[
        str,
        typer.Option(
            help="oracle, ablated (oracle without the capability), idle (calls no tools), random, an exploit policy, "
            "mixture:P (oracle with probability P), model (see --model), openai:MODEL[@URL], or hf:MODEL[+ADAPTER]."
        ),
    ] = "model",
    model: Annotated[str | None, typer.Option(help=f"Model of policy model: {MODEL_HELP} lab by default.")] = None,
    adapter: Annotated[Path | None, typer.Option(help="Folder of a LoRA adapter for the model.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of scenarios.")] = 100,
    samples: Annotated[int, typer.Option(min=1, help="Number of rollouts per scenario.")] = 1,
    level: LevelsOption = None,
    split: Annotated[str, typer.Option(help="Seed range: train, validate, select, test or pretrain.")] = "select",
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Sampling temperature of the model; 1 by default, 0 is greedy.")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of tokens in a conversation with a model; the episode ends there."),
    ] = None,
    max_turn_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of tokens in one turn of a model; longer turns are truncated."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="URL of the endpoint of openai:MODEL. The API key is read from OPENAI_API_KEY.")
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number of conversations with endpoints at the same time; by default 8, or 256 for vLLM.",
        ),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(help="Price of an endpoint in US dollars per million tokens as prompt/completion: 0.5/1.5."),
    ] = None,
    user: User = None,
    user_folder: Annotated[
        Path | None, typer.Option(help="Folder for the recorded requests and answers of --user; OUT.user by default.")
    ] = None,
    user_tokens: Annotated[
        int | None, typer.Option(min=1, help="Budget of --user in tokens, including the answers already in its folder.")
    ] = None,
) -> None:
    """Run a policy on scenarios and write the trajectories.

    Exit code 1: no trajectory could be scored.

    Example: trace-gym rollout tau2_precondition --policy oracle --out oracle.jsonl

    With a model that rewords the user: trace-gym rollout tau2_precondition --user openai:gpt-4o-mini --out a.jsonl
    """
    from trace_gym import registry
    from trace_gym.cli.policies import ModelOptions, build_user_model, open_policy_option
    from trace_gym.llm import Usage
    from trace_gym.rollouts import rollout

    scenarios = registry.scenarios(registry.name_of(env), split, n, levels=level)
    options = ModelOptions(temperature, max_tokens, max_turn_tokens, concurrency, price)
    user_model = build_user_model(user, folder=user_folder, tokens=user_tokens, out=out)
    opened = open_policy_option(policy, model=model, adapter=adapter, base_url=base_url, options=options, out=out)
    with opened as (player, limit, ledger):
        records = rollout(
            player,
            scenarios,
            path=out,
            samples=samples,
            concurrency=limit,
            temperature=options.used_temperature,
            user=user_model,
        )
    scored = [r for r in records if r.success is not None]
    rate = f"{sum(bool(r.success) for r in scored) / len(scored):.1%} successful" if scored else "none scored"
    noted = sum(bool(r.note) for r in records)
    early = f", {noted} ended early (see `note` in their records)" if noted else ""
    say(f"{len(records)} episodes, {rate}, {len(records) - len(scored)} not scored{early}: {out}")
    if ledger is not None and ledger.exists():
        say(f"agent: {Usage.read(ledger)}: {ledger}")
    if user_model is not None:
        say(user_model.summary())
    if not scored:
        raise typer.Exit(1)

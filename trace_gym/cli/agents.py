"""Verbs about agents: rollout, diagnose, train, route, evaluate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from trace_gym import terminal
from trace_gym.cli.environments import Env, matching_names
from trace_gym.cli.options import User
from trace_gym.errors import ConfigError
from trace_gym.terminal import say

Model = Annotated[str, typer.Option(help="lab (the embedded agent), or a Hugging Face folder or name.")]
Levels = Annotated[list[int] | None, typer.Option("--level", help="Level; repeat for several, all by default.")]


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    for verb in (rollout, diagnose, train, route, evaluate):
        app.command()(verb)


def rollout(
    env: Env,
    out: Annotated[Path, typer.Option(help="JSONL file; a second call adds what is missing.")],
    policy: Annotated[
        str, typer.Option(help="oracle, ablated, idle, random, model, openai:MODEL, or openai:MODEL@URL.")
    ] = "model",
    model: Annotated[
        str | None, typer.Option(help="lab (the embedded agent, the default), or a Hugging Face folder or name.")
    ] = None,
    adapter: Annotated[Path | None, typer.Option(help="LoRA folder to put on the model.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Scenarios.")] = 100,
    samples: Annotated[int, typer.Option(min=1, help="Attempts at each scenario.")] = 1,
    level: Levels = None,
    split: Annotated[str, typer.Option(help="train, validate, select, test or pretrain.")] = "select",
    temperature: Annotated[float | None, typer.Option(min=0, help="Of a model; 1 by default, 0 is greedy.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of a conversation with a model, which ends there.")
    ] = None,
    max_turn_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of one turn of a model, which is cut there.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Endpoint for openai:MODEL; the key comes from OPENAI_API_KEY.")
    ] = None,
    user: User = None,
    user_folder: Annotated[
        Path | None, typer.Option(help="Folder for the answers and requests of --user; OUT.user by default.")
    ] = None,
    user_tokens: Annotated[
        int | None, typer.Option(min=1, help="Budget of --user in tokens, including what is in its folder.")
    ] = None,
) -> None:
    """Play scenarios with a policy and write the trajectories.

    Example: trace-gym rollout tau2_precondition --policy oracle --out oracle.jsonl

    With a language model for the user: trace-gym rollout tau2_precondition --user openai:gpt-4o-mini --out a.jsonl
    """
    from trace_gym import registry
    from trace_gym.cli.actors import Sampling, actor, speaker
    from trace_gym.rollout import collect

    scenarios = registry.scenarios(registry.name_of(env), split, n, levels=level)
    sampling = Sampling(temperature, max_tokens, max_turn_tokens)
    player = actor(policy, model=model, adapter=adapter, base_url=base_url, sampling=sampling)
    speaks = speaker(user, folder=user_folder, tokens=user_tokens, out=out)
    records = collect(player, scenarios, path=out, samples=samples, temperature=sampling.used_temperature, user=speaks)
    scored = [r for r in records if r.success is not None]
    rate = f"{sum(bool(r.success) for r in scored) / len(scored):.1%} successful" if scored else "none scored"
    noted = sum(bool(r.note) for r in records)
    early = f", {noted} ended early (see `note` in their records)" if noted else ""
    say(f"{len(records)} episodes, {rate}, {len(records) - len(scored)} not scored{early}: {out}")
    if speaks is not None:
        say(speaks.summary())
    if not scored:
        raise typer.Exit(1)


def diagnose(
    source: Annotated[Path, typer.Argument(help="Results of tau-bench or tau2, or JSONL of trace-gym rollout.")],
    delta: Annotated[float, typer.Option(help="Least contrastive gap.")] = 0.20,
    rho: Annotated[float, typer.Option(help="Least share of the failures.")] = 0.10,
    out: Annotated[Path | None, typer.Option(help="Write the diagnosis as JSON.")] = None,
) -> None:
    """Name the capabilities whose lack explains an agent's failures.

    Exit code 1: no trajectory is scored.

    Example: trace-gym diagnose results.json --out diagnosis.json
    """
    from trace_gym import diagnose as stage
    from trace_gym.files import write
    from trace_gym.targets.results import read_results

    _keep_inputs(out, source)
    found = stage.diagnose(read_results(source), delta=delta, rho=rho)
    terminal.console().print(stage.render(found))
    if out is not None:
        write(out, found.model_dump_json(indent=1) + "\n")
        follows = f"; next: trace-gym synthesize --from {out}" if found.retained else ""
        say(f"written to {out}{follows}")
    if found.unscored == found.n:
        raise typer.Exit(1)


def train(
    env: Env,
    out: Annotated[Path, typer.Option(help="Folder of the run; a run found there is continued.")],
    model: Model = "lab",
    config: Annotated[Path | None, typer.Option(help="YAML of GRPO settings; see docs/train.md.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Override the settings.")] = None,
    level: Levels = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Override the settings; 0 by default.")] = None,
    user: User = None,
) -> None:
    """Train a LoRA adapter on an environment by GRPO.

    Without --model, the built-in toy model is trained, which shows how training works and is of no other use.

    Example: trace-gym train tau2_precondition --level 0 --out runs/precondition

    With a model: trace-gym train tau2_precondition --model Qwen/Qwen3-4B-Instruct-2507 --config my.yaml --out runs/qwen
    """
    from trace_gym import registry
    from trace_gym.lab import model_folder
    from trace_gym.trainers.config import GRPOConfig

    settings = _settings(config)
    settings |= {"seed": seed} if seed is not None else {}
    settings |= {"iterations": iterations} if iterations else {}
    settings |= {"user": user} if user is not None else {}
    settings |= {"levels": dict.fromkeys(level, 1.0)} if level else {}
    try:
        grpo = GRPOConfig.parse(settings)
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}" if config else str(error)) from None
    name = registry.name_of(env)
    _needs_lab()
    from trace_gym.policies.hints import require_hints
    from trace_gym.trainers.torch_grpo import train as run_grpo

    require_hints([name], grpo.hints)
    if model == "lab":
        say("training the built-in toy model (0.36 million parameters); --model names another one", err=True)
    done = run_grpo(grpo, env=name, model_dir=model_folder(model), out_dir=out)
    last = done.metrics[-1]
    say(f"{done.ended} after {len(done.metrics)} iterations and {done.rollouts} rollouts: {done.path}")
    say(json.dumps({k: last[k] for k in ("reward", "success", "informative") if k in last}))


def route(
    text: Annotated[str, typer.Argument(help="The user's first message.", show_default=False)],
    env: Annotated[
        list[str],
        typer.Option("--env", help="Environment of an adapter; repeat for each.", autocompletion=matching_names),
    ],
    model: Model = "lab",
    permutations: Annotated[int, typer.Option(min=1, help="Label orders to average over.")] = 4,
) -> None:
    """Ask the base model which adapter a conversation needs.

    Example: trace-gym route "Please cancel ABC123." --env tau2_precondition --env tau2_multi_step
    """
    from trace_gym import registry

    _needs_lab()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from trace_gym.lab import model_folder
    from trace_gym.route import LogitRouter, description_of, options_for

    names = [registry.name_of(e) for e in env]
    told = {n: description_of(registry.manifest(n)) for n in names}
    folder = model_folder(model)
    chat, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    router = LogitRouter(chat, tokenizer, options_for(told), permutations=permutations)
    choice = router.choose(text)
    for option, probability in sorted(choice.probabilities.items(), key=lambda kv: -kv[1]):
        say(f"{probability:6.1%}  {option}{'  <' if option == choice.capability else ''}")


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="JSONL of trace-gym rollout, or results of tau-bench or tau2, the base first.", show_default=False
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write the evaluation as JSON.")] = None,
) -> None:
    """Compare policies on the same scenarios of one split: intervals, paired test, gained and lost.

    Example: trace-gym evaluate base.jsonl adapter.jsonl
    """
    from trace_gym import evaluate as stage
    from trace_gym.evaluate.from_files import compare_files

    _keep_inputs(out, *files)
    made = compare_files(files)
    terminal.console().print(stage.render(made))
    if out is not None:
        made.write(out)
        say(f"written to {out}")


def _settings(path: Path | None) -> dict[str, object]:
    from trace_gym.parsing import read_yaml

    if path is None:
        return {}
    settings = read_yaml(path, "See docs/train.md")
    if not isinstance(settings, dict) or not settings:
        found = type(settings).__name__ if settings else "nothing"
        raise ConfigError(f"{path}: expected settings by name, found {found}. Leave out --config for the defaults")
    return settings


def _keep_inputs(out: Path | None, *inputs: Path) -> None:
    """Refuse an output path that is one of the inputs.

    Raises:
        ConfigError: The output would replace an input.
    """
    if out is not None and any(out.resolve() == path.resolve() for path in inputs):
        raise ConfigError(f"--out {out} is also an input, which would be replaced. Choose another path")


def _needs_lab() -> None:
    from importlib.util import find_spec

    from trace_gym.errors import MissingExtra

    if missing := [m for m in ("torch", "transformers", "peft") if find_spec(m) is None]:
        raise MissingExtra(f"{', '.join(missing)} missing; pip install 'trace-gym[lab]'")

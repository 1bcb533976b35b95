"""Verbs about agents: rollout, diagnose, train, route, evaluate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console

from trace_gym import registry
from trace_gym.cli.environments import Env, matching_names
from trace_gym.errors import ConfigError, ReadError
from trace_gym.policies.base import BatchPolicy, Policy
from trace_gym.types import Trajectory

Model = Annotated[str, typer.Option(help="lab (the embedded agent), or a Hugging Face folder or name.")]
Levels = Annotated[list[int] | None, typer.Option("--level", help="Level; repeat for several, all by default.")]


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    for verb in (rollout, diagnose, train, route, evaluate):
        app.command()(verb)


def rollout(
    env: Env,
    out: Annotated[Path, typer.Option(help="JSONL file; a second call adds what is missing.")],
    policy: Annotated[str, typer.Option(help="oracle, ablated, idle, random, model, or openai:MODEL.")] = "model",
    model: Model = "lab",
    adapter: Annotated[Path | None, typer.Option(help="LoRA folder to put on the model.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Scenarios.")] = 100,
    samples: Annotated[int, typer.Option(min=1, help="Attempts at each scenario.")] = 1,
    level: Levels = None,
    split: Annotated[str, typer.Option(help="train, validate, select or test.")] = "select",
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.")] = 1.0,
    base_url: Annotated[
        str | None, typer.Option(help="Endpoint for openai:MODEL; the key comes from OPENAI_API_KEY.")
    ] = None,
) -> None:
    """Play scenarios with a policy and write the trajectories.

    Example: trace-gym rollout tau2_precondition --policy oracle --out oracle.jsonl
    """
    from trace_gym.rollout import collect

    scenarios = registry.scenarios(registry.name_of(env), split, n, levels=level)
    actor = _policy(policy, model, adapter, base_url, temperature)
    records = collect(actor, scenarios, path=out, samples=samples, temperature=temperature)
    scored = [r for r in records if r.success is not None]
    rate = f"{sum(bool(r.success) for r in scored) / len(scored):.1%} successful" if scored else "none scored"
    typer.echo(f"{len(records)} episodes, {rate}, {len(records) - len(scored)} not scored: {out}")


def diagnose(
    source: Annotated[Path, typer.Argument(help="Results of tau-bench or tau2, or JSONL of trace-gym rollout.")],
    delta: Annotated[float, typer.Option(help="Least contrastive gap.")] = 0.20,
    rho: Annotated[float, typer.Option(help="Least share of the failures.")] = 0.10,
    out: Annotated[Path | None, typer.Option(help="Write the diagnosis as JSON.")] = None,
) -> None:
    """Name the capabilities whose lack explains an agent's failures.

    Example: trace-gym diagnose results.json --out diagnosis.json
    """
    from trace_gym import diagnose as stage
    from trace_gym.files import write
    from trace_gym.targets.results import read_results

    found = stage.diagnose(read_results(source), delta=delta, rho=rho)
    Console().print(stage.render(found))
    if out is not None:
        write(out, found.model_dump_json(indent=1) + "\n")
        typer.echo(f"written to {out}; next: trace-gym synthesize --from {out}")


def train(
    env: Env,
    out: Annotated[Path, typer.Option(help="Folder of the run; a run found there is continued.")],
    model: Model = "lab",
    config: Annotated[Path | None, typer.Option(help="YAML of GRPO settings; see docs/train.md.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Override the settings.")] = None,
    level: Levels = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Override the settings; 0 by default.")] = None,
) -> None:
    """Train a LoRA adapter on an environment by GRPO.

    Without --model, the built-in toy model is trained, which shows how training works and is of no other use.

    Example: trace-gym train tau2_precondition --level 0 --out runs/precondition

    With a model: trace-gym train tau2_precondition --model Qwen/Qwen3-4B-Instruct-2507 --config my.yaml --out runs/qwen
    """
    from trace_gym.lab import model_folder
    from trace_gym.trainers.config import GRPOConfig

    settings = _settings(config)
    settings |= {"seed": seed} if seed is not None else {}
    settings |= {"iterations": iterations} if iterations else {}
    settings |= {"levels": dict.fromkeys(level, 1.0)} if level else {}
    grpo = GRPOConfig.parse(settings)
    name = registry.name_of(env)
    _needs_lab()
    from trace_gym.trainers.torch_grpo import train as run_grpo

    if model == "lab":
        typer.echo("training the built-in toy model (0.36 million parameters); --model names another one", err=True)
    done = run_grpo(grpo, env=name, model_dir=model_folder(model), out_dir=out)
    last = done.metrics[-1]
    typer.echo(f"{done.ended} after {len(done.metrics)} iterations and {done.rollouts} rollouts: {done.path}")
    typer.echo(json.dumps({k: last[k] for k in ("reward", "success", "informative") if k in last}))


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
    _needs_lab()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from trace_gym.lab import model_folder
    from trace_gym.route import LogitRouter, options_for
    from trace_gym.targets.tau2.needs import DESCRIPTIONS

    names = [registry.name_of(e) for e in env]
    told = {n: DESCRIPTIONS.get(registry.load(n).capability, registry.manifest(n).title) for n in names}
    folder = model_folder(model)
    chat, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    router = LogitRouter(chat, tokenizer, options_for(told), permutations=permutations)
    choice = router.choose(text)
    for option, probability in sorted(choice.probabilities.items(), key=lambda kv: -kv[1]):
        typer.echo(f"{probability:6.1%}  {option}{'  <' if option == choice.capability else ''}")


def evaluate(
    files: Annotated[
        list[Path], typer.Argument(help="JSONL of trace-gym rollout, the base first.", show_default=False)
    ],
    out: Annotated[Path | None, typer.Option(help="Write the evaluation as JSON.")] = None,
) -> None:
    """Compare policies on the same test scenarios: intervals, paired test, gained and lost.

    Example: trace-gym evaluate base.jsonl adapter.jsonl
    """
    from trace_gym import evaluate as stage
    from trace_gym.pipeline.common import trajectories
    from trace_gym.types import Scenario

    records = {f.stem: {t.task: t for t in trajectories(f)} for f in files}
    shared = set.intersection(*(set(r) for r in records.values()))
    if not shared:
        raise ReadError(f"{', '.join(map(str, files))} have no scenario in common; roll out the same ones")
    scenarios = sorted((Scenario.parse(s) for s in shared), key=str)

    def player(by_task: dict[str, Trajectory]) -> stage.Player:
        return lambda asked: [by_task[str(s)] for s in asked]

    made = stage.evaluate_policies({n: player(r) for n, r in records.items()}, scenarios)
    Console().print(stage.render(made))
    if out is not None:
        made.write(out)


def _policy(
    policy: str, model: str, adapter: Path | None, base_url: str | None, temperature: float
) -> Policy | BatchPolicy:
    from trace_gym.policies import scripted
    from trace_gym.validate.policies import SCRIPTED

    if policy.startswith("openai:"):
        from trace_gym.policies.openai import OpenAIPolicy

        return OpenAIPolicy(policy.removeprefix("openai:"), base_url=base_url, temperature=temperature)
    if policy == "model":
        _needs_lab()
        from trace_gym.lab import model_folder
        from trace_gym.policies.hf import HFPolicy

        return HFPolicy.load(model_folder(model), adapter)
    known: dict[str, Callable[[], Policy]] = {**SCRIPTED, "idle": scripted.Idle}
    if policy not in known:
        raise ConfigError(f"there is no policy {policy!r}; expected {', '.join(known)}, model, or openai:MODEL")
    return known[policy]()


def _settings(path: Path | None) -> dict[str, object]:
    if path is None:
        return {}
    try:
        settings = yaml.safe_load(path.read_text()) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no YAML: {error}") from None
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: expected settings by name, found {type(settings).__name__}")
    return settings


def _needs_lab() -> None:
    from importlib.util import find_spec

    from trace_gym.errors import MissingExtra

    if missing := [m for m in ("torch", "transformers", "peft") if find_spec(m) is None]:
        raise MissingExtra(f"{', '.join(missing)} missing; pip install 'trace-gym[lab]'")

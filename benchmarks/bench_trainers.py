"""Time and memory of the GRPO trainers: `torch_grpo` with and without prefix sharing, and TRL's `GRPOTrainer`.

    python benchmarks/bench_trainers.py [--env NAME ...] [--rounds 3] [--iterations 4] [--cpu-time]
    python benchmarks/bench_trainers.py --width 512 --layers 3          # a model of 10.2 million parameters
    python benchmarks/bench_trainers.py --micro-batch-tokens 4096

Every trainer runs in its own process with one thread, on the same model, environment, scenarios and batch, with the
settings of the preset ``demo`` (8 scenarios with 8 rollouts each, two optimizer steps). The trainers run alternately,
so that a change in the load of the machine affects all of them. The first iteration of each process is not counted. The
table shows medians over rounds and iterations, the time of each trainer relative to that of the first one, and the
share of the rollouts in the time of an iteration. The rest of an iteration is mostly the update.

Without --width, the model is the toy model. With --width, it is a random Qwen3 of this width with the toy model's
tokenizer, and --layers is its number of layers. Its number of parameters is printed.

The last lines compare the number of tokens that one update computes with prefix trees, including their padding, with
one row per rollout, and with one row per turn, as in the code of the TRACE paper, both without padding. For the prefix
trees, they show the share of padding, and the share of the pairs of tokens that attention computes but the mask
removes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

TRAINERS: dict[str, dict[str, Any]] = {
    "torch_grpo": {},
    "torch_grpo, rows": {"prefix_sharing": False},
    "trl_grpo": {"trainer": "trl_grpo"},
}
COLUMNS = {
    "seconds": "{:>11.2f}",
    "relative": "{:>8.2f}",
    "rollout_share": "{:>8.0%}",
    "rollouts_per_s": "{:>10.1f}",
    "tokens_per_s": "{:>16.0f}",
    "peak_mb": "{:>8.0f}",
}
HEADER = (
    f"{'trainer':<18} {'s/iteration':>11} {'relative':>8} {'rollouts':>8} {'rollouts/s':>10} {'trained tokens/s':>16} "
    f"{'peak MB':>8}"
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", nargs="+", default=["tau2_precondition", "tau2_multi_step"])
    parser.add_argument("--width", type=int, default=0, help="hidden size of a random model; 0 for the toy model")
    parser.add_argument("--layers", type=int, default=4, help="layers of a random model")
    parser.add_argument("--micro-batch-tokens", type=int, help="tokens per forward pass; default: that of the trainer")
    parser.add_argument(
        "--cpu-time", action="store_true", help="measure CPU time, which other programs affect less; not for a GPU"
    )
    parser.add_argument("--rounds", type=int, default=3, help="processes per trainer; 0 only counts tokens")
    parser.add_argument("--iterations", type=int, default=4, help="iterations of a process, including the first one")
    parser.add_argument("--groups", type=int, help="scenarios of an iteration; by default those of the preset demo")
    parser.add_argument("--samples", type=int, help="rollouts of a scenario; by default those of the preset demo")
    parser.add_argument("--trainers", nargs="+", default=list(TRAINERS), choices=list(TRAINERS))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        work(json.loads(options.worker))
        return
    with tempfile.TemporaryDirectory() as folder:
        model = random_model(Path(folder), options.width, options.layers) if options.width else "lab"
        for env in options.env:
            print(f"\n{env}, {'random model of width ' + str(options.width) if options.width else 'toy model'}")
            if options.rounds:
                compare(env, model, options)
            count_tokens(env, model, overrides(options))


def overrides(options: argparse.Namespace) -> dict[str, int]:
    """Return the settings of the trainer that the options set."""
    names = ("groups", "samples", "micro_batch_tokens")
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def compare(env: str, model: str, options: argparse.Namespace) -> None:
    """Run the trainers alternately, and print a table."""
    seen: dict[str, list[dict[str, Any]]] = {name: [] for name in options.trainers}
    for number in range(options.rounds):
        for name in options.trainers:
            job = {"env": env, "model": model, "seed": number, "iterations": options.iterations}
            job |= {"cpu_time": options.cpu_time} | overrides(options) | TRAINERS[name]
            command = [sys.executable, __file__, "--worker", json.dumps(job)]
            alone = {**os.environ, "OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
            done = subprocess.run(command, env=alone, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{name} failed:\n{done.stderr[-2000:]}")
            seen[name].append(json.loads(done.stdout.splitlines()[-1]))
            print(f"  round {number + 1}, {name}: {seen[name][-1]['seconds']:.2f} s", file=sys.stderr, flush=True)
    first = median(run["seconds"] for run in seen[options.trainers[0]])
    print(HEADER)
    for name, runs in seen.items():
        values = {key: median(run[key] for run in runs) for key in runs[0]}
        values["relative"] = values["seconds"] / first
        print(f"{name:<18} " + " ".join(form.format(values[key]) for key, form in COLUMNS.items()))


def work(job: dict[str, Any]) -> None:
    """Train in this process, and print the measurements as JSON."""
    import torch

    torch.set_num_threads(1)
    if job.pop("cpu_time"):
        time.monotonic = time.process_time  # the clock of the trainers' metrics
    from trace_gym.models import ModelSettings
    from trace_gym.trainers import registered

    env, model = job.pop("env"), ModelSettings.parse(job.pop("model"))
    config = registered.parse({**settings(env), **job})
    with tempfile.TemporaryDirectory() as out:
        done = registered.trainer(config.trainer).train(config, env=env, model=model, out_dir=out, progress=False)
    rows: list[dict[str, Any]] = list(done.metrics)[1:]
    seconds = [row["seconds"] for row in rows]
    result = {
        "seconds": median(seconds),
        "rollout_share": sum(row["rollout_seconds"] for row in rows) / sum(seconds),
        "rollouts_per_s": config.groups * config.samples * len(rows) / sum(seconds),
        "tokens_per_s": sum(row["trained_tokens"] or 0 for row in rows) / sum(seconds),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(result))


def settings(env: str) -> dict[str, Any]:
    """Return the settings of the preset ``demo`` for an environment."""
    from trace_gym.settings import RunConfig

    preset = RunConfig.preset("demo")
    shared = ("groups", "samples", "minibatches", "lr", "lora_rank", "max_tokens", "max_turn_tokens")
    chosen = {name: getattr(preset.train, name) for name in shared}
    levels = {level: 1.0 for level in preset.levels.get(env, [0, 1])}
    return {**chosen, "levels": levels, "max_idle_iterations": 1000}


def count_tokens(env: str, model: str, changed: dict[str, int]) -> None:
    """Print the number of tokens that one update computes in each way."""
    import torch

    from trace_gym import registry
    from trace_gym.models import ModelSettings
    from trace_gym.policies.hf import merged
    from trace_gym.trainers.batch import TrainingSample, batches
    from trace_gym.trainers.config import GRPOConfig
    from trace_gym.trainers.loop import Learner

    config = GRPOConfig.parse(settings(env) | changed)
    learner = Learner.build(config, ModelSettings.parse(model))
    scenarios = registry.scenarios(env, "train", config.groups, levels=list(config.levels_of(env) or {}) or None)
    episodes = [registry.start_episode(s) for s in scenarios for _ in range(config.samples)]
    with merged(learner.model):
        rollouts = learner.policy.rollout(episodes, generator=torch.Generator().manual_seed(0))
    samples = [TrainingSample(r.ids, r.mask, r.logprobs, 1.0) for r in rollouts if any(r.mask)]
    made = list(batches(samples, config, learner.model))
    trees = sum(b.ids_RL.numel() for b in made)
    nodes = sum(int((b.attention.diagonal(dim1=-2, dim2=-1) == 0).sum()) for b in made)
    pairs, attended = sum(b.attention.numel() for b in made), sum(int((b.attention == 0).sum()) for b in made)
    ends = [[n + 1 for n, m in enumerate(s.mask) if m and not (*s.mask[n + 1 :], False)[0]] for s in samples]
    rows = sum(len(s.ids) for s in samples)
    counts = {"prefix trees": trees, "one row per rollout": rows, "one row per turn": sum(map(sum, ends))}
    print("tokens of an update: " + ", ".join(f"{name} {n:,} ({n / trees:.1f}x)" for name, n in counts.items()))
    padding, masked = 1 - nodes / trees, 1 - attended / pairs
    print(f"prefix trees: {padding:.1%} of the tokens are padding, {masked:.1%} of the pairs are masked")


def random_model(folder: Path, width: int, layers: int) -> str:
    """Write a random Qwen3 with the toy model's tokenizer, and return its folder."""
    from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM, set_seed

    from trace_gym.lab import BASE

    set_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        num_key_value_heads=max(1, width // 128),
        head_dim=64,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = Qwen3ForCausalLM(config)
    print(f"random model: {sum(p.numel() for p in model.parameters()) / 1e6:.1f} million parameters")
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    return str(folder / "model")


if __name__ == "__main__":
    main()

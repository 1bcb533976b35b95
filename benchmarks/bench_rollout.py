"""Speed of batched rollouts, in episodes per second, for a small random Qwen3 model with scripted turns.

The turns are fixed so that runs are comparable: the model computes and samples as usual, and each sampled token is then
replaced. The script prints the best of several repetitions, in wall-clock and in CPU seconds, which differ on a busy
machine. ``python benchmarks/bench_rollout.py --help`` lists the settings.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tiny_model import CORPUS, Puppet, tiny_model, tiny_tokenizer  # noqa: E402
from toy_world import ToyBoxes, toys  # noqa: E402

from trace_gym.episode import Action, Episode, interface_of  # noqa: E402
from trace_gym.policies import batch  # noqa: E402
from trace_gym.policies.hf import merged  # noqa: E402
from trace_gym.rollouts import play  # noqa: E402
from trace_gym.types import Call, Interface, Say, Scenario  # noqa: E402


@dataclass(frozen=True)
class Thorough:
    """Policy that looks into some boxes, then opens one and reports it. Episodes differ by up to two turns."""

    turns: int
    name: str = "thorough"

    def act(self, episode: Episode) -> Action:
        assert isinstance(episode.start, ToyBoxes)
        boxes, seed = list(episode.start.boxes), episode.scenario.seed
        left = self.turns - seed % 3 - episode.turns
        if left > 2:
            return Call("look", {"box": boxes[(episode.turns + seed) % len(boxes)]})
        if left == 2:
            return Call("open_box", {"box": boxes[0]})
        return Say(f"I have opened the box {boxes[0]}." + " Is there more?" * (seed % 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=64, help="episodes at once")
    parser.add_argument("--group", type=int, default=8, help="rollouts of each scenario")
    parser.add_argument("--turns", type=int, default=12, help="at most 12")
    parser.add_argument("--rules", type=int, default=0, help="length of the system prompt, in sentences")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--share", type=float, default=batch.PREFILL_SHARE, help="see batch.PREFILL_SHARE")
    parser.add_argument("--lora", choices=["no", "plain", "merged"], default="no")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    batch.PREFILL_SHARE = options.share

    rules = " ".join(f"Rule {n}: never open box {n * 7}." for n in range(options.rules))
    own = interface_of(ToyBoxes)
    interface = own.model_copy(update={"policy": f"{own.policy} {rules}"})
    scenarios = [s for s in toys(max(1, options.rows // options.group), level=2) for _ in range(options.group)]
    policy = puppet(scenarios, interface, options)
    with merged(policy.model) if options.lora == "merged" else nullcontext():
        print(best_of(options.repeat, policy, scenarios, interface))


def puppet(scenarios: list[Scenario], interface: Interface, options: argparse.Namespace) -> Puppet:
    """Return a policy with a model of width 64 and three layers, and a tokenizer for the text of the episodes."""
    script = Thorough(options.turns)
    spoken = [str(m["content"]) for s in scenarios for m in play(script, Episode(ToyBoxes, s)).messages[1:]]
    tokenizer = tiny_tokenizer(1242, corpus=[*CORPUS, *spoken], across_words=True)
    model: Any = tiny_model(len(tokenizer), layers=3, hidden=64, heads=4, kv_heads=4)
    if options.lora != "no":
        model = get_peft_model(model, LoraConfig(r=8, target_modules="all-linear"))
    return Puppet(script, model, tokenizer, max_tokens=4096)


def best_of(repeat: int, policy: Puppet, scenarios: list[Scenario], interface: Interface) -> str:
    wall, cpu = [], []
    for _ in range(repeat):
        episodes = [Episode(ToyBoxes, s, interface=interface) for s in scenarios]
        began = time.perf_counter(), time.process_time()
        rollouts = policy.rollout(episodes, generator=torch.Generator().manual_seed(0))
        wall.append(time.perf_counter() - began[0])
        cpu.append(time.process_time() - began[1])
    count = len(rollouts)
    sampled, total = sum(sum(r.mask) for r in rollouts), sum(len(r.ids) for r in rollouts)
    turns = sum(r.episode.turns for r in rollouts)
    return (
        f"{count / min(wall):.0f} rollouts/s by the clock, {count / min(cpu):.0f} a CPU second; "
        f"{sampled / min(wall):.0f} sampled tokens/s\n"
        f"a rollout: {turns / count:.1f} turns, {sampled / count:.0f} sampled of {total / count:.0f} tokens"
    )


if __name__ == "__main__":
    main()

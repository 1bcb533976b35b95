"""Batched rollouts on the CPU: episodes a second with a small random Qwen3 whose turns are scripted.

The turns are fixed so that runs compare; the model computes and samples as usual and its draw is
replaced. Run ``python benchmarks/bench_rollout.py --help``.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent / "tests")]

from tiny_model import CORPUS, Puppet, tiny_model, tiny_tokenizer
from toy_world import open_toy, toys

from trace_gym.episode import Action, Episode
from trace_gym.policies import batch
from trace_gym.policies.hf import merged
from trace_gym.types import Call, Say


@dataclass(frozen=True)
class Thorough:
    """Looks into every box, again and again, then opens one and says so; how often differs between scenarios."""

    turns: int
    name: str = "thorough"

    def act(self, episode: Episode) -> Action:
        boxes = list(episode.start.boxes)  # type: ignore[attr-defined]
        last = self.turns - episode.scenario.seed % 3
        if episode.turns < last - 2:
            return Call("look", {"box": boxes[(episode.turns + episode.scenario.seed) % len(boxes)]})
        if episode.turns == last - 2:
            return Call("open_box", {"box": boxes[0]})
        return Say(f"I have opened the box {boxes[0]}." + " Is there more?" * (episode.scenario.seed % 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--group", type=int, default=8, help="rollouts of each scenario")
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--share", type=float, default=batch.PREFILL_SHARE)
    parser.add_argument("--lora", choices=["no", "plain", "merged"], default="no")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    batch.PREFILL_SHARE = options.share

    scenarios = [s for s in toys(options.rows // options.group, level=2) for _ in range(options.group)]
    spoken = [str(m["content"]) for s in scenarios[:8] for m in _played(open_toy(s), options.turns).messages[1:]]
    tokenizer = tiny_tokenizer(1242, corpus=[*CORPUS, *spoken] * 4, across_words=True)
    model = tiny_model(len(tokenizer), layers=3, hidden=64, heads=4, kv_heads=4)
    if options.lora != "no":
        model = get_peft_model(model, LoraConfig(r=8, target_modules="all-linear"))
    policy = Puppet(Thorough(options.turns), model, tokenizer)

    def once() -> None:
        began = time.process_time()
        rollouts = policy.rollout([open_toy(s) for s in scenarios], generator=torch.Generator().manual_seed(0))
        took = time.process_time() - began
        sampled, total = sum(sum(r.mask) for r in rollouts), sum(len(r.ids) for r in rollouts)
        turns = sum(r.episode.turns for r in rollouts) / len(rollouts)
        print(
            f"{len(rollouts) / took:6.1f} rollouts/s  {sampled / took:8.0f} sampled tokens/s   a rollout: {turns:.1f} turns, "
            f"{sampled / len(rollouts):.0f} sampled of {total / len(rollouts):.0f} tokens"
        )

    if options.lora == "merged":
        with merged(model):
            _repeat(once, options)
    else:
        _repeat(once, options)


def _repeat(once, options) -> None:
    for _ in range(options.repeat):
        once()
    if options.profile:
        with torch.profiler.profile() as found:
            once()
        print(found.key_averages().table(sort_by="self_cpu_time_total", row_limit=25, max_name_column_width=50))


def _played(episode: Episode, turns: int) -> Episode:
    while not episode.done:
        episode.step(Thorough(turns).act(episode))
    return episode


if __name__ == "__main__":
    main()

"""Script that tests run in several processes: ``torchrun ranks_worker.py TASK MODEL OUT``."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import torch
from test_torch_grpo import SMALL, run
from test_update import lively, ragged_groups

from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.ranks import Ranks
from trace_gym.trainers.update import update

CONFIG = GRPOConfig(minibatches=1, max_grad_norm=1e9, lora_rank=2, max_tokens=400, micro_batch_tokens=60, kl_coef=0.1)


def main(task: str, model: Path, out: Path) -> None:
    if task == "gradient":
        gradient(model, out)
    else:
        config = SMALL.model_copy(update={"iterations": int(task), "groups": 3})
        run(config, model, out)


def gradient(model_dir: Path, out: Path) -> None:
    """Take one optimizer step, and write the sum of the weights' changes and the metrics of each process."""
    model, _ = lively(CONFIG, model_dir)
    weights = [p for p in model.parameters() if p.requires_grad]
    before = [w.detach().clone() for w in weights]
    ranks = Ranks.join()
    fit = update(model, torch.optim.SGD(weights, lr=1.0), ragged_groups(), CONFIG, Random(0), ranks)
    moved = torch.cat([(old - w.detach()).flatten() for old, w in zip(before, weights, strict=True)])
    out.mkdir(exist_ok=True)
    torch.save({"moved": moved, "fit": fit, "count": ranks.count}, out / f"{ranks.rank}.pt")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))

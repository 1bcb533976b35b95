"""Pretraining of the toy model from scratch: ``python -m trace_gym.lab.pretrain --out DIR``.

The data are imperfect demonstrations (`demos`), routing exercises and questions (`lessons`), all
from the pre-training seeds. The result is an ordinary Hugging Face folder, whose attention heads are widened
at the end to a size that vLLM serves (`heads`). The same command on the same versions of the libraries, with one
thread, gives the same weights.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from trace_gym.errors import ConfigError
from trace_gym.files import write
from trace_gym.lab import corpus, demos, heads
from trace_gym.lab.sizes import SIZES, ModelSize


def train(
    size: ModelSize, out: Path, *, seed: int = 0, workers: int = 1, report: int = 50, skip: int = 0
) -> dict[str, Any]:
    """Pretrain a base model of this size, write it to the folder `out`, and return its metrics.

    Args:
        size: Shape and pretraining phases of the model.
        out: Output folder. The model is saved after every phase.
        seed: Seed of the initial weights and of the order of the batches.
        workers: Number of processes that render conversations.
        report: Number of steps between two lines of ``pretrain.jsonl``.
        skip: Number of phases that the model in `out` has already completed.
    """
    import torch
    from transformers import Qwen3ForCausalLM

    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    if not skip:
        corpus.make_tokenizer().save_pretrained(out)
    tok = corpus.load_tokenizer(str(out))
    if skip:
        model = Qwen3ForCausalLM.from_pretrained(out, dtype=torch.float32)
        if skip < len(size.phases) and model.config.head_dim != size.hidden // size.heads:
            raise ConfigError(
                f"the training in {out} cannot be continued, because the attention heads of the model were already "
                f"widened: found the head size {model.config.head_dim}, expected {size.hidden // size.heads}. Train a "
                "new model in another folder"
            )
    else:
        model = Qwen3ForCausalLM(size.config(len(tok), tok.eos_token_id, tok.pad_token_id))
    tokens = 0
    with (out / "pretrain.jsonl").open("a" if skip else "w") as log:
        for number in range(skip, len(size.phases)):
            tokens += _phase(model, size, number, out, log, seed, workers, report)
            if number == len(size.phases) - 1:
                model = heads.widen(model)
            model.save_pretrained(out)
    metrics = {
        "size": asdict(size),
        "parameters": sum(p.numel() for p in model.parameters()),
        "tokens": tokens,
        "seed": seed,
        "competence": demos.COMPETENCE,
    }
    write(out / "lab.json", json.dumps(metrics, indent=1) + "\n")
    return metrics


def _phase(
    model: Any, size: ModelSize, number: int, out: Path, log: TextIO, seed: int, workers: int, report: int
) -> int:
    """Train one phase with new optimizers, and return the number of tokens that were processed."""
    import torch

    phase, done = size.phases[number], sum(p.episodes for p in size.phases[:number])
    optimizers = _optimizers(model, phase.lr)
    seen, tokens, began = 0, 0, time.monotonic()
    running: list[float] = []
    for step, (batch, count) in enumerate(corpus.batches(out, phase, done, size.batch_tokens, seed, workers)):
        # Learning rate schedule: warm-up over 100 steps, and linear decay over the last 40 % of the phase.
        scale = min(1.0, (step + 1) / 100, 0.02 + (1 - seen / phase.episodes) / 0.4)
        for optimizer, lr in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = lr * scale
        loss = _loss(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, _ in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        seen, tokens = seen + count, tokens + int(batch["ids"].numel())
        running.append(loss.item())
        if step % report == 0:
            line = {
                "phase": number,
                "step": step,
                "episodes": seen,
                "tokens": tokens,
                "loss": round(float(np.mean(running)), 4),
                "seconds": round(time.monotonic() - began, 1),
            }
            print(json.dumps(line), flush=True)
            log.write(json.dumps(line) + "\n")
            log.flush()
            running = []
    return tokens


def _loss(model: Any, batch: dict[str, Any]) -> Any:
    """Return the weighted next-token cross-entropy. Causal attention makes a mask for right padding unnecessary."""
    import torch

    weights = batch["weights"][:, 1:]
    hidden = model.model(input_ids=batch["ids"]).last_hidden_state[:, :-1][weights > 0]
    losses = torch.nn.functional.cross_entropy(
        model.lm_head(hidden), batch["ids"][:, 1:][weights > 0], reduction="none"
    )
    weights = weights[weights > 0]
    return (losses * weights).sum() / weights.sum()


def _optimizers(model: Any, lr: float) -> list[tuple[Any, float]]:
    """Return the optimizers: Muon for hidden matrices, AdamW for embeddings and norms."""
    import torch

    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    muon = torch.optim.Muon(matrices, lr=lr, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    return [(muon, lr), (torch.optim.AdamW(others, lr=lr, betas=(0.9, 0.95), weight_decay=0.0), lr)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "base")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="phases that the folder already has behind it")
    arguments = parser.parse_args()
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    print(json.dumps(train(SIZES[arguments.size], arguments.out, seed=arguments.seed, skip=arguments.skip)))


if __name__ == "__main__":
    main()

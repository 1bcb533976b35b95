"""Pre-train the embedded agent from scratch: ``python -m trace_gym.lab.pretrain --out DIR``.

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
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, TextIO

import numpy as np

from trace_gym.errors import ConfigError
from trace_gym.lab import demos, heads, lessons, tokenizer

CONTEXT_WEIGHT, CONTEXT_SHARE = 0.4, 0.3
"""Loss weight of tokens that the agent does not write, and the share of them that is counted at all:
the agent learns to read records by predicting them, and the output layer is spared the rest."""

LESSON_WEIGHT = 8.0
"""Loss weight of the answer to a lesson, which is a token or two where a demonstration writes sixty."""


@dataclass(frozen=True)
class Phase:
    """A stretch of pre-training with a mix of data and a learning rate of its own."""

    episodes: int
    routes: int = 0
    """Routing exercises in a hundred conversations."""
    quizzes: int = 100
    """Lessons with questions in a hundred; the rest are demonstrations."""
    kinds: tuple[str, ...] = lessons.KINDS
    """What the questions are about; one that stands twice comes twice as often."""
    lr: float = 5e-3


@dataclass(frozen=True)
class Size:
    """Shape of the model and amount of pre-training."""

    hidden: int = 64
    layers: int = 4
    heads: int = 4
    ffn: int = 192
    phases: tuple[Phase, ...] = (
        Phase(6_000, kinds=("prices",)),
        Phase(9_000, kinds=("prices", "offers")),
        Phase(14_000, kinds=("offers", "flights", "flights", "profiles")),
        Phase(8_000, kinds=("owners", "lists", "flights")),
        Phase(42_000, routes=12, quizzes=18, kinds=("flights", "flights", "profiles", "owners", "lists")),
        Phase(44_000, routes=6, quizzes=8, kinds=("flights", "flights", "lists"), lr=4e-3),
    )
    """Lessons first, each building on the one before: a model of this size learns to choose among records only
    once it can compare prices. Then mostly demonstrations."""
    batch_tokens: int = 6_000

    def config(self, vocab: int, eos: int, pad: int) -> Any:
        from transformers import Qwen3Config

        return Qwen3Config(
            vocab_size=vocab, hidden_size=self.hidden, num_hidden_layers=self.layers, num_attention_heads=self.heads,
            num_key_value_heads=self.heads, head_dim=self.hidden // self.heads, intermediate_size=self.ffn,
            max_position_embeddings=2048, tie_word_embeddings=True, eos_token_id=eos, pad_token_id=pad,
            bos_token_id=None, attention_dropout=0.0,
        )  # fmt: skip


SIZES = {
    "small": Size(),
    "smoke": Size(
        hidden=32,
        layers=2,
        ffn=64,
        phases=(Phase(300, routes=12, quizzes=30), Phase(200, routes=6, quizzes=10)),
    ),
    "large": Size(
        hidden=256,
        layers=8,
        heads=8,
        ffn=768,
        phases=(
            Phase(20_000, kinds=("prices", "offers"), lr=2e-3),
            Phase(60_000, kinds=("offers", "flights", "flights", "profiles"), lr=2e-3),
            Phase(250_000, routes=12, quizzes=18, lr=2e-3),
            Phase(200_000, routes=6, quizzes=8, lr=2e-3),
        ),
        batch_tokens=32_000,
    ),
}
"""``small`` ships with the project, ``large`` is meant for a GPU, ``smoke`` for tests."""

Row = tuple[list[int], list[float]]
"""Token ids of a conversation and the loss weight of each."""
CHUNK = 500
"""Conversations a worker renders at a time."""
AHEAD = 8
"""Chunks that are rendered ahead of training."""


def train(size: Size, out: Path, *, seed: int = 0, workers: int = 1, report: int = 50, skip: int = 0) -> dict[str, Any]:
    """Train a base of this size into the folder `out` and return its figures.

    Args:
        size: Shape and phases.
        out: Folder; the model is saved after every phase.
        seed: Of the initial weights and of the order of the batches.
        workers: Processes that render conversations.
        report: Steps between two lines of ``pretrain.jsonl``.
        skip: Phases that `out` already has behind it.
    """
    import torch
    from transformers import Qwen3ForCausalLM

    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    if not skip:
        make_tokenizer().save_pretrained(out)
    tok = _tokenizer(str(out))
    if skip:
        model = Qwen3ForCausalLM.from_pretrained(out, dtype=torch.float32)
        if skip < len(size.phases) and model.config.head_dim != size.hidden // size.heads:
            raise ConfigError(
                f"cannot train {out} further: found head size {model.config.head_dim}, expected "
                f"{size.hidden // size.heads}. Its heads were widened after its last phase; train a new folder"
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
    figures = {
        "size": asdict(size),
        "parameters": sum(p.numel() for p in model.parameters()),
        "tokens": tokens,
        "seed": seed,
        "competence": demos.COMPETENCE,
    }
    (out / "lab.json").write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def _phase(model: Any, size: Size, number: int, out: Path, log: TextIO, seed: int, workers: int, report: int) -> int:
    """Train through one phase, with fresh optimizers, and return the tokens seen."""
    import torch

    phase, done = size.phases[number], sum(p.episodes for p in size.phases[:number])
    optimizers = _optimizers(model, phase.lr)
    seen, tokens, began = 0, 0, time.monotonic()
    running: list[float] = []
    for step, (batch, count) in enumerate(_batches(out, phase, done, size.batch_tokens, seed, workers)):
        # Warm-up, then linear over the last 40 %.
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


def make_tokenizer(conversations: int = 1500) -> Any:
    """The lab's tokenizer, trained on the first demonstrations and lessons."""
    plain = tokenizer.build(["<|end|>"], merges=1)
    texts = [tokenizer.render(plain, e.messages, e.tools) for e in demos.demonstrations(0, conversations)]
    for make in (lessons.routing_exercises, lessons.questions):
        texts += [tokenizer.render(plain, m, ()) for m in make(0, conversations // 3)]
    return tokenizer.build(texts)


def _batches(
    out: Path, phase: Phase, done: int, budget: int, seed: int, workers: int
) -> Iterator[tuple[dict[str, Any], int]]:
    """Batches of about `budget` tokens, of conversations of like length; rendered ahead by worker processes."""
    starts = list(range(done, done + phase.episodes, CHUNK))
    with ProcessPoolExecutor(max_workers=workers) as pool:
        pending = [pool.submit(rendered, str(out), s, phase) for s in starts[:AHEAD]]
        for n in range(len(starts)):
            rows = pending.pop(0).result()
            if n + AHEAD < len(starts):
                pending.append(pool.submit(rendered, str(out), starts[n + AHEAD], phase))
            yield from _grouped(rows, budget, Random(f"{seed}/{starts[n]}"))


def _grouped(rows: list[Row], budget: int, rng: Random) -> list[tuple[dict[str, Any], int]]:
    import torch

    rows = sorted(rows, key=lambda r: len(r[0]))
    groups: list[list[Row]] = [[]]
    for row in rows:
        if groups[-1] and len(row[0]) * (len(groups[-1]) + 1) > budget:
            groups.append([])
        groups[-1].append(row)
    rng.shuffle(groups)
    made = []
    for group in groups:
        width = max(len(ids) for ids, _ in group)
        ids = torch.zeros(len(group), width, dtype=torch.long)
        weights = torch.zeros(len(group), width)
        for i, (tokens, weight) in enumerate(group):
            ids[i, : len(tokens)] = torch.tensor(tokens)
            weights[i, : len(tokens)] = torch.tensor(weight)
        made.append(({"ids": ids, "weights": weights}, len(group)))
    return made


def rendered(folder: str, start: int, phase: Phase) -> list[Row]:
    """Token ids and loss weights of `CHUNK` conversations of a phase."""
    tok = _tokenizer(folder)
    routes, quizzes = CHUNK * phase.routes // 100, CHUNK * phase.quizzes // 100
    shown = demos.demonstrations(start, CHUNK - routes - quizzes)
    texts = [(tokenizer.render(tok, e.messages, e.tools), 1.0) for e in shown]
    texts += [(tokenizer.render(tok, m, ()), LESSON_WEIGHT) for m in lessons.routing_exercises(start, routes)]
    texts += [(tokenizer.render(tok, m, ()), LESSON_WEIGHT) for m in lessons.questions(start, quizzes, phase.kinds)]
    rows: list[Row] = []
    for text, weight in texts:
        ids = tok(text)["input_ids"]
        rows.append((ids, _weights(ids, weight, tok, Random(f"{start}/{len(rows)}"))))
    return rows


def _weights(ids: list[int], weight: float, tok: Any, rng: Random) -> list[float]:
    """`weight` for what the assistant writes, up to and with its end token; less or nothing for the rest."""
    assistant = tok.convert_tokens_to_ids("<|assistant|>")
    weights, writing = [], False
    for token in ids:
        weights.append(weight if writing else CONTEXT_WEIGHT * (rng.random() < CONTEXT_SHARE))
        writing = token != tok.eos_token_id if writing else token == assistant
    return weights


_loaded: dict[str, Any] = {}


def _tokenizer(folder: str) -> Any:
    if folder not in _loaded:
        from transformers import AutoTokenizer

        _loaded[folder] = AutoTokenizer.from_pretrained(folder)
    return _loaded[folder]


def _loss(model: Any, batch: dict[str, Any]) -> Any:
    """Weighted next-token cross-entropy; right padding needs no mask under causal attention."""
    import torch

    weights = batch["weights"][:, 1:]
    hidden = model.model(input_ids=batch["ids"]).last_hidden_state[:, :-1][weights > 0]
    losses = torch.nn.functional.cross_entropy(
        model.lm_head(hidden), batch["ids"][:, 1:][weights > 0], reduction="none"
    )
    weights = weights[weights > 0]
    return (losses * weights).sum() / weights.sum()


def _optimizers(model: Any, lr: float) -> list[tuple[Any, float]]:
    """Muon for the hidden matrices, AdamW for embeddings and norms."""
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

"""Pretraining data: conversations that worker processes render and group into batches."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from trace_gym.lab import demos, lessons, tokenizer
from trace_gym.lab.sizes import Phase

CONTEXT_WEIGHT, CONTEXT_SHARE = 0.4, 0.3
"""Loss weight of tokens that the agent does not write, and the fraction of these tokens that the loss includes. The
model learns to read records by predicting them. Omitting the other tokens saves computation in the output layer."""

LESSON_WEIGHT = 8.0
"""Loss weight of the answer in a lesson. It is large because an answer has only one or two tokens, whereas a
demonstration has about sixty."""

WeightedTokens = tuple[list[int], list[float]]
"""Token ids of a conversation, and the loss weight of each token."""
CHUNK = 500
"""Number of conversations that a worker process renders at a time."""
AHEAD = 8
"""Number of chunks that are rendered ahead of training."""


def make_tokenizer(conversations: int = 1500) -> Any:
    """Train the tokenizer of the toy model on the first demonstrations and lessons."""
    plain = tokenizer.build(["<|end|>"], merges=1)
    texts = [tokenizer.render(plain, e.messages, e.tools) for e in demos.demonstrations(0, conversations)]
    for make in (lessons.routing_exercises, lessons.questions):
        texts += [tokenizer.render(plain, m, ()) for m in make(0, conversations // 3)]
    return tokenizer.build(texts)


def batches(
    out: Path, phase: Phase, done: int, budget: int, seed: int, workers: int
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield batches of about `budget` tokens. Each contains conversations of similar length.

    Worker processes render the conversations.
    """
    starts = list(range(done, done + phase.episodes, CHUNK))
    with ProcessPoolExecutor(max_workers=workers) as pool:
        pending = [pool.submit(rendered, str(out), s, phase) for s in starts[:AHEAD]]
        for n in range(len(starts)):
            rows = pending.pop(0).result()
            if n + AHEAD < len(starts):
                pending.append(pool.submit(rendered, str(out), starts[n + AHEAD], phase))
            yield from _grouped(rows, budget, Random(f"{seed}/{starts[n]}"))


def _grouped(rows: list[WeightedTokens], budget: int, rng: Random) -> list[tuple[dict[str, Any], int]]:
    import torch

    rows = sorted(rows, key=lambda r: len(r[0]))
    groups: list[list[WeightedTokens]] = [[]]
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


def rendered(folder: str, start: int, phase: Phase) -> list[WeightedTokens]:
    """Return token ids and loss weights of `CHUNK` conversations of a phase."""
    tok = load_tokenizer(folder)
    routes, quizzes = CHUNK * phase.routes // 100, CHUNK * phase.quizzes // 100
    shown = demos.demonstrations(start, CHUNK - routes - quizzes)
    texts = [(tokenizer.render(tok, e.messages, e.tools), 1.0) for e in shown]
    texts += [(tokenizer.render(tok, m, ()), LESSON_WEIGHT) for m in lessons.routing_exercises(start, routes)]
    texts += [(tokenizer.render(tok, m, ()), LESSON_WEIGHT) for m in lessons.questions(start, quizzes, phase.kinds)]
    rows: list[WeightedTokens] = []
    for text, weight in texts:
        ids = tok(text)["input_ids"]
        rows.append((ids, _weights(ids, weight, tok, Random(f"{start}/{len(rows)}"))))
    return rows


def _weights(ids: list[int], weight: float, tok: Any, rng: Random) -> list[float]:
    """Return `weight` for assistant tokens including the end token, and a smaller weight or zero for other tokens."""
    assistant = tok.convert_tokens_to_ids("<|assistant|>")
    weights, writing = [], False
    for token in ids:
        weights.append(weight if writing else CONTEXT_WEIGHT * (rng.random() < CONTEXT_SHARE))
        writing = token != tok.eos_token_id if writing else token == assistant
    return weights


_loaded: dict[str, Any] = {}


def load_tokenizer(folder: str) -> Any:
    """Return the tokenizer of a model folder. It is read only once per process."""
    if folder not in _loaded:
        from transformers import AutoTokenizer

        _loaded[folder] = AutoTokenizer.from_pretrained(folder)
    return _loaded[folder]

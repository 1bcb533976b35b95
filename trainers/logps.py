"""Log-probabilities of the sampled tokens of a batch, computed in chunks of the vocabulary-sized output.

The logits of all sampled tokens of a batch do not fit in memory for large vocabularies: the logits of 16,384 tokens
with a vocabulary of 152,000 are 10 GB in float32, and several copies of them exist in the backward pass. The output
layer therefore runs on chunks of positions, and recomputes each chunk in the backward pass.

Shapes: B trajectories, T sampled tokens per trajectory, P pairs of a position and the token that it predicts (see
`trace_gym.trainers.batch`), H hidden size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from trace_gym.trainers.batch import TrainingBatch

CHUNK_ELEMENTS = 2**26
"""Maximum number of logits that exist at once (256 MiB in float32)."""
ENTROPY_EVERY = 8
"""Interval between pairs for which the entropy is computed. It is used only for statistics, so a sample is
sufficient."""


@dataclass(frozen=True, slots=True)
class Entropy:
    """Sum of the entropies of the policy over some of the sampled tokens, and their number."""

    total: float
    tokens: int


def token_logps(model: nn.Module, batch: TrainingBatch, temperature: float) -> tuple[Tensor, Entropy]:
    """Return log pi(token | prefix) of the sampled tokens, with shape [B, T], and the entropy of a part of them.

    The values at padding positions are arbitrary and must be masked.
    """
    count_P = torch.bincount(batch.pairs_BT[batch.mask_BT], minlength=len(batch.tokens_P))
    states_PH, head = _predicting(model, batch)
    rows = max(1, CHUNK_ELEMENTS // _width(head, states_PH))
    logps, total, tokens = [], 0.0, 0
    for first in range(0, len(states_PH), rows):
        part = slice(first, first + rows)
        logp, entropy = _chunk(head, states_PH[part], batch.tokens_P[part], temperature, len(states_PH) > rows)
        logps.append(logp)
        count = count_P[part][::ENTROPY_EVERY]
        total, tokens = total + float((entropy * count).sum()), tokens + int(count.sum())
    return torch.cat(logps)[batch.pairs_BT], Entropy(total, tokens)


def reverse_kl(
    model: nn.Module, batch: TrainingBatch, temperature: float, teacher: Callable[[], AbstractContextManager[None]]
) -> Tensor:
    """Return KL(student || teacher) of the next-token distributions at the sampled tokens, with shape [B, T].

    The gradient flows through the student only. The values at padding positions are arbitrary and must be masked.

    Args:
        model: Model with the adapter of the student.
        batch: Trajectories of the student.
        temperature: Temperature of both distributions.
        teacher: Function that returns a context in which the model acts as the teacher, without gradients.
    """
    with teacher():
        aims_PH, head = _predicting(model, batch)
    states_PH, head = _predicting(model, batch)
    rows = max(1, CHUNK_ELEMENTS // _width(head, states_PH))

    def compute(states: Tensor, aims: Tensor) -> Tensor:
        logp_V = (head(states).float() / temperature).log_softmax(-1)
        with torch.no_grad():
            aim_V = (head(aims).float() / temperature).log_softmax(-1)
        return (logp_V.exp() * (logp_V - aim_V)).sum(-1)

    parts = []
    for first in range(0, len(states_PH), rows):
        part = states_PH[first : first + rows], aims_PH[first : first + rows]
        again = len(states_PH) > rows and torch.is_grad_enabled()
        parts.append(checkpoint(compute, *part, use_reentrant=False) if again else compute(*part))
    return torch.cat(parts)[batch.pairs_BT]


def _chunk(
    head: Callable[[Tensor], Tensor], states: Tensor, tokens: Tensor, temperature: float, again: bool
) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities of a chunk, and the entropies of every `ENTROPY_EVERY`-th row.

    If `again` is True, the logits are not kept for the backward pass but recomputed.
    """

    def compute(states: Tensor) -> tuple[Tensor, Tensor]:
        logp_V = (head(states).float() / temperature).log_softmax(-1)
        entropy = torch.special.entr(logp_V.detach()[::ENTROPY_EVERY].exp()).sum(-1)
        return logp_V.gather(-1, tokens[:, None])[:, 0], entropy

    if again and torch.is_grad_enabled():
        out: tuple[Tensor, Tensor] = checkpoint(compute, states, use_reentrant=False)
        return out
    return compute(states)


def _predicting(model: nn.Module, batch: TrainingBatch) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Return the outputs of the model at the positions of the pairs, and the function that converts them to logits.

    The outputs are hidden states [P, H]. For a model whose logits are not the output layer applied to the hidden
    states, such as a model that scales its logits, they are already the logits [P, V].
    """
    inputs = {
        "input_ids": batch.ids_RL,
        "attention_mask": batch.attention,
        "position_ids": batch.positions_RL,
        "use_cache": False,
    }
    row_P, column_P = batch.sources_P // batch.ids_RL.shape[1], batch.sources_P % batch.ids_RL.shape[1]
    if parts := _parts(model):
        backbone, head = parts
        return backbone(**inputs).last_hidden_state[row_P, column_P], head
    kept, rank_P = torch.unique(column_P, return_inverse=True)
    return model(**inputs, logits_to_keep=kept).logits[row_P, rank_P], _identity


_known: WeakKeyDictionary[nn.Module, bool] = WeakKeyDictionary()


def _parts(model: Any) -> tuple[Any, Any] | None:
    """Return the model without its output layer, and the output layer; None if the two do not produce the logits."""
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model
    backbone = getattr(causal, getattr(causal, "base_model_prefix", None) or "", None)
    head = causal.get_output_embeddings() if hasattr(causal, "get_output_embeddings") else None
    if backbone is None or head is None:
        return None
    if model not in _known:
        with torch.no_grad():
            ids = torch.arange(2, device=next(model.parameters()).device)[None]
            training, _ = model.training, model.eval()
            plain = model(input_ids=ids, use_cache=False).logits
            _known[model] = torch.allclose(head(backbone(input_ids=ids, use_cache=False).last_hidden_state), plain)
            model.train(training)
    return (backbone, head) if _known[model] else None


def _width(head: Callable[[Tensor], Tensor], states: Tensor) -> int:
    return int(getattr(head, "out_features", 0) or states.shape[-1])


def _identity(states: Tensor) -> Tensor:
    return states

"""Padded batches of trajectories, and log-probabilities of their sampled tokens.

Shapes: B rows, L tokens per row, T columns in which at least one row has a sampled token, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.loss import trajectory_weights


@dataclass(frozen=True, slots=True)
class Sample:
    """A trajectory to train on: token ids, a mask of the sampled tokens, log-probabilities and advantage."""

    ids: Sequence[int]
    mask: Sequence[bool]
    logprobs: Sequence[float]
    """Log-probability of each token in `ids`. Only the values of sampled tokens (`mask` is True) are used."""
    advantage: float


@dataclass(frozen=True, slots=True)
class Batch:
    """Trajectories padded on the right. The loss uses only the columns that contain a sampled token."""

    ids_BL: Tensor
    attention_BL: Tensor
    columns_T: Tensor
    """Positions of the columns that contain a sampled token, in ascending order."""
    mask_BT: Tensor
    rollout_logp_BT: Tensor
    advantages_B: Tensor
    weights_B: Tensor
    """Weight of one token of each row; see `trajectory_weights`."""


def batches(minibatch: Sequence[Sample], config: GRPOConfig) -> Iterator[Batch]:
    """Split a minibatch by length into batches that fit in memory. Their losses sum to the loss of the minibatch."""
    tokens_B = torch.tensor([sum(s.mask) for s in minibatch])
    weights = trajectory_weights(tokens_B, config.average).tolist()
    rows: list[tuple[Sample, float]] = []
    for row in sorted(zip(minibatch, weights, strict=True), key=lambda r: len(r[0].ids)):
        if rows and (len(rows) + 1) * len(row[0].ids) > config.micro_batch_tokens:
            yield _padded(rows, config.device)
            rows = []
        rows.append(row)
    if rows:
        yield _padded(rows, config.device)


def token_logps(model: nn.Module, batch: Batch, temperature: float) -> tuple[Tensor, Tensor]:
    """Return log pi(token | prefix) and the entropy of pi at the columns of the batch, both of shape [B, T]."""
    # A token is predicted by the preceding position; only these positions go through the output layer.
    logits_BTV = model(
        input_ids=batch.ids_BL,
        attention_mask=batch.attention_BL,
        logits_to_keep=batch.columns_T - 1,
        use_cache=False,
    ).logits
    logp_BTV = (logits_BTV.float() / temperature).log_softmax(-1)
    with torch.no_grad():
        entropy_BT = torch.special.entr(logp_BTV.exp()).sum(-1)
    chosen_BT1 = batch.ids_BL[:, batch.columns_T, None]
    return logp_BTV.gather(-1, chosen_BT1)[..., 0], entropy_BT


def _padded(rows: list[tuple[Sample, float]], device: str) -> Batch:
    def pad(lists: list[Sequence[float]], dtype: torch.dtype) -> Tensor:
        return nn.utils.rnn.pad_sequence([torch.tensor(x, dtype=dtype) for x in lists], batch_first=True)

    mask_BL = pad([s.mask for s, _ in rows], torch.bool)
    columns_T = mask_BL.any(0).nonzero()[:, 0]
    parts = (
        pad([s.ids for s, _ in rows], torch.long),
        pad([[1] * len(s.ids) for s, _ in rows], torch.long),
        columns_T,
        mask_BL[:, columns_T],
        pad([s.logprobs for s, _ in rows], torch.float)[:, columns_T],
        torch.tensor([s.advantage for s, _ in rows]),
        torch.tensor([w for _, w in rows]),
    )
    return Batch(*(p.to(device) for p in parts))

"""Batches of trajectories for the forward passes of an update: prefix trees, or one row per trajectory.

Both kinds of batches are padded to the longest tree or row, and have the same form. The model runs on
`TrainingBatch.ids_RL`. Each sampled token is a pair of the position that predicts it and its token id. In a prefix
tree, trajectories can share pairs.

Shapes: B trajectories, T sampled tokens per trajectory (padded), R rows of the input of the model, L tokens per row,
P pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from trace_gym.trainers.config import TrainerConfig
from trace_gym.trainers.loss import trajectory_weights
from trace_gym.trainers.tree import Ints, Tree, plant

Item = TypeVar("Item")

SLOWER = 2
"""Time per operation of masked attention, relative to the matrix products of the layers."""
PADDING = 1.2
"""Maximum length of the rows of a batch, relative to the shortest row."""
COST = 512.0
"""Result of `token_cost` for a model without a configuration."""


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """A trajectory to train on: token ids, a mask of the sampled tokens, log-probabilities and advantage."""

    ids: Sequence[int]
    mask: Sequence[bool]
    logprobs: Sequence[float]
    """Log-probability of each token in `ids`. Only the values of sampled tokens (`mask` is True) are used."""
    advantage: float


@dataclass(frozen=True, slots=True)
class TrainingBatch:
    """Trajectories as input of the model, and their sampled tokens."""

    ids_RL: Tensor
    attention: Tensor
    """Mask of the tokens that are not padding, [R, L], or additive mask of prefix trees, [R, 1, L, L]."""
    positions_RL: Tensor
    sources_P: Tensor
    """Index in the flattened `ids_RL` of the position that predicts the token of each pair."""
    tokens_P: Tensor
    pairs_BT: Tensor
    """Index of the pair of each sampled token."""
    mask_BT: Tensor
    """False for padding. Trajectories with fewer than T sampled tokens are padded on the right."""
    rollout_logp_BT: Tensor
    advantages_B: Tensor
    weights_B: Tensor
    """Weight of one token of each trajectory; see `trajectory_weights`."""

    @classmethod
    def build(
        cls,
        samples: Sequence[TrainingSample],
        weights: Sequence[float],
        inputs: tuple[Tensor, Tensor, Tensor],
        places: list[Ints],
    ) -> Self:
        """Return a batch of samples.

        Args:
            samples: Trajectories of the batch.
            weights: Weight of one token of each trajectory.
            inputs: The first three attributes of the batch.
            places: Index in the flattened token ids of each token of each trajectory.
        """
        sampled = [np.flatnonzero(s.mask) for s in samples]
        keys = np.concatenate(
            [
                (place[at - 1] << 32) | np.asarray(s.ids)[at]
                for s, place, at in zip(samples, places, sampled, strict=True)
            ]
        )
        pairs, index = np.unique(keys, return_inverse=True)
        split = np.split(index, np.cumsum([len(at) for at in sampled])[:-1])
        logps = [np.asarray(s.logprobs, dtype=np.float32)[at] for s, at in zip(samples, sampled, strict=True)]
        return cls(
            *inputs,
            sources_P=torch.from_numpy(pairs >> 32),
            tokens_P=torch.from_numpy(pairs & (2**32 - 1)),
            pairs_BT=_pad([torch.from_numpy(part) for part in split]),
            mask_BT=_pad([torch.ones(len(at), dtype=torch.bool) for at in sampled]),
            rollout_logp_BT=_pad([torch.from_numpy(values) for values in logps]),
            advantages_B=torch.tensor([s.advantage for s in samples]),
            weights_B=torch.tensor(weights),
        )

    def to(self, device: torch.device | str) -> TrainingBatch:
        """Return the batch on a device."""
        return TrainingBatch(*(getattr(self, name).to(device) for name in self.__slots__))


def batches(
    minibatch: Sequence[TrainingSample],
    config: TrainerConfig,
    model: nn.Module,
    *,
    weights: Sequence[float] | None = None,
) -> Iterator[TrainingBatch]:
    """Split a minibatch into batches that fit in memory. The losses of the batches sum to the loss of the minibatch.

    Args:
        minibatch: Trajectories of one optimizer step.
        config: Settings of the trainer.
        model: The model, whose device and data type the batches have.
        weights: Weight of one token of each trajectory. By default, those of `trajectory_weights`.
    """
    if weights is None:
        tokens_B = torch.tensor([sum(s.mask) for s in minibatch])
        weights = trajectory_weights(tokens_B, config.average, config.max_tokens).tolist()
    rows = [(sample, weight) for sample, weight in zip(minibatch, weights, strict=True) if any(sample.mask)]
    parameter = next(model.parameters())
    make = _trees(rows, config, model, parameter.dtype) if config.prefix_sharing else _padded(rows, config)
    for batch in make:
        yield batch.to(parameter.device)


def _trees(
    rows: list[tuple[TrainingSample, float]], config: TrainerConfig, model: nn.Module, dtype: torch.dtype
) -> Iterator[TrainingBatch]:
    rows = sorted(rows, key=lambda row: list(row[0].ids))
    ids = [np.asarray(sample.ids) for sample, _ in rows]
    trees = plant(ids, config.micro_batch_tokens, token_cost(model))
    for part in _fitting(trees, lambda tree: len(tree[0].ids_N), config.micro_batch_tokens):
        samples, weights = zip(*(rows[n] for _, members in part for n in members), strict=True)
        inputs = _stacked([tree for tree, _ in part], dtype)
        width = inputs[0].shape[1]
        places = [n * width + path for n, (tree, _) in enumerate(part) for path in tree.paths]
        yield TrainingBatch.build(samples, weights, inputs, places)


def _stacked(trees: list[Tree], dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Return the token ids, the additive attention mask and the positions of trees, padded to the largest tree."""
    ids_RL = _pad([torch.from_numpy(tree.ids_N) for tree in trees])
    rows, width = ids_RL.shape
    attention = torch.full((rows, 1, width, width), torch.finfo(dtype).min, dtype=dtype)
    for row, tree in zip(attention, trees, strict=True):
        mask_NN = tree.may_attend()
        row[0, : len(mask_NN), : len(mask_NN)].masked_fill_(mask_NN, 0)
    return ids_RL, attention, _pad([torch.from_numpy(tree.depth_N) for tree in trees])


def token_cost(model: nn.Module) -> float:
    """Return the cost of one token of a model without attention, relative to the attention between one pair of tokens.

    Without attention, a token costs two operations per weight of the layers. The attention of a pair costs four
    operations per element of the queries in each layer, and runs at about half the speed.
    """
    config = getattr(model, "config", None)
    if config is None:
        return COST
    text = config.get_text_config()
    heads = text.num_attention_heads
    width = heads * (getattr(text, "head_dim", None) or text.hidden_size // heads)
    embeddings = text.vocab_size * text.hidden_size * (1 if text.tie_word_embeddings else 2)
    weights = sum(p.numel() for p in model.parameters()) - embeddings
    return max(1.0, float(weights / (2 * SLOWER * text.num_hidden_layers * width)))


def _padded(rows: list[tuple[TrainingSample, float]], config: TrainerConfig) -> Iterator[TrainingBatch]:
    for part in _fitting(rows, lambda row: len(row[0].ids), config.micro_batch_tokens):
        yield _rows(part)


def _fitting(items: Iterable[Item], length: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Split items by length into parts that have at most `most` tokens and little padding."""
    part: list[Item] = []
    for item in sorted(items, key=length):
        padded = (len(part) + 1) * length(item)
        if part and (padded > most or length(item) > PADDING * length(part[0])):
            yield part
            part = []
        part.append(item)
    if part:
        yield part


def _rows(part: list[tuple[TrainingSample, float]]) -> TrainingBatch:
    samples, weights = zip(*part, strict=True)
    ids_BL = _pad([torch.tensor(s.ids) for s in samples])
    attention_BL = _pad([torch.ones(len(s.ids), dtype=torch.long) for s in samples])
    positions_BL = torch.arange(ids_BL.shape[1]).expand_as(ids_BL)
    places = [n * ids_BL.shape[1] + np.arange(len(s.ids)) for n, s in enumerate(samples)]
    return TrainingBatch.build(samples, weights, (ids_BL, attention_BL, positions_BL), places)


def _pad(parts: list[Tensor]) -> Tensor:
    return nn.utils.rnn.pad_sequence(parts, batch_first=True)

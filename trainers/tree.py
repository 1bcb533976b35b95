"""Prefix trees of trajectories: each token of a shared prefix is computed once in the forward and the backward pass.

The trajectories of a group have the same prompt, and often the same first turns. In a prefix tree, each distinct prefix
is one node. A forward pass over the nodes computes the same hidden states as a forward pass over the trajectories if
each node attends to its ancestors only, and if its position is its depth. The gradients are equal as well, because the
hidden states and the loss are the same functions of the weights.

Shapes: N nodes of a tree. A tree can contain trajectories without a common prefix; it is then a forest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tree:
    """Prefix tree of several trajectories."""

    ids_N: Ints
    depth_N: Ints
    paths: list[Ints]
    """Nodes of each trajectory, in the order of its tokens."""

    def may_attend(self) -> Tensor:
        """Return the attention mask with shape [N, N]: True for a node and its ancestors."""
        mask_NN = torch.zeros(len(self.ids_N), len(self.ids_N), dtype=torch.bool)
        seen = 0
        for path in self.paths:
            own = path[path >= seen]  # nodes that no earlier trajectory has
            shared = path[: len(path) - len(own)]
            if len(own):
                begin, seen = int(own[0]), int(own[-1]) + 1
                mask_NN[begin:seen, torch.from_numpy(shared)] = True
                mask_NN[begin:seen, begin:seen] = True
                mask_NN[begin:seen, begin:seen].tril_()
        return mask_NN


def plant(rows: Sequence[Ints], most: int, token_cost: float) -> list[tuple[Tree, range]]:
    """Group trajectories into prefix trees, and return each tree with the range of its rows.

    A tree of N nodes costs N x `token_cost` + N x N, because the dense attention of a tree also computes the pairs of
    nodes that do not attend to each other. A trajectory is added to the tree of the previous trajectory if this costs
    less than a new tree.

    Args:
        rows: Token ids of each trajectory, in lexicographic order, so that rows with a common prefix are adjacent.
        most: Maximum number of nodes of a tree. A single longer trajectory gets a separate tree.
        token_cost: Cost of one token without attention, relative to the attention between one pair of tokens.
    """

    def cost(nodes: int) -> float:
        return nodes * (token_cost + nodes)

    trees: list[tuple[Tree, range]] = []
    first, nodes = 0, len(rows[0]) if rows else 0
    for n in range(1, len(rows)):
        grown = nodes + len(rows[n]) - shared_prefix(rows[n - 1], rows[n])
        if grown > most or cost(grown) > cost(nodes) + cost(len(rows[n])):
            trees.append((_tree(rows[first:n]), range(first, n)))
            first, grown = n, len(rows[n])
        nodes = grown
    return [*trees, (_tree(rows[first:]), range(first, len(rows)))] if rows else []


def shared_prefix(one: Ints, other: Ints) -> int:
    """Return the length of the common prefix of two token sequences."""
    n = min(len(one), len(other))
    differs = one[:n] != other[:n]
    return int(differs.argmax()) if differs.any() else n


def _tree(rows: Sequence[Ints]) -> Tree:
    ids, depth, paths = [rows[0]], [np.arange(len(rows[0]))], [np.arange(len(rows[0]))]
    size = len(rows[0])
    for before, row in pairwise(rows):
        shared = shared_prefix(before, row)
        new = len(row) - shared
        ids.append(row[shared:])
        depth.append(np.arange(shared, len(row)))
        paths.append(np.concatenate([paths[-1][:shared], np.arange(size, size + new)]))
        size += new
    return Tree(np.concatenate(ids), np.concatenate(depth), paths)

"""A KV cache whose rows have different lengths and one beginning, for Hugging Face causal LMs with full attention.

`transformers` caches append the same number of tokens to every row, so a batch of conversations that
advance unequally would have to be padded in the middle. Here each token goes to the position it
has in its own row, and a 4D mask hides what lies beyond a row's end. What all rows begin with (a policy, the
tools) is stored once, and read once for all rows in a decoding step.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trace_gym.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

BLOCK = 128
"""The cache grows by whole blocks of positions."""

ATTENTION = "trace_gym_shared_prefix"
"""Name under which `attend` is registered with `transformers`."""


class Ragged:
    """Keys and values of many rows, one pair of tensors [row, head, position, dim] a layer.

    The last position of every row is scratch: padding is written there and no one reads it.

    Args:
        split: Whether the model attends through `attend`, so that a shared beginning may stay apart.
    """

    def __init__(self, split: bool = False) -> None:
        self.layers: list[Any] = []  # transformers' own per-layer objects; there are none
        self.split = split
        self.shared: list[tuple[Tensor, Tensor]] = []
        """The beginning of all rows, [head, position, dim] a layer."""
        self.pairs: list[tuple[Tensor, Tensor]] = []
        self.base = 0
        """How many positions are in `shared`."""
        self.capacity = 0
        self._rows: Tensor | None = None
        self._index: tuple[Any, ...] = ()
        self._width = 0

    def aim(self, rows: Tensor | None, count: int, positions: Tensor, width: int) -> None:
        """Say where the next forward pass writes and what it reads.

        Args:
            rows: Rows that take part; None for all.
            count: How many rows that is.
            positions: Position of each new token [row, token]; -1 for padding.
            width: Positions 0..width-1 are read.
        """
        self._rows = rows
        self._width = width - self.base
        self._grow(self._width)
        where = rows if rows is not None else positions.new_tensor(range(count))
        # Index -1 is the scratch position; no row's own tokens lie in the shared beginning.
        self._index = (where[:, None], slice(None), (positions - self.base).clamp(min=-1))

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Store new keys and values [row, head, token, dim] of a layer and return those that are read.

        With `split` these are without the shared beginning, which `attend` adds.
        """
        if layer_idx == len(self.pairs):
            self.pairs.append((self._room(keys), self._room(values)))
        stored = self.pairs[layer_idx]
        for tensor, new in zip(stored, (keys, values), strict=True):
            tensor[self._index] = new.transpose(1, 2)
        read = [t[:, :, : self._width] for t in stored]
        if self._rows is not None:
            read = [t.index_select(0, self._rows) for t in read]
        return read[0], read[1]

    def share(self, rows: int) -> None:
        """Turn the only row into the beginning of `rows` rows."""
        if not self.split:
            self.pairs = [(k.repeat(rows, 1, 1, 1), v.repeat(rows, 1, 1, 1)) for k, v in self.pairs]
            return
        self.base = self._width
        self.shared = [(k[0, :, : self.base].contiguous(), v[0, :, : self.base].contiguous()) for k, v in self.pairs]
        self.pairs, self.capacity = [], 0

    def select(self, rows: Tensor) -> None:
        """Keep these rows, in this order; a row may be named more than once."""
        self.pairs = [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.pairs]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Positions read by the current forward pass; models that ask for it are given explicit positions."""
        return self.base + self._width

    def _room(self, like: Tensor) -> Tensor:
        # Zeros: what is masked is still multiplied by a weight of 0, and 0 times garbage may be NaN.
        rows, heads, _, dim = like.shape
        return like.new_zeros(rows, heads, self.capacity + 1, dim)

    def _grow(self, width: int) -> None:
        if width <= self.capacity:
            return
        kept, self.capacity = self.capacity, -(-width // BLOCK) * BLOCK
        grown: list[tuple[Tensor, Tensor]] = []
        for pair in self.pairs:
            keys, values = self._room(pair[0]), self._room(pair[1])
            for new, old in zip((keys, values), pair, strict=True):
                new[:, :, :kept] = old[:, :, :kept]
            grown.append((keys, values))
        self.pairs = grown


def attend(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, *, ragged: Ragged, **kw: Any
) -> tuple[Tensor, None]:
    """Softmax attention [row, token, head, dim] over the shared beginning and the rows' own keys.

    For a single new token a row the beginning is one matrix product for all rows; for more, it is
    put before each row's keys and PyTorch's fused kernel does the rest.

    Args:
        module: The attention module; its `layer_idx` is read.
        query: [row, head, token, dim].
        key: The rows' own keys [row, key head, position, dim].
        value: As `key`.
        attention_mask: Additive, [row, 1, token, all positions].
        ragged: The cache.
        kw: What the model hands to every attention function; `scaling` is used.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if any(kw.get(name) is not None for name in ("softcap", "s_aux", "position_bias")):
        raise ConfigError("the model's attention is not a plain softmax; load it with attn_implementation='eager'")
    first = ragged.shared[module.layer_idx] if ragged.shared else None
    if first is None or query.shape[2] > 1:
        if first is not None:
            key, value = (
                torch.cat([s.expand(len(own), -1, -1, -1), own], 2) for s, own in zip(first, (key, value), strict=True)
            )
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=kw.get("scaling"))
    rows, heads, _, dim = query.shape
    kinds, base, width = key.shape[1], ragged.base, ragged.base + key.shape[2]
    scaling = kw.get("scaling") or dim**-0.5
    q = query.view(rows, kinds, heads // kinds, dim) * scaling
    q_first = q.transpose(0, 1).reshape(kinds, -1, dim)  # all rows side by side
    scores = q.new_empty(rows, kinds, heads // kinds, width)
    scores[..., :base] = (q_first @ first[0].transpose(1, 2)).view(kinds, rows, -1, base).transpose(0, 1)
    torch.add(q @ key.transpose(2, 3), attention_mask[..., base:], out=scores[..., base:])
    weights = scores.softmax(-1, dtype=torch.float32).to(value.dtype)
    over_first = weights[..., :base].transpose(0, 1).reshape(kinds, -1, base) @ first[1]
    out = over_first.view(kinds, rows, -1, dim).transpose(0, 1) + weights[..., base:] @ value
    return out.reshape(rows, 1, heads, dim), None


@contextmanager
def attending(model: Any) -> Iterator[bool]:
    """Let a model that uses ``sdpa`` attend through `attend` for a while; tell whether it does."""
    from transformers import AttentionInterface

    config = model.config
    before = config._attn_implementation
    possible = before == "sdpa" and getattr(model, "_supports_attention_backend", False)
    if possible:
        AttentionInterface.register(ATTENTION, attend)
        config._attn_implementation = ATTENTION
    try:
        yield possible
    finally:
        config._attn_implementation = before


def ragged_cache(split: bool) -> Any:
    """A `Ragged` that is also a `transformers` Cache, since models check for one.

    Raises:
        ConfigError: The installed `transformers` calls its caches in another way.
    """
    import transformers
    from transformers.cache_utils import Cache

    takes = list(inspect.signature(Cache.update).parameters)[1:4]
    if takes != ["key_states", "value_states", "layer_idx"]:
        raise ConfigError(
            f"transformers {transformers.__version__} calls Cache.update({', '.join(takes)}, ...), expected "
            "(key_states, value_states, layer_idx, ...); pip install 'transformers>=5.15,<5.20'"
        )
    return type("RaggedCache", (Ragged, Cache), {})(split)


def check_model(config: Any, max_tokens: int) -> None:
    """Refuse a model whose attention would ignore a 4D mask or forget old positions.

    Raises:
        ConfigError: It does not use full attention through ``sdpa`` or ``eager``.
    """
    text = config.get_text_config(decoder=True)
    attention = text._attn_implementation
    if attention not in ("sdpa", "eager"):
        raise ConfigError(f"the model attends with {attention!r}; load it with attn_implementation='sdpa'")
    window = getattr(text, "sliding_window", None) if getattr(text, "use_sliding_window", True) else None
    kinds = set(getattr(text, "layer_types", None) or ("sliding_attention" if window else "full_attention",))
    strange = kinds - {"full_attention", "sliding_attention"}
    if strange or ("sliding_attention" in kinds and (window is None or window < max_tokens)):
        raise ConfigError(
            f"{text.model_type} has layers {sorted(kinds)} with a window of {window}; batched rollouts need full "
            f"attention over max_tokens={max_tokens}; serve the model and use OpenAIPolicy instead"
        )

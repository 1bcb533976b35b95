"""KV cache for a batch of conversations of different lengths, for Hugging Face causal LMs with full attention.

The caches of `transformers` append the same number of tokens to every row. A batch of conversations that advance at
different speeds would therefore require padding between tokens. This cache writes each token to its position in its
row, and a 4D mask hides the positions after the end of a row. The common prefix of all rows (policy text and tools) is
stored only once, and a decoding step reads it once for all rows.
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
"""Number of positions by which the cache grows."""

ATTENTION = "trace_gym_shared_prefix"
"""Name under which `attend` is registered with `transformers`."""


class Ragged:
    """Keys and values of many rows, as one pair of tensors [row, head, position, dim] per layer.

    Padding is written to the last position of every row, which is never read.

    Args:
        split: Whether the model uses `attend`, so that the shared prefix can be stored separately.
    """

    def __init__(self, split: bool = False) -> None:
        self.layers: list[Any] = []  # attribute of the base class for per-layer caches, which are not used here
        self.split = split
        self.shared: list[tuple[Tensor, Tensor]] = []
        """Keys and values of the shared prefix, [head, position, dim] per layer."""
        self.pairs: list[tuple[Tensor, Tensor]] = []
        self.base = 0
        """Number of positions in `shared`."""
        self.capacity = 0
        self._rows: Tensor | None = None
        self._index: tuple[Any, ...] = ()
        self._width = 0

    def aim(self, rows: Tensor | None, count: int, positions: Tensor, width: int) -> None:
        """Set the positions that the next forward pass writes and reads.

        Args:
            rows: Rows of the forward pass; None for all rows.
            count: Number of rows of the forward pass.
            positions: Position of each new token [row, token]; -1 for padding.
            width: Number of positions that are read, from position 0.
        """
        self._rows = rows
        self._width = width - self.base
        self._grow(self._width)
        where = rows if rows is not None else positions.new_tensor(range(count))
        # Index -1 (the last position) is for padding. New tokens are never inside the shared prefix.
        self._index = (where[:, None], slice(None), (positions - self.base).clamp(min=-1))

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Store new keys and values [row, head, token, dim] of a layer, and return the keys and values to read.

        With `split`, the returned tensors do not contain the shared prefix, which `attend` adds.
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
        """Convert the only row of the cache to the shared prefix of `rows` rows."""
        if not self.split:
            self.pairs = [(k.repeat(rows, 1, 1, 1), v.repeat(rows, 1, 1, 1)) for k, v in self.pairs]
            return
        self.base = self._width
        self.shared = [(k[0, :, : self.base].contiguous(), v[0, :, : self.base].contiguous()) for k, v in self.pairs]
        self.pairs, self.capacity = [], 0

    def select(self, rows: Tensor) -> None:
        """Keep the given rows, in the given order; a row may be repeated."""
        self.pairs = [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.pairs]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return the number of positions that the current forward pass reads.

        Models do not derive positions from this value, because explicit positions are passed to them.
        """
        return self.base + self._width

    def _room(self, like: Tensor) -> Tensor:
        # Initialized with zeros: masked values get the weight 0, and 0 times uninitialized memory may be NaN.
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
    """Return the softmax attention [row, token, head, dim] over the shared prefix and the keys of each row.

    If each row has a single new token, one matrix product with the prefix is computed for all rows. Otherwise, the
    prefix is concatenated with each row's keys, and PyTorch's fused kernel is used.

    Args:
        module: The attention module; its `layer_idx` is read.
        query: [row, head, token, dim].
        key: Keys of each row without the prefix, [row, key head, position, dim].
        value: Values, with the same shape as `key`.
        attention_mask: Additive mask, [row, 1, token, position], which includes the positions of the prefix.
        ragged: The cache.
        kw: Further arguments of attention functions in `transformers`; only `scaling` is used.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if any(kw.get(name) is not None for name in ("softcap", "s_aux", "position_bias")):
        raise ConfigError(
            "the attention of the model is not supported, because it uses softcap, s_aux or position_bias. Load the "
            "model with attn_implementation='eager'"
        )
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
    """Use `attend` as the attention function of a model while the block runs, and yield whether this is possible.

    It is possible for models that use ``sdpa`` and support the attention interface of `transformers`.
    """
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
    """Return a `Ragged` cache that is also a subclass of `transformers.Cache`, because models check the type.

    Raises:
        ConfigError: The installed `transformers` has a different cache interface.
    """
    import transformers
    from transformers.cache_utils import Cache

    takes = list(inspect.signature(Cache.update).parameters)[1:4]
    if takes != ["key_states", "value_states", "layer_idx"]:
        raise ConfigError(
            f"this version of transformers is not supported: found {transformers.__version__} with "
            f"Cache.update({', '.join(takes)}, ...), expected Cache.update(key_states, value_states, layer_idx, ...). "
            "Run pip install 'transformers>=5.15,<5.20'"
        )
    return type("RaggedCache", (Ragged, Cache), {})(split)


def check_model(config: Any, max_tokens: int) -> None:
    """Check that a model supports 4D masks and attends to all positions of a conversation.

    Raises:
        ConfigError: The model does not use full attention with ``sdpa`` or ``eager``.
    """
    text = config.get_text_config(decoder=True)
    attention = text._attn_implementation
    if attention not in ("sdpa", "eager"):
        raise ConfigError(
            f"the attention of the model is not supported: found {attention!r}, expected 'sdpa' or 'eager'. Load the "
            "model with attn_implementation='sdpa'"
        )
    window = getattr(text, "sliding_window", None) if getattr(text, "use_sliding_window", True) else None
    kinds = set(getattr(text, "layer_types", None) or ("sliding_attention" if window else "full_attention",))
    strange = kinds - {"full_attention", "sliding_attention"}
    if strange or ("sliding_attention" in kinds and (window is None or window < max_tokens)):
        raise ConfigError(
            f"the layers of {text.model_type} are not supported: found {', '.join(sorted(kinds))} with a window of "
            f"{window} tokens, expected full attention over {max_tokens} tokens (max_tokens). Start an inference "
            "server for the model, and use OpenAIPolicy instead"
        )

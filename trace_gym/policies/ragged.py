"""A KV cache whose rows have different lengths, for Hugging Face causal LMs with full attention.

`transformers` caches append the same number of tokens to every row, so a batch of conversations that
advance unequally would have to be padded in the middle. Here each token goes to the position it
has in its own row, and a 4D mask hides what lies beyond a row's end.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from trace_gym.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

BLOCK = 128
"""The cache grows by whole blocks of positions."""


class Ragged:
    """Keys and values of many rows, one pair of tensors [row, head, position, dim] a layer.

    The last position of every row is scratch: padding is written there and no one reads it.
    """

    def __init__(self) -> None:
        self.layers: list[Any] = []  # transformers' own per-layer objects; there are none
        self.pairs: list[tuple[Tensor, Tensor]] = []
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
        self._grow(width)
        self._rows = rows
        self._width = width
        where = rows if rows is not None else positions.new_tensor(range(count))
        self._index = (where[:, None], slice(None), positions)

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Store new keys and values [row, head, token, dim] of a layer and return all that is read."""
        if layer_idx == len(self.pairs):
            self.pairs.append((self._room(keys), self._room(values)))
        stored = self.pairs[layer_idx]
        for tensor, new in zip(stored, (keys, values), strict=True):
            tensor[self._index] = new.transpose(1, 2)
        read = [t[:, :, : self._width] for t in stored]
        if self._rows is not None:
            read = [t.index_select(0, self._rows) for t in read]
        return read[0], read[1]

    def select(self, rows: Tensor) -> None:
        """Keep these rows, in this order; a row may be named more than once."""
        self.pairs = [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.pairs]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Positions read by the current forward pass; the models that ask for it are given explicit positions."""
        return self._width

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


def ragged_cache() -> Any:
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
    return type("RaggedCache", (Ragged, Cache), {})()


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

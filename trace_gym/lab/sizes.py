"""Sizes of the toy model, with the pretraining phases of each size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trace_gym.lab import lessons


@dataclass(frozen=True)
class Phase:
    """A pretraining phase, with its data mixture and learning rate."""

    episodes: int
    routes: int = 0
    """Percentage of routing exercises among the conversations."""
    quizzes: int = 100
    """Percentage of lessons with questions. The remaining conversations are demonstrations."""
    kinds: tuple[str, ...] = lessons.KINDS
    """Subjects of the questions. A subject that is listed twice is sampled twice as often."""
    lr: float = 5e-3


@dataclass(frozen=True)
class ModelSize:
    """Shape of a model, with its pretraining phases."""

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
    """Pretraining phases. The first phases consist of lessons of increasing difficulty, because a model of this size
    learns to choose among records only after it can compare prices. The last phases are mostly demonstrations."""
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
    "small": ModelSize(),
    "smoke": ModelSize(
        hidden=32,
        layers=2,
        ffn=64,
        phases=(Phase(300, routes=12, quizzes=30), Phase(200, routes=6, quizzes=10)),
    ),
    "large": ModelSize(
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
"""Model sizes: ``small`` is the shipped model, ``large`` is for training on a GPU, ``smoke`` is for tests."""

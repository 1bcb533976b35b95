"""Truncation of the distribution from which tokens are sampled: nucleus sampling (top-p) and top-k sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trace_gym.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Truncation:
    """The tokens from which a model is sampled. By default, these are all tokens, and the instance is false.

    If both fields are given, `top_k` is applied first, and `top_p` to the probabilities of the remaining tokens, as in
    vLLM.

    Raises:
        ConfigError: A field is out of range.
    """

    top_p: float = 1.0
    """Tokens are sampled from the smallest set of the most probable tokens whose probability is at least `top_p`."""
    top_k: int = 0
    """Tokens are sampled from the `top_k` most probable tokens. 0 is no limit."""

    def __post_init__(self) -> None:
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"invalid top_p: found {self.top_p}, expected a number greater than 0 and at most 1")
        if self.top_k < 0:
            raise ConfigError(f"invalid top_k: found {self.top_k}, expected 0 or more")

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that exclude tokens, as fields of a request."""
        return ({"top_p": self.top_p} if self.top_p < 1 else {}) | ({"top_k": self.top_k} if self.top_k else {})

    def __bool__(self) -> bool:
        return bool(self.fields)

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.fields.items())

    def apply(self, logp: Tensor) -> Tensor:
        """Return the log-probabilities [row, vocabulary] of the truncated and renormalized distributions."""
        if not self:
            return logp
        import torch

        ordered, tokens = logp.sort(dim=-1, descending=True, stable=True)
        if self.top_k:
            ordered[:, self.top_k :] = -torch.inf
        if self.top_p < 1:
            shares = ordered.softmax(-1, dtype=torch.float64)
            ordered[shares.cumsum(-1) - shares >= self.top_p] = -torch.inf
        return torch.full_like(logp, -torch.inf).scatter_(-1, tokens, ordered.log_softmax(-1))


ALL_TOKENS = Truncation()

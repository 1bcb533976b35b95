"""Batch policy for Hugging Face causal language models, with exact token ids, log-probabilities and masks.

The policy calls the model's `forward` method, so it supports any causal LM with full attention and any peft adapter.
The conversations of a batch advance together but may have different lengths. Answers of the environment are appended
to the tokens, so that no text is tokenized twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, PolicyError
from trace_gym.policies.batch import RolloutBatch
from trace_gym.policies.chat import Chat
from trace_gym.policies.ragged import attending, check_model
from trace_gym.sampling.truncation import ALL_TOKENS, Truncation
from trace_gym.trajectories import TokenRollout

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class HFPolicy:
    """A `BatchPolicy` that runs episodes with a loaded causal LM.

    Args:
        model: A Hugging Face causal LM, with or without a peft adapter; moved to `device`.
        tokenizer: The model's tokenizer, with a chat template and an ``eos_token`` that ends a turn.
        device: Device of the model, such as ``cpu`` or ``cuda``.
        max_turn_tokens: Maximum number of tokens of a turn. A longer turn is truncated and passed to the episode.
        max_tokens: Maximum number of tokens of a conversation, limited by the model's maximum position.
        max_rows: Maximum number of episodes in a batch. More episodes are run in several batches.
        template: Additional arguments of the chat template, such as ``enable_thinking``.
        style: Chat format in which the model writes tool calls; see `Chat`.
        truncation: The tokens from which the model is sampled. It has no effect at temperature 0.
        name: Name of the policy, stored in `Trajectory.model`.

    Raises:
        ConfigError: The model or the tokenizer is not supported.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        device: str = "cpu",
        max_turn_tokens: int = 64,
        max_tokens: int = 1024,
        max_rows: int = 256,
        template: Mapping[str, Any] | None = None,
        style: str = "auto",
        truncation: Truncation = ALL_TOKENS,
        name: str = "hf",
    ) -> None:
        self.model = model.to(device)
        self.chat = Chat(tokenizer, template, style)
        self.device = device
        self.truncation = truncation
        self.max_turn_tokens = max_turn_tokens
        self.max_tokens = min(max_tokens, getattr(model.config, "max_position_embeddings", None) or max_tokens)
        self.max_rows = max_rows
        self.name = name
        check_model(model.config, self.max_tokens)

    def rollout(
        self,
        episodes: Sequence[Episode],
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        progress: Callable[[int], None] | None = None,
        hints: Sequence[str] = (),
    ) -> list[TokenRollout]:
        """Run new episodes to their end and return the rollouts in the same order.

        The log-probabilities are those of the distribution from which the tokens were sampled, ``softmax(logits /
        temperature)``, renormalized over the tokens in `truncation`, because the GRPO ratio requires them. At
        temperature 0 (greedy), they are those of ``softmax(logits)``. If a turn is truncated at `max_turn_tokens`, an
        end-of-turn token is appended that does not count as sampled. If there is no room within `max_tokens` for the
        next turn, the episode is finished in its current state without an unfinished turn, and `TokenRollout.overflow`
        is True.

        Args:
            episodes: Episodes in which no turn has been taken.
            temperature: Sampling temperature; 0 is greedy.
            generator: Source of all randomness. The same seed and episodes give the same rollouts.
            progress: Called with the number of episodes that have just finished.
            hints: One hint per episode, ``""`` for none; an empty sequence for no hints. A hint is added to the prompt
                from which the model samples, but not to the tokens of the rollout. The log-probabilities are those with
                the hint.

        Raises:
            ConfigError: An episode was already started, an initial observation does not fit, or the temperature is
                negative.
            PolicyError: The log-probabilities of the model are not finite.
            EnvBug: An environment failed. The message contains the scenario id, and all rollouts are discarded.
        """
        import torch

        if not temperature >= 0:
            raise ConfigError(f"invalid temperature: found {temperature}, expected 0 or more")
        rollouts: list[TokenRollout] = []
        training, _ = self.model.training, self.model.eval()
        try:
            with torch.inference_mode(), attending(self.model) as split:
                for first in range(0, len(episodes), self.max_rows):
                    part = slice(first, first + self.max_rows)
                    batch = RolloutBatch(self, episodes[part], temperature, generator, progress, split, hints[part])
                    rollouts += batch.run()
        finally:
            self.model.train(training)
        return rollouts

    def draw(
        self, logits: Tensor, rollouts: Sequence[TokenRollout], temperature: float, generator: torch.Generator | None
    ) -> tuple[list[int], list[float]]:
        """Sample one token per row from logits [row, vocabulary], and return the tokens and their log-probabilities."""
        import torch

        logp = torch.log_softmax(logits.float() / (temperature or 1.0), -1)
        if temperature:
            logp = self.truncation.apply(logp)
        tokens = self.choose(logp, rollouts, greedy=temperature == 0, generator=generator)
        chosen = logp.gather(1, tokens[:, None])[:, 0].tolist()
        if not math.isfinite(sum(chosen)):
            row = next(n for n, value in enumerate(chosen) if not math.isfinite(value))
            raise PolicyError(
                f"the log-probabilities of the model are not finite in {rollouts[row].scenario}. Check the weights of "
                "the model"
            )
        return tokens.tolist(), chosen

    def choose(
        self, logp: Tensor, rollouts: Sequence[TokenRollout], *, greedy: bool, generator: torch.Generator | None
    ) -> Tensor:
        """Return tokens [row], sampled from log-probabilities [row, vocabulary] by inverse transform sampling."""
        import torch

        if greedy:
            return logp.argmax(-1)
        # Double precision avoids rounding errors in the cumulative probabilities. This method is much faster than
        # torch.multinomial, and a CPU generator can be used with a model on any device.
        below = logp.exp().cumsum(-1, dtype=torch.float64)
        where = generator.device if generator else logp.device
        u = torch.rand(len(logp), 1, dtype=torch.float64, generator=generator, device=where).to(logp.device)
        return torch.searchsorted(below, u * below[:, -1:], right=True)[:, 0].clamp_(max=logp.shape[1] - 1)


@contextmanager
def merged(model: Any) -> Iterator[None]:
    """Merge a peft model's active adapter into the base weights within the block, and restore the weights exactly.

    The matrix products and wrappers of a LoRA adapter take about 20% of the rollout time of a small model. Unmerging by
    subtraction would cause rounding errors that accumulate over iterations, so the original weights are copied and
    restored. Within the block, peft's layers are replaced by their base layers. The function has no effect without an
    adapter, or if the adapter is already merged.
    """
    import torch

    layers = {n: m for n, m in model.named_modules() if hasattr(m, "get_base_layer") and hasattr(m, "merged_adapters")}
    if any(layer.merged for layer in layers.values()):
        layers = {}
    kept = [(p, p.detach().clone()) for layer in layers.values() for p in layer.get_base_layer().parameters()]
    try:
        if layers:
            model.merge_adapter()
        for name, layer in layers.items():
            _put(model, name, layer.get_base_layer())
        yield
    finally:
        for name, layer in layers.items():
            _put(model, name, layer)
        if layers:
            model.unmerge_adapter()
        with torch.no_grad():
            for parameter, value in kept:
                parameter.copy_(value)


def _put(model: Any, name: str, layer: Any) -> None:
    parent, _, leaf = name.rpartition(".")
    setattr(model.get_submodule(parent), leaf, layer)

"""Many conversations at once with a Hugging Face causal LM: exact token ids, log-probabilities, a mask.

The model's own forward pass is used, so any causal LM with full attention and any peft adapter works. Rows
advance together, each at its own position of a `Ragged` cache; what the environment answers is fed
as a suffix, so nothing is ever tokenised twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, MissingExtra, PolicyError, ReadError
from trace_gym.policies.batch import Batch
from trace_gym.policies.chat import Chat
from trace_gym.policies.ragged import attending, check_model
from trace_gym.rollout import TokenRollout

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class HFPolicy:
    """Plays episodes with a loaded causal LM.

    Args:
        model: A Hugging Face causal LM, with or without a peft adapter; moved to `device`.
        tokenizer: Its tokenizer, with a chat template; ``eos_token`` ends a turn.
        device: Where to run.
        max_turn_tokens: A turn that is longer is cut there and handed to the episode as it is.
        max_tokens: Budget of a whole conversation, capped by the model's own position limit.
        max_rows: Episodes played at once; more are played in slices.
        name: Stands in `Trajectory.model`.

    Raises:
        ConfigError: The model or the tokenizer cannot be used this way.
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
        name: str = "hf",
    ) -> None:
        self.model = model.to(device)
        self.chat = Chat(tokenizer)
        self.device = device
        self.max_turn_tokens = max_turn_tokens
        self.max_tokens = min(max_tokens, getattr(model.config, "max_position_embeddings", None) or max_tokens)
        self.max_rows = max_rows
        self.name = name
        check_model(model.config, self.max_tokens)

    @classmethod
    def load(cls, folder: str | Path, adapter: str | Path | None = None, *, dtype: str = "auto", **kw: Any) -> HFPolicy:
        """Load a model folder (or hub name) and perhaps a LoRA adapter.

        Args:
            folder: The model.
            adapter: Folder of a LoRA adapter.
            dtype: Data type of the model's weights, such as ``bfloat16``; ``auto`` keeps that of its files.
            **kw: Arguments of the constructor.

        Raises:
            MissingExtra: transformers or peft is not installed.
            ReadError: The folder or the adapter cannot be read.
        """
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer

            if adapter is not None:
                from peft import PeftModel
        except ImportError as error:
            raise MissingExtra(f"{error.name} is missing; pip install 'trace-gym[lab]'") from None
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder)
            model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="sdpa")
            if adapter is not None:
                model = PeftModel.from_pretrained(model, str(adapter))
        except (OSError, ValueError) as error:
            wanted = f"{folder}" + (f" with adapter {adapter}" if adapter else "")
            raise ReadError(f"cannot load {wanted}: {error}") from None
        except RuntimeError as error:
            if adapter is None or "size mismatch" not in str(error):
                raise
            raise ReadError(
                f"the adapter {adapter} does not fit the model {folder}: found weights of other shapes. "
                "Load the model that it was trained on, or train it again"
            ) from None
        return cls(model.eval(), tokenizer, **{"name": Path(adapter or folder).name} | kw)

    def rollout(
        self,
        episodes: Sequence[Episode],
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        progress: Callable[[int], None] | None = None,
        hints: Sequence[str] = (),
    ) -> list[TokenRollout]:
        """Play fresh episodes to their end and return them in order.

        Stored log-probabilities are those of the behaviour policy, which the GRPO ratio needs: of
        ``softmax(logits / temperature)``, from which the tokens were drawn; at temperature 0 (greedy)
        of ``softmax(logits)``. A turn cut at `max_turn_tokens` is closed by an end-of-turn token that
        is fed, not sampled. When `max_tokens` leaves no room to go on, the episode is finished as it
        stands (an unfinished turn is not taken) and `overflow` is set.

        Args:
            episodes: Not yet begun.
            temperature: 0 is greedy.
            generator: Source of all randomness; the same seed and episodes give the same rollouts.
            progress: Told the number of episodes that have just finished.
            hints: What the model is told besides, one text an episode, empty for none. It stands in the prompt that
                is sampled from and in no rollout's tokens; the log-probabilities are those of the sampling.

        Raises:
            ConfigError: An episode has begun, or its opening does not fit; or the temperature is negative.
            PolicyError: The model's distribution is not finite.
            EnvBug: An environment failed; the message names the scenario, and the call gives up.
        """
        import torch

        if not temperature >= 0:
            raise ConfigError(f"the temperature must not be negative, found {temperature}")
        rollouts: list[TokenRollout] = []
        training, _ = self.model.training, self.model.eval()
        try:
            with torch.inference_mode(), attending(self.model) as split:
                for first in range(0, len(episodes), self.max_rows):
                    part = slice(first, first + self.max_rows)
                    batch = Batch(self, episodes[part], temperature, generator, progress, split, hints[part])
                    rollouts += batch.run()
        finally:
            self.model.train(training)
        return rollouts

    def draw(
        self, logits: Tensor, rollouts: Sequence[TokenRollout], temperature: float, generator: torch.Generator | None
    ) -> tuple[list[int], list[float]]:
        """One token a row from logits [row, vocabulary], and its log-probability."""
        import torch

        logp = torch.log_softmax(logits.float() / (temperature or 1.0), -1)
        tokens = self.choose(logp, rollouts, greedy=temperature == 0, generator=generator)
        chosen = logp.gather(1, tokens[:, None])[:, 0].tolist()
        if not math.isfinite(sum(chosen)):
            row = next(n for n, value in enumerate(chosen) if not math.isfinite(value))
            raise PolicyError(
                f"{rollouts[row].scenario}: the model's log-probabilities are not finite; its weights are broken"
            )
        return tokens.tolist(), chosen

    def choose(
        self, logp: Tensor, rollouts: Sequence[TokenRollout], *, greedy: bool, generator: torch.Generator | None
    ) -> Tensor:
        """Tokens [row] drawn from log-probabilities [row, vocabulary] by inverting the distribution function."""
        import torch

        if greedy:
            return logp.argmax(-1)
        # In double precision, so that rounding does not shift probability between tokens. Much faster
        # than multinomial, and a generator on the CPU serves a model anywhere.
        below = logp.exp().cumsum(-1, dtype=torch.float64)
        where = generator.device if generator else logp.device
        u = torch.rand(len(logp), 1, dtype=torch.float64, generator=generator, device=where).to(logp.device)
        return torch.searchsorted(below, u * below[:, -1:], right=True)[:, 0].clamp_(max=logp.shape[1] - 1)


@contextmanager
def merged(model: Any) -> Iterator[None]:
    """Merge a peft model's active adapter into its base weights for a while, and restore those bit by bit.

    A LoRA's own matrix products and wrappers are about a fifth of a small model's rollout. Unmerging by
    subtraction would leave rounding errors behind, which add up over iterations; so a copy of the touched
    weights is kept and put back. While it lasts the bare layers stand in for peft's. Does nothing
    without an adapter, or when already merged.
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

"""Full mode of the TRL adapter: whole conversations, including the user's turns, as a `rollout_func`.

All conversations of a batch advance together, one turn at a time. The trainer uses its own sampling settings and
backend (`generate`, continuous batching, or vLLM) to sample each turn from the exact token ids of the conversation. The
answers of the environment are appended with mask 0. Sampled tokens are never decoded and tokenized again, and the loss
includes only sampled tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from trace_gym.adapters.trl.environment import Trainer, TrlEnvironment, check_version
from trace_gym.errors import ConfigError
from trace_gym.policies.chat import Chat
from trace_gym.types import Message


@dataclass(frozen=True)
class RolloutFunction:
    """The `rollout_func` of the trainer, called with one prompt per rollout after the environments are reset.

    Args:
        turn_tokens: Maximum number of tokens of an assistant turn. A longer turn is truncated and passed to the
            environment. None sets no limit per turn. The trainer's `max_completion_length` always limits the total
            number of tokens after the prompt.
        max_tokens: Maximum number of tokens of a conversation, including the prompt. None sets no limit other than the
            context of the model.
        style: Chat format in which the model writes tool calls; see `trace_gym.policies.chat.Chat`.
    """

    turn_tokens: int | None = None
    max_tokens: int | None = None
    style: str = "auto"

    def __call__(self, prompts: Sequence[list[Message]], trainer: Trainer) -> dict[str, Any]:
        """Run the episode of every prompt to its end.

        Returns:
            Lists with one entry per prompt: ``prompt_ids``, ``completion_ids``, ``env_mask`` (1 for tokens that the
            model sampled) and ``logprobs`` (of sampled tokens; None if the trainer does not use vLLM). The mask and the
            log-probabilities have the length of ``completion_ids``.

        Raises:
            ConfigError: The TRL version is not supported, the trainer has additional tools, or a prompt does not fit
                into the model's context.
        """
        check_version("full mode")
        if trainer.tools:
            raise ConfigError(
                "full mode does not support the argument 'tools' of GRPOTrainer, because the environment answers every "
                "tool call. Remove the argument"
            )
        chat, environments = _TrainersChat(trainer, self.style), trainer.environments or ()
        context = min(_context(trainer), self.max_tokens or sys.maxsize)
        rows = [_start_conversation(p, a, chat, trainer, context) for p, a in zip(prompts, environments, strict=True)]
        with _turn_limit(trainer, self.turn_tokens):
            while _any_process(trainer, any(not row.over for row in rows)):
                _run_turn(rows, trainer)
        return {
            "prompt_ids": [row.prompt for row in rows],
            "completion_ids": [row.ids for row in rows],
            "env_mask": [row.mask for row in rows],
            "logprobs": [row.logprobs for row in rows] if trainer.use_vllm else None,
        }


@dataclass(eq=False)
class TokenConversation:
    """One rollout as tokens: the prompt, the turns of the model, and the answers of the environment."""

    environment: TrlEnvironment
    chat: Chat
    prompt: list[int]
    token_budget: int
    """Maximum number of tokens after the prompt."""
    ends: Collection[int]
    """Token ids that end a turn."""
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        if self.environment.episode is None:  # the environment failed at its reset; TRL requires at least one token
            self._append([self.chat.eos], 0)
            self.over = True
        else:
            self.environment.episode.style = self.chat.style

    def take(self, turn: Sequence[int], logprobs: Sequence[float] | None = None) -> None:
        """Pass a sampled turn to the environment, and append the answers unless the conversation is over.

        A turn that exceeds the remaining token budget is truncated. A truncated turn without an end-of-turn token is
        not passed to the environment.
        """
        turn = turn[: self.token_budget - len(self.ids)]
        self._append(turn, 1, logprobs)
        ended = bool(turn) and turn[-1] in self.ends
        self.over = True
        if not ended and len(self.ids) >= self.token_budget:
            return
        answers = self.environment._take(self.chat.texts([turn[:-1] if ended else turn])[0])
        if self.environment.episode is None or self.environment.episode.done:
            return
        closing = [] if turn and turn[-1] == self.chat.eos else [self.chat.eos]
        suffix = closing + self.chat.answer(answers, self.environment._schemas)
        if len(self.ids) + len(suffix) < self.token_budget:
            self._append(suffix, 0)
            self.over = False

    def _append(self, tokens: Sequence[int], mine: int, logprobs: Sequence[float] | None = None) -> None:
        self.ids += tokens
        self.mask += [mine] * len(tokens)
        self.logprobs += [0.0] * len(tokens) if logprobs is None else logprobs[: len(tokens)]


class _TrainersChat(Chat):
    """A `Chat` that uses the trainer's chat template and template options."""

    def __init__(self, trainer: Trainer, style: str) -> None:
        options: dict[str, Any] = {"chat_template": trainer.chat_template, **trainer.chat_template_kwargs}
        super().__init__(getattr(trainer.processing_class, "tokenizer", trainer.processing_class), options, style)


def _start_conversation(
    prompt: list[Message], environment: TrlEnvironment, chat: Chat, trainer: Trainer, context: int
) -> TokenConversation:
    """Return the conversation of a rollout with its first tokens. `context` limits its total number of tokens."""
    ids = chat.opening(prompt, environment._schemas)
    if (token_budget := min(trainer.max_completion_length, context - len(ids))) < 1:
        raise ConfigError(
            f"a prompt of {environment._env} does not fit into the model's context: found {len(ids)} tokens, "
            f"expected fewer than {context}. Use a model with a longer context, or increase max_tokens if it is set"
        )
    return TokenConversation(environment, chat, ids, token_budget, frozenset(trainer.eos_token_ids))


def _run_turn(rows: Sequence[TokenConversation], trainer: Trainer) -> None:
    """Run one turn of every unfinished conversation."""
    live = [row for row in rows if not row.over]
    token_prompts = [row.prompt + row.ids for row in live]
    if trainer.accelerator.num_processes > 1:
        # Generation may be a collective operation (vLLM server, sharded weights), which requires the same number of
        # rows in each process.
        token_prompts += [row.prompt[:1] for row in rows if row.over]
    turns, logprobs = trainer._generate_single_turn(token_prompts, None, {}, num_generations=1)
    for n, row in enumerate(live):
        row.take(turns[n], logprobs[n] if logprobs is not None else None)


def _any_process(trainer: Trainer, unfinished: bool) -> bool:
    """Return whether any process has an unfinished conversation. Until this is False, all processes must continue."""
    import torch

    here = torch.tensor([int(unfinished)], device=trainer.accelerator.device)
    return bool(trainer.accelerator.gather(here).any())


def _context(trainer: Trainer) -> int:
    """Return the maximum number of tokens of a conversation, determined in the same way as in TRL."""
    if trainer.use_vllm and trainer.vllm_mode == "colocate":
        return int(trainer.vllm_generation.llm.llm_engine.model_config.max_model_len)
    return getattr(trainer.model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize


@contextmanager
def _turn_limit(trainer: Trainer, tokens: int | None) -> Iterator[None]:
    """Limit the number of tokens that the trainer samples per turn, within the block."""
    holder: Any = trainer.vllm_generation if trainer.use_vllm else trainer.generation_config
    name = "max_completion_length" if trainer.use_vllm else "max_new_tokens"
    before = getattr(holder, name)
    setattr(holder, name, min(tokens or before, before))
    try:
        yield
    finally:
        setattr(holder, name, before)

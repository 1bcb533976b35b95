"""Full mode of the TRL adapter: whole conversations, user turns included, as a `rollout_func`.

All conversations of a batch take their turns together. A turn is sampled by the trainer itself (`generate` of its
model, continuous batching, or vLLM, with the trainer's settings) from the exact ids so far; what answers it is appended
behind mask 0. So nothing is tokenised twice, and no token is trained on that the model did not sample.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from trace_gym.adapters.trl_attempt import Attempt, Trainer, check_version
from trace_gym.errors import ConfigError
from trace_gym.policies.chat import Chat
from trace_gym.types import Message


@dataclass(frozen=True)
class Rollout:
    """What the trainer calls with its prompts, one a rollout, after it has reset its environments.

    Args:
        turn_tokens: A turn that is longer is cut there and handed to the environment as it is; None for no limit
            but the trainer's `max_completion_length`, which bounds the whole conversation after the prompt.
    """

    turn_tokens: int | None = None

    def __call__(self, prompts: Sequence[list[Message]], trainer: Trainer) -> dict[str, Any]:
        """Play every prompt to its end.

        Returns:
            Lists with an entry a prompt: ``prompt_ids``, ``completion_ids``, and as long as the latter ``env_mask``
            (1 where the model sampled the token) and ``logprobs`` (of sampled tokens; None where TRL needs none).

        Raises:
            ConfigError: TRL is another version, has tools of its own, or a prompt does not fit the model's context.
        """
        check_version("full mode samples with")
        if trainer.tools:
            raise ConfigError("in full mode the environment answers every call; leave tools= of GRPOTrainer out")
        chat, attempts = _TrainersChat(trainer), trainer.environments or ()
        rows = [_begin(p, a, chat, trainer) for p, a in zip(prompts, attempts, strict=True)]
        with _turns_of(trainer, self.turn_tokens):
            while _anywhere(trainer, any(not row.over for row in rows)):
                _turn(rows, trainer)
        return {
            "prompt_ids": [row.prompt for row in rows],
            "completion_ids": [row.ids for row in rows],
            "env_mask": [row.mask for row in rows],
            "logprobs": [row.logprobs for row in rows] if trainer.use_vllm else None,
        }


@dataclass(eq=False)
class Conversation:
    """One rollout as tokens: the prompt, then what the model wrote and what the environment answered."""

    attempt: Attempt
    chat: Chat
    prompt: list[int]
    room: int
    """Most tokens after the prompt."""
    ends: Collection[int]
    """Ids that end a turn."""
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        if self.attempt.episode is None:  # it broke at its reset: TRL wants a token all the same
            self._append([self.chat.eos], 0)
            self.over = True

    def take(self, turn: Sequence[int], logprobs: Sequence[float] | None = None) -> None:
        """Hand a sampled turn to the environment, and append what answers it unless the conversation is over.

        A turn that leaves no room is cut; if it had not ended by then, it is not taken.
        """
        turn = turn[: self.room - len(self.ids)]
        self._append(turn, 1, logprobs)
        ended = bool(turn) and turn[-1] in self.ends
        self.over = True
        if not ended and len(self.ids) >= self.room:
            return
        answers = self.attempt._take(self.chat.texts([turn[:-1] if ended else turn])[0])
        if self.attempt.episode is None or self.attempt.episode.done:
            return
        closing = [] if turn and turn[-1] == self.chat.eos else [self.chat.eos]
        suffix = closing + self.chat.answer(answers, self.attempt._schemas)
        if len(self.ids) + len(suffix) < self.room:
            self._append(suffix, 0)
            self.over = False

    def _append(self, tokens: Sequence[int], mine: int, logprobs: Sequence[float] | None = None) -> None:
        self.ids += tokens
        self.mask += [mine] * len(tokens)
        self.logprobs += [0.0] * len(tokens) if logprobs is None else logprobs[: len(tokens)]


class _TrainersChat(Chat):
    """Renders as the trainer does: with its chat template and the options of its configuration."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__(getattr(trainer.processing_class, "tokenizer", trainer.processing_class))
        self._options: dict[str, Any] = {"chat_template": trainer.chat_template, **trainer.chat_template_kwargs}

    def _render(self, messages: Sequence[Message], tools: Sequence[Message]) -> str:
        render: Any = self.tokenizer.apply_chat_template
        said = {"tools": list(tools) or None, "add_generation_prompt": True, "tokenize": False}
        return str(render(list(messages), **said, **self._options))


def _begin(prompt: list[Message], attempt: Attempt, chat: Chat, trainer: Trainer) -> Conversation:
    ids, context = chat.opening(prompt, attempt._schemas), _context(trainer)
    if (room := min(trainer.max_completion_length, context - len(ids))) < 1:
        raise ConfigError(f"a prompt of {attempt._env} has {len(ids)} tokens, and the model's context is {context}")
    return Conversation(attempt, chat, ids, room, frozenset(trainer.eos_token_ids))


def _turn(rows: Sequence[Conversation], trainer: Trainer) -> None:
    """Let every conversation that goes on take one turn."""
    live = [row for row in rows if not row.over]
    asked = [row.prompt + row.ids for row in live]
    if trainer.accelerator.num_processes > 1:
        # Generation may be collective (vLLM's server, sharded weights) and then counts on as many rows everywhere.
        asked += [row.prompt[:1] for row in rows if row.over]
    turns, logprobs = trainer._generate_single_turn(asked, None, {}, num_generations=1)
    for n, row in enumerate(live):
        row.take(turns[n], logprobs[n] if logprobs is not None else None)


def _anywhere(trainer: Trainer, going: bool) -> bool:
    """Whether a conversation goes on in any process: all take part until the last one is over."""
    import torch

    here = torch.tensor([int(going)], device=trainer.accelerator.device)
    return bool(trainer.accelerator.gather(here).any())


def _context(trainer: Trainer) -> int:
    """Most tokens of a conversation, as TRL itself finds them."""
    if trainer.use_vllm and trainer.vllm_mode == "colocate":
        return int(trainer.vllm_generation.llm.llm_engine.model_config.max_model_len)
    return getattr(trainer.model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize


@contextmanager
def _turns_of(trainer: Trainer, tokens: int | None) -> Iterator[None]:
    """Let the trainer sample at most so many tokens at once."""
    holder: Any = trainer.vllm_generation if trainer.use_vllm else trainer.generation_config
    name = "max_completion_length" if trainer.use_vllm else "max_new_tokens"
    before = getattr(holder, name)
    setattr(holder, name, min(tokens or before, before))
    try:
        yield
    finally:
        setattr(holder, name, before)

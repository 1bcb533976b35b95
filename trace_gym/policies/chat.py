"""Conversion of conversations to token ids with a chat template. Earlier turns are not tokenized again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trace_gym.errors import ConfigError
from trace_gym.types import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MARK = "dummy-turn-of-the-assistant"
"""Text of a placeholder for an assistant turn, which marks the position of the turn in the rendered template."""
KEPT = 20_000
"""Maximum number of cached answers. The cache is cleared when it is full."""


class Chat:
    """Renderer that converts prompts and answers of the environment to token ids for one tokenizer.

    Rendered answers are cached, because the same answers occur in many episodes.

    Args:
        tokenizer: The tokenizer.
        template: Additional arguments of the chat template, such as ``enable_thinking``.

    Raises:
        ConfigError: The tokenizer has no end-of-turn token or no chat template.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, template: Mapping[str, Any] | None = None) -> None:
        if tokenizer.eos_token_id is None or not tokenizer.chat_template:
            raise ConfigError(
                "the tokenizer must have a chat_template and an eos_token that ends a turn: found "
                f"{'a' if tokenizer.chat_template else 'no'} chat_template and the eos_token {tokenizer.eos_token!r}"
            )
        self.tokenizer = tokenizer
        self.template = dict(template or {})
        self.eos: int = int(tokenizer.eos_token_id)
        self._eos_text = str(tokenizer.eos_token)
        self._known: dict[str, list[int]] = {}

    def opening(self, messages: Sequence[Message], tools: Sequence[Message]) -> list[int]:
        """Return the token ids of the messages and the generation prompt."""
        return self.ids(self._render(messages, tools))

    def answer(self, answers: Sequence[Message], tools: Sequence[Message]) -> list[int]:
        """Return the token ids of the environment's answers and the next generation prompt.

        They follow the end-of-turn token of the assistant turn.

        Raises:
            ConfigError: The chat template does not end an assistant turn with the end-of-turn token.
        """
        key = repr(answers)
        if (ids := self._known.get(key)) is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            ids = self._known[key] = self.ids(self._suffix(answers, tools))
        return ids

    def texts(self, turns: Sequence[Sequence[int]]) -> list[str]:
        """Return turns as text. Special tokens are kept, except for the end-of-turn token."""
        bare = [turn[:-1] if turn and turn[-1] == self.eos else turn for turn in turns]
        return self.tokenizer.batch_decode(
            [list(t) for t in bare], skip_special_tokens=False, clean_up_tokenization_spaces=False
        )

    def _suffix(self, answers: Sequence[Message], tools: Sequence[Message]) -> str:
        """Render a placeholder turn followed by the answers, and return the text after the end of the turn."""
        calls: list[Message] = [
            {"id": a.get("tool_call_id"), "type": "function", "function": {"name": a.get("name"), "arguments": {}}}
            for a in answers
            if a["role"] == "tool"
        ]
        dummy: Message = {"role": "assistant", "content": MARK} | ({"tool_calls": calls} if calls else {})
        # One tool is enough for templates that check whether there are tools, and much faster than all tools.
        text = self._render([{"role": "user", "content": "-"}, dummy, *answers], tools[:1])
        _, marked, rest = text.partition(MARK)
        _, ended, suffix = rest.partition(self._eos_text)
        if not marked or not ended:
            raise ConfigError(
                f"the chat template does not end an assistant turn with the tokenizer's eos_token {self._eos_text!r}. "
                "Set tokenizer.eos_token to the token that ends a turn"
            )
        return suffix

    def _render(self, messages: Sequence[Message], tools: Sequence[Message]) -> str:
        render: Any = self.tokenizer.apply_chat_template
        given = {"tools": list(tools) or None, "add_generation_prompt": True, "tokenize": False}
        return str(render(list(messages), **self.template, **given))

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

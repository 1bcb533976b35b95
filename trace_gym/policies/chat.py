"""Rendering of conversations as token ids with a chat template, without tokenizing earlier turns again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError

from trace_gym.chat_formats import FORMATS
from trace_gym.errors import ConfigError
from trace_gym.model_text import Malformed
from trace_gym.types import Call, Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MARK = "dummy-turn-of-the-assistant"
"""Placeholder text that marks the position of an assistant turn in the rendered conversation."""
PROBE = Call("probe", {"text": "a b", "number": 12})
"""Tool call that is rendered to find the chat format of a template."""
USER: Message = {"role": "user", "content": "-"}
RESULT = "result-of-the-tool"
"""Tool result that is rendered to check a template."""
KEPT = 20_000
"""Maximum number of cached answers. The cache is cleared when it is full."""


class Chat:
    """Renderer that converts prompts and the environment's responses to the token ids of one tokenizer.

    Rendered answers are cached, because the same answers occur in many episodes.

    Args:
        tokenizer: The tokenizer.
        template: Additional arguments for the chat template, such as ``enable_thinking``.
        style: Chat format of the model's tool calls: a key of `trace_gym.chat_formats.FORMATS`, or ``auto`` to detect
            it from the chat template.

    Raises:
        ConfigError: The tokenizer has no end-of-turn token or no chat template, the template does not render
            tool results, or the format of the tool calls is not supported.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, template: Mapping[str, Any] | None = None, style: str = "auto"
    ) -> None:
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
        self._check_results()
        self.style = self._detect_style() if style == "auto" else style

    def opening(self, messages: Sequence[Message], tools: Sequence[Message]) -> list[int]:
        """Return the token ids of the messages and the generation prompt."""
        return self.ids(self._render(messages, tools))

    def answer(self, answers: Sequence[Message], tools: Sequence[Message]) -> list[int]:
        """Return the token ids of the environment's answers and the next generation prompt.

        The result starts right after the assistant turn's end-of-turn token.

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

    def _check_results(self) -> None:
        """Check that the chat template renders tool results.

        The template does not have to render the tool schemas, because a model can be trained with a fixed set of tools.

        Raises:
            ConfigError: The model would not see the results of its tool calls.
        """
        self._suffix([USER], [])
        answer: Message = {"role": "tool", "name": PROBE.tool, "tool_call_id": "call_0_0", "content": RESULT}
        shown = False
        with suppress(ConfigError):
            shown = RESULT in self._suffix([answer], [])
        if not shown:
            raise ConfigError(
                "the chat template does not render tool results after a turn that ends with the eos_token "
                f"{self._eos_text!r}, so the model would not see the results. Use a model whose chat template supports "
                "tools, or replace the model's chat template"
            )

    def _detect_style(self) -> str:
        """Return the first chat format that recovers the call `PROBE` from a rendered conversation.

        Raises:
            ConfigError: No chat format can parse the tool calls that the template writes, or it writes none.
        """
        turn = _calling("", [_wire(PROBE, "0" * 9)])
        text = self._render([USER, turn], [], start_turn=False)
        text = text.removeprefix(self._render([USER], [], start_turn=False)).partition(self._eos_text)[0]
        if PROBE.tool not in text:
            raise ConfigError(
                "the chat template does not render the tool calls of earlier turns, so the format in which the model "
                f"writes tool calls is unknown. Set tool_calls to one of {', '.join(FORMATS)}"
            )
        starts = [found.start() for found in re.finditer(r"[<\[{]", text)]  # the turn may begin with a role header
        for name, style in FORMATS.items():
            for start in starts:
                with suppress(Malformed):
                    if style.parse(text[start:])[1] == [PROBE]:
                        return name
        raise ConfigError(
            f"the chat template writes tool calls in an unsupported format: found {text.strip()!r}. The supported "
            f"formats are {', '.join(FORMATS)}. If the model can also use one of them, set tool_calls to its name; "
            "otherwise, serve the model with an inference server that parses its tool calls, and use it through an "
            "endpoint"
        )

    def _suffix(self, answers: Sequence[Message], tools: Sequence[Message]) -> str:
        """Render a placeholder turn followed by the answers, and return the text after the end of the turn."""
        problem = ""
        for turn, following in _placeholders(answers):
            try:  # one tool is enough for templates that check whether there are tools, and much faster than all tools
                text = self._render([USER, turn, *following], tools[:1])
            except TemplateError as error:
                problem = f" (template error: {error})"
                continue
            _, marked, rest = text.partition(MARK)
            _, ended, suffix = rest.partition(self._eos_text)
            if marked and ended:
                return suffix
        raise ConfigError(
            f"the chat template does not end an assistant turn with the tokenizer's eos_token {self._eos_text!r}"
            f"{problem}. Set tokenizer.eos_token to the token that ends a turn"
        )

    def _render(self, messages: Sequence[Message], tools: Sequence[Message], start_turn: bool = True) -> str:
        render: Any = self.tokenizer.apply_chat_template
        given = {"tools": list(tools) or None, "add_generation_prompt": start_turn, "tokenize": False}
        try:
            return str(render(list(messages), **self.template, **given))
        except TypeError:  # some templates expect the arguments of tool calls as text
            return str(render([_with_text_arguments(m) for m in messages], **self.template, **given))

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def _placeholders(answers: Sequence[Message]) -> Iterator[tuple[Message, Sequence[Message]]]:
    """Yield placeholder turns that contain `MARK`, each with the answers that follow it.

    The first placeholder works with most templates. The others are for templates that omit the content of turns with
    tool calls, require nine-character call ids, or support only one tool call per turn.
    """
    results = [answer for answer in answers if answer["role"] == "tool"]
    if not results:
        yield {"role": "assistant", "content": MARK}, answers
        return
    calls = [_wire(Call(str(r.get("name")), {}), r.get("tool_call_id")) for r in results]
    yield _calling(MARK, calls), answers
    marked = [_wire(Call(MARK, {}), r.get("tool_call_id")) for r in results]
    yield _calling("", marked), answers
    ids = [f"{n:09}" for n in range(len(results))]
    marked = [_wire(Call(MARK, {}), name) for name in ids]
    remaining = iter(ids)
    renamed = [a | {"tool_call_id": next(remaining)} if a["role"] == "tool" else a for a in answers]
    yield _calling("", marked), renamed
    yield _calling("", marked[:1]), renamed


def _calling(content: str, calls: list[Message]) -> Message:
    return {"role": "assistant", "content": content, "tool_calls": calls}


def _wire(call: Call, name: str | None) -> Message:
    return {"id": name, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}}


def _with_text_arguments(message: Message) -> Message:
    calls = [
        call | {"function": call["function"] | {"arguments": json.dumps(call["function"]["arguments"])}}
        for call in message.get("tool_calls") or ()
    ]
    return message | ({"tool_calls": calls} if calls else {})

"""Chat formats: how different families of models write tool calls in an assistant turn.

A chat format is a class with the methods `parse` and `render` (see `trace_gym.chat_formats.base.ChatFormat`). To add
a format, add an instance of its class to `FORMATS`.
"""

from trace_gym.chat_formats.base import ChatFormat
from trace_gym.chat_formats.json_calls import Hermes, JsonAction, Llama3, Mistral
from trace_gym.chat_formats.other_calls import Pythonic, Qwen3Coder

__all__ = ["FORMATS", "ChatFormat"]

FORMATS: dict[str, ChatFormat] = {
    "hermes": Hermes(),
    "json": JsonAction(),
    "llama3": Llama3(),
    "mistral": Mistral(),
    "qwen3_coder": Qwen3Coder(),
    "pythonic": Pythonic(),
}

"""Gymnasium spaces for text, with support for the shared memory of `AsyncVectorEnv`."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping, Sequence
from ctypes import addressof, c_char, c_int64, memmove, string_at
from typing import Any, overload

from gymnasium.spaces import Space
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

from trace_gym.chat_formats import FORMATS
from trace_gym.model_text import MAX_TEXT
from trace_gym.types import Call, Message

BYTES = 4
"""Maximum number of bytes of a character in UTF-8."""


class UnicodeText(Space[str]):
    """A space of all texts up to a maximum length.

    `gymnasium.spaces.Text` is not suitable as a base class. It requires an alphabet, and the shared memory of
    `AsyncVectorEnv` returns its observations as zeros. This module registers shared-memory functions for `UnicodeText`.
    """

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return 1 to 32 random printable ASCII characters."""
        return "".join(map(chr, self.np_random.integers(32, 127, size=int(self.np_random.integers(1, 33)))))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other).get("max_length") == self.max_length

    def __hash__(self) -> int:
        return hash((type(self), self.max_length))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(max_length={self.max_length})"


class Turns(UnicodeText):
    """A space of assistant turns. About 67% of the samples are well-formed calls of the environment's tools."""

    def __init__(self, tools: Mapping[str, Message], style: str, seed: int | None = None) -> None:
        self.tools, self.style = dict(tools), style
        super().__init__(MAX_TEXT, seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        if not self.tools or self.np_random.random() < 1 / 3:
            return super().sample()
        name = sorted(self.tools)[self.np_random.integers(len(self.tools))]
        parameters = self.tools[name]["function"]["parameters"]
        arguments = {k: self._value(s) for k, s in parameters.get("properties", {}).items()}
        return FORMATS[self.style].render(Call(name, arguments))

    def _value(self, schema: Message) -> Any:
        """Return a random value of the schema's type."""
        if choices := schema.get("enum"):
            return choices[self.np_random.integers(len(choices))]
        number = int(self.np_random.integers(100))
        made: dict[str, Any] = {"integer": number, "number": number / 4, "boolean": number < 50, "object": {}}
        if schema.get("type") == "array":
            return [self._value(schema.get("items", {})) for _ in range(number % 3)]
        return made.get(str(schema.get("type")), super().sample())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Turns) and (other.tools, other.style) == (self.tools, self.style)

    __hash__ = UnicodeText.__hash__


class SharedTexts(Sequence[str]):
    """Texts of several processes in shared memory. An item is decoded when it is accessed.

    `AsyncVectorEnv` reads its shared memory only once, in its constructor, and returns deep copies of the resulting
    object. A deep copy of this class is therefore a tuple of the current texts.

    Args:
        lengths: Length in bytes of each text.
        content: Buffer with the texts in UTF-8, divided into parts of equal size.
    """

    def __init__(self, lengths: Any, content: Any) -> None:
        self.lengths, self.content = lengths, content
        self.size = len(content) // len(lengths)

    def write(self, index: int, text: str) -> None:
        """Replace a text.

        Raises:
            ValueError: The text is longer than the space allows.
        """
        encoded = text.encode("utf-8", "surrogatepass")
        if len(encoded) > self.size:
            raise ValueError(
                f"the observation is too long: found {len(encoded)} bytes, expected at most {self.size} bytes"
            )
        memmove(addressof(self.content) + index * self.size, encoded, len(encoded))
        self.lengths[index] = len(encoded)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[n] for n in range(len(self))[index])
        n = range(len(self))[index]
        encoded = string_at(addressof(self.content) + n * self.size, self.lengths[n])
        return encoded.decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        return len(self.lengths)

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)


@create_shared_memory.register(UnicodeText)
def _create(space: UnicodeText, n: int = 1, ctx: Any = multiprocessing) -> tuple[Any, Any]:
    return ctx.RawArray(c_int64, n), ctx.RawArray(c_char, n * BYTES * space.max_length)


@read_from_shared_memory.register(UnicodeText)
def _read(space: UnicodeText, shared_memory: tuple[Any, Any], n: int = 1) -> SharedTexts:
    return SharedTexts(*shared_memory)


@write_to_shared_memory.register(UnicodeText)
def _write(space: UnicodeText, index: int, value: str, shared_memory: tuple[Any, Any]) -> None:
    SharedTexts(*shared_memory).write(index, value)

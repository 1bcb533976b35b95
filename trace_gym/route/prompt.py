"""The routing prompt (paper, section 3.5 and appendix E): capabilities as lettered options, the task, one letter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from trace_gym.llm.quoting import inline
from trace_gym.types import Message

BASE = "none"
"""The option that leaves the base model as it is."""
LETTERS = "ABCDEFGH"
INSTRUCTION = """# Routing
You decide which special skill a conversation needs before it begins. Each option is a skill, what it is for, one
conversation in which it was needed, and its letter. Answer with the letter of the option that fits the task best;
choose the option without a skill when none is needed."""


@dataclass(frozen=True)
class Option:
    """One candidate of the router."""

    capability: str
    description: str
    example: str = ""
    """A successful conversation from the capability's environment, compacted by `compact`."""


NO_SKILL = Option(BASE, "no special skill is needed")


def compact(messages: Sequence[Message]) -> str:
    """A conversation in one line: the user's opening and the tools called, in order."""
    opening = next(str(m["content"]) for m in messages if m["role"] == "user")
    calls = [c["function"]["name"] for m in messages for c in m.get("tool_calls") or ()]
    return f"{opening} -> {', '.join(calls) or 'answered without a tool'}"


def routing_messages(opening: str, options: Sequence[Option]) -> list[Message]:
    """The chat that asks for a letter; option n answers to `LETTERS[n]`.

    Each option and the task have one line, whatever their texts contain.

    Args:
        opening: The user's first message of the task to be routed.
        options: At most eight, the base option among them wherever the caller put it.
    """
    lines = []
    for letter, option in zip(LETTERS, options, strict=False):
        example = f" Example: {option.example}" if option.example else ""
        # The letter closes its option: whoever reads it has read the whole option.
        lines.append(inline(f"{option.capability}: {option.description}.{example} Letter {letter}"))
    lines.append(inline(f"Task: {opening}"))
    return [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": "\n".join(lines)}]


def without_tokens(text: str, tokens: Iterable[str]) -> str:
    """Return the text with a space in every special token, so that it cannot end its message in a chat template."""
    for token in sorted(filter(None, tokens), key=len, reverse=True):
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def shuffled(options: Sequence[Option], rng: Random) -> list[Option]:
    """The options in another order, so that no letter stands for a skill."""
    return rng.sample(list(options), k=len(options))

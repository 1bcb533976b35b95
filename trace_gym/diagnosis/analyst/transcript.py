"""Transcripts of trajectories for prompts: one numbered line per turn, shortened to a budget of tokens.

A transcript contains the user's requests, the tool calls with all arguments, the tool results, and the agent's
messages. Long results and agent messages are shortened first, except for refusals and for the parts of a result that
contain a value that the agent uses later. User requests and arguments are shortened only if the transcript still
exceeds the budget. A transcript does not contain the id, the source or the outcome of the trajectory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trace_gym.llm.quoting import Verbatim, inline
from trace_gym.types import Message, Trajectory

CHARACTERS_PER_TOKEN = 4
"""Estimated number of characters per token of English text and JSON."""
SOFT_LIMITS = (4000, 2000, 1000, 500, 250, 120)
"""Maximum lengths in characters to which results and agent messages are shortened, in the order in which they are
tried."""
HARD_LIMITS = (2000, 1000, 500, 250, 120)
"""Maximum lengths in characters to which all turns are shortened if the soft limits are not sufficient."""
ROLES = {"user": "user", "assistant": "agent", "tool": "result"}
_VALUE = re.compile(r"[\w.@:/#+-]{3,}")
_QUOTES = {0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'"}
_KEY = re.compile(r'"[^"]*"\s*:')
_PART = re.compile(r"(?<=[,;\n}\]])")


@dataclass(frozen=True)
class TranscriptEntry:
    """Message, tool call or tool result."""

    number: int
    kind: str
    """``user``, ``agent`` (message), ``call``, ``result``, or ``other``."""
    text: str
    kept: bool = False
    """Whether to shorten the turn only if no other turn can be shortened further."""

    @property
    def line(self) -> Verbatim:
        """The turn on one line. Line breaks and hidden characters in the text are replaced by escapes."""
        return Verbatim(f"[{self.number}] {self.kind}: {inline(self.text)}")


def tokens(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return -(-len(text.encode(errors="replace")) // CHARACTERS_PER_TOKEN)


def system_prompt(trajectory: Trajectory) -> str:
    """Return the system messages of a trajectory, which contain the rules for the agent."""
    return "\n".join(str(m.get("content") or "") for m in trajectory.messages if m.get("role") == "system").strip()


def transcript(trajectory: Trajectory, budget: int) -> list[TranscriptEntry]:
    """Return the turns of a trajectory, shortened to approximately `budget` tokens."""
    turns = list(_turns(trajectory.messages))
    if _size(turns) <= budget:
        return turns
    used = _used_later(turns)
    for limit in SOFT_LIMITS:
        short = [t if t.kept else replace(t, text=_shortened(t, limit, used[n])) for n, t in enumerate(turns)]
        if _size(short) <= budget:
            return short
    for limit in HARD_LIMITS:
        short = [replace(t, text=_cut(t.text, limit)) for t in short]
        if _size(short) <= budget:
            return short
    return _without_middle(short, budget)


def find_quote(turns: Sequence[TranscriptEntry], quote: str) -> TranscriptEntry | None:
    """Return the turn that contains a quote, or None. Differences in white space and in letter case are ignored."""
    wanted = _plain(quote)
    if not any(c.isalnum() for c in wanted):
        return None
    return next((t for t in turns if wanted in _plain(t.text) or wanted in _plain(t.line)), None)


def _turns(messages: Sequence[Message]) -> Iterator[TranscriptEntry]:
    number = 0
    for message in messages:
        role = str(message.get("role"))
        if role == "system":
            continue
        kind = ROLES.get(role, "other")
        if text := _text(message.get("content")):
            number += 1
            yield TranscriptEntry(
                number, kind, text, kind == "user" or (kind == "result" and text.lower().startswith("error"))
            )
        for call in message.get("tool_calls") or ():
            number += 1
            function = call.get("function") or {}
            arguments = function.get("arguments")
            shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
            yield TranscriptEntry(number, "call", f"{function.get('name')} {shown}", True)


def _text(content: object) -> str:
    if isinstance(content, list):  # content parts of the OpenAI format
        return " ".join(str(part.get("text") or "") for part in content if isinstance(part, dict)).strip()
    return str(content or "").strip()


def _size(turns: Sequence[TranscriptEntry]) -> int:
    return sum(tokens(t.line) + 1 for t in turns)


def _used_later(turns: Sequence[TranscriptEntry]) -> list[frozenset[str]]:
    """Return, for each turn, the values that occur in later calls and messages of the agent."""
    used: frozenset[str] = frozenset()
    sets = []
    for turn in reversed(turns):
        sets.append(used)
        if turn.kind in ("call", "agent"):
            found = _values(_KEY.sub(" ", turn.text))
            used |= {v for v in found if any(c.isdigit() for c in v) or turn.kind == "call"}
    return sets[::-1]


def _values(text: str) -> set[str]:
    return {v.strip(".:-/") for v in _VALUE.findall(text)}


def _shortened(turn: TranscriptEntry, limit: int, used: frozenset[str]) -> str:
    """Return the beginning and the end of a text, and all parts that contain a value that the agent uses later."""
    if len(turn.text) <= limit:
        return turn.text
    if turn.kind != "result":
        return _cut(turn.text, limit)
    parts, kept, position = _PART.split(turn.text), [], 0
    for part in parts:
        near_end = position < limit * 2 // 3 or position + len(part) > len(turn.text) - limit // 4
        position += len(part)
        if (near_end and len(part) <= limit) or _values(part) & used:
            kept.append(_cut(part, max(limit, 400)))
        elif not kept or kept[-1] != " ... ":
            kept.append(" ... ")
    return "".join(kept)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} ... {text[-(limit // 3) :]}"


def _without_middle(turns: list[TranscriptEntry], budget: int) -> list[TranscriptEntry]:
    """Return the first and last turns that fit into `budget` tokens, with a placeholder for the omitted turns."""
    kept = list(turns)
    while len(kept) > 2 and _size(kept) > budget - 12:
        del kept[len(kept) // 2]
    if omitted := len(turns) - len(kept):
        middle = -(-len(kept) // 2)
        kept.insert(middle, TranscriptEntry(kept[middle - 1].number + 1, "other", f"... {omitted} turns omitted ..."))
    return kept


def _plain(text: str) -> str:
    text = re.sub(r"\\[nrt]", " ", text).replace("\\", "").translate(_QUOTES)
    return " ".join(text.split()).casefold()

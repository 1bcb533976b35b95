r"""Quoting of untrusted text for prompts, so that the text cannot be mistaken for a part of the prompt.

Untrusted text comes from logs, models, environments and targets. `inline` keeps the text on one line, `quoted` returns
a JSON string, and `fenced` returns a code block that the text cannot close. All three functions replace line
separators, invisible characters, and characters that change the writing direction by escapes such as ``\u2028``.
"""

from __future__ import annotations

import json
import re
import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories: control, format, surrogate, private use, line separator, paragraph separator."""
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Characters of other Unicode categories that most programs do not display."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Verbatim(str):
    """Text that is already quoted, so that it is inserted into a prompt without further changes."""

    __slots__ = ()


def inline(text: str) -> Verbatim:
    """Return the text on one line, with hidden characters and line breaks replaced by escapes."""
    return Verbatim(_escaped(text))


def quoted(text: str) -> Verbatim:
    """Return the text as a JSON string on one line."""
    made = json.dumps(text, ensure_ascii=False)
    return Verbatim(re.sub(r"[^ -~]", lambda m: json.dumps(m[0])[1:-1] if _is_hidden(m[0]) else m[0], made))


def fenced(text: str, language: str = "") -> Verbatim:
    """Return the text as a Markdown code block whose fence is longer than any run of backticks in the text."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", text))])
    body = "\n".join("\t".join(map(_escaped, line.split("\t"))) for line in lines)
    return Verbatim(f"{fence}{language}\n{body}\n{fence}")


def _escaped(text: str) -> str:
    return re.sub(r"[^ -~]", lambda m: _escape(m[0]) if _is_hidden(m[0]) else m[0], text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN or _IGNORABLE.match(character) is not None


def _escape(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")

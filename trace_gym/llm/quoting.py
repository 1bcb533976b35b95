r"""Rendering of text that may be hostile, so that it cannot leave its place in a prompt.

Logs, models, environments and targets supply such text. `inline` keeps it on its line, `quoted` makes it a JSON string,
and `fenced` puts several lines into a code block that the text cannot close. In all three, characters that break a
line, cannot be seen, or change the direction of writing become visible escapes such as ``\u2028``.
"""

from __future__ import annotations

import json
import re
import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories: control, format, surrogate, private use, line separator, paragraph separator."""
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Characters of other categories that most programs do not show."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Verbatim(str):
    """Text that was made safe for a prompt and is inserted without change."""

    __slots__ = ()


def inline(text: str) -> Verbatim:
    """Return the text on one line, every hidden character as an escape. Other text stays the same."""
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

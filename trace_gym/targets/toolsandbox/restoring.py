"""Recognition of questions that ask if the assistant should restore a setting that it changed."""

from __future__ import annotations

import re

from trace_gym.targets.toolsandbox.settings import LABELS

__all__ = ["asks_to_restore", "changes_first", "is_later", "meant_setting"]

_SWITCH = r"(?:turn|switch|put|set|bring|chang|flip|enabl|activat|restor|revert|re-?enabl|re-?activat)\w*"
_LATER = (
    r"\b(?:afterwards?|(?:when|once) (?:i'm|i am|it's|it is|that's|that is|everything is|all is) (?:done|finished))\b"
)
_later = re.compile(_LATER, re.IGNORECASE)
_restores = re.compile(
    rf"\b{_SWITCH}\b.*\bback\b|\bback (?:on|off)\b|\bre-?(?:enabl|activat)|\brestor|\brevert|"
    rf"\b{_SWITCH} (?:[\w-]+ ){{1,5}}?again\b|\b(?:turn|switch)\w*\b.*{_LATER}|"
    rf"\b{_SWITCH}\b.*\b(?:the way|as|how) (?:it|they|everything) (?:was|were)\b",
    re.IGNORECASE,
)
_thing = re.compile(
    r"\b(?:it|them|that|this|those|these|everything|all|both|settings?|services?|mode)\b", re.IGNORECASE
)
_record = re.compile(r"\b(?:reminders?|messages?|texts?|contacts?)\b", re.IGNORECASE)
_first = re.compile(rf"\b{_SWITCH}\b.*\b(?:and|then)\b.*\b{_SWITCH}\b.*\b(?:back|again|afterwards?)\b", re.IGNORECASE)
_direction = re.compile(r"\b(on|off|enabl|activat|disabl|deactivat)", re.IGNORECASE)


def asks_to_restore(asked: str) -> bool:
    """Return whether a question asks if settings should be restored, as in ``Should I turn it back on?``."""
    named = any(label in asked.lower() for label in LABELS.values())
    return _restores.search(asked) is not None and (named or bool(_thing.search(asked) and not _record.search(asked)))


def changes_first(asked: str) -> bool:
    """Return whether a question also proposes the change, as in ``Should I turn it off and switch it on again?``."""
    return _first.search(asked) is not None


def is_later(asked: str) -> bool:
    """Return whether a question is about the time after the task, as in ``Should I turn wifi back on afterwards?``."""
    return _later.search(asked) is not None


def meant_setting(asked: str, text: str) -> tuple[str, bool]:
    """Return the setting that a question asks to restore, and whether the setting would then be on.

    The setting is the last one that the question names, or else the last one that the message names. It is empty if
    neither names a setting.

    Args:
        asked: The question.
        text: The complete message.
    """
    for words in (asked.lower(), text.lower()):
        named = {words.rfind(label): name for name, label in LABELS.items() if label in words}
        if named:
            break
    ways = _direction.findall(asked.lower())
    return (named[max(named)] if named else ""), not ways or ways[-1] not in ("off", "disabl", "deactivat")

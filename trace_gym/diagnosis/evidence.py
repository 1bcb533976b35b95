"""Search of a conversation for the cause of a wrong write call.

A wrong call can have several causes. The rules in `trace_gym.diagnosis.rules` use the functions of this module to
report a capability only if no other cause explains the call equally well.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeGuard

from trace_gym.diagnosis.reference import ReferenceComparison, WritePair, canonical, place, shown_records
from trace_gym.nested import parse_if_json, walk
from trace_gym.types import Call, Trajectory

_alternatives = re.compile(
    r"\b(otherwise|failing that|only if|or else|unless|(?:(?:more|less|fewer) than|at (?:least|most)) \d+(?! \w+ ago))",
    re.IGNORECASE,
)
_refusal = re.compile(
    r"\b(can ?not|can't|unable|(?:not|isn't) (?:possible|allowed|permitted|eligible|able)|against (?:our|the) policy)",
    re.IGNORECASE,
)
_revision = re.compile(r"\bkeep (?:the|my)\b|\bchanged my mind\b|\bon second thought\b", re.IGNORECASE)


def said_by(trajectory: Trajectory, role: str) -> str:
    """Return the text of all messages of a role."""
    return "\n".join(str(m.get("content") or "") for m in trajectory.messages if m.get("role") == role)


def gives_alternatives(trajectory: Trajectory) -> bool:
    """Return whether the user makes an action depend on a condition, such as a price of at least 100 dollars.

    If so, a wrong action may result from a wrong decision about the condition.
    """
    return bool(_alternatives.search(said_by(trajectory, "user")))


def revises(trajectory: Trajectory) -> bool:
    """Return whether the user changes the request in a later message."""
    messages = [str(m.get("content") or "") for m in trajectory.messages if m.get("role") == "user"]
    return any(_revision.search(text) for text in messages[1:])


def found_nothing(seen: ReferenceComparison) -> bool:
    """Return whether the agent looked up the entity of a required write call, but its last search found no record."""
    results = [
        str(m.get("content") or "")
        for m in seen.trajectory.messages
        if m.get("role") == "tool" and seen.trajectory.tools.get(str(m.get("name"))) == "read"
    ]
    looked_up = any(place(p.gold, seen.roles)[1] in result for p in seen.pairs for result in results)
    return looked_up and results[-1].strip() in ("[]", "{}", "null", "")


def claims(seen: ReferenceComparison) -> bool:
    """Return whether the user states a fact that a tool result contradicts, according to `Roles.claims`."""
    stated, shown = said_by(seen.trajectory, "user"), said_by(seen.trajectory, "tool")
    return any(
        re.search(claim, stated, re.IGNORECASE) and re.search(record, shown) for claim, record in seen.roles.claims
    )


def gave_in(seen: ReferenceComparison) -> bool:
    """Return whether the agent made a forbidden write call although its last message to the user refused the action.

    The refusal must be in a sentence about the entity of the call, or in a message that does not mention the entity.
    """
    text = ""
    for message in seen.trajectory.messages:
        if message.get("role") != "assistant":
            continue
        for call in message.get("tool_calls") or ():
            entity = _entity_of_extra(call["function"], seen)
            if entity is not None and (entity not in text or _refuses(text, entity)) and _refusal.search(text):
                return True
        text = text if message.get("tool_calls") else str(message.get("content") or "")
    return False


def _refuses(text: str, entity: str) -> bool:
    return any(entity in sentence and _refusal.search(sentence) for sentence in re.split(r"[.!?;\n]", text))


def _entity_of_extra(function: dict[str, Any], seen: ReferenceComparison) -> str | None:
    """Return the entity of a call if the reference does not contain the call, else None."""
    arguments = parse_if_json(function["arguments"], scalars=True)
    same = [c for c in seen.extra_writes if c.tool == function["name"] and c.arguments == arguments]
    return place(same[0], seen.roles)[1] if same else None


def replaced(seen: ReferenceComparison) -> bool:
    """Return whether each write call that is not in the reference was made in place of one that is.

    Such a call has the same tool or the same entity as a write call of the reference that the agent did not make.
    """
    missing = [place(p.gold, seen.roles) for p in seen.pairs if p.attempt is None]
    made = [place(c, seen.roles) for c in seen.extra_writes]
    return len(made) <= len(missing) and all(
        any(tool == other or entity == of for other, of in missing) for tool, entity in made
    )


def differences(pair: WritePair) -> frozenset[str]:
    """Return the names of the arguments that differ between the calls of a pair.

    If an argument is a list of records with the same length in both calls, return the names of the fields that differ,
    such as ``flights.date``.
    """
    return frozenset(_differences(pair))


def _differences(pair: WritePair) -> Iterator[str]:
    assert pair.attempt is not None
    gold, attempt = pair.gold.arguments, pair.attempt.call.arguments
    for name in gold.keys() | attempt.keys():
        wanted, found = gold.get(name), attempt.get(name)
        if canonical(wanted) == canonical(found):
            continue
        if _records(wanted) and _records(found) and len(wanted) == len(found):
            for field in {k for record in wanted for k in record}:
                if canonical([r.get(field) for r in wanted]) != canonical([r.get(field) for r in found]):
                    yield f"{name}.{field}"
        else:
            yield name


def _records(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def is_part(pair: WritePair, argument: str) -> bool:
    """Return whether the agent passed only some of the list items that the reference passes."""
    assert pair.attempt is not None
    wanted, found = pair.gold.arguments.get(argument), pair.attempt.call.arguments.get(argument)
    if not (isinstance(wanted, list) and isinstance(found, list)) or len(found) >= len(wanted):
        return False
    counts = [Counter(json.dumps(canonical(v), sort_keys=True, default=str) for v in side) for side in (found, wanted)]
    return counts[0] <= counts[1]


def was_shown(pair: WritePair, argument: str, trajectory: Trajectory) -> bool:
    """Return whether tool results contain all texts in an argument of the agent's call.

    Refusals are ignored, because they repeat the argument.
    """
    assert pair.attempt is not None
    shown = shown_records(trajectory)
    passed = (node.value for node in walk(pair.attempt.call.arguments.get(argument)))
    return all(value in shown for value in passed if isinstance(value, str))


def exchanged(pair: WritePair, argument: str, seen: ReferenceComparison) -> bool:
    """Return whether the agent passed the value that another write call of the reference has for an argument."""
    assert pair.attempt is not None
    value = canonical(pair.attempt.call.arguments.get(argument))
    return any(
        other is not pair and argument in other.gold.arguments and canonical(other.gold.arguments[argument]) == value
        for other in seen.pairs
    )


def announced_otherwise(pair: WritePair, seen: ReferenceComparison) -> bool:
    """Return whether a message of the agent states, for the entity of a call, a value that belongs to another call."""
    entity = place(pair.gold, seen.roles)[1]
    text = said_by(seen.trajectory, "assistant").replace("_", " ")
    about = " ".join(s for s in re.split(r"[.!?;\n]", text) if entity and entity.replace("_", " ") in s)
    for name, value in pair.gold.arguments.items():
        others = {str(p.gold.arguments[name]) for p in seen.pairs if name in p.gold.arguments} - {str(value)}
        stated = any(re.search(rf"\b{re.escape(v.replace('_', ' '))}\b", about) for v in others)
        if isinstance(value, str) and stated and value.replace("_", " ") not in about:
            return True
    return False


def made_up(pair: WritePair, argument: str, trajectory: Trajectory) -> bool:
    """Return whether the agent passed a text that occurs in no message, although a message contains the right one."""
    assert pair.attempt is not None
    wanted, found = pair.gold.arguments.get(argument), pair.attempt.call.arguments.get(argument)
    known = f"{said_by(trajectory, 'user')}\n{shown_records(trajectory)}"  # refusals repeat the argument
    return isinstance(wanted, str) and isinstance(found, str) and wanted in known and found not in known


_time = re.compile(
    r"\d|\b(?:today|tonight|tomorrow|yesterday|noon|midnight|morning|afternoon|evening|night|later|now|o'clock|"
    r"(?:half|quarter) (?:past|to)|(?:hour|minute|day|week|weekend|month|year)s?|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|birthday)\b",
    re.IGNORECASE,
)


def states_time(trajectory: Trajectory) -> bool:
    """Return whether a message of the user may describe a date or a time."""
    return _time.search(said_by(trajectory, "user")) is not None


def was_available(value: Any, trajectory: Trajectory) -> bool:
    """Return whether the agent could know a text, because it occurs in a message or contains a digit.

    Texts with digits are ids and amounts, which an agent can look up.
    """
    if not isinstance(value, str) or not value or re.search(r"\d", value):
        return True
    known = "\n".join(said_by(trajectory, role) for role in ("user", "tool")).lower()
    return value.lower().replace("_", " ") in known.replace("_", " ")


def names_of(call: Call) -> set[str]:
    """Return the names of a call's arguments, and of the fields of records in lists, such as ``flights.date``."""
    names = set(call.arguments)
    for name, value in call.arguments.items():
        names |= {f"{name}.{field}" for record in value for field in record} if _records(value) else set()
    return names


def specific(tool: str, difference: str, seen: ReferenceComparison) -> str:
    """Return the capability in `Roles.specific` to which a difference in an argument points, or an empty string."""
    argument = difference.partition(".")[0]
    names = {argument, difference, f"{tool}.{argument}"}
    found = next((s for s in seen.roles.specific if names & {*s.arguments}), None)
    if found is None or not re.search(found.requires, said_by(seen.trajectory, "tool")):
        return ""
    return found.capability


def asked(trajectory: Trajectory) -> bool:
    """Return whether the agent asked a question that is not merely an offer of help."""
    messages = [str(m.get("content") or "") for m in trajectory.messages if m.get("role") == "assistant"]
    return any("?" in _offer.sub("", text) for text in messages)


_offer = re.compile(r"[^.!?]*\b(what can i do|help you|anything else|assist you)\b[^.!?]*\?", re.IGNORECASE)
_number = re.compile(r"\d+(?:[.,]\d+)*")


def invented(trajectory: Trajectory) -> bool:
    """Return whether a read tool found nothing and the agent's last message contains a number from no other message.

    A rounded form of a number in an earlier message does not count.
    """
    messages = trajectory.messages
    reads = {tool for tool, kind in trajectory.tools.items() if kind == "read"}
    empty = any(
        m.get("role") == "tool" and m.get("name") in reads and str(m.get("content")) in ("null", "[]", "")
        for m in messages
    )
    last = next((n for n in reversed(range(len(messages))) if messages[n].get("role") == "assistant"), None)
    if not empty or last is None:
        return False
    known = " ".join(str(m.get("content") or "") for m in messages[:last])
    return any(number not in known for number in _number.findall(str(messages[last].get("content") or "")))


def insisted(trajectory: Trajectory) -> bool:
    """Return whether the user replied to a refusal by the agent."""
    roles = [m for m in trajectory.messages if m.get("role") in ("user", "assistant") and not m.get("tool_calls")]
    return any(
        first.get("role") == "assistant"
        and _refusal.search(str(first.get("content") or ""))
        and second.get("role") == "user"
        for first, second in pairwise(roles)
    )

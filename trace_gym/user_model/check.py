"""Check that a language model's rewording of a scripted user message has the same meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trace_gym.user_model import meanings
from trace_gym.user_model.values import normalize, values, words_of

LONGEST = 400
"""Maximum number of characters by which a reply may exceed the scripted message."""

_MARKUP = re.compile(r"</?\w+>|<\||\|>|[{}]|```|^(?:system|assistant|agent|user|customer|script)\s*:", re.IGNORECASE)
_ROLE = re.compile(
    r"\b(?:as an ai|(?:ai|language) model|how (?:can|may) i (?:help|assist)|(?:can|may) i (?:help|assist) you|"
    r"i (?:can't|cannot|can not|am unable to|'m unable to) (?:help|assist)|"
    r"the (?:script|scenario|instructions?|prompt)|role-?play)\b"
)
_QUESTION = re.compile(
    r"(?:^|[.!?;,:] )((?:what|when|where|who|which|how|why|is|are|was|were|do|does|did|has|have)\b[^.!?]*\?)"
)


def problems(script: Sequence[str], agent: Sequence[str], reply: str) -> list[str]:
    """Return an error message for each difference in meaning between a reply and the scripted message.

    The reply must contain every value of the scripted message. All values, requests and reasons in the reply must occur
    in the script or in the agent's messages. The reply must agree or refuse in the same way as the scripted message.

    Args:
        script: Scripted messages so far. The reply is compared with the last one.
        agent: The agent's messages so far.
        reply: Rewording of the last scripted message.
    """
    if not reply.strip():
        return ["it is empty"]
    return [*_form(script, reply), *_facts(script, agent, reply), *_meaning(script, agent, reply)]


def _form(script: Sequence[str], reply: str) -> Iterator[str]:
    scripted = script[-1]
    if len(reply) > len(scripted) + LONGEST:
        yield f"it has {len(reply)} characters; write at most {len(scripted) + LONGEST}"
    if (found := _MARKUP.search(reply)) and found[0] not in scripted:
        yield f"it contains {found[0]!r}; write only what the customer says"
    if found := _ROLE.search(normalize(reply).lower()):
        yield f"it says {found[0]!r}; write as the customer"
    is_question = len(script) == 1 or "?" in scripted  # the first message may phrase its request as a question
    if not is_question and (found := _QUESTION.search(normalize(reply).lower())):
        yield f"it asks {found[1]!r}, which the message does not ask"


def _facts(script: Sequence[str], agent: Sequence[str], reply: str) -> Iterator[str]:
    said, meant = values(reply), values(script[-1])
    known = {(v.kind, v.value) for text in (*script, *agent) for v in values(text)}
    words, known_words = words_of(reply), set().union(*map(words_of, (*script, *agent)))
    plain, known_text = normalize(reply).casefold(), normalize(" ".join((*script, *agent))).casefold()
    there = {(v.kind, v.value) for v in said}
    for value in meant:
        if value.kind == "year" or (value.kind == "name" and value.value in words):
            continue
        if (value.kind, value.value) not in there and not (value.kind == "quotation" and value.value in plain):
            yield f"it leaves out {value.shown}"
    for value in said:
        if value.kind == "name" and value.value in known_words:
            continue
        if (value.kind, value.value) not in known and not (value.kind == "quotation" and value.value in known_text):
            yield f"it adds {value.shown}, which is not in the message"


def _meaning(script: Sequence[str], agent: Sequence[str], reply: str) -> Iterator[str]:
    scripted = script[-1]
    meant, stated = meanings.stance(scripted), meanings.stance(reply)
    for word in sorted(meant - stated):
        yield f"the message {word}, and it does not"
    for word in sorted(stated - meant):
        yield f"it {word}, and the message does not"
    if "agrees" in meant and meanings.is_conditional(scripted) != meanings.is_conditional(reply):
        yield "it changes the condition of the consent" if meanings.is_conditional(scripted) else "it adds a condition"
    if meanings.forbids(scripted) and not meanings.still_forbids(reply):
        yield "it leaves out what must not be done"
    named = meanings.groups(reply)
    for group in sorted(meanings.groups(scripted) - named):
        yield f"it leaves out {group}"
    for group in sorted(named - set().union(*map(meanings.groups, (*script, *agent)))):
        yield f"it adds {group}, which is not in the message"
    ids = {value.value for value in values(scripted) if value.kind == "id"}
    wanted, asked = meanings.requested(scripted, ids), meanings.requested(reply, ids)
    for name in sorted(n for n in wanted if n in asked and asked[n] != wanted[n]):
        found, expected = (" and ".join(sorted(which[name])) for which in (asked, wanted))
        yield f"it asks {found} for {name}, and the message asks {expected}"

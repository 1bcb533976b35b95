"""How the scripted user of a base world understands a message, in words and by examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trace_gym.targets.scripted_user import ScriptedUser
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.toolsandbox.hearing import heard, topics
from trace_gym.world import World


@dataclass(frozen=True)
class Listening:
    """What a user takes a message for."""

    rules: tuple[str, ...]
    """The kinds of messages with the user's answer, in the order in which they are tried."""
    examples: tuple[tuple[str, str], ...]
    """Messages, each with what this user takes it for."""


SCRIPTED = (
    "`confirmation`: it asks for consent (`_confirm`). The user agrees, also where the same message refuses something.",
    "`refusal`: it says that something cannot be done (`_refusal`). The user insists `pushes` times, then hangs up. "
    "A message that refuses and asks for a fact is a refusal.",
    "a topic of `questions`: it has a question mark and the topic's pattern fits; the first topic that fits counts. "
    "The user answers with `tells(topic)`. A request for a fact without a question mark is not understood.",
    "`done`: it reports that something was done (`_done`). The user hangs up, so report only at the end.",
    "`other`: anything else, and a question to which `tells` has no answer. The user asks twice to see to the request, "
    "then hangs up.",
)
PHONE = (
    "`question`: a sentence asks (a question mark, `please tell me`, `let me know`, `I need the ...`) for one of the "
    "topics `which`, `number`, `content` or `time`. The user answers what the requests know of it; a question that "
    "begins with `shall I` or `may I` counts only if it asks for a fact.",
    "`consent`: it asks whether to go on, with a question mark. The user agrees.",
    "`refusal`: it says that something cannot be done. The user hangs up.",
    "`intention`: it announces what comes next. The user says to go ahead, three times at most.",
    "`done`: it reports a result; any digit counts as one. The user hangs up, so report only at the end.",
    "`other`: anything else. The user says to go ahead, three times at most.",
)
"""The rules of each kind of user. Offers of further help and text in quotation marks are not heard on the phone."""
MESSAGES = (
    "To confirm: I will cancel ABC123. Shall I proceed?",
    "I am sorry, I cannot change the second one. Shall I go ahead with the first?",
    "I cannot find it. What is your user id?",
    "What is the reason?",
    "Please tell me the reason.",
    "Which reservation do you mean, and how do you want to pay?",
    "Let me look that up.",
    "It is now changed. Is there anything else?",
    "Which Anna do you mean?",
    "May I have the number?",
    "Please tell me what the message shall say.",
    "I am going to switch wifi on now.",
    "The message was sent.",
)


def listening(world: type[World]) -> Listening | None:
    """Return how the user of a base world understands messages; None if it has a user of another kind."""
    if issubclass(world, Assistant):
        return Listening(PHONE, _examples(_on_the_phone))
    if issubclass(world, ScriptedUser):
        user: ScriptedUser = object.__new__(world)  # what is heard does not depend on the state
        return Listening(SCRIPTED, _examples(user.hears))
    return None


def _examples(hears: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    return tuple((message, hears(message)) for message in MESSAGES)


def _on_the_phone(message: str) -> str:
    return " ".join([heard(message), *topics(message)])

"""Description of a scripted user for environment authors: its rules, and examples of recognized messages."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from trace_gym.targets.dialogue import acts
from trace_gym.targets.users import ScriptedUser
from trace_gym.world import World


@dataclass(frozen=True)
class UserDescription:
    """Rules for how a scripted user responds to messages, with examples of recognized messages."""

    rules: tuple[str, ...]
    """Kinds of dialogue acts in order of precedence, each with the user's response."""
    examples: tuple[tuple[str, str], ...]
    """Pairs of a message and a text that lists its recognized dialogue acts and topics."""


SCRIPTED = (
    "`request`: it asks for a fact, with or without a question mark. The user answers every topic of `questions` "
    "that it asks for with `tells(topic)`, with `does_not_know(topics)` if `tells` is empty for all of them, and with "
    "`beyond(kind, asked)` if no topic fits: words that fit the form of the question (no preference, not "
    "known), or `chooses(text)` where it asks for the wish; other personal facts (password) are not at hand.",
    "`choice`: it offers options (`Shall I take A or B?`). The user answers like a request; "
    "without a known topic with `chooses(text)`, which repeats the wish, or, where the wish leaves it open, either "
    "is fine.",
    "`proposal`: it asks for consent, or whether something is right. The user answers with `agrees(text)`, also if the "
    "same message refuses another part.",
    "`transfer`: it announces a transfer to a human. The user waits.",
    "`refusal`: it says that something cannot be done. The user answers with `objects(text)` at most `pushes` times, "
    "then accepts the refusal and ends the conversation, unless `unfinished(text)`.",
    "`progress`: it reports that a part is done and says what comes next. The user thanks and the agent goes on.",
    "`completion`: it reports in explicit words that something is done. The user ends the conversation, unless "
    "`unfinished(text)`, or `outstanding()` returns a question, which is asked once.",
    "`closing`: a good-bye. Answered like a completion.",
    "`offer`: only an offer of further help. Answered like a completion, but it ends the conversation only after a "
    "report.",
    "`hold`: it announces a look-up or asks for a moment. The user says `All right.`",
    "`inform`: it states facts. The user thanks; the conversation goes on.",
    "`other`: anything else. The user asks back. The conversation never ends because of it.",
)
"""Rules for how a `ScriptedUser` responds to messages. It ignores text in quotation marks."""
MESSAGES = (
    "To confirm: I will cancel ABC123. Shall I proceed?",
    "Is that okay with you?",
    "I am sorry, I can't change the second one. Would you like me to go ahead with the first?",
    "I cannot find it. May I have your email?",
    "Could you tell me why?",
    "What is the reason?",
    "Please tell me the reason.",
    "Which reservation do you mean, and how do you want to pay?",
    "Would you rather have economy or business class?",
    "Let me look that up.",
    "The first one has been changed. Next, I will update the second one.",
    "It has been changed. Is there anything else?",
    "Unfortunately, ABC123 does not qualify.",
    "I will transfer you to a human colleague now.",
    "Which Anna do you mean?",
    "What should the message say?",
    "The trip was booked in economy.",
    "The message was sent.",
    "Is there anything else I can help you with?",
    "Thank you for calling. Goodbye!",
    "Purple seven of.",
)


def describe_user(world: type[World], rules: str = "") -> UserDescription | None:
    """Return the description of the user of a base world, or None if the user is not a `ScriptedUser`.

    Args:
        world: Base world of the target.
        rules: Location of the rules as in `trace_gym.targets.base.Target.user_rules`; `SCRIPTED` if empty.
    """
    if not issubclass(world, ScriptedUser):
        return None
    user: ScriptedUser = object.__new__(world)  # topics do not depend on the state
    examples = tuple((message, _heard(user, message)) for message in MESSAGES)
    module, _, name = rules.partition(":")
    return UserDescription(vars(import_module(module))[name] if rules else SCRIPTED, examples)


def _heard(user: ScriptedUser, message: str) -> str:
    heard = acts(message)
    return " ".join(dict.fromkeys([*(act.kind for act in heard), *user.topics(heard)]))

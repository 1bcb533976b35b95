"""Rules for how the simulated phone user responds to messages, documented for environment authors."""

from trace_gym.targets.users.description import SCRIPTED

RULES = (
    SCRIPTED[0],
    f"{SCRIPTED[1]} Between people, the user says who is meant.",
    *SCRIPTED[2:5],
    "`progress`: it reports a part and says what comes next. The user thanks and the assistant goes on.",
    "`completion`: it reports a result, or states a fact with a figure. The user ends the conversation, so report only "
    "at the end.",
    *SCRIPTED[7:],
)
"""Kinds of dialogue acts in order of precedence, each with the user's response."""

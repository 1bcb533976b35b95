"""Rules by which the user of the phone reacts to messages, for authors of environments."""

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
"""The kinds of dialogue acts with the user's reaction, in order of precedence."""

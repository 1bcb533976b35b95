"""What a user says to questions outside of the known topics."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trace_gym.targets.constants import frozen

__all__ = [
    "BEYOND",
    "ENDING",
    "IDENTITY",
    "MEANT",
    "NEEDED",
    "PROFILE",
    "UNLESS",
]

BEYOND: Mapping[str, tuple[str, ...]] = frozen(
    {
        "fact": (
            "I do not know that by heart; please look it up.",
            "I do not have that at hand; please check it in your system.",
            "I could not tell you; please go by what is on file.",
            "I do not know that, I am sorry.",
        ),
        "preference": (
            "I have no preference there; whatever goes with what I wrote.",
            "That is up to you, as long as it goes with what I wrote.",
            "I do not mind, as long as I get what I asked for.",
        ),
        "either": (
            "Either is fine with me, as long as I get what I asked for.",
            "I do not mind which, as long as it goes with what I wrote.",
        ),
        "polar": (
            "I am not sure; please check.",
            "I do not know that for sure; please go by what you find.",
            "I could not say for certain; please look it up.",
        ),
        "first": ("The order does not matter to me.", "It does not matter to me which comes first."),
        "both": ("All that I named, please.", "Everything that I named, please."),
        "details": (
            "I do not have the card in front of me; please take the one on file.",
            "I cannot tell you more about the card than what is on file.",
        ),
        "rest": (
            "As for the rest, I do not have it at hand; please look it up.",
            "I do not know the rest by heart; please check it in your system.",
        ),
        "entire": ("For the whole trip, please.", "For all of it, please."),
        "party": ("Everyone on it, please.", "All of us, please."),
        "proof": ("I am sorry, I do not have anything of the kind.", "No, I have nothing of the kind at hand."),
        "applies": ("Whichever of the two applies; I leave that to you.", "Whatever your rules say about that."),
        "unrelated": (
            "That is not needed for what I asked for.",
            "Nothing of the kind is needed.",
            "It has nothing to do with what I asked for.",
        ),
        "unwanted": ("No, thank you, only what I asked for.", "No, thank you, nothing beyond what I asked for."),
    }
)
"""What the user says to a question outside of the known topics, by its form; see `form`."""
MEANT = "I mean it just as I wrote it: "
ENDING = re.compile(r"\bending in (\d{4})\b")
IDENTITY = ("user_id", "identity")
NEEDED = (*IDENTITY, "reason", "reservation", "order")
UNLESS = re.compile(
    r"\b(?:without (?:knowing|having|seeing|a|an|your)|(?:until|unless|before) (?:i (?:know|have|see|get)|"
    r"you (?:tell|give|send))) "
    r"(.*)"
)
PROFILE = re.compile(r"\b(?:profile|account|who you are|identi\w+|customer id|e-?mail)\b")

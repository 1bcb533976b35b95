"""Sentences that a scripted user says, grouped by the kind of message that they answer."""

from __future__ import annotations

from collections.abc import Mapping

from trace_gym.targets.constants import frozen

__all__ = [
    "ACCEPTS", "AT_ONCE", "BEYOND", "CHANGED", "CHECKED", "CONFIRMS", "CONSENTS", "DECLINES", "FIXED", "GOES_ON",
    "LACKS", "MEANT", "NOTES", "NOT_FOUND", "ON_FILE", "PATIENCE", "PROCEEDS", "PUSHES", "PUZZLED", "REVISED", "STARTS",
    "THANKS", "THATS_ALL", "TRANSFERRED", "UNDECIDED", "UNPRODUCTIVE", "WAITS", "consents",
]  # fmt: skip

PUSHES = ("But I need this. Please make an exception.", "Is there really nothing that you can do for me?")
"""Objections to a refusal."""
CONSENTS = ("Yes, please.", "Yes, please go ahead.")
"""Answers to a proposal. In each group, the second wording is used to avoid saying the first one twice in a row."""
AT_ONCE = ("Yes, please go ahead. You need not ask again.", "Yes, go ahead, please; there is no need to ask again.")
"""Answers to a proposal that offers to ask again before the work starts."""
CONFIRMS = ("Yes, that is right. Please go ahead.", "Yes, all of that is right. Please go ahead.")
"""Answers to a proposal that also asks for confirmation of its content."""
CHECKED = ("That is right.", "That is right, as far as I can tell.")
"""Answers to a question that asks for confirmation of a fact."""
ACCEPTS = ("All right, then leave it as it is.", "I understand. Then leave it.")
"""Answers to a refusal that the user accepts."""
DECLINES = ("No, then please leave it as it is.", "No, thank you. Then leave it as it is.")
"""Answers to a refusal that comes with an offer of something else."""
GOES_ON = ("Thank you, please go on.", "Thanks, go on, please.")
"""Answers to a report after which the agent announces more work."""
WAITS = ("All right.", "All right, thank you.")
"""Answers to an announcement of what the agent is about to do."""
NOTES = ("I see, thank you.", "I see. Thanks.")
"""Answers to a statement of facts."""
TRANSFERRED = ("All right, I will wait.", "Thank you, I will wait.")
"""Answers to an announced transfer to a human."""
THANKS = ("Thank you.", "All right, thank you.")
"""Answers to a report if a part of the request is still open."""
LACKS = ("I am sorry, I do not have that at hand.", "I do not have that here, I am sorry.")
"""Answers to a question about personal data that the user does not know."""
THATS_ALL = ("Yes, that is all, thank you.", "Yes, thank you, that is all that I asked for.")
"""Answers to a question that asks whether the conversation is over, in a message that reports nothing."""
NOTHING_ELSE = ("Nothing else, thank you.", "No, that is all, thank you.")
"""Answers to an offer of further help in a message that reports nothing."""
STARTS = ("Nothing else for now; you can start.", "No, nothing else for now; please start.")
"""Answers to a message that asks for further requests before the work starts and contains no proposal."""
PROCEEDS = ("Nothing else for now. Please go ahead.", "No, nothing else for now. Please go ahead.")
"""Answers to a proposal that ends with a question about further requests instead of a request for consent."""
NOT_FOUND = ("All right, then leave it, please.", "I see. Then please leave it.")
"""Answers to a report that something was not found, if the report does not refuse the request."""
REVISED = "All of it holds, and each change only replaces what it names: "
"""Introduction of the repeated request in an answer to a question about changes of the request."""
CHANGED = "Then I asked you to "
"""Introduction of a change in a repeated request."""
PUZZLED = ("Sorry, I do not understand what you mean.", "Sorry, what do you mean by that?")
"""Answers to a message that is not understood."""
UNDECIDED = ("I leave the rest to you.", "The rest is up to you.")
"""Additions to an answer that does not decide between the alternatives of a question."""
MEANT = "I mean it just as I wrote it: "
"""Introduction of the quoted request in an answer to a question about its wording."""
ON_FILE = ("You can look that up; it is on file.", "It is the one that you have on file.")
"""Answers to questions about the user's profile."""
UNPRODUCTIVE = frozenset({*NOTES, *PUZZLED})
"""Answers to messages that neither ask nor report anything, or that are not understood."""
PATIENCE = 4
"""Number of consecutive unproductive messages that the user answers before ending the conversation."""

BEYOND: Mapping[str, tuple[str, ...]] = frozen(
    {
        "fact": (
            "I do not know that, I am sorry.",
            "I am sorry, I cannot tell you that.",
            "I do not know, I am sorry.",
            "I could not tell you, I am sorry.",
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
            "I am not sure about that.",
            "I do not know that for sure.",
            "I could not say for certain.",
        ),
        "first": ("The order does not matter to me.", "It does not matter to me which comes first."),
        "both": ("All that I named, please.", "Everything that I named, please."),
        "details": (
            "I do not have the card in front of me; please take the one on file.",
            "I cannot tell you more about the card than what is on file.",
        ),
        "rest": (
            "More than that I do not have at hand.",
            "That is all that I can tell you.",
        ),
        "entire": ("For the whole trip, please.", "For all of it, please."),
        "party": ("Everyone on it, please.", "All of us, please."),
        "proof": ("I am sorry, I do not have anything of the kind.", "No, I have nothing of the kind at hand."),
        "applies": ("Whichever of the two applies; I leave that to you.", "Whatever your rules say about that."),
        "unrelated": (
            "I do not know, sorry. Please just do what I asked for.",
            "I have nothing to add to what I asked for.",
            "I cannot say more about it than what I wrote.",
        ),
        "any": ("Yes, any that goes with what I wrote.", "Yes, whichever goes with what I wrote."),
        "complete": ("It is complete as I gave it.", "No, it is complete as it is."),
        "only": ("Yes, only what I asked for.", "Yes, nothing beyond what I asked for."),
        "another": ("That is the only one that I have.", "I have no other one, I am sorry."),
        "meaning": ("Whichever of the two fits that is fine with me.", "Whichever of them fits that is fine with me."),
        "numbers": ("Either of them is fine.", "Whichever of them you have."),
        "unwanted": ("No, thank you, only what I asked for.", "No, thank you, nothing beyond what I asked for."),
        "extra": ("Only what I asked for, please.", "Just what I asked for, please."),
        "private": (
            "I would rather not go into that. You have all that matters for my request.",
            "I would rather keep that to myself. I have told you all that matters for my request.",
        ),
        "open": (
            "I leave that to you; please go by what I wrote.",
            "That is up to you; please go by what I wrote.",
            "Whichever fits what I wrote best; I leave that to you.",
        ),
        "doubt": ("As far as I know, what I wrote is right.", "I think that what I wrote is right."),
        "alternative": (
            "That surprises me. Could you look again, please?",
            "I did not expect that. Could you check it again, please?",
        ),
        "action": (
            "I cannot do that myself at the moment. Please do it for me if you can.",
            "Please do that for me if you can.",
        ),
    }
)
"""Mapping from the form of a question (see `question_form`) to the answers that are used if its topic is unknown."""

FIXED = frozenset({*LACKS, *(line for lines in BEYOND.values() for line in lines)})
"""Answers that contain nothing from the user's request."""


def consents(answer: str) -> bool:
    """Return whether an answer of a scripted user accepts the proposal in the preceding message."""
    return answer.startswith("Yes") or answer in PROCEEDS

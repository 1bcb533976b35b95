"""What a scripted user says to each kind of message, and what the user recognizes in one."""

from __future__ import annotations

import re

PUSHES = ("But I need this. Please make an exception.", "Is there really nothing that you can do for me?")
CONSENTS = ("Yes, please.", "Yes, please go ahead.")
CONFIRMS = ("Yes, that is right. Please go ahead.", "Yes, all of that is right. Please go ahead.")
CHECKED = ("That is right.", "That is right, as far as I can tell.")
ACCEPTS = ("All right, then leave it as it is.", "I understand. Then leave it.")
GOES_ON = ("Thank you, please go on.", "Thanks, go on, please.")
WAITS = ("All right.", "All right, thank you.")
NOTES = ("I see, thank you.", "I see. Thanks.")
TRANSFERRED = ("All right, I will wait.", "Thank you, I will wait.")
THANKS = ("Thank you.", "All right, thank you.")
LACKS = ("I am sorry, I do not have that at hand.", "I do not have that here, I am sorry.")
WANTS = "What I want is this: "
PUZZLED = ("Sorry, I do not understand what you mean.", "Sorry, what do you mean by that?")
"""What the user says to a kind of message; the second wording avoids saying the first one twice in a row."""
IDLE = frozenset({*NOTES, *PUZZLED})
PATIENCE = 4
"""Idle messages in a row that the user answers."""

ASKED = frozenset({"request", "choice"})
WHOEVER = re.compile(r"\b(?:codes?|characters?|full number|reference|ids?|identifier|account|profile|customer|user)\b")
"""Asks who the user is, which is told in other words."""
APPLIES = re.compile(r"\bwhich (?:one )?(?:applies|fits|is (?:it|right|true|correct))\b", re.IGNORECASE)
APART = re.compile(
    r"\bor (?:\w+ )?(?:separately|one by one|one after)\b|\b(?:separately|"
    r"one by one),? or\b",
    re.IGNORECASE,
)
MEANS = re.compile(r"\b(?:card|paypal|certificate)\b", re.IGNORECASE)
SUMS = re.compile(
    r"\b(?:total|sum|amount|figure)\b.*\b(?:include|contain|cover|count)\b|"
    r"\bwith or without\b",
    re.IGNORECASE,
)
STORED = re.compile(r"_\d{6,}\b")
SETTLED = re.compile(
    r"\b(?:everything|all(?: that)?) (?:that )?(?:you|is|has been|was|'s)\b.{0,40}\b(?:done|carried out|"
    r"completed?|finished|"
    r"taken care of|settled)\b|^(?:\W|ok(?:ay)?|great|perfect)*(?:that's |it's |we're )?all (?:is )?(?:done|"
    r"set|finished)\b",
    re.IGNORECASE,
)
"""Says that nothing of the wish is left."""
OWN_WORK = re.compile(
    r"\b(?:i'll|i will|i shall|i'm (?!sorry|afraid)|i am (?!sorry|afraid)|i'd|i can|let me|now|then|comes?|follows?|"
    r"remain\w*|left|turn|one more|second|other|up next|proceed\w*|moving|\w+ing next)\b"
)
"""Announces work of the agent, so that there is something to go on with."""
GREETING = re.compile(r"^(?:hello|hi|hey|good (?:day|morning|afternoon|evening))[,.!]? ", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?]) ")
INTRODUCTION = re.compile(r"^(?:\S+ ){0,8}\S*(?:[a-z]_[0-9]|@|zip code)\S*(?: \S+){0,2}$")
IDENTIFIER = re.compile(r"#?\b(?:(?=\w*\d)\w{6,20}|[A-Z]{6})\b")
ALTERNATIVES = re.compile(
    r"\b(?:cabin|flights?|date|day|class|travell?ers?|passengers?|who)\b|"
    r"\bor (?!another|an other|a different|some|any|is it)"
)
PERSONAL = re.compile(
    r"\b(?:e-?mail|date of birth|birth ?date|birthday|pass(?:word|code|port)|username|ssn|social security|cvv|pin|"
    r"zip|postal|security (?:code|question|answer|word)|"
    r"(?:account|card|passport|license|membership|loyalty|phone|mobile|cell) (?:number|id)|"
    r"(?:home|mailing|billing|postal|your) address)\b"
)
"""Facts about a person, which a user who has no such topic does not know."""
VERIFIES = re.compile(
    r"\b(?:right|correct|match(?:es)?|agrees with|as expected|what you|your (?:records?|papers|trip|order)|"
    r"the (?:trip|one|order|"
    r"flight))\b"
    r"(?!.*\b(?:proceed|go ahead|go on|me to|shall i|should i|may i)\b)",
    re.IGNORECASE,
)

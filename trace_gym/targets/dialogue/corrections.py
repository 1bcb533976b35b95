"""Correction of dialogue acts whose wording is unambiguous, but which the classifiers often mislabel."""

from __future__ import annotations

import re

from trace_gym.targets.dialogue.further_wishes import asks_consent
from trace_gym.targets.dialogue.harmless_negations import refuses_nothing
from trace_gym.targets.dialogue.indirect_proposals import proposes_indirectly
from trace_gym.targets.dialogue.recognition import Act

__all__ = ["ALL_DONE", "ASKED", "AS_KNOWN", "TAG", "corrected_kind", "is_listed"]

ASKED = frozenset({"request", "choice"})
_REPORTS = frozenset({"progress", "completion"})
_agreement = re.compile(
    r"\b(?:need|have|wait(?:ing)? for|require) (?:a|your|the|an) (?:\w+ ){0,2}?(?:ok|okay|yes|"
    r"go-ahead|consent|"
    r"approval|confirmation|permission|agreement)\b(?! (?:numbers?|codes?|ids?|e?-?mail))|"
    r"\bgive me (?:the|a|your) (?:go|nod|word|signal|sign)\b|"
    r"\bam i (?:\w+ ){0,4}(?:right|correct)\b|"
    r"\b(?:check|see|verify|make sure) (?:that|if|whether) (?:this|that|it|these|everything|all) "
    r"(?:is|are|looks?|sounds?) (?:\w+ )?(?:right|correct|fine|ok|okay|accurate)\b|"
    r"\b(?:tell me|let me know|say|confirm|state) (?:whether|if) .*\b(?:agrees?|correct|right|match(?:es)?|ok|"
    r"okay|fine|"
    r"acceptable|consent|approve)(?: (?:with|for|to) [\w ']+)?[.?!]?$|\bam i (?:right|correct)\b|"
    r"\bis (?:that|this|it) (?:still |really |also |indeed )?(?:what|how|the one) (?:that )?you(?:'d|"
    r" would)? (?:want|mean|need|"
    r"like|had in mind|asked)\b(?! .*\bor\b)|"
    r"\bif (?:it|this|that)(?:'s| is) (?:all right|alright|ok|okay|fine|good) (?:with|for|by) you\b",
    re.IGNORECASE,
)
"""Pattern of a sentence that asks for agreement, directly or indirectly."""
_lacking = re.compile(
    r"\b(?:i|we)(?:'ll| will)? (?:only|just|still) (?:miss|lack|need) (?:your|the|an?|his|her|\w+'s) .*"
    r"\b(?:numbers?|e-?mail|address|names?|ids?|codes?|zip|reason)\b",
    re.IGNORECASE,
)
"""Pattern of a statement that the agent lacks a fact. Such a statement is a request for the fact."""
_has_all = re.compile(
    r"\bi (?:now |already )?(?:have|'ve got|got) (?:all|everything|what|enough)\b.*\b(?:need|required?)\b",
    re.IGNORECASE,
)
"""Pattern of a statement that the agent has all the information that it needs."""
ALL_DONE = re.compile(
    r"^(?:\W|\w+,? ){0,3}?(?:(?:is|was|will|would) (?:that|this|it)(?: then)?(?: be)? (?:all|everything|it)|"
    r"(?:have|did) (?:i|we) (?:now )?(?:cover|settle|address|do|take care of|answer)\w*(?: \w+)? (?:everything|all)|"
    r"(?:does|did) (?:that|this) (?:settle|cover|take care of|complete) (?:\w+ )?(?:everything|all|it|your \w+)|"
    r"are (?:we|you) (?:all )?(?:good|done|set|all set|finished))"
    r"(?: (?:for|from|with|on) (?:\w+ )?\w+| then| now| today| (?:that )?you (?:need|want|wish)\w*|"
    r" i can do\b.*){0,4}\W*$",
    re.IGNORECASE,
)
"""Pattern of a question that asks whether the conversation is over."""
TAG = re.compile(
    r", (?:right|correct|yes|(?:is|was|did|do|does|are|were|have|has|would|should)n't (?:it|you|that|they|this|i|"
    r"we))\?*$",
    re.IGNORECASE,
)
"""Pattern of a tag question after a statement: ``This is yours, isn't it?``."""
AS_KNOWN = re.compile(
    r"\b(?:if|whether) (?:that|this|it|these|those|all(?: of)? (?:that|this))(?:'s| is| are)? (?:\w+ )?"
    r"(?:as|how|what) you (?:\w+ )?(?:remember|recall|know|expect|have|had|described?|wrote|said|told|meant|see)\w*|"
    r"\b(?:tell me|let me know) if (?:that|this|it)(?:'s| is) (?:not (?:so|right|correct|the case)|wrong)\b|"
    r"\bif i(?:'ve| have)? (?:got|misread|misunderst\w+|made|missed|mixed)\b|"
    r"\bif (?:any|anything|something|one)\b.{0,30}\b(?:wrong|incorrect|off|not right|amiss|mistaken|"
    r"needs correct\w+)\b",
    re.IGNORECASE,
)
"""Pattern of a request that the user check statements of the agent."""
_more_first = re.compile(
    r"\b(?:tell me|let me know) if you(?:'d| would)? (?:like|want|need)\b.*\b(?:other|else|additional|further)\b|"
    r"\bif (?:there(?:'s| is| are)|you have) any(?:thing)? (?:\w+ )?(?:other|else)\b.*\blet me know\b|"
    r"\blet me know (?:now )?if (?:any|there(?:'s| is) any|there are any|you have any)(?:thing)? "
    r"(?:\w+ )?(?:other|else)\b",
    re.IGNORECASE,
)
"""Pattern of an offer to include further wishes before the work starts."""
_moment = re.compile(
    r"\b(?:give|allow|grant) (?:me|us) (?:just )?(?:an?|one|another|two) (?:\w+ )?"
    r"(?:moments?|minutes?|seconds?|sec|bit)\b",
    re.IGNORECASE,
)
"""Pattern of a request to wait."""
_looks_up = re.compile(
    r"^(?:[\w']+,? ){0,4}?(?:(?:let me|allow me to|i'll|i will|i'm going to|i am going to)(?: \w+){0,2}? "
    r"(?:check|(?:have|take|get) (?:a|another|one)(?: \w+)? (?:look|glance)|look|see (?:what|if|whether|how|which)|"
    r"pull|find|search|review|open|retrieve|fetch|go (?:over|through)|bring up|work out|figure out|double-check|"
    r"gather|get (?:the|your|all|some|what))\b|"
    r"i(?:'d like to| would like to| want to| need to| have to| must)(?: \w+){0,2}? "
    r"(?:check|(?:have|take) a(?: \w+)? look|look (?:at|into|up)|(?:make|be) sure .*\b(?:i'll|i will|so i)\b))",
    re.IGNORECASE,
)
"""Pattern of an announcement that the agent will look something up."""
_begins = re.compile(
    r"^(?:\W|[\w']+,? ){0,5}?(?:"
    r"i(?:'m| am) (?:now |therefore |then |also |just )?"
    r"(?!(?:being|asking|looking forward|hoping|having|leaving|keeping|transferring|declining|"
    r"refusing|wondering|assuming|going to (?:have|need|leave|keep))\b)\w+ing\b|"
    r"i (?:now |will |shall |can now )?(?:go ahead|proceed|start|begin)\b|"
    r"(?:starting|proceeding|going ahead|carrying on)(?: (?:with|on)\b|\W*$)|"
    r"(?:i'm|i am) on it\b|"
    r"(?:i(?:'ll| will| shall)|(?<!n't )(?<!not )(?<!never )let me) "
    r"(?:(?:now|first|then|also|just|gladly|quickly|next) )*"
    r"(?!(?:be|know|not|never|leave|keep|need|have|transfer|connect|forward|hand|pass|escalate|miss|no|only|note|"
    r"send you|email you|explain|wait|stop|do (?:so|my)|help|assist|assume|require|await)\b)\w+|"
    r"i (?:first |now |still )?(?:need|have|want) to (?:first |now )?(?:open|look|check|find|see|retrieve|pull|verify|"
    r"search|read|review)\b)",
    re.IGNORECASE,
)
"""Pattern of an announcement of the agent's own work."""
_and_then = re.compile(
    r"^(?:\W|\w+,? ){0,2}?i\b.*(?:,| and| but) (?:i )?(?:will|am going to) (?:now |then |also |next )*"
    r"(?:put|switch|turn|set|restore|undo|revert|change|check|look|send|do|cancel|book|move|add|return)\b",
    re.IGNORECASE,
)
"""Pattern of a report with an announcement of further work, as in ``I turned it on and will put it back now``."""
_heads_list = re.compile(
    r"\b(?:noted|recap|summar\w+|understood|your requests?|as follows|the plan|got|here(?:'s| is) what)\b[^?]*:$",
    re.IGNORECASE,
)
"""Pattern of the heading of a list that repeats the user's request or states what the agent is going to do."""
_speaks = re.compile(r"^(?:i|i'm|i'll|you|we|please|shall|could|can|may|would)\b|\?", re.IGNORECASE)


def corrected_kind(act: Act, before: Act | None) -> str:
    """Return the corrected kind of a dialogue act, or `""` if its kind is right.

    Args:
        act: The dialogue act.
        before: The preceding dialogue act of the message, if any.
    """
    kind, text = act.kind, act.text
    after_report = before is not None and before.kind in _REPORTS
    tells = kind in ("inform", "hold", "progress")
    asks = kind in ASKED or kind == "proposal"
    taken: tuple[tuple[str, bool], ...] = (
        ("inform", kind == "refusal" and refuses_nothing(text)),
        ("proposal", proposes_indirectly(kind, text)),
        (
            "offer",
            (tells or kind in (*ASKED, "completion"))
            and bool(_more_first.search(f"{before.text if before else ''} {text}")),
        ),
        ("request", tells and bool(_lacking.search(text))),
        ("hold", _announces(kind, text) or bool(_moment.search(text))),
        ("hold", (tells or kind == "completion") and bool(_and_then.match(text))),
        ("proposal", kind == "offer" and asks_consent(text, after_report)),
        ("inform", asks and "?" not in text and bool(_has_all.search(text))),
        ("offer", kind not in _REPORTS and bool(ALL_DONE.match(text))),
        ("proposal", (kind in ("inform", *ASKED)) and bool(TAG.search(text) or AS_KNOWN.search(text))),
        ("proposal", (tells or kind in (*ASKED, "completion")) and bool(_agreement.search(text))),
    )
    return next((meant for meant, holds in taken if holds), "")


def _announces(kind: str, text: str) -> bool:
    """Return whether a clause announces what the agent is about to do, but was recognized as another kind."""
    if kind in ("inform", "hold", "progress", "refusal", "closing"):
        return _begins.match(text) is not None
    if "?" in text or kind not in (*ASKED, "proposal"):
        return False
    return _looks_up.match(text) is not None or (kind != "proposal" and _begins.match(text) is not None)


def is_listed(act: Act, heading: str) -> bool:
    """Return whether a clause is an item of a list that repeats the request, as in ``I have noted: Cancel ABC123``.

    Args:
        act: The dialogue act of the clause.
        heading: The last preceding clause that ends with a colon, or `""` if there is none.
    """
    return _heads_list.search(heading) is not None and not _speaks.search(act.text)

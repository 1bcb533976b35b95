"""Correction of the kind of a dialogue act by the words of the act and by the act before it."""

from __future__ import annotations

import re

from trace_gym.targets.dialogue.announcements import announces, asks_for_a_moment
from trace_gym.targets.dialogue.further_wishes import asks_consent
from trace_gym.targets.dialogue.harmless_negations import is_not_started, refuses_nothing
from trace_gym.targets.dialogue.indirect_proposals import proposes_indirectly
from trace_gym.targets.dialogue.recognition import Act

__all__ = ["ALL_DONE", "ASKED", "AS_KNOWN", "TAG", "corrected_kind"]

_more = re.compile(r"\b(?:anything|something) (?:else|more|further)\b.*\?$", re.IGNORECASE)
_REPORTS = frozenset({"progress", "completion"})
_all_good = re.compile(
    r"^(?:is everything|all|everything|are we) (?:all )?(?:good|ok|okay|alright|all right|fine|"
    r"clear|settled)"
    r"(?: (?:for|with|now) ?(?:you|now|that)?)?\?$",
    re.IGNORECASE,
)
"""Pattern of a question after a report, such as ``Is everything all right?``. Such a question is not a proposal."""
_about_facts = re.compile(
    r"^(?:and |so |also |just to (?:check|be sure|confirm)[,:] )*"
    r"(?:(?:is it possible|could it be|might it be)(?: that)?|is|are|was|were|has|have|will|does|"
    r"do) (?:one|any|some|anyone|"
    r"anybody|either|someone|somebody|your|there|he|she|they|the|an?|his|her|its|their|these [a-z]+s|those [a-z]+s)\b"
    r"(?!.*\b(?:ok|okay|right|correct|fine|good|acceptable|all right|alright|agreed?|work|you (?:want|mean|"
    r"meant|need|had|"
    r"asked|would)|you'd|i (?:should|can|may)|me to)\b)",
    re.IGNORECASE,
)
"""Pattern of a yes/no question about a fact. The answer ``yes, please`` does not fit such a question."""
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
    r"\b(?:i|we)(?:'d|'ll| would| will)? (?:\w+ )?(?:(?:need|require)(?: to (?:know|have|ask for))?|"
    r"have to (?:know|ask for)) (?:your|the|both|an?|"
    r"his|her|their|\w+'s) .*\b(?:numbers?|e-?mail|address|names?|ids?|codes?|zip|date of birth|reason)\b"
    r"(?= (?:before|first|to|so|where|that|for|in order)\b|[.]?$)",
    re.IGNORECASE,
)
"""Pattern of a statement that the agent needs a fact. Such a statement is a request for the fact."""
_stated = re.compile(r"\bconfirm (?:the|your|this|these) [\w -]{3,40}: \S", re.IGNORECASE)
"""Pattern of a request to confirm a value that is stated after a colon."""
_long_ago = re.compile(
    r"\b(?:on the day|when you|at the time|originally|back then|in the past|last (?:week|month|year)|flown|(?:days?|"
    r"weeks?) ago)\b",
    re.IGNORECASE,
)
"""Pattern of words that refer to a time before the conversation."""
_leaves = re.compile(r"\bleaves\b.*\b(?:to do|for me|left|to go)\b", re.IGNORECASE)
_why = re.compile(
    r"\b(?:understand|know|hear|tell me|learn|explain|see|ask|wonder\w*) (?:\w+ )?(?:why|"
    r"what) (?:\w+ )?you\b",
    re.IGNORECASE,
)
_asks_for = re.compile(r"\b(?:trouble|bother|ask) you for\b|\bi (?:ask for|borrow) your\b", re.IGNORECASE)
_purpose = re.compile(
    r"(?!.*\b(?:need|require|ask)\b)(?:so (?:that )?)?(?:i|we)(?:'ll| can| could| may| know)\b", re.IGNORECASE
)
_otherwise = re.compile(
    r"(?:and |or )?if (?:it's|it is|that's|this is) (?:an?other|a different|not|some other)\b", re.IGNORECASE
)
ASKED = frozenset({"request", "choice"})
_has_all = re.compile(
    r"\bi (?:now |already )?(?:have|'ve got|got) (?:all|everything|what|enough)\b.*\b(?:need|required?)\b",
    re.IGNORECASE,
)
"""Pattern of a statement that the agent has all the information that it needs."""
_not_given = re.compile(
    r"(?:n't|\bnot|\bcannot|\bnever) (?:\w+ )?(?:give|tell|show|let|send|provide|allow)s? (?:me|us)\b", re.IGNORECASE
)
"""Pattern of a statement that some information is not available to the agent."""
ALL_DONE = re.compile(
    r"^(?:\W|\w+,? ){0,3}?(?:(?:is|was|will|would) (?:that|this|it)(?: then)?(?: be)? (?:all|everything|it)|"
    r"(?:have|did) (?:i|we) (?:now )?(?:cover|settle|address|do|take care of|answer)\w*(?: \w+)? (?:everything|all)|"
    r"(?:does|did) (?:that|this) (?:settle|cover|take care of|complete) (?:\w+ )?(?:everything|all|it|your \w+)|"
    r"are (?:we|you) (?:all )?(?:good|done|set|all set|finished))"
    r"(?: (?:for|from|with|on) (?:\w+ )?\w+| then| now| today| (?:that )?you (?:need|want|wish)\w*|"
    r" i can do\b.*)*\W*$",
    re.IGNORECASE,
)
"""Pattern of a question that asks whether the conversation is over."""
_happy = re.compile(
    r"^(?:and |so )?(?:are you|is everything|is all) (?:\w+ )?(?:happy|satisfied|pleased|content|clear|okay|ok|"
    r"fine|good)\b"
    r"(?! (?:to|for me|if|about|when)\b)",
    re.IGNORECASE,
)
_add = re.compile(
    r"\b(?:is|was) there (?:any )?more\b|"
    r"\b(?:anything|something|any other \w+|another (?:matter|thing|request|question|trip|order|reservation)|"
    r"any(?:thing)? other)\b.*\b(?:add|ask|look at|help|do|know|say|mention|raise)\b.*(?:\?|\w)$|"
    r"\bjust (?:say|tell me|let me know)(?: so)?\W+(?:is there|are there)\?$|^(?:\W|is there|are there)+\?$",
    re.IGNORECASE,
)
"""Pattern of an offer of further help."""
_settle = re.compile(
    r"\b(?:whether|if)\b.{3,}\bor\b (?!not\b|no\b|if\b|(?:any|some)(?:thing|one|body)?\b|more\b|less\b|so\b|two\b|"
    r"(?:refund|charge|credit)\b)|"
    r"\?*, or (?:does|do|is|are|should|shall|would|will|has|have|did|was) (?:that|this|it|they|these|those|you|i|"
    r"the|there)\b"
    r"(?!.*\b(?:else|anything|something|questions?|objections?|wrong|problems?|your mind|concerns?|hold off|wait)\b)",
    re.IGNORECASE,
)
"""Pattern of a choice between two alternatives, in a sentence that resembles a request for consent."""
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

_should = re.compile(r"^should (?:it|that|this|there|the)\b", re.IGNORECASE)
_made = re.compile(
    r"^(?:\W|\w+, ){0,2}(?:the|your|this|that) (?:\w+ )?(?:change|cancellation|exchange|return|booking|upgrade|update|"
    r"refund|payment|correction|request)s? (?:is|are) (?:now )?(?:made|done|completed?|through|finished|in place)\b",
    re.IGNORECASE,
)
"""Pattern of a report in the present tense."""
_understands = re.compile(r"^i (?:understand|see|hear|know|realize) (?:that )?you", re.IGNORECASE)
_heading = re.compile(r"^(?:what|which|who|when|where)\b(?!.*\b(?:please|tell|could|let)\b)[^?]*:[^?]*$", re.IGNORECASE)
"""Pattern of a statement with a heading, as in ``What was wrong: the date of birth``."""
_tell_me = re.compile(
    r"\b(?:tell|let) me (?:know )?(?:exactly |just |simply )?(?:what|which|who|when|where|how)\b", re.IGNORECASE
)
_has_put = re.compile(
    r"\b(?:i've|i have|we've|we have|was|been) (?:\w+ )?put (?!you\b|me\b|us\b)(?:[\w#'-]+ ){1,4}?through\b",
    re.IGNORECASE,
)
"""Pattern of a report that a request was carried out: ``I have put the return through``."""
_not_needed = re.compile(r"\bi (?:don't|do not|won't|no longer) (?:\w+ )?need\b", re.IGNORECASE)
_is_now = re.compile(
    r"^(?!should|if|when|once)(?!.*\bi(?:'ll| will)\b).*"
    r"(?:\b(?:is|are) now\b|\bnow (?:reads?|has|have|flies|fly|is|are)\b)",
    re.IGNORECASE,
)
"""Pattern of a report on the state after a change."""
_when_the = re.compile(
    r"^(?:when|where) (?:the|a|an|your|this|it)\b[^?]*\b(?:can|cannot|may|is|are|must|has to)\b[^?]*$", re.IGNORECASE
)
"""Pattern of a general statement, as in ``When the reason is your health, a trip can be cancelled``."""
_let_me_know = re.compile(r"^(?:please |just )*let me know\W*$", re.IGNORECASE)
_check_value = re.compile(
    r"\b(?:could|can|would|will) you (?:please )?(?:double-?check|check|verify|re-?check)\b.*"
    r"\b(?:number|id|code|e-?mail)\b",
    re.IGNORECASE,
)
"""Pattern of a request to look at a value again."""
_no_transfer = re.compile(
    r"\b(?:don't|do not|won't|no) (?:have to |need to |need )?(?:transfer|hand|connect|pass)\b", re.IGNORECASE
)
_noted = re.compile(r"^(?:confirmed|agreed|noted|understood|acknowledged)\W*$", re.IGNORECASE)
_more_first = re.compile(
    r"\b(?:tell me|let me know) if you(?:'d| would)? (?:like|want|need)\b.*\b(?:other|else|additional|further)\b|"
    r"\bif (?:there(?:'s| is| are)|you have) any(?:thing)? (?:\w+ )?(?:other|else)\b.*\blet me know\b|"
    r"\blet me know (?:now )?if (?:any|there(?:'s| is) any|there are any|you have any)(?:thing)? "
    r"(?:\w+ )?(?:other|else)\b",
    re.IGNORECASE,
)
"""Pattern of an offer to include further wishes before the work starts."""
_missing = re.compile(
    r"\b(?:only thing|all)(?: that)?(?:'s| is)? (?:still )?(?:missing|i need|left|open) is "
    r"(?:why|which|what|your|the reason)\b",
    re.IGNORECASE,
)
"""Pattern of a statement about a missing fact, which is a request for it."""


def corrected_kind(act: Act, before: Act | None) -> str:
    """Return the corrected kind of a dialogue act, or `""` if the recognized kind is right.

    Args:
        act: The dialogue act.
        before: The preceding dialogue act of the message, if any.
    """
    kind, text = act.kind, act.text
    after_report = before is not None and before.kind in _REPORTS
    after_question = before is not None and before.kind in ASKED
    tells = kind in ("inform", "hold", "progress")
    asks = kind in ASKED or kind == "proposal"
    taken: tuple[tuple[str, bool], ...] = (
        ("inform", kind == "refusal" and refuses_nothing(text)),
        ("inform", kind in _REPORTS and is_not_started(text)),
        ("inform", kind == "transfer" and bool(_no_transfer.search(text))),
        ("completion", kind == "transfer" and bool(_has_put.search(text))),
        ("inform", (kind == "completion" or (kind in ASKED and "?" not in text)) and bool(_understands.match(text))),
        ("offer", kind in ASKED and before is not None and before.kind == "offer" and bool(_let_me_know.match(text))),
        ("request", kind == "proposal" and bool(_check_value.search(text))),
        ("completion", kind in ("inform", "progress") and bool(_made.match(text))),
        ("request", tells and bool(_tell_me.search(text))),
        ("proposal", proposes_indirectly(kind, text)),
        ("inform", kind in ASKED and "?" not in text and bool(_should.match(text) or _heading.match(text))),
        ("completion", kind in ASKED and "?" not in text and bool(_is_now.search(text))),
        ("inform", kind in ASKED and "?" not in text and bool(_not_needed.search(text) or _when_the.match(text))),
        ("inform", kind == "closing" and text.startswith("otherwise ")),
        (
            "offer",
            (tells or kind in (*ASKED, "completion"))
            and bool(_more_first.search(f"{before.text if before else ''} {text}")),
        ),
        ("hold", announces(kind, text) or asks_for_a_moment(text)),
        ("inform", kind in ("proposal", *ASKED) and bool(_noted.match(text))),
        ("request", tells and bool(_missing.search(text))),
        ("proposal", kind == "offer" and asks_consent(text, after_report)),
        ("inform", asks and "?" not in text and bool(_has_all.search(text))),
        ("refusal", asks and "?" not in text and bool(_not_given.search(text))),
        ("offer", kind not in _REPORTS and bool(ALL_DONE.match(text))),
        ("offer", asks and after_report and bool(_happy.match(text))),
        ("offer", asks and bool(_add.search(text))),
        ("choice", kind == "proposal" and bool(_settle.search(text))),
        ("proposal", (kind in ("inform", *ASKED)) and bool(TAG.search(text) or AS_KNOWN.search(text))),
        ("offer", kind == "inform" and bool(_more.search(text))),
        ("offer", kind == "proposal" and after_report and bool(_all_good.match(text))),
        ("request", kind == "inform" and text.endswith("?") and len(text.split()) > 2),
        ("request", kind == "proposal" and bool(_about_facts.match(text))),
        ("proposal", (tells or kind in (*ASKED, "completion")) and bool(_agreement.search(text))),
        ("proposal", kind == "request" and bool(_stated.search(text))),
        ("request", tells and bool(_lacking.search(text))),
        ("inform", kind == "completion" and bool(_long_ago.search(text))),
        ("progress", kind == "completion" and bool(_leaves.search(text))),
        ("request", kind == "refusal" and bool(_why.search(text))),
        ("request", kind == "proposal" and "permission" not in text and bool(_asks_for.search(text))),
        ("inform", kind == "request" and after_question and bool(_purpose.match(text))),
        ("inform", kind == "request" and before is not None and bool(_otherwise.match(before.text))),
    )
    return next((meant for meant, holds in taken if holds), "")

"""Classification of questions by form, which determines the answer if the user knows nothing about the subject."""

from __future__ import annotations

import re
from functools import lru_cache

from trace_gym.targets.dialogue.choices import alternatives, content
from trace_gym.targets.dialogue.patterns import RECORD_ID

__all__ = ["FACTUAL", "leaves_open", "question_form", "unwanted"]

_whole = r"(?:(?:and|so|or|ok|okay|then|well|also|just|now|hi|hello|thanks|[\w']+,),? )*"
FACTUAL = re.compile(
    rf"^{_whole}(?:(?:do|did|have|had) you (?!(?:\w+ )?(?:agree|consent|approve|confirm|want|wish|like|mind|accept|"
    r"give|need|authori[sz]e|prefer|mean|object|get|follow)\b|have (?:any|an?|your)? ?(?:objections?|problems?|"
    r"go-ahead)\b)|"
    r"did you want me to .*\b(?:to|with) (?:some|any)(?:body|one)\b|"
    r"(?:are|were) you (?:talking|referring|travell?ing|flying|bringing|carrying|planning|going|"
    r"checking|coming|staying|taking)\b|"
    r"(?:is|was|are|were) (?:he|she|they)\b|is there (?:someone|somebody|anyone|anybody|another|an?|any)\b"
    r"(?! (?:objection|problem|thing|reason (?:not|against)|issue)))",
    re.IGNORECASE,
)
"""Pattern of the beginning of a question about a fact, to which ``yes, please`` is not a suitable answer."""
_first = re.compile(
    r"\b(?:start|begin|go|do|handle|take|have|come|deal with|look at|open|process|cancel|do it|"
    r"me) (?:\w+ ){0,3}(?<!the )first\b(?! (?:class|name|time|flight))|"
    r"\bwhich (?:one |of \w+ (?:\w+ )?)?(?:shall|should|do|would|comes?|goes|is|"
    r"first).{0,40}\bfirst\b(?! (?:flight|leg|"
    r"segment|name|class))|\bone first\b|"
    r"\b(?:start|begin|kick off) with\b|\bwhat order\b|\bfirst\b.* or .*\bfirst\b|\bfirst, or\b"
)
_both = re.compile(
    r"\b(?:both|all(?: (?:of them|two|three|four))?|each|everything)\b.* or .*\b(?:just|only|one)\b"
    r"(?! (?:after|when|once|if|later))|"
    r"\b(?:just|only|one)\b.* or .*\b(?:both|all|everything|each)\b(?! (?:right|the same))"
)
_plural = re.compile(r"\bmy (?:\w+ )?(?:trips|orders|reservations|bookings|flights)\b", re.IGNORECASE)
_given = re.compile(
    r"\b(?:could|can|would|will|may|might) (?:you|i) (?:please |kindly |just |also )*(?:let me (?:know|have)|tell|"
    r"send|give|"
    r"share|provide|repeat|type|state|spell|confirm|have|get)\b.{0,30}\b(?:numbers?|ids?|codes?|names?|e-?mail|"
    r"address|"
    r"reference)\b(?! (?:of|on|for) (?:the|your|that|this) (?:\w+ )?(?:card|certificate))(?!.* or )|"
    r"\b(?:tell|give|send) me the \w+ (?:numbers?|ids?|codes?|names?)\b(?!.*\bcards?\b)(?!.* or )|"
    r"^(?:\W|\w+, )*(?:when|since when|where|how long|how many|how much) "
    r"(?:did|have|has|had|were|was) (?:you|it|he|she|they)\b(?!.* or )"
)
"""Pattern of a question that asks for a value that does not depend on the user's preferences."""
_about_user = re.compile(
    r"^(?:\W|\w+,? ){0,3}?(?:are you (?!okay|ok|fine|happy|asking|looking|after|sure)|do you (?:have|own|live|"
    r"know)\b|"
    r"did you\b(?! (?:mean|want|ask|say))|have you\b|(?:was|were|is|are) (?:your|the|there)\b)"
)
"""Pattern of the beginning of a question that asks which of two facts about the user is true."""
_wish = re.compile(
    r"\bhow (?:can|may|could|do|might|should) (?:i|we) (?:\w+ )?(?:help|assist|be of|serve|support|handle|"
    r"proceed|do)\b|"
    r"\bwhat (?:\w+ )?(?:can|may|could|shall|should) (?:i|we) (?:\w+ )?(?:do|help|assist|change|cancel)\b|"
    r"\bwhat (?:exactly |precisely |else |then )?(?:do|would|did|will|are|were|is it|was it)(?: it| that| is)?"
    r"(?: you| i)?(?:'d| would)? ?(?:\w+ )?(?:want|like|need|wish|mean|meant|after|looking for|looking to|"
    r"have in mind|"
    r"asking|ask|hoping|trying|want(?:ed)? (?:changed|done))(?: (?:me |us )?(?:to )?(?:do|change|cancel|"
    r"have done|happen|"
    r"know|with|here|today|now|for|exactly|by|instead|done|changed))*\b(?:[^\w]|$)|"
    r"\bwhat(?:'s| is)? (?:\w+ )?(?:this|it) (?:\w+ )?about\b|\bwhat you (?:want|need|would like|mean|asked|"
    r"are after)\b|"
    r"\b(?:your|the) (?:\w+ )?(?:request|wish|wishes|concern|issue|problem|question|inquiry|task)\b|"
    r"\b(?:correct|right|correctly)\?|\bis that (?:what|it|right|correct)\b|\bwhat brings you\b|"
    r"\b(?:describe|explain|rephrase|clarify|elaborate|summari[sz]e|say (?:that|it) again|(?<!it )repeat)\b|"
    r"\bwhich (?:\w+ )?(?:change|changes|item|items|product|reservation|booking|trip|trips|order|one|ones|option|of|"
    r"reminder|stock|currency|currencies|settings?|thing|things)\b|\b(?:tell|give|name) me the (?:reservation|"
    r"order|trip)|"
    r"\bthe letter\b|\bwhich(?: of (?:them|those|these))? (?:shall|should|would you (?:like|prefer|choose)|"
    r"will it|it'll|it will|do "
    r"you (?:want|mean|prefer))\b|"
    r"\b(?:choose|pick|select) (?:one|which|an option|between|from)\b|^(?:please )?(?:choose|pick|select)\b|"
    r"\bdo you want to (?:keep|cancel|change|move|switch)\b"
)
_meaning = re.compile(
    r"\b(?:do|did) you mean\b|\b(?:are|were) you (?:talking|referring)\b|\bdid you have\b.*\bin mind\b|"
    r"\byou(?:'re| are| were)? (?:mean|meant|ask(?:ed|"
    r"ing)?|say|write|wrote)\b|"
    r"^by \W|\bby (?:quotation|\W?\w+\W?,? (?:do|did|are|is))|\bwhen you (?:say|write|wrote|said)\b|"
    r"\bor something else\b|\bin (?:total|all)\b.* or |\bor .*\b(?:in total|in all|per person|altogether|alone)\b|"
    r"\bthe full price\b|\bis something off\b"
)
_consent = re.compile(
    r"\b(?:confirm|approve|agree)(?:\?| (?:before|first|so|and|now|that|this|it)\b)|"
    r"\b(?:may|can|could|shall|should) (?:i|we) (?:\w+ )?(?:get started|get going|begin|start|proceed|go ahead|"
    r"continue)\b(?! with which)"
)
"""Pattern of a request for consent that resembles a question about a fact."""
_another = re.compile(
    r"\b(?:another|a different|any other|an alternative) (?:\w+ )?(?:numbers?|ids?|codes?|e-?mails?|reference)\b|"
    r"\b(?:number|id|code) of (?:an?|one of your|another|a different) (?:own |other )?"
    r"(?:orders?|reservations?|bookings?|trips?)\b|"
    r"\b(?:double-?check|check|verify|re-?check)\b.*\b(?:number|id|code|e-?mail)\b"
)
"""Pattern of a question for a value other than the one that the user gave."""
_facts = re.compile(
    r"\b(?:is|was|were|does|did) (?:it|the|this|that|your|there|he|she|they)\b|\bdo you (?:remember|recall|know|have)\b"
)
_SPECIAL = {
    "any": re.compile(r"\b(?:is|are|would|will) any \w+(?: \w+){0,4}? (?:fine|ok|okay|all right|good|suit|do|work)\b"),
    "only": re.compile(r"^(?:\W|\w+,? ){0,3}(?:is|are) .*\bthe only\b.*\byou\b"),
    "complete": re.compile(r"\b(?:apartment|unit|suite) (?:\w+ )?number\b"),
}
_people = re.compile(r"\b(?:which|who|whose)\b.{0,20}\b(?:travell?ers?|passengers?|doctors?)\b")
_wording = re.compile(r"^by \W|\bby (?:quotation|[\"']|the one )|\bwhen you (?:say|write|wrote|said)\b")
_follow = re.compile(
    r",? (?:and )?if (?:so|yes|any),? (?:please )?(?:tell me |let me know )?(?:which|who|whom|what|when|where|"
    r"to whom)\b.*"
)
_preferred = re.compile(
    r"\b(?:prefer|rather|would you|do you want|should i|shall i|would suit|suits?|works? for you|willing|comfortable|"
    r"in mind|looking to|works best|suits you|should (?:the|it|this|that|they)|okay with|fine with|live with|"
    r"wish|you'd like|you would like|you want|be happy|favou?r|acceptable|latest|earliest|"
    r"by what time|at most|at least|do you need|you need to be|bringing|look for)\b"
)
_details = re.compile(
    r"\b(?:last|final|first|ending)\b.{0,20}\bdigits\b|\bcard(?:'s)? (?:number|id|digits|code)\b|"
    r"\b(?:number|id|digits|code|identifier)s? (?:of|on|for) (?:the|your|that|this) (?:\w+ )?(?:card|certificate)\b|"
    r"\b(?:card|certificate)\b.*\bits (?:id|number|digits|code)\b|"
    r"\bexpir\w+\b|\b(?:gift|credit) card\b.*\b(?:gift|credit) card\b.*\bids\b|\bwhich of (?:your|the) (?:gift |"
    r"credit )?cards\b"
)
_polar = re.compile(
    rf"^{_whole}(?:is|are|was|were|do|does|did|have|has|had|will|would|can|could|"
    rf"should) (?!you (?:\w+ )?(?:tell|give|"
    r"send|share|provide|name|let|state|say|specify|type|repeat|spell|indicate|read|remind|confirm|verify|explain|"
    r"describe|look)\b)"
)
_besides = re.compile(
    r"^(?:\W|\w+,? ){0,3}(?:do you want|would you like)\b"
    r"(?! me to (?:do|go|proceed|charge|use|take|put|cancel|change|move|upgrade|send|continue|handle|process)\b)"
    r"((?=.*\b(?:also|as well|too|in addition|on top)\b).*)\?"
)
_beyond = re.compile(
    r"\b(?:should|do you want|would you like|shall)\b.*\b(?:anything|something) (?:besides|beyond|other than|"
    r"in addition|on top)\b"
)
_instead = re.compile(
    r"\bhave you (?:considered|thought (?:about|of))\b|"
    r"\b(?:would|could|can|are|do) (?:you|an?|the|some)\b.*\b(?:consider|accept\w*|open to|willing|happy with|"
    r"settle for|"
    r"be ok\w*|be fine|prefer|like|live with)\b.*\b(?:instead|rather than|voucher)\b"
)
"""Pattern of an offer of something other than what the user requested."""
_proof = re.compile(
    r"\b(?:are you able to|can you|could you|would you be able to) (?:\w+ )?(?:provide|send|show|upload|attach|"
    r"forward|share|"
    r"submit)\b.*\b(?:note|proof|evidence|receipt|documents?|papers?|photos?|pictures?|letter|copy|invoice|"
    r"screenshot)\b"
)
_unless = re.compile(
    r"\bif\b.*\b(?:sold out|full|not available|unavailable|no longer|fails?|not possible|"
    r"no (?:seats?|room))\b.*\?"
)
_timing = re.compile(
    r"\b(?:at once|right away|straight away|immediately|together|in one go),? or\b|"
    r"\bor (?:only )?(?:after|once|later|wait|one by one|one after|separately|in separate)\b"
)
"""Pattern of a choice that affects only when, or in which order, the agent does its work."""
_embedded = re.compile(
    r"\b(?:know|tell me|let me know|say|check|confirm|clarify) (?:whether|if) (?!you (?:want|agree|would))"
)
"""Pattern of an indirect yes/no question."""
_bare_choice = re.compile(
    r"\b(?:which(?: one| of (?:them|those|these|the \w+))?|what) (?:you'd|you would|you|would you|do you|"
    r"should i|shall i) "
    r"(?:rather |really )?(?:like|prefer|want|have|choose|pick|take|do)\b(?! (?:me|us|to know|to tell)\b)|"
    r"\bwhat(?:'ll| will) it be\b|"
    r"\bwhich \w+ (?:you'd|you would) (?:like|prefer|rather)\b"
)
_figure = re.compile(r"[\w:-]*\d[\w:-]*")
_ordinal = re.compile(
    r"\b(?:keep|leave|cancel|switch|move|stay|skip|option|all|both|only|just)\b|\b\w or \w\b|\b(?:first|second|"
    r"third|former|latter|one) or\b|\bor (?:\w+ )?(?:the )?(?:other|another)\b"
)
_differently = re.compile(
    r"\b(?:would you (?:like|want|prefer|rather have)|do you want|should i)\b.{0,40}\b"
    r"(?:differently|(?:an|some) ?other (?:way|wording|text|title)|anything (?:changed|different))\W*$"
)
"""Pattern of an offer to do what the user asked for in another way."""
_extra = re.compile(
    r"^(?:\W|\w+,? ){0,4}would you (?:also )?(?:like|care|want)(?: to)?(?: also)? (?:add|include|buy|purchase|"
    r"receive|"
    r"subscribe|join|sign up|reserve|pick|select|an?|some|any|extra|additional)\b(.*)\?"
)


@lru_cache(maxsize=4096)
def question_form(asked: str, opening: str) -> str:
    """Return the form of a question, such as ``wish``, ``first``, ``either``, ``preference``, ``polar`` or ``fact``.

    Args:
        asked: The clauses of the message that contain the question, in lowercase.
        opening: The user's first message.
    """
    asked = _follow.sub("", asked)
    if _wording.search(asked) or ('"quotation"' in asked and re.search(r"\bmeans?\b", asked)):
        return "wording"
    if _another.search(asked) and len({*RECORD_ID.findall(opening)}) < 2:
        return "another"
    if form := next((form for form, pattern in _SPECIAL.items() if pattern.search(asked)), ""):
        return form
    if _embedded.search(asked) and " or " not in asked and not _preferred.search(asked):
        return "polar"
    if _proof.search(asked):
        return "proof"
    if _beyond.search(asked) or (_instead.search(asked) and " or " not in asked):
        return "unwanted"
    if _unless.search(asked):
        return "preference"
    if _people.search(asked) or _given.search(asked):
        return "fact"
    if _first.search(asked):
        return "both" if _all_or_one(asked, opening) else "first"
    if _consent.search(asked) or _details.search(asked):
        return "wish" if _consent.search(asked) else "details"
    if _all_or_one(asked, opening):
        return "both"
    alternatives = " or " in asked and not re.search(r"\bor (?:not|no|if)\b", asked)
    if alternatives and _timing.search(asked):
        return "either"
    if _meaning.search(asked):
        return "meaning"
    if alternatives:
        return "wish" if _decided(asked, opening) else "polar" if _about_user.match(asked) else "either"
    if _bare_choice.search(asked):
        return "wish"
    if _wish.search(asked) or (_polar.match(asked) and any(d in opening.lower() for d in _figure.findall(asked))):
        return "wish"
    if _preferred.search(asked):
        return "preference"
    return "polar" if _polar.match(asked) else "fact"


def _all_or_one(asked: str, opening: str) -> bool:
    """Return whether a question asks if the user means all of several records or only one of them."""
    several = len({*RECORD_ID.findall(opening)}) > 1 or _plural.search(opening)
    return _both.search(asked) is not None and bool(several)


def unwanted(asked: str, opening: str) -> bool:
    """Return whether a question offers an extra that the user did not mention, or another version of the request."""
    if _differently.search(asked.lower()):
        return True
    found = _extra.match(asked.lower()) or _besides.match(asked.lower())
    return found is not None and not content(found[1]) & content(opening.lower())


def leaves_open(asked: str, answer: str) -> bool:
    """Return whether an answer does not decide between the alternatives of a question, such as ``A or B?``.

    Return False if two alternatives contain different figures, because the request determines which one is right.
    """
    every = alternatives(asked)
    if len(every) < 2 or _meaning.search(asked) or _facts.search(asked) or re.search(r"\bor (?:not|no|if|so)\b", asked):
        return False
    known = content(answer.lower())
    return sum(any(word[0].isdigit() for word in own) for own in every) < 2 and not any(own & known for own in every)


def _decided(asked: str, opening: str) -> bool:
    """Return whether the user's first message decides between the alternatives of a question.

    This is the case if the first message contains a word that only one alternative has. Alternatives such as ``cancel
    or keep`` and ``the first or the second`` also count as decided, because they refer to the user's request.
    """
    known = content(opening.lower())
    return bool(_ordinal.search(asked)) or any(own & known for own in alternatives(asked))

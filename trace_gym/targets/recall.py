"""What the user's own opening says about a question, so that the answer tells nothing new."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue.clauses import normalized
from trace_gym.targets.inquiries import DATES, WISHED, is_past

__all__ = ["means_either", "quoted", "recalled", "same_or_other"]

_present = re.compile(
    r"\b(?:currently|right now|at the moment|at present|already|today|as of now|are you booked|is it booked|"
    r"do you have|have you got|are there)\b"
)
_SUBJECTS: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = frozen(
    {
        "booked": (
            re.compile(r"\b(?:when|date|day|ago)\b(?!.*\binsur).*\b(?:book(?:ed)?|made|bought)\b"),
            re.compile(r"\bI (?:booked|bought|ordered)\b"),
        ),
        "health": (
            re.compile(r"^(?!.*\b(?:when|since|dates?|day|long)\b).*\b(?:ill|sick|unwell)\b"),
            re.compile(r"\b(?:ill|sick|health)\b"),
        ),
        "insurance": (
            re.compile(r"^(?!.*\b(?:number|policy|when|name|much|company|provider)\b).*\binsur"),
            re.compile(r"\binsur", re.IGNORECASE),
        ),
        "price": (
            re.compile(
                r"\b(?:prices?|costs?|amount|difference|fare)\b.* or |\bor\b.*\b(?:prices?|costs?|amount|fare)\b"
            ),
            re.compile(r"\b(?:prices?|costs?|comes to|amount|how much|fare|difference)\b"),
        ),
        "cabin": (
            re.compile(r"^(?!.*\b(?:dates?|when|passengers?|travell?ers?)\b).*\b(?:cabin|class|business|economy)\b"),
            re.compile(r"\b(?:business|economy)\b"),
        ),
        "bags": (re.compile(r"\b(?:bags?|baggage|luggage|suitcases?)\b"), re.compile(r"\bbags?\b")),
        "time": (
            re.compile(
                r"\b(?:what|which|exact) (?:time|hour)\b|\bo'clock\b|\b(?:a\.?m|p\.?m)\b|\d:\d\d|\bhow (?:late|early)\b"
            ),
            re.compile(r"\b\d{1,2}:\d\d\b"),
        ),
        "date": (re.compile(r"\b(?:dates?|days?|when)\b"), re.compile(DATES, re.IGNORECASE)),
        "size": (re.compile(r"\bsizes?\b"), re.compile(r"\bsize\b")),
        "color": (re.compile(r"\bcolou?rs?\b"), re.compile(r"\bcolou?r\b")),
        "material": (re.compile(r"\bmaterials?\b"), re.compile(r"\bmaterial\b")),
    }
)
"""What a question may be about -> how an agent asks for it, and what a sentence of the user that tells it contains."""
_follows = re.compile(r"\b(?:does|would|should) (?:that|this|it) (?:mean|imply)\b.* or ")
_asking = re.compile(
    r"^(?:also |and |please |then |in the end )*(?:tell me|let me know|i (?:also )?want to (?:know|hear))\b", re.I
)
_LONGEST = 26
"""Words of a sentence that is short enough for an answer."""
_leaving = re.compile(r"\b(?:leav\w+|depart\w*|take off|takes off|set off|start)\b")
_arriving = re.compile(r"\b(?:arriv\w*|land\w*|gets? in|get there|be (?:in|there|at|back)|reach)\b")
_quotation = re.compile(r'"([^"\n]{3,60})"')
_sentence = re.compile(r"(?<=[.!?]) ")
_identifier = re.compile(r"#?\b(?:(?=\w*\d)\w{6,24}|[A-Z]{6})\b")
_record = re.compile(r"#W\d{7}\b|\b(?!HAT\d)(?=[A-Z0-9]*\d)[A-Z0-9]{6}\b")
_about = re.compile(r"\b(?:is|are) (?:this|that|it) .*\b(?:order|trip|reservation|booking)\b", re.IGNORECASE)
_long = re.compile(r"\b(?!order|reserv|booking|which|there|please|would|about)[a-z]{5,}\b")
_or_other = re.compile(
    r",? or (?:(?:is|are|was|were|do|did) (?:it|you|they) (?:really )?(?:mean|meant|talking about|thinking of|"
    r"have|using)? ?"
    r"|(?:is|are) there |(?:is|are) (?:the|your|that) \w+ (?:under|on|in|with) |for |about |to |rather |"
    r"perhaps |maybe )?(?:an? |"
    r"the |some |any |one |of )*(?:another|others?|different|"
    r"else|(?:somebody|someone) else\w*|(?<=a )new|"
    r"that isn't|not (?:in|on)|something)\b",
    re.IGNORECASE,
)
_means = re.compile(r"\b(?:is (?:that|it|this)|do you mean|did you mean) .*\bcard\b", re.IGNORECASE)
_method = re.compile(r"\b(?:gift_card|credit_card|certificate|paypal)_\d+\b")
_word = re.compile(r"[a-z]{3,}")


def recalled(asked: str, opening: str) -> str:
    """Return the sentences of the opening that tell what a question in small letters is about; empty if none does."""
    named = {v.lower() for v in _identifier.findall(opening)} & {v.lower() for v in re.findall(r"#?\w+", asked)}
    for subject, (question, value) in _SUBJECTS.items():
        if not question.search(asked):
            continue
        if subject == "date" and "birth" in asked:
            continue
        if subject not in ("booked", "health", "insurance") and (is_past(asked) or not _about_wish(asked)):
            return ""
        found = [s for s in _sentence.split(opening) if value.search(s) and not s.endswith("?")]
        found = found if subject == "price" else [s for s in found if not _asking.search(s)]
        own = [s for s in found if any(v in s.lower() for v in named)]
        found = [s for s in own or found if len(s.split()) <= _LONGEST and (subject != "time" or _same_way(asked, s))]
        if found and len(found) <= 2:
            return " ".join(found)
        if subject == "booked":
            return ""
    return ""


def _same_way(asked: str, sentence: str) -> bool:
    """Return whether a question for a time and a sentence are both about leaving or both about arriving."""
    leaves, arrives = _leaving.search(asked), _arriving.search(asked)
    if leaves or arrives:
        return bool((leaves and _leaving.search(sentence)) or (arrives and _arriving.search(sentence)))
    return True


def _about_wish(asked: str) -> bool:
    return WISHED.search(asked) is not None or not _present.search(asked)


def same_or_other(asked: str, opening: str) -> str:
    """Return the answer to `Is it X, or another one?`: X if the user named it, the stored method if it is one."""
    if not (found := _or_other.search(asked)):
        return ""
    before = asked[: found.start()]
    named = [v for v in _identifier.findall(before) if v in opening]
    if len({*named}) == 1:
        return f"I mean {named[0]}."
    ours = {*_record.findall(opening)}
    if (
        len(ours) == 1
        and _about.search(before)
        and {*_long.findall(before.lower())} & {*_long.findall(opening.lower())}
    ):
        return f"I mean {ours.pop()}."
    stored = not _method.search(opening) and (_method.search(before) or _means.search(before))
    return "It is the one that you have on file." if stored else ""


def means_either(asked: str) -> bool:
    """Return whether a question is which of two things follows from what the user wrote."""
    return _follows.search(asked) is not None


def quoted(text: str, opening: str) -> str:
    """Return the sentences of the opening that a message quotes words of; empty where it quotes none or all."""
    words = [w.lower() for w in _quotation.findall(normalized(text))]
    every = _sentence.split(opening)
    wanted = [{*_word.findall(w)} - {"the"} for w in words]
    found = [s for s in every if any(own and own <= {*_word.findall(s.lower())} for own in wanted)]
    return " ".join(found) if found and len(found) < len(every) and len(found) <= 2 else ""

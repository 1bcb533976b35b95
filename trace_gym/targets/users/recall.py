"""Answers that repeat parts of the user's first message (the opening), and so reveal no new facts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trace_gym.targets.constants import frozen
from trace_gym.targets.dialogue.clauses import normalized
from trace_gym.targets.dialogue.patterns import IDENTIFIER, RECORD_ID, split_sentences
from trace_gym.targets.dialogue.question_parts import DATES, WISHED, is_past

__all__ = ["means_either", "preferred", "quoted", "recalled", "same_or_other"]

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
                r"\b(?:what|which|exact) (?:time|hour)\b|\bo'clock\b|\b(?:a\.?m|p\.?m)\b|\d:\d\d|\bhow (?:late|"
                r"early)\b"
            ),
            re.compile(r"\b\d{1,2}:\d\d\b"),
        ),
        "date": (
            re.compile(r"\b(?:dates?|(?<!time of )(?<!time of the )days?|when)\b"),
            re.compile(DATES, re.IGNORECASE),
        ),
        "travelers": (
            re.compile(
                r"\b(?:who|whom|which)\b.*\b(?:travell?ing|flying|going|with you|on board|travell?ers?|companions?)\b"
            ),
            re.compile(r"\b(?:fellow travell?ers?|on board|travel(?:s|ling)? with)\b"),
        ),
        "route": (
            re.compile(
                r"\b(?:airports?|destination|route)\b|\bwhere\b.*\b(?:from|to|fly|flying|going|leave)\b|"
                r"\bwhich (?:city|cities)\b|\bfrom where\b"
            ),
            re.compile(r"\([A-Z]{3}\)|\bfrom [A-Z]\w+ to [A-Z]|\b[A-Z]{3} to [A-Z]{3}\b"),
        ),
        "size": (re.compile(r"\bsizes?\b"), re.compile(r"\bsize\b")),
        "color": (re.compile(r"\bcolou?rs?\b"), re.compile(r"\bcolou?r\b")),
        "material": (re.compile(r"\bmaterials?\b"), re.compile(r"\bmaterial\b")),
    }
)
"""Mapping from subject to two patterns: questions about the subject, and sentences that answer such questions."""
_follows = re.compile(r"\b(?:does|would|should) (?:that|this|it) (?:mean|imply)\b.* or ")
_asking = re.compile(
    r"^(?:also |and |please |then |in the end )*(?:tell me|let me know|i (?:also )?want to (?:know|hear))\b", re.I
)
_LONGEST = 26
"""Maximum number of words of a sentence that serves as an answer."""
_leaving = re.compile(r"\b(?:leav\w+|depart\w*|take off|takes off|set off|start)\b")
_arriving = re.compile(r"\b(?:arriv\w*|land\w*|gets? in|get there|be (?:in|there|at|back)|reach)\b")
_quotation = re.compile(r'"([^"\n]{3,60})"')
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
_prefers = re.compile(r"\b(?:prefer|rather|ideally|best|if possible|otherwise|failing that|else)\b")
_value = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b(?:HAT\d{3}|economy|business)\b|\b\w+_\d+\b")
_word = re.compile(r"[a-z]{3,}")


def recalled(asked: str, opening: str) -> str:
    """Return the sentences of the opening that answer a lowercase question, or `""` if there are none."""
    named = {v.lower() for v in IDENTIFIER.findall(opening)} & {v.lower() for v in re.findall(r"#?\w+", asked)}
    for subject, (question, value) in _SUBJECTS.items():
        if not question.search(asked):
            continue
        if subject == "date" and "birth" in asked:
            continue
        if subject not in ("booked", "health", "insurance") and (is_past(asked) or not _about_wish(asked)):
            return ""
        found = [s for s in split_sentences(opening) if value.search(s) and not s.endswith("?")]
        found = found if subject == "price" else [s for s in found if not _asking.search(s)]
        own = [s for s in found if any(v in s.lower() for v in named)]
        found = [s for s in own or found if len(s.split()) <= _LONGEST and (subject != "time" or _same_way(asked, s))]
        if found and len(found) <= 2:
            return " ".join(found)
        if subject == "booked":
            return ""
    return ""


def _same_way(asked: str, sentence: str) -> bool:
    """Return whether a question about a time and a sentence are both about departure or both about arrival."""
    leaves, arrives = _leaving.search(asked), _arriving.search(asked)
    if leaves or arrives:
        return bool((leaves and _leaving.search(sentence)) or (arrives and _arriving.search(sentence)))
    return True


def _about_wish(asked: str) -> bool:
    return WISHED.search(asked) is not None or not _present.search(asked)


def same_or_other(asked: str, opening: str) -> str:
    """Return the answer to ``Is it X, or another one?``: X if the user named X, or the stored payment method."""
    if not (found := _or_other.search(asked)):
        return ""
    before = asked[: found.start()]
    named = [v for v in IDENTIFIER.findall(before) if v in opening]
    if len({*named}) == 1:
        return f"I mean {named[0]}."
    ours = {*RECORD_ID.findall(opening)}
    if (
        len(ours) == 1
        and _about.search(before)
        and {*_long.findall(before.lower())} & {*_long.findall(opening.lower())}
    ):
        return f"I mean {ours.pop()}."
    stored = not _method.search(opening) and (_method.search(before) or _means.search(before))
    return "It is the one that you have on file." if stored else ""


def preferred(asked: str, opening: str) -> str:
    """Return the sentence of the opening that states a preference among the alternatives in a question, or `""`."""
    named = {*_value.findall(asked)}
    found = (s for s in split_sentences(opening) if _prefers.search(s) and len(named & {*_value.findall(s)}) > 1)
    return next(found, "")


def means_either(asked: str) -> bool:
    """Return whether a question asks which of two conclusions follows from a statement of the user."""
    return _follows.search(asked) is not None


def quoted(text: str, opening: str) -> str:
    """Return the sentences of the opening that contain words quoted in a message.

    Return `""` if no sentence, all sentences, or more than two sentences contain quoted words.
    """
    words = [w.lower() for w in _quotation.findall(normalized(text))]
    every = split_sentences(opening)
    wanted = [{*_word.findall(w)} - {"the"} for w in words]
    found = [s for s in every if any(own and own <= {*_word.findall(s.lower())} for own in wanted)]
    return " ".join(found) if found and len(found) < len(every) and len(found) <= 2 else ""

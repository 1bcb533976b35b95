"""Recognition of announcements: statements of the agent about its own work, to which the user has nothing to say."""

from __future__ import annotations

import re

from trace_gym.targets.dialogue.recognition import Act

__all__ = ["announces", "asks_for_a_moment", "is_listed"]

_moment = re.compile(
    r"\b(?:give|allow|grant) (?:me|us) (?:just )?(?:an?|one|another|two) (?:\w+ )?(?:moments?|minutes?|"
    r"seconds?|sec|bit)\b",
    re.IGNORECASE,
)
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
_at_it = re.compile(
    r"^(?:got it|ok(?:ay)?|sure|great|perfect|understood|thanks|thank you|all ?right|right)\W+"
    r"(?!(?:nothing|something|anything|everything|during|regarding|concerning|looking forward|being|going)\b)"
    r"[a-z]+ing\b",
    re.IGNORECASE,
)
"""Pattern of an announcement without a subject, as in ``Got it, cancelling it now``."""
_next = re.compile(r"^(?!.*\b(?:has|have|had|was|were|been|'ve)\b).*\b(?:next|in a moment|shortly)\W*$", re.IGNORECASE)
_still = re.compile(r"\bstill (?:being|to be|to)\b|\b(?:is|are) being \w+ed\b", re.IGNORECASE)
"""Pattern of a statement that some work is not finished."""
_then_tells = re.compile(r"^(?:once|as soon as|when|after) i\b.*\bi(?:'ll| will)\b", re.IGNORECASE)
"""Pattern of an announcement of what the agent does after it has found something out."""
_through = re.compile(r"\bput (?!you\b|me\b|us\b)(?:[\w#'-]+ ){1,4}?through\b", re.IGNORECASE)
"""Pattern of words about carrying out a request, as in ``I have put the return through``."""
_through_later = re.compile(
    r"\b(?:once|when|as soon as) [^,]{3,40} (?:is|are|has been|have been) (?:\w+ )?"
    r"(?:through|done|complete\w*|made|set)\b",
    re.IGNORECASE,
)
"""Pattern of a statement about what follows when the work is done."""
_if_needed = re.compile(
    r"^if (?!you|any)\b.*\bi(?:'ll| will) (?!be (?:happy|glad)|not\b|have to\b|need to\b)\w+", re.IGNORECASE
)
"""Pattern of an announcement of work that may be necessary."""
_still_to = re.compile(r"\bstill (?:have|has|need|needs) to\b|\bremains? to be\b", re.IGNORECASE)
_when_done = re.compile(
    r"^(?:\W|[\w']+,? ){0,3}?i(?:'ll| will| shall|'m \w+ing| am \w+ing)\b.*\b(?:when|once|as soon as|after)\b",
    re.IGNORECASE,
)
"""Pattern of an announcement of a later report."""
_asks_later = re.compile(
    r"^if (?:there|several|more than one|i|it|the)\b.*\bi(?:'ll| will) (?:then )?"
    r"(?:ask|check|tell|let|come back|get back)\b",
    re.IGNORECASE,
)
"""Pattern of an announcement of a question that may be necessary later."""
_needs_records = re.compile(
    r"^(?:\W|one moment,? |please,? |just |before i [^,?]{3,60}?,? |to [^,?]{3,80}, )*i (?:first |still |just )?need "
    r"(?:the|its|all) (?!reason|number|id|e-?mail|name|zip|code|order number|reservation)[^?]*$",
    re.IGNORECASE,
)
"""Pattern of a statement that the agent needs facts which it can look up."""
_depends = re.compile(r"^how (?:much|many|long|far)\b[^?]*\bdepends\b[^?]*$", re.IGNORECASE)
_heads_list = re.compile(
    r"\b(?:noted|recap|summar\w+|understood|your requests?|as follows|the plan|got|here(?:'s| is) what)\b[^?]*:$",
    re.IGNORECASE,
)
"""Pattern of the heading of a list that repeats the user's request or states what the agent is going to do."""
_speaks = re.compile(r"^(?:i|i'm|i'll|you|we|please|shall|could|can|may|would)\b|\?", re.IGNORECASE)


def announces(kind: str, text: str) -> bool:
    """Return whether a clause announces work of the agent, although it was recognized as another kind.

    Args:
        kind: The recognized kind.
        text: The clause.
    """
    if kind == "transfer":
        return _through.search(text) is not None
    if kind in ("inform", "hold", "progress") and any(
        (_begins.match(text), _at_it.match(text), _still.search(text), _if_needed.match(text))
    ):
        return True
    if kind in ("refusal", "closing"):
        return _begins.match(text) is not None
    if kind == "completion":
        return any(
            (
                _when_done.match(text),
                _through_later.search(text),
                _if_needed.match(text),
                _next.match(text),
                _still_to.search(text),
            )
        )
    if "?" in text or kind not in ("request", "choice", "proposal"):
        return False
    patterns = (
        (_looks_up,) if kind == "proposal" else (_begins, _then_tells, _looks_up, _asks_later, _needs_records, _depends)
    )
    return any(pattern.match(text) for pattern in patterns)


def asks_for_a_moment(text: str) -> bool:
    """Return whether a clause asks the user to wait."""
    return _moment.search(text) is not None


def is_listed(act: Act, heading: str) -> bool:
    """Return whether a clause is an item of a list that repeats the request, as in ``I have noted: Cancel ABC123``.

    Args:
        act: The dialogue act of the clause.
        heading: The last preceding clause that ends with a colon, or `""` if there is none.
    """
    return _heads_list.search(heading) is not None and not _speaks.search(act.text)

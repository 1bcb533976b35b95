"""Classification of sentences by function, and rewording of sentences with templates.

The function of a sentence is its purpose, for example to ask for consent or to refuse a request. `function_of` matches
a sentence with conservative patterns and returns its function and the parts that carry its content. `reframe` inserts
these parts into a different sentence template (a frame) for the same function. A sentence that no pattern matches
completely has no function and is not reworded. The frames in ``frames.json`` are generalized from messages by
independent authors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

FRAMES: dict[str, list[str]] = json.loads(Path(__file__).with_name("frames.json").read_text(encoding="utf-8"))
"""Sentence templates by function. Words in braces are placeholders for the parts that carry content."""

RECORD = r"#?(?=\w*\d)(?=\w*[A-Z])[A-Z0-9]{5,12}(?!\.\d)"
PARTICIPLES = {
    "cancel": "cancelled", "change": "changed", "refund": "refunded", "exchange": "exchanged", "modify": "modified",
    "upgrade": "upgraded", "move": "moved", "update": "updated", "rebook": "rebooked", "delete": "deleted",
}  # fmt: skip
DONE = (
    "cancelled|canceled|changed|updated|exchanged|returned|refunded|sent|moved|modified|upgraded|added|corrected|"
    "rebooked|transferred|removed|created|deleted|saved"
)
DID = rf"{DONE}|booked|switched|turned|scheduled|set|found"
"""Alternation of verb forms that are both past tense and past participle, for regular expressions."""
NOT_ACTS = "be|have|not|like|need|look|check|see|do|stay|stop|wait"
ASKING = r"tell me|give me|provide|send me|share|state|confirm|let me know"
OBJECT = r"(?P<object>(?:your|the) (?!problem|matter|difference|point)[^?;:.!]{2,90}?)"

PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "consent",
        r"(?:shall|should|may|can|could) i (?:(?:now )?(?:proceed|go ahead|go on|continue)|do (?:this|that|it|so)|"
        r"make (?:this|that|the|these) changes?)(?: (?:now|then|with (?:this|that|it)|and do (?:this|it)))?\?",
    ),
    ("consent", r"do you (?:agree|confirm|consent|approve)(?: (?:to|with) (?:this|that|it))?\?"),
    (
        "consent",
        r"(?:would you like|do you want) me to (?:proceed|go ahead|continue|do (?:this|that|it|so))(?: now)?\?",
    ),
    ("consent", r"(?:is|are) (?:that|this|you) (?:ok|okay|fine|alright|all right)(?: with (?:you|that|this|it))?\?"),
    ("request", rf"(?:what|which) (?:is|are) {OBJECT}(?:,? please)?\?"),
    ("request", rf"(?:can|could|may) i (?:please )?(?:have|get|ask for) {OBJECT}(?:,? please)?\?"),
    ("request", rf"(?:can|could|would|will) you (?:please )?(?:{ASKING}) {OBJECT}(?:,? please)?\?"),
    ("request", rf"please (?:{ASKING}) {OBJECT}[.!?]"),
    ("request", rf"i (?:still |only |just )?need (?:to know )?{OBJECT}(?:,? please)?[.!]"),
    (
        "question",
        r"(?P<wh>(?:what|which|whose|who|when|where|how)(?: [\w']+){0,5}?) do you "
        r"(?P<want>want|mean|prefer|need|wish|have)\b(?P<rest>[^?.!]*)\?",
    ),
    (
        "question",
        r"(?P<wh>what|when|where|how) (?P<aux>shall|should|can|may) (?P<who>i|it|(?:the|your|this) \w+)"
        r"(?P<rest> [a-z][^?.!]*)\?",
    ),
    (
        "refusal",
        r"(?:i(?: am|'m) (?:sorry|afraid)(?:,? but)?[:,]? )?(?:unfortunately,? )?i (?:cannot|can ?not|can't|"
        r"am unable to|am not able to) (?P<act>[a-z][^:;]+?)(?:(?:: |,? because )(?P<why>[^\n]+?))?[.!]",
    ),
    ("refusal", r"(?P<why>[^:\n]+), so (?:the|our) rules do not (?:let|allow) me (?:to )?(?P<act>[^:;,\n]+)[.!]"),
    (
        "kept",
        rf"(?P<record>{RECORD}) (?:(?:has to|must) (?:stay|remain)|stays|remains)(?: as it is)?[:,] "
        r"(?P<why>[^\n]+?)[.!]",
    ),
    (
        "plan",
        r"(?:(?:just )?to confirm|in summary|to sum up|(?:here is |this is )?(?:my|the) plan|"
        r"i (?:will|would|am about to|am going to) do (?:this|the following)): (?P<what>[^\n]+?)[.!]",
    ),
    (
        "transfer",
        r"(?:i (?:will|am going to|am about to|shall)(?: now)? (?:transfer|connect|hand|put)(?: you)?"
        r"(?: over| through)?"
        r"|i'll (?:transfer|connect|hand|put) you(?: over| through)?|i am transferring you"
        r"|you (?:will be|are being) (?:transferred|connected)) to (?P<who>an? [^,;:.!\n]{3,40}?)(?: now)?[.!]",
    ),
    ("progress", rf"(?:next|now|then),? i (?:will|am going to) (?P<act>(?!(?:{NOT_ACTS})\b)[a-z][^\n]+?)[.!]"),
    (
        "proposal",
        rf"(?:to confirm, )?i(?: will| would| am going to| am about to|'ll|'d)(?: now)? "
        rf"(?P<act>(?!(?:{NOT_ACTS})\b)[a-z]+ [^\n]+?)[.!]",
    ),
    ("completed", r"(?:this|that|it) is done: (?P<what>[^\n]+?)[.!]"),
    (
        "completion",
        r"(?P<yes>yes, )?(?:(?:(?:it|that|this|everything(?: that you asked for)?|your request) is )?(?:all )?"
        r"(?:done|settled|finished|completed?|taken care of)|all set)(?: now)?[.!]",
    ),
    (
        "report",
        rf"(?P<subject>it|this|they|(?:the|your|both|all) [\w' -]{{1,50}}?|(?:reservation |order |trip )?{RECORD}"
        rf"(?: and {RECORD})*) (?P<is>is|are) (?:now )?(?P<done>{DONE}|made|done|booked(?=[.!]))"
        r"(?P<rest>(?:[ ,:;][^\n]*?)?)[.!]",
    ),
    ("deed", rf"i (?:have |'ve )?(?:now )?(?P<did>{DID})(?P<rest> [^\n]+?)[.!]"),
    ("closing", r"(?:thank you(?: very much)?(?:,| and) )?(?:good ?bye|bye)[.!]"),
)
_compiled = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in PATTERNS]
_lower = re.compile(r"(?:The|It|This|That|They|Your|All|Both|Reservation|Order|Trip)\b")
_split = re.compile(r"((?<=[.!?])[ \t]+(?=\S)|\s*\n\s*)")
_abbreviated = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|No|vs|etc|approx|a\.m|p\.m|e\.g|i\.e)\.|(?:^|\s)\w\.)$")


class Function(NamedTuple):
    """Function of a sentence, and the parts that carry its content."""

    name: str
    parts: dict[str, str]


def sentences(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a text and the white space after each of them."""
    pieces = [*_split.split(text), ""]
    found_sentences, gaps = [pieces[0]], [pieces[1]]
    for sentence, gap in zip(pieces[2::2], pieces[3::2], strict=True):
        if _abbreviated.search(found_sentences[-1]) and "\n" not in gaps[-1]:
            found_sentences[-1], gaps[-1] = found_sentences[-1] + gaps[-1] + sentence, gap
        else:
            found_sentences.append(sentence)
            gaps.append(gap)
    return found_sentences, gaps


def function_of(sentence: str, asks_consent: bool = False) -> Function | None:
    """Return the function of a sentence, or None if no pattern matches the whole sentence.

    Args:
        sentence: A single sentence.
        asks_consent: Whether the same message asks for consent. If so, a statement of an action is a proposal, else a
            report.
    """
    for name, pattern in _compiled:
        if (name == "proposal" and not asks_consent) or (name in ("report", "deed") and asks_consent):
            continue
        if found := pattern.fullmatch(sentence.replace("\u2019", "'")):
            parts = {k: sentence[slice(*found.span(k))] for k, v in found.groupdict().items() if v is not None}
            if name == "refusal" and re.search(r" but |, so | and I ", parts["act"]):
                return None
            return Function(name, parts)
    return None


def asks_consent(found_sentences: list[str]) -> bool:
    """Return whether one of the sentences asks for consent."""
    return any((found := function_of(s)) is not None and found.name == "consent" for s in found_sentences)


def reframe(found: Function, n: int) -> str:
    """Return a sentence with the same function and content, worded with frame number `n`."""
    name, parts = _specified(found)
    frames = _frames(name)
    frame = frames[n % len(frames)]
    text = re.sub(r"\{(\w+)\}", lambda m: _placed(parts[m[1]], frame, m.start()), frame)
    yes = parts.get("yes", "")
    return yes + text[0].lower() + text[1:] if yes and not re.match(r"I\b", text) else yes + text


@cache
def _frames(name: str) -> list[str]:
    """Return the frames of a function. Refusals about a single record can also use the frames for refusals."""
    more = [part for pair in zip(FRAMES["refusal"], FRAMES["record_refusal"], strict=False) for part in pair]
    return more if name == "record_refusal" else FRAMES[name]


def _specified(found: Function) -> Function:
    """Return the most specific function for the parts, with the additional parts that its frames require."""
    name, parts = found.name, dict(found.parts)
    match name:
        case "request" if parts["object"].lower().startswith("the reason"):
            name = "reason"
        case "question":
            middle = parts.get("who") or "you"
            words = (parts["wh"][0].lower() + parts["wh"][1:], "I" if middle.lower() == "i" else middle)
            verb = parts.get("aux", "") or parts["want"]
            parts["clause"] = " ".join((*words, verb)) + parts["rest"]
        case "refusal":
            verb, _, record = parts["act"].partition(" ")
            if "why" not in parts:
                name = "bare_refusal"
            elif verb in PARTICIPLES and re.fullmatch(RECORD, record):
                name = "record_refusal"
                parts |= {"verb": verb, "record": record, "done": PARTICIPLES[verb]}
        case "report":
            parts["has"] = "has" if parts["is"].lower() == "is" else "have"
        case "deed":
            parts["done"] = parts["did"].lower()
    return Function(name, parts)


def _placed(part: str, frame: str, at: int) -> str:
    """Return a part with the capitalization that its position in the frame requires."""
    if not part:
        return part
    word = part.split(" ", 1)[0]
    if at == 0 or frame[:at].rstrip()[-1:] in (".", "!", "?"):
        return part[0].upper() + part[1:] if re.fullmatch(r"[a-z]+[,:]?", word) else part
    return part[0].lower() + part[1:] if _lower.match(part) else part


def functions(text: str) -> Iterator[tuple[str, Function | None]]:
    """Yield each sentence of a text with its function."""
    found_sentences, _ = sentences(text)
    consent = asks_consent(found_sentences)
    yield from ((sentence, function_of(sentence, consent)) for sentence in found_sentences)

"""Splitting of a message into clauses. Each clause is then classified as a dialogue act."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

HEAD, TAIL = 3000, 1000
"""Numbers of characters that are analyzed at the beginning and at the end of a message longer than their sum."""
LONGEST = 500
"""Maximum number of analyzed characters in a clause. Only the beginning and the end of a longer clause are analyzed."""

_TYPED = str.maketrans(
    {
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{MODIFIER LETTER APOSTROPHE}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "\N{EN DASH}": "-",
        "\N{EM DASH}": " - ",
        "\N{BULLET}": "\n- ",
        "\N{ZERO WIDTH SPACE}": None,
        "\N{ZERO WIDTH NO-BREAK SPACE}": None,
        "\N{SOFT HYPHEN}": None,
    }
)
_emphasis = re.compile(r"\*\*|__|`|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])")
_markup = re.compile(r"^[ \t]{0,8}(?:#{1,6}|>|[-*+]|\(?\d{1,2}[.)])[ \t]+", re.MULTILINE)
_quoted = re.compile(r'"(?!(?:yes|ok|okay|no)[.!]?")[^"\n]{0,600}"', re.IGNORECASE)
_new = re.compile(r"(?<=[.!?]\") (?=[A-Z])")
_stars = re.compile("\N{BULLET}{2,} ?(?=\\d)")
"""Pattern of bullets that mask the digits of a card."""
_sentence_end = re.compile(r"[.!?][\"')\]]{0,3}(?=\s)|;(?=\s)")
_abbreviation = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|mr|mrs|ms|dr|st|ave|apt|approx|vs|etc|[ap]\.m)\.$", re.IGNORECASE)
_numero = re.compile(r"\b(no)\.\s+(?=[#\d]|[A-Z]+\d)", re.IGNORECASE)
"""Pattern of the abbreviation ``no.`` before a number. In other places, ``no.`` may be the end of a sentence."""
_AUX = (
    r"(?:(?:would|could|can|will|do|did|have|are|were) you|(?:may|shall|should|could|can|might) (?:i|we)|"
    r"(?:is|does|was) (?:that|this|it)\b|please \w|let me know|tell me)"
)
_ASKS = rf"(?:{_AUX}|(?:what|which|why|how|when|where|who)(?:'s|'d)?\b)"
_FIRST_PERSON = r"(?=i(?:'ll|'m|'d|'ve| will| am| can| cannot| can't| have| need| wo)\b)"
_ends = tuple(
    re.compile(
        rf" (?:but|however),? |, (?=(?:and |so |then )?{opener})| and (?={opener})|: (?={opener})|"
        rf" (?:and|so|then) {_FIRST_PERSON}",
        re.IGNORECASE,
    )
    for opener in (_AUX, _ASKS)
)
"""Patterns of the end of a clause in statements and in questions. In statements, `which` does not begin a question."""
_opens_question = re.compile(rf"(?:and |so |then |or |ok(?:ay)?,? |also,? )?{_ASKS}")
_LEAD = (
    r"(?:(?:and|so|or|ok(?:ay)?|also|then|now|thanks|sorry|hi|hello|sure|got it|of course)[,:;]? |"
    r"[\w' ]{1,30}[,:;] )?"
)
_unmarked = re.compile(
    rf"^{_LEAD}(?:(?:for|to|in|on|at|from|by|under|with|until) )?(?:what|which|whose|who|whom|where|when|"
    rf"since when|why|how)"
    r"(?! (?:i|we|you|it|he|she|they|this|that|remains|follows|happens|is why|is what|is how)\b)"
    r"(?: [\w'-]+){0,3}? (?:is|are|was|were|do|does|did|can|could|should|shall|would|will|has|have|had|may|might)\b|"
    rf"^{_LEAD}(?:what|which|whose|who)"
    r"(?! (?:a|an|i|we|you|it|he|she|they|this|that|remains|follows|happens|means|makes|leaves|gives|brings|"
    r"also)\b) \w|"
    rf"^{_LEAD}(?:why|what makes you) \w|^{_LEAD}(?:what|where|who|how)'s \w|^{_LEAD}(?:in|on|for|at|by|"
    rf"with) \w+(?: \w+)? or (?:\w+ ){{0,2}}\w+$|"
    r", (?:right|correct|yes|no|okay|ok|"
    r"(?:is|was|did|do|does|are|were|have|has|wo|would)(?:n't) (?:it|you|that|they|i|we))$",
    re.IGNORECASE,
)
"""Pattern of a question without a question mark. It applies only to sentences without punctuation at the end."""
_oregon = re.compile(r"\bOR(?= \d{5}\b)")
_inverted = re.compile(
    r"^(?:and |so |or |then |ok(?:ay)?,? |also,? |just |now |well,? |\w+, )?(?:(?:is|are|was|were|does|did|shall|"
    r"could|would|can(?!')|"
    r"should(?! you)|am i)\b|(?:do|have|may|will|has|had|might) (?:you|i|we|it|this|that|these|those|there|they|the|"
    r"your|all|both)\b)"
    r"(?! (?:be|do|not)\b)"
)
_SPELLED = {
    "n": "and", "u": "you", "ur": "your", "r": "are", "pls": "please", "plz": "please", "thx": "thanks",
    "wanna": "want to", "gonna": "going to", "gotta": "have to", "whats": "what's",
    "wheres": "where's", "whos": "who's", "whens": "when's",
    "hows": "how's", "whys": "why's", "thats": "that's", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't",
    "isnt": "isn't", "wasnt": "wasn't", "cant": "can't", "couldnt": "couldn't", "wont": "won't", "im": "i'm",
    "ive": "i've", "youre": "you're", "youd": "you'd",
}  # fmt: skip
"""Mapping from informal to standard spelling."""
_informal = re.compile(rf"(?<![\w.'-])(?:{'|'.join(_SPELLED)})(?![\w'.-]\w|[\w'-])", re.IGNORECASE)
_maybe_informal = re.compile(rf"[^\w.'-](?:{'|'.join(_SPELLED)})(?![\w'-])")
"""Fast pre-check for `_informal`, on lowercase text with a leading space. If it does not match, `_informal` cannot."""
_digit = re.compile(r"\d")
_brackets = str.maketrans({c: " " for c in '()[]{}"/'})


class Clause(NamedTuple):
    """A sentence, or a part of a sentence, in a message."""

    text: str
    """The clause as written, except that apostrophes and quotes are plain ASCII."""
    plain: str
    """The clause in lowercase. Each word that contains a digit is replaced by `0`."""
    question: bool
    """Whether the clause ends with a question mark or has the word order of a question."""


def clauses(text: str) -> Iterator[Clause]:
    """Yield the clauses of a message in order."""
    for sentence in sentences(text):
        if _maybe_informal.search(f" {sentence.lower()}"):
            sentence = _informal.sub(lambda found: _SPELLED.get(found[0].lower(), found[0]), sentence)
        bare = sentence.rstrip("\"') ")
        asked = bare.endswith("?") or (bare[-1:].isalnum() and _unmarked.search(bare) is not None)
        parts = [p for p in _ends[asked].split(sentence) if p and not p.isspace()]
        for n, part in enumerate(parts):
            plain = _masked(part)
            if len(plain) > LONGEST:
                plain = f"{plain[: LONGEST // 2]} {plain[-LONGEST // 2 :]}"
            last = n == len(parts) - 1
            question = asked and (last or _opens_question.match(plain) is not None)
            yield Clause(part.strip(), plain, question or _inverted.match(plain) is not None)


def _masked(part: str) -> str:
    """Return a clause in lowercase, with `0` in place of each word that contains a digit."""
    words = _oregon.sub("", part).lower().split() if "OR " in part else part.lower().split()
    for n, word in enumerate(words):
        if not word.isalpha() and _digit.search(word):
            words[n] = f"0{word[-1]}" if word[-1] in ".,:!?" else "0"
    return " ".join(words).translate(_brackets).strip(" ,:-")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and headings of a message, without markup and without quoted sentences."""
    text = normalized(text)
    if "*" in text or "`" in text or "__" in text:
        text = _emphasis.sub("", text)
    if "\n" in text or not text[:1].isalpha():
        text = _markup.sub("\n", text)
    if "no." in text.lower():
        text = _numero.sub(r"\1 ", text)
    if '"' in text:
        text = _quoted.sub(lambda q: f'"quotation"{q[0][-2] if _new.match(text, q.end()) else ""}', text)
    for line in text.replace(" - ", "; ").replace(" -- ", "; ").split("\n"):
        start = 0
        for end in _sentence_end.finditer(line):
            part = line[start : end.end()]
            if end[0] == "." and _abbreviation.search(part, max(0, len(part) - 9)):  # abbreviations are shorter
                continue
            if sentence := " ".join(part.split()):
                yield sentence
            start = end.end()
        if sentence := " ".join(line[start:].split()):
            yield sentence


def normalized(text: str) -> str:
    """Return the analyzed part of a text, with plain characters instead of typographic quotes and dashes."""
    text = bounded(text)
    return text if text.isascii() else unicodedata.normalize("NFKC", _stars.sub("", text)).translate(_TYPED)


def bounded(text: str) -> str:
    """Return the part of a message that is analyzed: the whole text, or the beginning and end of a long text."""
    return text if len(text) <= HEAD + TAIL + 1 else f"{text[:HEAD]}\n{text[-TAIL:]}"

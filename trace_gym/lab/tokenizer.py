"""A small tokenizer with the words and values of the airline domain.

Values (reservation ids, dates, prices, ...) are single tokens, and byte-level BPE may merge across whitespace and
punctuation. As a result, a tool call has only 4 to 10 tokens, and a reservation about 40. Other text falls back to
bytes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trace_gym.targets.tau2 import records

SPECIAL = ("<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|route|>")
LABELS = tuple("ABCDEFGH")
"""Label letters of the router. Each letter is a single token if it is a separate word."""
TEMPLATE = Path(__file__).parent / "chat_template.jinja"


def values() -> list[str]:
    """Return all words in the pools from which the values of the airline records are drawn."""
    times = [f"{h:02d}:00:00" for h in range(24)] + list(records.CLOCK)
    dates = [records.day(n) for n in range(-14, 24)]
    codes = [city[2] for city in records.STATES]
    words = [*records.CODES, *records.FLIGHT_NUMBERS, *dates, *times, *records.BIRTHDAYS, *records.AIRPORTS, *codes]
    names = [form for n in (*records.FIRST_NAMES, *records.LAST_NAMES) for form in (n, f"{n.lower()}_")]
    return words + names + [str(n) for n in (*records.NUMBERS, *records.USER_NUMBERS)]


def numbers() -> list[str]:
    """Return prices (with and without insurance) and small counts. The tokenizer matches them only as whole words."""
    return [str(n) for n in sorted({*records.FARES, *(f + 30 for f in records.FARES), *range(51)})]


def build(texts: Iterable[str], merges: int = 1200) -> Any:
    """Train the tokenizer on rendered conversations and return a `PreTrainedTokenizerFast`."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    special = [AddedToken(t, special=True, normalized=False) for t in SPECIAL]
    whole = [AddedToken(v, normalized=False) for v in values()]
    words = [AddedToken(v, normalized=False, single_word=True) for v in (*numbers(), *LABELS)]
    splitter = re.compile("|".join(map(re.escape, sorted([*SPECIAL, *values()], key=len, reverse=True))) + r"|\b\d+\b")
    pieces: Counter[str] = Counter()
    for text in texts:
        pieces.update(p for p in splitter.split(text) if p)
    tokenizer = Tokenizer(models.BPE())
    # Without a regex split, merges may cross whitespace, so that the fixed text of a tool call becomes one token.
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        min_frequency=8,
    )
    ordered = sorted(pieces.items())
    tokenizer.train_from_iterator((p for p, n in ordered for _ in range(min(n, 4000))), trainer)
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens(whole + words)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|end|>",
        pad_token="<|pad|>",
        chat_template=TEMPLATE.read_text(),
        clean_up_tokenization_spaces=False,
    )


def render(tokenizer: Any, messages: list[dict[str, Any]], tools: Iterable[dict[str, Any]]) -> str:
    """Return the text of a conversation in the chat template of the tokenizer."""
    return str(tokenizer.apply_chat_template(messages, tools=list(tools), tokenize=False))


def digest(tokenizer: Any) -> str:
    """Return the vocabulary of a tokenizer as text, for comparing two builds."""
    return json.dumps(sorted(tokenizer.get_vocab().items()))

"""Routing by the logits of label tokens (paper, section 3.5): one forward pass of the frozen base model a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from trace_gym.errors import ConfigError, PolicyError
from trace_gym.route.prompt import BASE, LETTERS, Option, routing_messages, without_tokens
from trace_gym.types import Message, Record, sha256

if TYPE_CHECKING:
    import torch


class Choice(Record):
    """What a router chose for one task, and how sure it was."""

    capability: str
    """The adapter's capability, or ``none`` for the base model."""
    probabilities: dict[str, float]
    """Option -> probability, averaged over the label orders."""
    prompt_sha256: str
    """Hash of the rendered prompts, one a label order."""


class Router(Protocol):
    """Decides, before a conversation begins, which adapter it needs."""

    def choose(self, opening: str) -> Choice:
        """The choice for a task that begins with this user message."""
        ...

    def choose_all(self, openings: Sequence[str]) -> list[Choice]:
        """The choices for many tasks, in order."""
        return [self.choose(opening) for opening in openings]


class LogitRouter(Router):
    """Asks the frozen base model for a letter and compares the logits of the letters alone.

    Args:
        model: A loaded Hugging Face causal LM; with a peft adapter on it, the adapter is
            switched off while routing.
        tokenizer: Its tokenizer, with a chat template.
        options: Two to eight, `trace_gym.route.NO_SKILL` among them; their order does not matter.
        permutations: Label orders to average over. They come in rounds of one rotation an option, so that after
            a whole round (permutations = number of options) each option has stood at each letter once and a
            liking for a letter cancels.
        seed: Of the label orders.
        threshold: The base model is chosen when no option reaches this probability.
        batch_tokens: Most padded tokens in one forward pass; a single longer prompt still goes through.

    Raises:
        ConfigError: The options, the tokenizer or the model cannot be used this way.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        options: Sequence[Option],
        *,
        permutations: int = 1,
        seed: int = 0,
        threshold: float = 0.0,
        batch_tokens: int = 16_384,
    ) -> None:
        names = [option.capability for option in options]
        if BASE not in names or len(set(names)) < len(names) or not 2 <= len(names) <= len(LETTERS):
            raise ConfigError(
                f"the options are {', '.join(names) or 'none at all'}; "
                f"expected 2 to {len(LETTERS)} different ones, {BASE!r} among them"
            )
        if permutations < 1 or not 0 <= threshold <= 1:
            raise ConfigError(
                f"permutations must be at least 1 and threshold in [0, 1], found {permutations} and {threshold}"
            )
        if getattr(model, "_hf_peft_config_loaded", False):
            raise ConfigError(
                "an adapter was loaded into the model itself (load_adapter), which the router cannot switch off; "
                "wrap the model with peft.PeftModel.from_pretrained, or pass the bare base model"
            )
        self.model, self.tokenizer = model, tokenizer
        self.options = sorted(options, key=lambda o: o.capability)
        self.permutations, self.seed, self.threshold = permutations, seed, threshold
        self.batch_tokens = batch_tokens
        self.labels = label_tokens(tokenizer, LETTERS[: len(options)])
        self.special = special_tokens(tokenizer)

    def choose(self, opening: str) -> Choice:
        """The choice for one task; see `choose_all`."""
        return self.choose_all([opening])[0]

    def choose_all(self, openings: Sequence[str]) -> list[Choice]:
        """The choices for many tasks, in order.

        Raises:
            PolicyError: The model's logits are not finite.
        """
        prompts = [self._render(routing_messages(o, order)) for o in openings for order in self.orders]
        rows = self._letter_probabilities(prompts)
        return [
            self._choice(prompts[n : n + self.permutations], rows[n : n + self.permutations])
            for n in range(0, len(prompts), self.permutations)
        ]

    @cached_property
    def orders(self) -> list[list[Option]]:
        """The label orders: rotations of the alphabetical order, then of one seeded shuffle after the other."""
        return [order for order, _ in zip(_rotations(self.options, self.seed), range(self.permutations), strict=False)]

    def _choice(self, prompts: Sequence[str], rows: Sequence[Sequence[float]]) -> Choice:
        """The average over label orders; a tie goes to the base model."""
        total = dict.fromkeys((option.capability for option in self.options), 0.0)
        for order, row in zip(self.orders, rows, strict=True):
            for option, probability in zip(order, row, strict=True):
                total[option.capability] += probability / self.permutations
        best = max(total, key=lambda name: (total[name], name == BASE))
        chosen = best if total[best] >= self.threshold else BASE
        return Choice(capability=chosen, probabilities=total, prompt_sha256=sha256("\0".join(prompts)))

    def _render(self, messages: Sequence[Message]) -> str:
        told = [{**m, "content": without_tokens(str(m["content"]), self.special)} for m in messages]
        return str(self.tokenizer.apply_chat_template(told, add_generation_prompt=True, tokenize=False))

    def _batches(self, ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Row numbers: of one label order, which begin alike, and of similar length, so that little is padded."""
        for order in range(self.permutations):
            batch: list[int] = []
            for n in sorted(range(order, len(ids), self.permutations), key=lambda n: len(ids[n])):
                if batch and len(ids[n]) * (len(batch) + 1) > self.batch_tokens:
                    yield batch
                    batch = []
                batch.append(n)
            if batch:
                yield batch

    def _letter_probabilities(self, prompts: Sequence[str]) -> list[list[float]]:
        """Softmax over the option letters after each prompt [prompt, letter]."""
        import torch

        ids = [list(self.tokenizer(p, add_special_tokens=False)["input_ids"]) for p in prompts]
        rows: list[list[float]] = [[] for _ in ids]
        with torch.inference_mode(), frozen_base(self.model):
            for batch in self._batches(ids):
                logits = _last_logits(self.model, [ids[n] for n in batch])[:, self.labels].double()
                for n, row in zip(batch, torch.softmax(logits, -1).tolist(), strict=True):
                    rows[n] = row
        if not all(isfinite(p) for row in rows for p in row):
            raise PolicyError("the model's logits of the option letters are not finite; its weights are broken")
        return rows


def special_tokens(tokenizer: Any) -> frozenset[str]:
    """Return the texts that a tokenizer reads as control tokens, such as ``<|im_end|>``."""
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    named = getattr(tokenizer, "all_special_tokens", ())
    return frozenset([*map(str, named), *(str(token) for token in added if token.special)])


def label_tokens(tokenizer: Any, letters: str) -> list[int]:
    """The token id of each letter.

    Raises:
        ConfigError: A letter is not exactly one token of its own.
    """
    found = {letter: list(tokenizer(letter, add_special_tokens=False)["input_ids"]) for letter in letters}
    split = [letter for letter, ids in found.items() if len(ids) != 1]
    if not split and len({ids[0] for ids in found.values()}) < len(letters):
        split = list(letters)  # they share the unknown token
    if split:
        raise ConfigError(
            f"the tokenizer has no single token for {', '.join(split)} (found {found}); the router compares the "
            "logits of single letters, so add them to the vocabulary before training the base, or use another base"
        )
    return [ids[0] for ids in found.values()]


@contextmanager
def frozen_base(model: Any) -> Iterator[None]:
    """The model without its adapter and without dropout, and afterwards as it was."""
    training, _ = model.training, model.eval()
    try:
        # peft's own switch; a bare model has none and needs none.
        with getattr(model, "disable_adapter", nullcontext)():
            yield
    finally:
        model.train(training)


def _rotations(options: Sequence[Option], seed: int) -> Iterator[list[Option]]:
    n = 0
    while True:
        # The first order is the alphabetical one, so that a router with a single order asks as users would list them.
        base = Random(f"route/{seed}/{n}").sample(list(options), k=len(options)) if n else list(options)
        yield from (base[shift:] + base[:shift] for shift in range(len(base)))
        n += 1


def _last_logits(model: Any, rows: Sequence[list[int]]) -> Any:
    """Next-token logits [row, vocabulary]; what all rows begin with is computed once."""
    shared = _shared(rows) if len(rows) > 1 else 0
    cache = None
    if shared:
        cache = model(input_ids=_tensor([rows[0][:shared]], model), use_cache=True, logits_to_keep=1).past_key_values
        cache.batch_repeat_interleave(len(rows))
    width = max(map(len, rows))
    # Padded between the shared beginning and the rest, so that every row ends at the last position.
    gaps = [width - len(row) for row in rows]
    ids = _tensor([[0] * gap + row[shared:] for gap, row in zip(gaps, rows, strict=True)], model)
    mask = _tensor([[1] * shared + [0] * gap + [1] * (width - shared - gap) for gap in gaps], model)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, shared:]
    out = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions,
        past_key_values=cache,
        use_cache=cache is not None,
        logits_to_keep=1,
    )
    return out.logits[:, -1]


def _shared(rows: Sequence[list[int]]) -> int:
    """How many tokens all rows begin with; at least one is left of each."""
    first, last = min(rows), max(rows)  # what the lexicographic extremes share, all share
    most = min(map(len, rows)) - 1
    return next((n for n in range(most) if first[n] != last[n]), most)


def _tensor(rows: Sequence[Sequence[int]], model: Any) -> torch.Tensor:
    import torch

    return torch.tensor(rows, device=model.device)

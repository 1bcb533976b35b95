"""Router that uses the base model's logits of the option letters, as in the TRACE paper (section 3.5).

One forward pass of the base model is required per prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


class RoutingChoice(Record):
    """The choice of a router for one task, with the probability of each option."""

    capability: str
    """Capability of the chosen adapter, or ``none`` for the base model."""
    probabilities: dict[str, float]
    """Mapping of option to probability, averaged over the label orders."""
    prompt_sha256: str
    """Hash of the rendered prompts, one per label order."""


class Router(Protocol):
    """Interface for choosing an adapter from the first user message of a conversation."""

    def choose(self, opening: str) -> RoutingChoice:
        """Return the choice for a task with this first user message."""
        ...

    def choose_all(self, first_messages: Sequence[str]) -> list[RoutingChoice]:
        """Return the choices for many tasks, in order."""
        return [self.choose(opening) for opening in first_messages]


class LogitRouter(Router):
    """Router that compares the frozen base model's logits of the option letters.

    Args:
        model: A loaded Hugging Face causal LM. A peft adapter on the model is disabled while routing.
        tokenizer: The tokenizer of the model, with a chat template.
        options: Two to eight options, including `trace_gym.route.NO_SKILL`. Their order does not matter.
        permutations: Number of label orders (assignments of letters to options) over which the probabilities are
            averaged. The orders are rotations. If `permutations` is a multiple of the number of options, each option
            has each letter equally often, which cancels a bias of the model for certain letters. None for the number of
            options.
        seed: Seed of the label orders.
        threshold: The base model is chosen if no option reaches this probability.
        batch_tokens: Maximum number of padded tokens in one forward pass. A single longer prompt is still processed.
        template: Additional arguments of the chat template, such as ``enable_thinking``.

    Raises:
        ConfigError: The options, the tokenizer or the model are not valid.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        options: Sequence[Option],
        *,
        permutations: int | None = None,
        seed: int = 0,
        threshold: float = 0.0,
        batch_tokens: int = 16_384,
        template: Mapping[str, Any] | None = None,
    ) -> None:
        names = [option.capability for option in options]
        if BASE not in names or len(set(names)) < len(names) or not 2 <= len(names) <= len(LETTERS):
            raise ConfigError(
                f"the options of the router are not valid: found {', '.join(names) or 'none'}, expected 2 to "
                f"{len(LETTERS)} distinct options including {BASE!r}"
            )
        permutations = len(options) if permutations is None else permutations
        if permutations < 1 or not 0 <= threshold <= 1:
            raise ConfigError(
                f"the settings of the router are not valid: found permutations={permutations} and "
                f"threshold={threshold}, expected permutations >= 1 and a threshold from 0 to 1"
            )
        if getattr(model, "_hf_peft_config_loaded", False):
            raise ConfigError(
                "the router cannot disable an adapter that was loaded with load_adapter. Wrap the model with "
                "peft.PeftModel.from_pretrained, or pass the base model without an adapter"
            )
        self.model, self.tokenizer = model, tokenizer
        self.options = sorted(options, key=lambda o: o.capability)
        self.permutations, self.seed, self.threshold = permutations, seed, threshold
        self.batch_tokens = batch_tokens
        self.template = dict(template or {})
        self.labels = label_tokens(tokenizer, LETTERS[: len(options)])
        self.special = special_tokens(tokenizer)

    def choose(self, opening: str) -> RoutingChoice:
        """Return the choice for one task. See `choose_all`."""
        return self.choose_all([opening])[0]

    def choose_all(self, first_messages: Sequence[str]) -> list[RoutingChoice]:
        """Return the choices for many tasks, in order.

        Raises:
            PolicyError: The model's logits are not finite.
        """
        prompts = [self._render(routing_messages(o, order)) for o in first_messages for order in self.orders]
        rows = self._letter_probabilities(prompts)
        return [
            self._choice(prompts[n : n + self.permutations], rows[n : n + self.permutations])
            for n in range(0, len(prompts), self.permutations)
        ]

    @cached_property
    def orders(self) -> list[list[Option]]:
        """The label orders: rotations of the alphabetical order, followed by rotations of seeded shuffles."""
        return [order for order, _ in zip(_rotations(self.options, self.seed), range(self.permutations), strict=False)]

    @property
    def warning(self) -> str:
        """A warning if the options have some letters more often than others in the average, else ``""``."""
        count = len(self.options)
        if self.permutations == 1 or not self.permutations % count:  # a single order is not an average
            return ""
        fix = count * -(-self.permutations // count)
        return (
            f"permutations: {self.permutations} is not a multiple of the number of options ({count}), so the average "
            f"does not cancel a bias of the model for certain letters. Set permutations to {fix}"
        )

    def _choice(self, prompts: Sequence[str], rows: Sequence[Sequence[float]]) -> RoutingChoice:
        """Average the probabilities over the label orders, and choose the best option. The base model wins ties."""
        total = dict.fromkeys((option.capability for option in self.options), 0.0)
        for order, row in zip(self.orders, rows, strict=True):
            for option, probability in zip(order, row, strict=True):
                total[option.capability] += probability / self.permutations
        best = max(total, key=lambda name: (total[name], name == BASE))
        chosen = best if total[best] >= self.threshold else BASE
        return RoutingChoice(capability=chosen, probabilities=total, prompt_sha256=sha256("\0".join(prompts)))

    def _render(self, messages: Sequence[Message]) -> str:
        escaped = [{**m, "content": without_tokens(str(m["content"]), self.special)} for m in messages]
        render: Any = self.tokenizer.apply_chat_template
        return str(render(escaped, **self.template, add_generation_prompt=True, tokenize=False))

    def _batches(self, ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Yield batches of prompt indices. The prompts of a batch have the same label order and similar lengths.

        Prompts with the same label order have a common prefix, which is processed only once.
        """
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
        """Return the probabilities of the option letters after each prompt, with shape [prompt, letter]."""
        import torch

        ids = [list(self.tokenizer(p, add_special_tokens=False)["input_ids"]) for p in prompts]
        rows: list[list[float]] = [[] for _ in ids]
        with torch.inference_mode(), frozen_base(self.model):
            for batch in self._batches(ids):
                logits = _last_logits(self.model, [ids[n] for n in batch])[:, self.labels].double()
                for n, row in zip(batch, torch.softmax(logits, -1).tolist(), strict=True):
                    rows[n] = row
        if not all(isfinite(p) for row in rows for p in row):
            raise PolicyError("the logits of the option letters are not finite. Check the weights of the model")
        return rows


def special_tokens(tokenizer: Any) -> frozenset[str]:
    """Return the texts that a tokenizer reads as control tokens, such as ``<|im_end|>``."""
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    named = getattr(tokenizer, "all_special_tokens", ())
    return frozenset([*map(str, named), *(str(token) for token in added if token.special)])


def label_tokens(tokenizer: Any, letters: str) -> list[int]:
    """Return the token id of each letter.

    Raises:
        ConfigError: A letter is not exactly one token, or two letters share a token.
    """
    found = {letter: list(tokenizer(letter, add_special_tokens=False)["input_ids"]) for letter in letters}
    split = [letter for letter, ids in found.items() if len(ids) != 1]
    if not split and len({ids[0] for ids in found.values()}) < len(letters):
        split = list(letters)  # the letters share the unknown token
    if split:
        raise ConfigError(
            f"the tokenizer has no single token for {', '.join(split)} (found {found}), but the router compares the "
            "probabilities of single letters. Use another base model, or add the letters to the vocabulary"
        )
    return [ids[0] for ids in found.values()]


@contextmanager
def frozen_base(model: Any) -> Iterator[None]:
    """Disable the adapter and the dropout of a model while the block runs."""
    training, _ = model.training, model.eval()
    try:
        # Only peft models have this method.
        with getattr(model, "disable_adapter", nullcontext)():
            yield
    finally:
        model.train(training)


def _rotations(options: Sequence[Option], seed: int) -> Iterator[list[Option]]:
    n = 0
    while True:
        # The first order is alphabetical.
        base = Random(f"route/{seed}/{n}").sample(list(options), k=len(options)) if n else list(options)
        yield from (base[shift:] + base[:shift] for shift in range(len(base)))
        n += 1


def _last_logits(model: Any, rows: Sequence[list[int]]) -> Any:
    """Return the next-token logits [row, vocabulary]. The common prefix of all rows is processed only once."""
    shared = _shared(rows) if len(rows) > 1 else 0
    cache = None
    if shared:
        cache = model(input_ids=_tensor([rows[0][:shared]], model), use_cache=True, logits_to_keep=1).past_key_values
        cache.batch_repeat_interleave(len(rows))
    width = max(map(len, rows))
    # The padding is between the common prefix and the rest, so that every row ends at the last position.
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
    """Return the length of the common prefix of all rows, without the last token of the shortest row."""
    first, last = min(rows), max(rows)  # a common prefix of the first and last row in sort order is in all rows
    most = min(map(len, rows)) - 1
    return next((n for n in range(most) if first[n] != last[n]), most)


def _tensor(rows: Sequence[Sequence[int]], model: Any) -> torch.Tensor:
    import torch

    return torch.tensor(rows, device=model.device)

"""The rollout engine of `HFPolicy`, which runs many conversations of different lengths in one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Any

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.policies.conversation import SampledConversation, new_rollout, prompt, take_turn
from trace_gym.policies.ragged import ragged_cache
from trace_gym.trajectories import TokenRollout
from trace_gym.types import Message

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from trace_gym.policies.hf import HFPolicy

PREFILL_SHARE = 0.5
"""Fraction of the unfinished rows that must have an unprocessed answer before the model processes the answers.

The model then processes all answers of the environment in one forward pass. The value was chosen with
benchmarks/bench_rollout.py.
"""

LIVE_SHARE = 0.75
"""Fraction of unfinished rows at or below which the finished rows are removed from the cache."""

WAITING = 8
"""Maximum number of episodes that wait for a user's language model in parallel."""

MASK_CELLS = 2**26
"""Maximum number of cells of the attention mask in one forward pass. Longer prompts are split."""


@dataclass(slots=True, eq=False)
class _Row(SampledConversation):
    """One conversation in the batch. If its current turn is empty, the row waits for its next forward pass."""

    fed: int = 0
    """Number of tokens of the rollout that the model has processed and that are therefore in the cache."""


class RolloutBatch:
    """A batch of episodes that are run together.

    `rows` contains all conversations, in the order of the episodes. `slots` contains the conversations in the order of
    the rows of the cache.
    """

    def __init__(
        self,
        policy: HFPolicy,
        episodes: Sequence[Episode],
        temperature: float,
        generator: torch.Generator | None,
        progress: Callable[[int], None] | None,
        split: bool,
        hints: Sequence[str] = (),
    ) -> None:
        self.policy = policy
        self.temperature, self.generator, self.progress = temperature, generator, progress
        self.cache = ragged_cache(split)
        hint_texts = hints or [""] * len(episodes)
        self.rows = [_Row(new_rollout(policy, e, hint)) for e, hint in zip(episodes, hint_texts, strict=True)]
        self.slots: list[_Row] = []

    def run(self) -> list[TokenRollout]:
        logits = self._open()
        sampled_rows = list(self.slots)
        while True:
            self._sample(sampled_rows, logits)
            self._step([row for row in sampled_rows if row.turn_over(self.policy)])
            live = self._drop_finished()
            if not live:
                return [row.out for row in self.rows]
            waiting = [row for row in live if row.turn == len(row.out.ids)]
            if waiting and len(waiting) >= PREFILL_SHARE * len(live):
                sampled_rows = waiting
            else:
                sampled_rows = [row for row in live if row.turn < len(row.out.ids)]
            logits = self._feed(sampled_rows)

    def _open(self) -> Tensor:
        """Run the model on the prompts and return the logits of all rows.

        The common prefix of all prompts is processed only once, and so is the rest of each distinct prompt.
        """
        distinct: dict[str, list[_Row]] = {}
        for row in self.rows:
            episode = row.out.episode
            distinct.setdefault(f"{id(episode.interface)} {episode.messages} {row.out.hint}", []).append(row)
        groups = list(distinct.values())
        prompts = [prompt(self.policy, same[0].out.episode, same[0].out.hint) for same in groups]
        if shared := _common_prefix(prompts):
            self._forward(None, [prompts[0][:shared]], [0])
            self.cache.share(len(prompts))
        logits = self._forward(None, [p[shared:] for p in prompts], [shared] * len(prompts))
        for same, read in zip(groups, prompts, strict=True):
            kept = prompt(self.policy, same[0].out.episode) if same[0].out.hint else read
            for row in same:
                row.append(kept)
                row.fed, row.hidden = len(kept), len(read) - len(kept)
        self.slots = [row for same in groups for row in same]
        copies = self._tensor([n for n, same in enumerate(groups) for _ in same])
        self.cache.select(copies)
        return logits.index_select(0, copies)

    def _sample(self, rows: list[_Row], logits: Tensor) -> None:
        tokens, logprobs = self.policy.draw(logits, [row.out for row in rows], self.temperature, self.generator)
        for row, token, logprob in zip(rows, tokens, logprobs, strict=True):
            row.out.ids.append(token)
            row.out.mask.append(True)
            row.out.logprobs.append(logprob)

    def _step(self, rows: list[_Row]) -> None:
        """Pass finished turns to their episodes, and append the answers of the environment."""
        texts = self.policy.chat.texts([row.out.ids[row.turn :] for row in rows]) if rows else []
        room = [row.turn_fits(self.policy) for row in rows]
        answered = _take_turns([(r.out.episode, text) for r, text, fits in zip(rows, texts, room, strict=True) if fits])
        for row, fits in zip(rows, room, strict=True):
            row.answered(self.policy, next(answered) if fits else None)
            if row.out.episode.done and self.progress:
                self.progress(1)

    def _drop_finished(self) -> list[_Row]:
        """Return the unfinished rows, and remove finished rows from the cache if there are many of them."""
        live = [row for row in self.slots if not row.out.episode.done]
        if live and len(live) <= LIVE_SHARE * len(self.slots):
            self.cache.select(self._tensor([n for n, row in enumerate(self.slots) if not row.out.episode.done]))
            self.slots = live
        return live

    def _feed(self, rows: list[_Row]) -> Tensor:
        """Run the model on the tokens of these rows that are not in the cache.

        Return the logits after the last token of each row.
        """
        single = all(len(row.out.ids) == row.fed + 1 for row in rows)
        # If most rows have a single token, the other rows are padded, which avoids a copy of the cache.
        whole = len(rows) == len(self.slots) or (single and 3 * len(rows) >= len(self.slots))
        chosen = set(rows)
        members = self.slots if whole else rows
        index = None if whole else self._tensor([n for n, row in enumerate(self.slots) if row in chosen])
        chunks = [row.out.ids[row.fed :] if row in chosen else [] for row in members]
        logits = self._forward(index, chunks, [row.fed + row.hidden for row in members])
        for row in rows:
            row.fed = len(row.out.ids)
        if len(members) == len(rows):
            return logits
        return logits.index_select(0, self._tensor([n for n, row in enumerate(members) if row in chosen]))

    def _forward(self, rows: Tensor | None, chunks: list[list[int]], starts: list[int]) -> Tensor:
        """Run the model on one chunk of tokens per row, and return the logits [row, vocabulary].

        Args:
            rows: Rows of the cache that are used; None for all rows.
            chunks: Tokens of each row.
            starts: Position of the first token of each chunk.
        """
        import torch

        longest = max(map(len, chunks))
        width = max(start + len(chunk) for start, chunk in zip(starts, chunks, strict=True) if chunk)
        # The padding is on the left, so that the last column contains the last token of every row.
        ids = self._tensor([[0] * (longest - len(c)) + c for c in chunks])
        positions = self._tensor(
            [[-1] * (longest - len(c)) + list(range(s, s + len(c))) for s, c in zip(starts, chunks, strict=True)]
        )
        model, past = self.policy.model, torch.arange(width, device=ids.device)
        hidden = torch.tensor(torch.finfo(model.dtype).min, dtype=model.dtype, device=ids.device)
        extra = {"ragged": self.cache} if self.cache.split else {}
        columns = max(1, MASK_CELLS // (len(chunks) * width))
        for piece, places in zip(torch.split(ids, columns, 1), torch.split(positions, columns, 1), strict=True):
            self.cache.aim(rows, len(chunks), places, width)
            places = places.clamp(min=0)
            out = model(
                input_ids=piece,
                attention_mask=torch.where(past <= places[:, None, :, None], hidden.new_zeros(()), hidden),
                position_ids=places,
                past_key_values=self.cache,
                use_cache=True,
                logits_to_keep=1,
                **extra,
            )
        if not self.cache.pairs:
            raise ConfigError(
                f"the model class {type(model).__name__} is not supported, because it does not use the cache that is "
                "passed to it. Start an inference server for the model, and use OpenAIPolicy instead"
            )
        logits: Tensor = out.logits[:, -1]
        return logits

    def _tensor(self, values: list[Any]) -> Tensor:
        import torch

        return torch.tensor(values, device=self.policy.device)


def _common_prefix(prompts: list[list[int]]) -> int:
    """Return the length of the common prefix of all prompts, at most the length of the shortest prompt minus 1."""
    low, high = min(prompts), max(prompts)
    same = next((n for n, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return min(same, min(map(len, prompts)) - 1)


def _take_turns(turns: Sequence[tuple[Episode, str]]) -> Iterator[list[Message]]:
    """Return the answers to the turns of several episodes.

    The turns are taken in threads if a language model plays the user in any of the episodes.
    """
    if len(turns) < 2 or all(episode.user is None for episode, _ in turns):
        return starmap(take_turn, turns)
    with ThreadPoolExecutor(WAITING) as pool:
        return iter(list(pool.map(take_turn, *zip(*turns, strict=True))))

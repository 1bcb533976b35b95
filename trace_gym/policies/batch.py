"""The engine of `HFPolicy`: many conversations in one ragged batch, from their openings to their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, PolicyError
from trace_gym.policies.hints import with_hint
from trace_gym.policies.ragged import ragged_cache
from trace_gym.rollout import TokenRollout
from trace_gym.types import Message

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from trace_gym.policies.hf import HFPolicy

PREFILL_SHARE = 0.5
"""Answers wait until this share of the live rows has one, then are fed together (benchmarks/bench_rollout.py)."""

LIVE_SHARE = 0.75
"""The cache is compacted when no more than this share of its rows still plays."""

WAITING = 8
"""Episodes that wait for the words of a user at a time."""

MASK_CELLS = 2**26
"""Most cells of an attention mask in one forward pass; longer prompts are fed in pieces."""


@dataclass(slots=True, eq=False)
class _Row:
    """One conversation in the batch."""

    out: TokenRollout
    fed: int = 0
    """How many of its tokens are in the cache."""
    hidden: int = 0
    """How many tokens the cache holds besides: those of a hint, which are no part of the rollout."""
    turn: int = 0
    """Where the turn that is being sampled begins; a row whose tokens end there waits to be fed."""

    def append(self, tokens: list[int]) -> None:
        """Append tokens that the model did not sample, and open a turn."""
        self.out.ids += tokens
        self.out.mask += [False] * len(tokens)
        self.out.logprobs += [0.0] * len(tokens)
        self.turn = len(self.out.ids)


class Batch:
    """Plays some episodes at once. Each live row has a slot in the cache; tokens not yet fed are its `ids[fed:]`."""

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
        told = hints or [""] * len(episodes)
        self.rows = [_Row(_fresh(e, hint)) for e, hint in zip(episodes, told, strict=True)]
        self.slots: list[_Row] = []

    def run(self) -> list[TokenRollout]:
        logits = self._open()
        talking = list(self.slots)
        while True:
            self._sample(talking, logits)
            self._step([row for row in talking if self._turn_over(row)])
            live = self._drop_finished()
            if not live:
                return [row.out for row in self.rows]
            waiting = [row for row in live if row.turn == len(row.out.ids)]
            if waiting and len(waiting) >= PREFILL_SHARE * len(live):
                talking = waiting
            else:
                talking = [row for row in live if row.turn < len(row.out.ids)]
            logits = self._feed(talking)

    def _open(self) -> Tensor:
        """Feed the openings: what all share once, then each distinct one once; return the rows' logits."""
        distinct: dict[str, list[_Row]] = {}
        for row in self.rows:
            episode = row.out.episode
            distinct.setdefault(f"{id(episode.interface)} {episode.messages} {row.out.hint}", []).append(row)
        groups = list(distinct.values())
        prompts = [self._prompt(same[0].out.episode, same[0].out.hint) for same in groups]
        if shared := _common_prefix(prompts):
            self._forward(None, [prompts[0][:shared]], [0])
            self.cache.share(len(prompts))
        logits = self._forward(None, [p[shared:] for p in prompts], [shared] * len(prompts))
        for same, prompt in zip(groups, prompts, strict=True):
            kept = self._prompt(same[0].out.episode) if same[0].out.hint else prompt
            for row in same:
                row.append(kept)
                row.fed, row.hidden = len(kept), len(prompt) - len(kept)
        self.slots = [row for same in groups for row in same]
        copies = self._tensor([n for n, same in enumerate(groups) for _ in same])
        self.cache.select(copies)
        return logits.index_select(0, copies)

    def _prompt(self, episode: Episode, hint: str = "") -> list[int]:
        ids = self.policy.chat.opening(with_hint(episode.messages, hint), episode.tools)
        if len(ids) >= self.policy.max_tokens:
            raise ConfigError(
                f"{episode.scenario}: the opening has {len(ids)} tokens and the budget is {self.policy.max_tokens}; "
                "raise max_tokens, which the model's position limit caps"
            )
        return ids

    def _sample(self, rows: list[_Row], logits: Tensor) -> None:
        tokens, logprobs = self.policy.draw(logits, [row.out for row in rows], self.temperature, self.generator)
        for row, token, logprob in zip(rows, tokens, logprobs, strict=True):
            row.out.ids.append(token)
            row.out.mask.append(True)
            row.out.logprobs.append(logprob)

    def _turn_over(self, row: _Row) -> bool:
        ids, policy = row.out.ids, self.policy
        spent = len(ids) - row.turn >= policy.max_turn_tokens or len(ids) >= policy.max_tokens - row.hidden
        return spent or ids[-1] == policy.chat.eos

    def _step(self, rows: list[_Row]) -> None:
        """Hand finished turns to their episodes and append what the environment answers."""
        chat = self.policy.chat
        texts = chat.texts([row.out.ids[row.turn :] for row in rows]) if rows else []
        room = [row.out.ids[-1] == chat.eos or len(row.out.ids) < self._budget(row) for row in rows]
        answered = _take_turns([(r.out.episode, text) for r, text, fits in zip(rows, texts, room, strict=True) if fits])
        for row, fits in zip(rows, room, strict=True):
            out, episode = row.out, row.out.episode
            closed, budget = out.ids[-1] == chat.eos, self._budget(row)
            if fits:
                answers = next(answered)
                suffix = [] if episode.done else [*([] if closed else [chat.eos]), *chat.answer(answers, episode.tools)]
                if len(out.ids) + len(suffix) < budget:
                    row.append(suffix)
            if not episode.done and row.turn < len(out.ids):  # nothing was appended: no room
                out.overflow = True
                with suppress(PolicyError):  # the user's model failed at the opening
                    episode.finish()
            if episode.done and self.progress:
                self.progress(1)

    def _budget(self, row: _Row) -> int:
        """Tokens that the conversation of a row may have."""
        return self.policy.max_tokens - row.hidden

    def _drop_finished(self) -> list[_Row]:
        """The rows that still play; the cache forgets the others once they are many."""
        live = [row for row in self.slots if not row.out.episode.done]
        if live and len(live) <= LIVE_SHARE * len(self.slots):
            self.cache.select(self._tensor([n for n, row in enumerate(self.slots) if not row.out.episode.done]))
            self.slots = live
        return live

    def _feed(self, rows: list[_Row]) -> Tensor:
        """Feed the tokens of these rows that the cache lacks; return the logits after the last of each."""
        single = all(len(row.out.ids) == row.fed + 1 for row in rows)
        # Single tokens for most rows: the others take part with padding, which spares a copy of the cache.
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
        """Logits [row, vocabulary] after ragged chunks of tokens that begin at the positions `starts`."""
        import torch

        longest = max(map(len, chunks))
        width = max(start + len(chunk) for start, chunk in zip(starts, chunks, strict=True) if chunk)
        # Padded on the left, so that the last column holds every row's last token.
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
            raise ConfigError(f"{type(model).__name__} does not use the cache it is given; use OpenAIPolicy instead")
        logits: Tensor = out.logits[:, -1]
        return logits

    def _tensor(self, values: list[Any]) -> Tensor:
        import torch

        return torch.tensor(values, device=self.policy.device)


def _common_prefix(prompts: list[list[int]]) -> int:
    """How many first tokens all prompts share; one less than the shortest at most, so that each keeps some."""
    low, high = min(prompts), max(prompts)
    same = next((n for n, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return min(same, min(map(len, prompts)) - 1)


def _take_turns(turns: Sequence[tuple[Episode, str]]) -> Iterator[list[Message]]:
    """Yield the answers to the turns of several episodes, in threads if language models choose the words of users."""

    def take(turn: tuple[Episode, str]) -> list[Message]:
        with suppress(PolicyError):  # the user's model failed: this episode is over and not scored
            return turn[0].step(turn[1])
        return []

    if len(turns) < 2 or all(episode.user is None for episode, _ in turns):
        return map(take, turns)
    with ThreadPoolExecutor(WAITING) as pool:
        return iter(list(pool.map(take, turns)))


def _fresh(episode: Episode, hint: str) -> TokenRollout:
    if episode.turns or episode.done:
        raise ConfigError(f"{episode.scenario}: the episode has begun; open another one")
    return TokenRollout(episode.scenario, [], [], [], episode, episode.state_hash, hint=hint)

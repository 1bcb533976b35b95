"""Records of finished episodes: messages (`Trajectory`), and tokens (`TokenRollout`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from trace_gym.episode import Episode, plan
from trace_gym.score import reward
from trace_gym.types import Call, Scenario, Trajectory, UserWords

Ended = Literal["user", "transfer", "turn_limit", "error", "unknown"]
"""Reason for the end of an episode."""


def rollout_id(scenario: Scenario, sample: int) -> str:
    """Return the id of a rollout."""
    return f"{scenario}#{sample}"


def trajectory(
    episode: Episode,
    *,
    sample: int = 0,
    model: str = "",
    source: str = "rollout",
    ended: Ended | None = None,
    temperature: float | None = None,
    note: str = "",
) -> Trajectory:
    """Return the record of an episode.

    Args:
        episode: A finished episode. An unfinished episode is recorded as not scored (success and reward are None).
        sample: Sample number of this scenario; the record's id is ``{scenario}#{sample}``.
        model: Name of the policy.
        source: Origin of the record.
        ended: Reason for the end of the episode; None to derive it from the episode. ``"error"`` is an infrastructure
            failure and is never scored.
        temperature: Sampling temperature of the policy; None if it has none.
        note: Reason why the episode ended before the agent had finished.
    """
    kinds = episode.interface.kinds
    ended = ended or _ended(episode)
    score = None if ended == "error" else episode.score
    return Trajectory(
        id=rollout_id(episode.scenario, sample),
        task=str(episode.scenario),
        messages=tuple(episode.messages),
        success=None if score is None else score.success,
        reward=None if score is None else reward(score),
        score=score,
        gold=tuple(s for s in plan(episode, "oracle") if isinstance(s, Call) and kinds.get(s.tool) != "read"),
        ended=ended,
        note=note,
        source=source,
        model=model,
        temperature=temperature,
        user=_user(episode),
        tools=kinds,
    )


def _ended(episode: Episode) -> Ended:
    if episode.failure is not None:
        return "error"
    if not episode.done:
        return "unknown"
    if episode.truncated:
        return "turn_limit"
    return "transfer" if episode.world.ended else "user"


def _user(episode: Episode) -> UserWords | None:
    """Return the user's language model, the script and the number of fallbacks; None without a language model."""
    if episode.user is None:
        return None
    return UserWords(model=episode.user.name, script=tuple(episode.script), fallbacks=episode.fallbacks)


@dataclass(slots=True)
class TokenRollout:
    """One finished episode with its exact tokens, for trainers. No text is tokenized twice."""

    scenario: Scenario
    ids: list[int] = field(repr=False)
    """Tokens of the conversation up to the last assistant turn, exactly as they were sampled or passed to the model."""
    mask: list[bool] = field(repr=False)
    """True for tokens that the model sampled, including end-of-turn tokens; same length as `ids`."""
    logprobs: list[float] = field(repr=False)
    """Log-probability of each sampled token under the distribution that it was sampled from; 0.0 for other tokens."""
    episode: Episode = field(repr=False)
    start_hash: str
    """State hash before the first turn; equal for all rollouts of a GRPO group."""
    hint: str = ""
    """Hint in the prompt from which the model sampled; not part of `ids`."""
    overflow: bool = False
    """Whether the token budget was exhausted before the episode ended."""

    def trajectory(self, *, model: str, source: str, sample: int = 0, temperature: float | None = None) -> Trajectory:
        """Return the record of this episode. Its `gold` contains the oracle's calls except reads."""
        note = "the conversation exceeded its budget of tokens" if self.overflow else ""
        return trajectory(self.episode, sample=sample, model=model, source=source, temperature=temperature, note=note)

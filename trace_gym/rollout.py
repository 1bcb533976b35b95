"""Policy x scenarios -> trajectories: played in order, in threads or in batches, written as they finish, resumable."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from trace_gym import terminal
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, ContextOverflow, PolicyError
from trace_gym.policies.base import BatchPolicy, Policy, Sampled
from trace_gym.policies.scripted import plan
from trace_gym.score import reward
from trace_gym.speech import Speaker
from trace_gym.threads import Outage, in_threads
from trace_gym.types import Call, Scenario, Trajectory, UserWords, sha256

BATCH = 64
"""Episodes that `collect` hands to a `BatchPolicy` at once, and so the most that an interruption loses."""

Opener = Callable[[Scenario], Episode]
Job = tuple[Scenario, int]
Advance = Callable[[int], None]
Ended = Literal["user", "transfer", "turn_limit", "error", "unknown"]


@dataclass(slots=True)
class TokenRollout:
    """One finished episode with its exact tokens: what a trainer needs, with nothing tokenised twice."""

    scenario: Scenario
    ids: list[int] = field(repr=False)
    """Every token of the conversation in order, as it was sampled or fed, up to the last assistant turn."""
    mask: list[bool] = field(repr=False)
    """True where the model sampled the token, its end-of-turn token included; same length as `ids`."""
    logprobs: list[float] = field(repr=False)
    """Log-probability of each masked token under the distribution it was drawn from; 0.0 elsewhere."""
    episode: Episode = field(repr=False)
    start_hash: str
    """State hash before the first turn; equal within a GRPO group."""
    hint: str = ""
    """What the model was told besides while it played; none of `ids` holds it."""
    overflow: bool = False
    """The token budget ran out before the episode ended by itself."""

    def trajectory(self, *, model: str, source: str, sample: int = 0, temperature: float | None = None) -> Trajectory:
        """The record of this episode, with the oracle's write calls as gold."""
        note = "the conversation exceeded its budget of tokens" if self.overflow else ""
        return trajectory(self.episode, sample=sample, model=model, source=source, temperature=temperature, note=note)


def play(policy: Policy, episode: Episode, note: Callable[[str], None] | None = None) -> Episode:
    """Let `policy` take turns until the episode is over, and return it.

    An episode whose conversation no longer fits into the model's context ends there and is scored, as in
    `HFPolicy`: a success before that counts, and the unfinished turn is not taken. `note` gets the reason.

    Raises:
        PolicyError: The infrastructure of the policy or of the user failed; the episode stays unfinished.
        EnvBug: The environment failed.
    """
    if episode.failure is not None:
        raise episode.failure
    while not episode.done:
        try:
            action = policy.act(episode)
        except ContextOverflow as overflow:
            episode.finish()
            if note is not None:
                note(str(overflow))
        else:
            episode.step(action)
    return episode


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
    """The record of an episode.

    Args:
        episode: Finished; an unfinished one is recorded as not scored (success and reward None).
        sample: Number of the attempt at this scenario; the record's id is ``{scenario}#{sample}``.
        model: Who played.
        source: Where the record comes from.
        ended: How the episode ended, read off the episode when None. ``"error"`` is an infrastructure
            failure and never scored.
        temperature: Sampling temperature of the policy; None where it has none.
        note: Why the episode ended before the agent had finished.
    """
    kinds = episode.interface.kinds
    ended = ended or _ended(episode)
    score = None if ended == "error" else episode.score
    return Trajectory(
        id=_id(episode.scenario, sample),
        task=str(episode.scenario),
        messages=tuple(episode.messages),
        success=None if score is None else score.success,
        reward=None if score is None else reward(score),
        score=score,
        gold=tuple(s for s in plan(episode, "oracle") if isinstance(s, Call) and kinds.get(s.tool) == "write"),
        ended=ended,
        note=note,
        source=source,
        model=model,
        temperature=temperature,
        user=_user(episode),
        tools=kinds,
    )


def collect(
    policy: Policy | BatchPolicy,
    scenarios: Iterable[Scenario],
    *,
    path: str | Path | None = None,
    samples: int = 1,
    workers: int = 8,
    progress: bool = True,
    source: str = "rollout",
    temperature: float = 1.0,
    seed: int = 0,
    open_episode: Opener | None = None,
    user: Speaker | None = None,
) -> list[Trajectory]:
    """Play every scenario `samples` times and return the records, ordered by scenario, then sample.

    With a `path` each record is appended as one JSON line when its episode finishes. A second call
    with the same path and policy plays only what is missing: scored records of this policy's name are
    kept, a torn last line and records of infrastructure failures are dropped and played again. One process at
    a time writes a file: a second one is refused.

    Args:
        policy: A `Policy` (played in order, or in `workers` threads if it is remote) or a `BatchPolicy`.
        scenarios: The addresses; repeated ones are played once.
        path: JSONL file of `Trajectory` records; other policies' records in it are left alone.
        samples: Attempts at each scenario.
        workers: Threads for a remote policy.
        progress: Show a bar on stderr if that is a terminal, and one line if it took over two seconds.
        source: Stands in the records.
        temperature: For a `BatchPolicy`; 0 is greedy.
        seed: For a `BatchPolicy`: seeds each batch, together with the batch's first address. A batch that was cut
            is played again as a whole, so a resumed run draws the samples of an uninterrupted one.
        open_episode: Scenario -> fresh episode; `trace_gym.registry.episode` when None.
        user: Rewords what the scripted user says, such as a `trace_gym.user_model.LanguageUser`.

    Raises:
        EnvBug: An environment failed; what was finished before is in `path`.
        Unavailable: An endpoint did not answer in as many episodes in a row as there are workers; what was finished
            before is in `path`, and a second call continues.
        ReadError: `path` holds something other than trajectories.
        InUse: Another process is writing `path`.
        ConfigError: `path` holds records of this policy at another temperature or with another user, or both `user`
            and `open_episode` are given.
        WriteError: `path` cannot be written, such as when the disk is full.
    """
    if user is not None and open_episode is not None:
        raise ConfigError("found both user and open_episode, expected one of them. Pass user to Episode instead")
    open_episode = open_episode or _registered(user)
    jobs = list(dict.fromkeys((scenario, n) for scenario in scenarios for n in range(samples)))
    used = temperature if isinstance(policy, BatchPolicy) else getattr(policy, "temperature", None)
    with _records(path, policy.name, used, user) as (records, write):
        missing = [(scenario, n) for scenario, n in jobs if _id(scenario, n) not in records]
        with _bar(len(missing), progress) as advance:
            if isinstance(policy, BatchPolicy):
                played = _batches(policy, jobs, set(missing), open_episode, source, temperature, seed, advance)
            else:
                played = _singles(policy, missing, open_episode, source, workers, used, advance)
            for record in played:
                records[record.id] = record
                write(record)
    return [records[_id(scenario, n)] for scenario, n in jobs]


def _records(
    path: str | Path | None, model: str, temperature: float | None, user: Speaker | None
) -> AbstractContextManager[tuple[dict[str, Trajectory], Callable[[Trajectory], None]]]:
    """The records that are known, and what keeps a new one: a file, or nothing without a path."""
    if path is None:
        return nullcontext(({}, lambda record: None))
    from trace_gym.records import appending

    return appending(Path(path), model, temperature, user.name if user else "")


def _id(scenario: Scenario, sample: int) -> str:
    return f"{scenario}#{sample}"


def _as_asked(record: Trajectory, job: Job) -> Trajectory:
    """The record under the address that was asked for; the episode of a mixture bears its part's."""
    return record.model_copy(update={"id": _id(*job)})


def _ended(episode: Episode) -> Ended:
    if episode.failure is not None:
        return "error"
    if not episode.done:
        return "unknown"
    if episode.truncated:
        return "turn_limit"
    return "transfer" if episode.world.ended else "user"


def _user(episode: Episode) -> UserWords | None:
    """The user's model, the script and the fallbacks; None without a model."""
    if episode.user is None:
        return None
    return UserWords(model=episode.user.name, script=tuple(episode.script), fallbacks=episode.fallbacks)


def _registered(user: Speaker | None) -> Opener:
    from trace_gym.registry import episode

    return partial(episode, user=user)


def _singles(
    policy: Policy,
    jobs: Sequence[Job],
    open_episode: Opener,
    source: str,
    workers: int,
    temperature: float | None,
    advance: Advance,
) -> Iterator[Trajectory]:
    """One episode after the other, or in threads, which only waiting for a server makes worthwhile."""
    outage = Outage(workers)

    def one(job: Job) -> tuple[Trajectory, PolicyError | None]:
        scenario, sample = job
        episode = open_episode(scenario)
        failure, notes = None, list[str]()
        try:
            play(policy.with_sample(sample) if isinstance(policy, Sampled) else policy, episode, notes.append)
        except PolicyError as error:
            failure = error
        record = trajectory(
            episode,
            sample=sample,
            model=policy.name,
            source=source,
            ended="error" if failure else None,
            temperature=temperature,
            note="".join(notes),
        )
        return _as_asked(record, job), failure

    threads = workers if getattr(policy, "remote", False) else 1
    with outage, in_threads(one, jobs, threads) as played:
        for record, failure in played:
            outage.add(record.id, failure)
            yield record
            advance(1)


def _batches(
    policy: BatchPolicy,
    jobs: Sequence[Job],
    missing: Collection[Job],
    open_episode: Opener,
    source: str,
    temperature: float,
    seed: int,
    advance: Advance,
) -> Iterator[Trajectory]:
    import torch

    for first in range(0, len(jobs), BATCH):
        batch = jobs[first : first + BATCH]
        if not any(job in missing for job in batch):
            continue
        digest = sha256(f"{seed}/{_id(*batch[0])}")
        rollouts = policy.rollout(
            [open_episode(scenario) for scenario, _ in batch],
            temperature=temperature,
            generator=torch.Generator().manual_seed(int(digest[:15], 16)),
            progress=advance,
        )
        for job, rollout in zip(batch, rollouts, strict=True):
            if job not in missing:
                continue
            record = rollout.trajectory(model=policy.name, source=source, sample=job[1], temperature=temperature)
            yield _as_asked(record, job)


@contextmanager
def _bar(total: int, shown: bool) -> Iterator[Advance]:
    """Count finished episodes on stderr: a bar on a terminal, and a line at the end of a long run."""
    shown, began = shown and total > 0, time.monotonic()
    if shown and sys.stderr.isatty():
        from rich.progress import Progress

        with Progress(console=terminal.console(stderr=True), transient=True) as bar:
            task = bar.add_task("episodes", total=total)
            yield lambda finished: bar.advance(task, finished)
    else:
        yield lambda finished: None
    if shown and (took := time.monotonic() - began) > 2:
        print(f"{total} episodes in {took:.0f} s", file=sys.stderr)

"""Rollouts of a policy in scenarios, and their records (`Trajectory`).

Episodes run in order, in threads or in batches. Records are written when an episode finishes, so that an interrupted
collection can be resumed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from trace_gym import terminal
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, ContextOverflow, PolicyError
from trace_gym.policies.base import BatchPolicy, Policy, Sampled
from trace_gym.speech import Speaker
from trace_gym.threads import CONCURRENCY, Outage, in_threads
from trace_gym.trajectories import rollout_id, trajectory
from trace_gym.types import Scenario, Trajectory, sha256

BATCH = 64
"""Number of episodes that `rollout` passes to a `BatchPolicy` at once. An interruption loses at most one batch."""
LINE_SECONDS = 30.0
"""Time between two lines that show the progress of `rollout` if stderr is not a terminal."""

EpisodeFactory = Callable[[Scenario], Episode]
ScenarioRun = tuple[Scenario, int]
Advance = Callable[[int], None]


def play(policy: Policy, episode: Episode, note: Callable[[str], None] | None = None) -> Episode:
    """Run an episode to its end with a policy, and return the episode.

    If the conversation no longer fits into the model's context, the episode is ended and scored, as in `HFPolicy`: a
    success that was reached earlier counts, and the unfinished turn is not taken. `note` is called with the reason.

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


def rollout(
    policy: Policy | BatchPolicy,
    scenarios: Iterable[Scenario],
    *,
    path: str | Path | None = None,
    samples: int = 1,
    concurrency: int | None = None,
    progress: bool = True,
    source: str = "rollout",
    temperature: float = 1.0,
    seed: int = 0,
    open_episode: EpisodeFactory | None = None,
    user: Speaker | None = None,
) -> list[Trajectory]:
    """Run every scenario `samples` times and return the records, ordered by scenario, then sample.

    With a `path`, each record is appended as one JSON line when its episode finishes. A second call with the same path
    and policy runs only the missing episodes: scored records with this policy's name are kept. An incomplete last line
    and records of infrastructure failures are removed, and their episodes are run again. Only one process at a time can
    write a file; a second process gets an error.

    Args:
        policy: A `Policy` (run in order, or in threads if it is remote) or a `BatchPolicy`.
        scenarios: Scenarios to run; duplicates are run once.
        path: JSONL file of `Trajectory` records; records of other policies in it are not changed.
        samples: Number of episodes per scenario.
        concurrency: Maximum number of conversations of a remote policy at the same time, in one thread each. By
            default the attribute `concurrency` of the policy, or 8.
        progress: Show the progress on stderr: a bar if stderr is a terminal, else a line every 30 seconds; and one line
            at the end if the run took over two seconds.
        source: Origin of the records, such as the name of a file or command.
        temperature: Sampling temperature of a `BatchPolicy`; 0 is greedy.
        seed: Seed for a `BatchPolicy`. Each batch is seeded with this seed and the batch's first scenario and sample. A
            batch that was interrupted is run again as a whole, so a resumed run produces the same samples as an
            uninterrupted one.
        open_episode: Function that returns a new episode of a scenario; `trace_gym.registry.episode_starter` if None.
        user: Speaker that rewords the messages of the scripted user, such as a `trace_gym.user_model.LanguageUser`.

    Raises:
        EnvBug: An environment failed. Records that were finished before are in `path`.
        Unavailable: An endpoint failed in as many consecutive episodes as run at the same time. Records that were
            finished before are in `path`, and a second call continues.
        ReadError: `path` contains something other than trajectories.
        InUse: Another process is writing `path`.
        ConfigError: `path` contains records of this policy with a different temperature or user, or both `user` and
            `open_episode` are given.
        WriteError: `path` cannot be written, such as when the disk is full.
    """
    if user is not None and open_episode is not None:
        raise ConfigError(
            "the arguments user and open_episode cannot be combined. Remove user, and pass it to Episode in "
            "open_episode"
        )
    open_episode = open_episode or _default_factory(user)
    jobs = list(dict.fromkeys((scenario, n) for scenario in scenarios for n in range(samples)))
    limit = getattr(policy, "concurrency", CONCURRENCY) if concurrency is None else concurrency
    used = temperature if isinstance(policy, BatchPolicy) else getattr(policy, "temperature", None)
    with _records(path, policy.name, used, user) as (records, write):
        missing = [(scenario, n) for scenario, n in jobs if rollout_id(scenario, n) not in records]
        with _bar(len(missing), progress) as advance:
            if isinstance(policy, BatchPolicy):
                played = _run_batches(policy, jobs, set(missing), open_episode, source, temperature, seed, advance)
            else:
                played = _run_singly(policy, missing, open_episode, source, limit, used, advance)
            for record in played:
                records[record.id] = record
                write(record)
    return [records[rollout_id(scenario, n)] for scenario, n in jobs]


def _records(
    path: str | Path | None, model: str, temperature: float | None, user: Speaker | None
) -> AbstractContextManager[tuple[dict[str, Trajectory], Callable[[Trajectory], None]]]:
    """Return the existing records, and a function that appends a record to the file, if there is a path."""
    if path is None:
        return nullcontext(({}, lambda record: None))
    from trace_gym.records import appending

    return appending(Path(path), model, temperature, user.name if user else "")


def _with_requested_id(record: Trajectory, job: ScenarioRun) -> Trajectory:
    """Return the record with the id of the requested scenario, which differs from the episode's id for a mixture."""
    return record.model_copy(update={"id": rollout_id(*job)})


def _default_factory(user: Speaker | None) -> EpisodeFactory:
    from trace_gym.registry import episode_starter

    return episode_starter(user=user)


def _run_singly(
    policy: Policy,
    jobs: Sequence[ScenarioRun],
    open_episode: EpisodeFactory,
    source: str,
    concurrency: int,
    temperature: float | None,
    advance: Advance,
) -> Iterator[Trajectory]:
    """Yield the records of a `Policy`, run one episode at a time, or in threads if the policy waits for a server."""
    outage = Outage(concurrency)

    def run_one(job: ScenarioRun) -> tuple[Trajectory, PolicyError | None]:
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
        return _with_requested_id(record, job), failure

    threads = concurrency if getattr(policy, "remote", False) else 1
    with outage, in_threads(run_one, jobs, threads) as played:
        for record, failure in played:
            outage.add(record.id, failure)
            yield record
            advance(1)


def _run_batches(
    policy: BatchPolicy,
    jobs: Sequence[ScenarioRun],
    missing: Collection[ScenarioRun],
    open_episode: EpisodeFactory,
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
        digest = sha256(f"{seed}/{rollout_id(*batch[0])}")
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
            yield _with_requested_id(record, job)


@contextmanager
def _bar(total: int, shown: bool) -> Iterator[Advance]:
    """Show the progress on stderr: a bar if stderr is a terminal, else lines, and a line at the end of a long run."""
    shown, started = shown and total > 0, time.monotonic()
    done, reported = 0, started

    def advance(finished: int) -> None:
        nonlocal done, reported
        done += finished
        update(advance=finished)
        slow = time.monotonic() - reported > LINE_SECONDS
        if slow and shown and done < total and not on.is_terminal:
            print(f"{done} of {total} episodes", file=sys.stderr)
            reported = time.monotonic()

    on = terminal.console(stderr=True)
    with terminal.progress_bar("episodes", total, shown, on=on) as update:
        yield advance
    if shown and (took := time.monotonic() - started) > 2:
        print(f"{total} episodes in {took:.0f} s", file=sys.stderr)

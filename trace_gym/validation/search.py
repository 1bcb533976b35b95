"""Property TG602: a greedy search finds no fixed script of moves that gets a high reward on many problems.

A move is a call whose arguments are the n-th suitable values displayed so far, a message with a fixed phrase, or a
message with the n-th value of a field. Every script starts with read calls. The search adds random moves, keeps moves
that raise the mean reward over a few problems of a level, and removes superfluous moves. The script is then evaluated
on new problems, because the search can fit the answers of the problems that it uses. Rollouts that reproduce the
oracle's final state are not counted, because they solve the task.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import fmean

from trace_gym.episode import Episode
from trace_gym.policies.exploits import look
from trace_gym.policies.seen import Seen, writes
from trace_gym.score import fold, reward
from trace_gym.statistics import wilson
from trace_gym.types import Message, Say, Scenario, Score, Transcript
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import state_after
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.exploits import FIRST_SAMPLE, LOOKS, SUCCESS, actions_of, exceeds_bounds
from trace_gym.validation.learning import sample_of_size
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.world import Step, World

TRAINING = 4
"""Number of problems per level for the search. The evaluation uses different problems: at first `FIRST_SAMPLE`, and up
to the sizes in `LOOKS` if the result is undecided."""
TRIES = 80
"""Minimum number of search iterations on all levels together."""
PHRASES = ("Yes.", "I am sorry, I cannot do that.", "Shall I proceed?", "All done.", "Please confirm.")


@dataclass(frozen=True)
class Move:
    """One turn of a script.

    The turn is a call if `tool` is set. Otherwise, it is a message with `phrase` or, if `phrase` is empty, with a value
    of `field`.
    """

    tool: Message | None = None
    picks: tuple[int, ...] = ()
    phrase: str = ""
    field: str = ""

    def step(self, seen: Seen) -> Step:
        """Return the call or message of this move, given the values displayed in a conversation."""
        if self.tool is not None:
            return seen.picked(self.tool, self.picks)
        values = seen.by_field.get(self.field) or seen.words or ["?"]
        return Say(self.phrase or f"It is {values[self.picks[0] % len(values)]}.")


@dataclass
class Script:
    """Sequence of moves, and the episodes in which they were taken."""

    moves: list[Move]
    episodes: list[Episode]
    seen: list[Seen]
    """Displayed values of each episode."""
    rewards: list[float]
    """Reward that each episode would get if it ended now; 0 if it reproduces the oracle's final state."""
    solved: list[bool]
    """For each episode, True if it is a success with a final state other than the oracle's."""

    @property
    def mean(self) -> float:
        return fmean(self.rewards)

    @property
    def share(self) -> float:
        return fmean(self.solved)

    @property
    def excessive(self) -> bool | None:
        """True if the script solves too many problems; None if more problems are required for a decision."""
        wins = wilson(sum(self.solved), len(self.solved))
        assert wins is not None  # the list of episodes is not empty
        return exceeds_bounds(len(self.solved), self.share / SUCCESS, (wins, SUCCESS))


@property_check(
    "TG602",
    statement="No script found by a greedy search, which performs the same moves in every problem, solves 20% of new "
    "problems without reproducing the final state of the oracle.",
    reason="Training is a greedy search as well, and finds any way to a reward that does not require reading the "
    "problem.",
    fix="Run the counterexample. State in the goals which record must change and how, and protect all other records "
    "with guards.",
)
def greedy_search_gets_little_reward(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    levels = sorted({s.level for s in scenarios})
    tries = (TRIES + context.profile.examples // 4) // len(levels)
    metrics: dict[str, float] = {"tries": tries}
    found: dict[int, Script] = {}
    for level in levels:
        problems = sample_of_size(scenarios, level, TRAINING + LOOKS[-1])
        script = search(context, problems[:TRAINING], tries)
        found[level] = evaluate(context, script.moves, problems[TRAINING:])
        metrics |= {f"earns_{level}": found[level].mean, f"solves_{level}": found[level].share}
    level, best = max(found.items(), key=lambda item: (item[1].excessive, item[1].share, item[1].mean))
    shown = (_transcript(level, best),) if best.mean > 0 else ()
    if best.excessive:
        at = best.episodes[best.solved.index(True)]
        message = (
            f"a constant script solves {best.share:.0%} of new problems of level {level} without the "
            f"oracle's final state"
        )
        made = context.failure(at.scenario, message, actions_of(at), CHECKS)
        raise CheckFailed(made.message, made.counterexample, metrics, shown, made.replay)
    message = (
        f"the best of {tries} constant scripts per level gets the mean reward {best.mean:.2f} in new "
        f"problems of level {level}"
    )
    return Passed(f"{message} and solves {best.share:.0%}; the bound is {SUCCESS:.0%}", metrics, shown)


def search(context: Context, problems: Sequence[Scenario], tries: int) -> Script:
    """Return the best script for these problems after `tries` search iterations. The search is deterministic."""
    rng = Random(f"search/{problems[0]}")
    best = start = _started(context, problems)
    tools = [*start.episodes[0].tools]
    fields = sorted({name for seen in start.seen for name in seen.by_field})
    for _ in range(tries if tools else 0):
        more = [_drawn(rng, tools, fields) for _ in range(rng.choice((1, 1, 2)))]
        over = all(e.done for e in best.episodes)  # moves after the end of an episode have no effect
        if best.moves and (over or rng.random() < 0.3):
            n = rng.randrange(len(best.moves))
            tried = _appended(context, start, [*best.moves[:n], *more, *best.moves[n:]])
        else:
            tried = _appended(context, best, more)
        if tried.mean > best.mean + 1e-9:
            best = _pruned(context, tried, start)
    return best


def evaluate(context: Context, moves: list[Move], problems: Sequence[Scenario]) -> Script:
    """Run a script on new problems, with more problems as long as the result is undecided, and return the script."""
    script = Script(moves, [], [], [], [])
    for before, count in pairwise((0, FIRST_SAMPLE, *LOOKS)):
        more = _appended(context, _started(context, problems[before:count]), moves)
        script.episodes += more.episodes
        script.seen += more.seen
        script.rewards += more.rewards
        script.solved += more.solved
        if script.excessive is not None:
            break
    return script


def _drawn(rng: Random, tools: Sequence[Message], fields: Sequence[str]) -> Move:
    """Return a random move. Writes are more likely than reads, and values at early positions are preferred."""
    first = min(int(rng.expovariate(0.8)), 5)
    if rng.random() < 0.3:
        use_field = bool(fields) and rng.random() < 0.5
        return Move(field=rng.choice(fields), picks=(first,)) if use_field else Move(phrase=rng.choice(PHRASES))
    tool = rng.choice(writes(tools) or tools if rng.random() < 0.8 else tools)
    needed = tool["function"].get("parameters", {}).get("required", ())
    return Move(tool, tuple(min(int(rng.expovariate(0.8)), 5) for _ in needed))


def _started(context: Context, problems: Sequence[Scenario]) -> Script:
    """Return a script without moves, with episodes in which only the initial read calls were made."""
    return _scored(context, [], [_looked(context, p) for p in problems])


def _appended(context: Context, script: Script, more: Sequence[Move]) -> Script:
    """Return the script with additional moves, taken in copies of its episodes."""
    episodes = [pickle.loads(pickle.dumps(e, -1)) for e in script.episodes]
    for episode, seen in zip(episodes, script.seen, strict=True):
        for n, move in enumerate(more):
            if not episode.done:
                step = move.step(Seen(episode.messages) if n else seen)
                with context.catch_failures(episode.scenario, [*actions_of(episode), step]):
                    episode.step(step)
    return _scored(context, [*script.moves, *more], episodes)


def _scored(context: Context, moves: list[Move], episodes: list[Episode]) -> Script:
    rewards, solved = [], []
    for episode in episodes:
        with context.catch_failures(episode.scenario, actions_of(episode)):
            score = episode.score or _now(episode)
        value = reward(score)
        counts = value > 0 and state_after(episode) != state_after(context.expert(episode.scenario, "oracle"))
        rewards.append(value if counts else 0.0)
        solved.append(counts and score.success)
    return Script(moves, episodes, [Seen(e.messages) for e in episodes], rewards, solved)


def _now(episode: Episode) -> Score:
    """Return the score that an unfinished episode would get if it ended now."""
    return fold(episode.checks(), episode.start.verify(episode.start, []), episode.turns, episode.malformed)


def _pruned(context: Context, script: Script, start: Script) -> Script:
    """Return the script after removing all moves that do not contribute to the reward."""
    for n in reversed(range(len(script.moves))):
        shorter = _appended(context, start, [*script.moves[:n], *script.moves[n + 1 :]])
        if shorter.mean >= script.mean:
            script = shorter
    return script


def _looked(context: Context, scenario: Scenario) -> Episode:
    """Start an episode, make the initial read calls, and return the episode."""
    episode = context.begin(scenario)
    while not episode.done and (call := look(Seen(episode.messages), episode.messages, episode.tools)):
        with context.catch_failures(scenario, [*actions_of(episode), call]):
            episode.step(call)
    return episode


def _transcript(level: int, script: Script) -> Transcript:
    reward_now, episode = max(zip(script.rewards, script.episodes, strict=True), key=lambda pair: pair[0])
    title = (
        f"A constant script with the mean reward {script.mean:.2f} on level {level}, and "
        f"{reward_now:.2f} in {episode.scenario}"
    )
    return Transcript(title=title, messages=tuple(episode.messages[1:]))

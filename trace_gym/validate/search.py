"""TG6, second half: a greedy search over blind scripts, which do the same in every problem whatever its answer is.

A script is a list of moves: a call whose arguments are the n-th values that fit them among those seen so far, a stock
phrase, or the n-th value of a field. It begins with a look around. The search keeps whatever it puts in at random that
raises the mean reward over a few problems of a level, drops what is not needed, and is judged on problems that it has
not seen: within one problem it would find the right answer by elimination, which is no exploit. For the same reason
nothing counts that leaves the state which the expert leaves; that is the task, however it was come by.
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
from trace_gym.types import Message, Say, Scenario, Score, Talk
from trace_gym.validate.attempts import left
from trace_gym.validate.context import Context
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.exploits import FEW, LOOKS, SUCCESS, actions, too_much
from trace_gym.validate.learning import at_least
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import Step, World

TRAINING = 4
"""Problems of a level that a script is searched on; it is judged on others, `FEW` or as many as `LOOKS` says."""
TRIES = 80
"""Least number of tries, on all levels together."""
PHRASES = ("Yes.", "I am sorry, I cannot do that.", "Shall I proceed?", "All done.", "Please confirm.")


@dataclass(frozen=True)
class Move:
    """One turn of a script. A `tool` is called; without one, the phrase is said, or else a value of the `field`."""

    tool: Message | None = None
    picks: tuple[int, ...] = ()
    phrase: str = ""
    field: str = ""

    def step(self, seen: Seen) -> Step:
        """What it comes to in a conversation."""
        if self.tool is not None:
            return seen.picked(self.tool, self.picks)
        values = seen.by_field.get(self.field) or seen.words or ["?"]
        return Say(self.phrase or f"It is {values[self.picks[0] % len(values)]}.")


@dataclass
class Script:
    """Moves, and the unfinished episodes in which they were made."""

    moves: list[Move]
    episodes: list[Episode]
    seen: list[Seen]
    """What each episode has shown."""
    earned: list[float]
    """What each would pay if it ended now, 0 where it has come to what the expert leaves."""
    solved: list[bool]
    """Whether each is a success, and otherwise than by the expert's deeds."""

    @property
    def mean(self) -> float:
        return fmean(self.earned)

    @property
    def share(self) -> float:
        return fmean(self.solved)

    @property
    def excessive(self) -> bool | None:
        """Whether it solves too many; None where more problems are to tell."""
        wins = wilson(sum(self.solved), len(self.solved))
        assert wins is not None  # there is an episode
        return too_much(len(self.solved), self.share / SUCCESS, (wins, SUCCESS))


@prop(
    "TG602",
    statement="No blind script that a greedy search finds solves a fifth of fresh problems, unless as the expert does.",
    reason="Training searches greedily, too: a way to be paid that needs no look at the problem is soon found.",
    mend="Play the counterexample; let the goals say which record must change and how, and guard all the others.",
)
def greedy_search_earns_little(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    levels = sorted({s.level for s in scenarios})
    tries = (TRIES + context.profile.examples // 4) // len(levels)
    figures: dict[str, float] = {"tries": tries}
    found: dict[int, Script] = {}
    for level in levels:
        problems = at_least(scenarios, level, TRAINING + LOOKS[-1])
        script = search(context, problems[:TRAINING], tries)
        found[level] = judged(context, script.moves, problems[TRAINING:])
        figures |= {f"earns_{level}": found[level].mean, f"solves_{level}": found[level].share}
    level, best = max(found.items(), key=lambda item: (item[1].excessive, item[1].share, item[1].mean))
    shown = (_talk(level, best),) if best.mean > 0 else ()
    if best.excessive:
        at = best.episodes[best.solved.index(True)]
        says = f"a blind script solves {best.share:.0%} of fresh problems of level {level}, and not as the expert does"
        made = context.broken(at.scenario, says, actions(at), CHECKS)
        raise Broken(made.says, made.counterexample, figures, shown, made.replay)
    says = f"of {tries} blind scripts a level, the best earns {best.mean:.2f} in fresh problems of level {level}"
    return Held(f"{says} and solves {best.share:.0%}; the bound is {SUCCESS:.0%}", figures, shown)


def search(context: Context, problems: Sequence[Scenario], tries: int) -> Script:
    """The best script found for these problems by so many tries; the same one every time."""
    rng = Random(f"search/{problems[0]}")
    best = start = _started(context, problems)
    tools = [*start.episodes[0].tools]
    fields = sorted({name for seen in start.seen for name in seen.by_field})
    for _ in range(tries if tools else 0):
        more = [_drawn(rng, tools, fields) for _ in range(rng.choice((1, 1, 2)))]
        over = all(e.done for e in best.episodes)  # only what comes before the end can help then
        if best.moves and (over or rng.random() < 0.3):
            n = rng.randrange(len(best.moves))
            tried = _appended(context, start, [*best.moves[:n], *more, *best.moves[n:]])
        else:
            tried = _appended(context, best, more)
        if tried.mean > best.mean + 1e-9:
            best = _pruned(context, tried, start)
    return best


def judged(context: Context, moves: list[Move], problems: Sequence[Scenario]) -> Script:
    """The script on fresh problems, and on more of them as long as it is open whether it solves too many."""
    script = Script(moves, [], [], [], [])
    for before, count in pairwise((0, FEW, *LOOKS)):
        more = _appended(context, _started(context, problems[before:count]), moves)
        script.episodes += more.episodes
        script.seen += more.seen
        script.earned += more.earned
        script.solved += more.solved
        if script.excessive is not None:
            break
    return script


def _drawn(rng: Random, tools: Sequence[Message], fields: Sequence[str]) -> Move:
    """A move at random: rather a write than a look, and rather the first values than later ones."""
    first = min(int(rng.expovariate(0.8)), 5)
    if rng.random() < 0.3:
        told = bool(fields) and rng.random() < 0.5
        return Move(field=rng.choice(fields), picks=(first,)) if told else Move(phrase=rng.choice(PHRASES))
    tool = rng.choice(writes(tools) or tools if rng.random() < 0.8 else tools)
    needed = tool["function"].get("parameters", {}).get("required", ())
    return Move(tool, tuple(min(int(rng.expovariate(0.8)), 5) for _ in needed))


def _started(context: Context, problems: Sequence[Scenario]) -> Script:
    """The script that only looks around."""
    return _scored(context, [], [_looked(context, p) for p in problems])


def _appended(context: Context, script: Script, more: Sequence[Move]) -> Script:
    """The script with more moves, made in copies of its episodes."""
    episodes = [pickle.loads(pickle.dumps(e, -1)) for e in script.episodes]
    for episode, seen in zip(episodes, script.seen, strict=True):
        for n, move in enumerate(more):
            if not episode.done:
                step = move.step(Seen(episode.messages) if n else seen)
                with context.blame(episode.scenario, [*actions(episode), step]):
                    episode.step(step)
    return _scored(context, [*script.moves, *more], episodes)


def _scored(context: Context, moves: list[Move], episodes: list[Episode]) -> Script:
    earned, solved = [], []
    for episode in episodes:
        with context.blame(episode.scenario, actions(episode)):
            score = episode.score or _now(episode)
        paid = reward(score)
        own = paid > 0 and left(episode) != left(context.expert(episode.scenario, "oracle"))
        earned.append(paid if own else 0.0)
        solved.append(own and score.success)
    return Script(moves, episodes, [Seen(e.messages) for e in episodes], earned, solved)


def _now(episode: Episode) -> Score:
    """The score if the episode ended now."""
    return fold(episode.checks(), episode.start.verify(episode.start, []), episode.turns, episode.malformed)


def _pruned(context: Context, script: Script, start: Script) -> Script:
    """The script without the moves that it earns no less without."""
    for n in reversed(range(len(script.moves))):
        shorter = _appended(context, start, [*script.moves[:n], *script.moves[n + 1 :]])
        if shorter.mean >= script.mean:
            script = shorter
    return script


def _looked(context: Context, scenario: Scenario) -> Episode:
    """An episode in which the agent has looked around."""
    episode = context.begin(scenario)
    while not episode.done and (call := look(Seen(episode.messages), episode.messages, episode.tools)):
        with context.blame(scenario, [*actions(episode), call]):
            episode.step(call)
    return episode


def _talk(level: int, script: Script) -> Talk:
    pays, episode = max(zip(script.earned, script.episodes, strict=True), key=lambda pair: pair[0])
    title = f"A blind script that earns {script.mean:.2f} on level {level}, and {pays:.2f} in {episode.scenario}"
    return Talk(title=title, messages=tuple(episode.messages[1:]))

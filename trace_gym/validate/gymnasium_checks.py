"""TG9: the environment as gymnasium sees it, through the project's adapter, admitted or not."""

from __future__ import annotations

import io
import json
import pickle
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any, NamedTuple

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from trace_gym.terminal import unstyled
from trace_gym.types import Replay, Scenario
from trace_gym.validate import worker
from trace_gym.validate.attempts import EXPERTS, spread
from trace_gym.validate.context import Context
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.validate.source import load
from trace_gym.validate.wrapped import Row, WorldEnv, as_text, rows, side_by_side, spec_of
from trace_gym.world import World

MOST = 24
"""Scenarios that are tried, evenly spread over the sample."""
APART = 2
"""Attempts that are played in processes of their own."""
SAMPLES = 20
"""Actions that are drawn from the action space of each level."""


@prop(
    "TG901",
    statement="Every level passes gymnasium's own checker, with warnings as errors.",
    reason="Libraries built on gymnasium take for granted what it checks.",
    mend="Run the counterexample, which names the rule; what is random, or no text, comes from the world.",
)
def gymnasium_checker(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    levels = sorted({s.level for s in scenarios})
    for level in levels:
        with _quiet(), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                env = gymnasium.make(spec_of(world, level)).unwrapped
                env.action_space.seed(level)  # or it would be seeded by chance
                check_env(env)
            except Exception as error:
                says = f"level {level}: {type(error).__name__}: {unstyled(str(error))[:300]}"
                raise Broken(says, _checked(context, level)) from error
    return Held(f"gymnasium {gymnasium.__version__} finds no fault on {len(levels)} levels", {"levels": len(levels)})


@contextmanager
def _quiet() -> Iterator[None]:
    """Environments are rendered while they are checked, which prints the conversation."""
    with redirect_stdout(io.StringIO()):
        yield


def _checked(context: Context, level: int) -> str:
    lines = (
        "import warnings",
        "import gymnasium",
        "from gymnasium.utils.env_checker import check_env",
        "from trace_gym.validate import load",
        "from trace_gym.validate.wrapped import spec_of",
        "",
        "warnings.simplefilter('error')",
        f"check_env(gymnasium.make(spec_of(load({context.reference!r})[0], {level})).unwrapped)",
    )
    return "\n".join(lines) + "\n"


@prop(
    "TG902",
    statement="A vector of environments returns what single ones return, in one process and in several.",
    reason="Trainers step many environments at once, and a difference between them is noise in the gradient.",
    mend="Keep the state in the fields of the world: what is shared by the process leaks between the environments.",
)
def vector_parity(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    place = load(world)[1]
    attempts = [Attempt(s.level, s.seed, as_text(context.plan(s, e))) for s in spread(scenarios, MOST) for e in EXPERTS]
    single = [_blamed(context, place, a) for a in attempts]
    if different := _different(place, attempts, single):
        raise _other_in(context, "in_a_vector", *_fewer(place, attempts, different))
    apart = spread(attempts, APART) if context.profile.apart else []
    if apart:
        for attempt, made in zip(apart, in_processes(place, apart), strict=True):
            if made != single[attempts.index(attempt)]:
                raise _other_in(context, "in_processes", [attempt])
    says = f"{len(attempts)} attempts are alike alone and in one vector"
    says += f", {len(apart)} of them also in a vector of processes" if apart else ""
    return Held(says, {"together": len(attempts), "apart": len(apart)})


class Attempt(NamedTuple):
    """A task and what is done in it."""

    level: int
    seed: int
    turns: list[str]


def alone(place: str, attempt: Attempt) -> list[Row]:
    """What a single environment returns."""
    return rows(WorldEnv(place, attempt.level), attempt.seed, attempt.turns)


def in_a_vector(place: str, attempts: Sequence[Attempt]) -> list[list[Row]]:
    """What gymnasium's vector of this process returns."""
    vector = SyncVectorEnv([partial(WorldEnv, place, a.level) for a in attempts])
    return side_by_side(vector, [a.seed for a in attempts], [a.turns for a in attempts])


def in_processes(place: str, attempts: Sequence[Attempt]) -> list[list[Row]]:
    """What gymnasium's vector of processes returns; it is begun in a fresh process, as it forks."""
    made: list[list[Row]] = worker.ask({"world": place, "attempts": [a._asdict() for a in attempts]})
    return made


def _blamed(context: Context, place: str, attempt: Attempt) -> list[Row]:
    scenario = Scenario(env=context.world.id, level=attempt.level, seed=attempt.seed)
    with context.blame(scenario, attempt.turns):
        return alone(place, attempt)


def _different(place: str, attempts: Sequence[Attempt], single: Sequence[list[Row]]) -> list[int]:
    """Which attempts are others in a vector; all of them where the vector raises, as no single one did."""
    try:
        found = in_a_vector(place, attempts)
    except Exception:  # a counterexample will raise it again
        return [*range(len(attempts))]
    return [n for n, made in enumerate(found) if made != single[n]]


def _fewer(place: str, attempts: Sequence[Attempt], different: Sequence[int]) -> tuple[Sequence[Attempt], int]:
    """Two attempts of which one is another beside the other, and which; all attempts where two are not enough."""
    for n in different:
        for other in range(len(attempts)):
            pair = [attempts[k] for k in sorted({n, other})]
            at = 0 if n <= other else 1
            if at in _different(place, pair, [alone(place, a) for a in pair]):
                return pair, at
    return attempts, different[0]


def _other_in(context: Context, where: str, attempts: Sequence[Attempt], n: int = 0) -> Broken:
    """A failure of one of the attempts with the snippet that plays it both ways."""
    first = attempts[n]
    lines = (
        f"from trace_gym.validate.gymnasium_checks import Attempt, alone, {where}",
        "",
        f"attempts = {list(attempts)!r}",
        f"print({where}({context.reference!r}, attempts)[{n}])",
        f"print(alone({context.reference!r}, attempts[{n}]))",
    )
    scenario = f"{context.world.id}/{first.level}/{first.seed}"
    says = f"{scenario}: the attempt shows something else {where.replace('_', ' ')} than alone"
    return Broken(says, "\n".join(lines) + "\n", replay=Replay(scenario=scenario, actions=tuple(first.turns)))


@prop(
    "TG903",
    statement="Observations and turns lie in their spaces, infos are plain data, and the spec survives JSON.",
    reason="Wrappers, loggers and other machines see an environment through its spaces, its infos and its spec.",
    mend="Return text that can be encoded, of less than a million characters, from the opening, `reply` and the tools.",
)
def spaces_and_spec(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    seen = 0
    for scenario in spread(scenarios, MOST):
        spec = spec_of(world, scenario.level)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for expert in EXPERTS:
                turns = as_text(context.plan(scenario, expert))
                with context.blame(scenario, turns):
                    seen += _in_spaces(context, gymnasium.make(spec).unwrapped, scenario, turns)
    for level in sorted({s.level for s in scenarios}):
        _drawn_and_sent(context, next(s for s in scenarios if s.level == level))
    return Held(f"{seen} observations and turns lie in their spaces; specs and spaces survive", {"seen": seen})


def _in_spaces(context: Context, env: gymnasium.Env[Any, Any], scenario: Scenario, turns: Sequence[str]) -> int:
    """Play turns, and look at every observation, turn and info; returns how many steps there were."""
    observation, info = env.reset(seed=scenario.seed)
    done = False
    for count in range(len(turns) + 1):
        if observation not in env.observation_space:
            says = f"the observation after {count} turns, of {len(observation)} characters, is outside its space"
            raise _shown(context, scenario, says, turns[:count])
        try:
            json.dumps([observation, info], ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            says = f"what is shown after {count} turns cannot be written down: {error}"
            raise _shown(context, scenario, says, turns[:count]) from None
        if done or count == len(turns):
            return count + 1
        if turns[count] not in env.action_space:
            raise _shown(context, scenario, f"turn {count + 1} is outside the action space", turns[: count + 1])
        observation, _, terminated, truncated, info = env.step(turns[count])
        done = terminated or truncated
    return len(turns)


def _drawn_and_sent(context: Context, scenario: Scenario) -> None:
    """Draw actions from the space, and make the environment again from its spec in JSON and its spaces in a pickle."""
    env = gymnasium.make(spec_of(context.world, scenario.level)).unwrapped
    env.action_space.seed(scenario.seed)
    drawn = [env.action_space.sample() for _ in range(SAMPLES)]
    with context.blame(scenario, drawn):
        shown = rows(env, scenario.seed, drawn)
        if outside := [row[0] for row in shown if row[0] not in env.observation_space]:
            raise _shown(context, scenario, f"the observation {outside[0][:80]!r} is outside its space", drawn)
        assert env.spec is not None
        again = gymnasium.make(EnvSpec.from_json(env.spec.to_json())).unwrapped
        if rows(again, scenario.seed, drawn) != shown:
            raise _shown(context, scenario, "plays otherwise when it is made from its spec in JSON", drawn)
    spaces = (env.action_space, env.observation_space)
    if pickle.loads(pickle.dumps(spaces)) != spaces or (again.action_space, again.observation_space) != spaces:
        raise _shown(context, scenario, "has other spaces after a pickle, or made from its spec", ())


def _shown(context: Context, scenario: Scenario, says: str, turns: Sequence[str]) -> Broken:
    """A failure with the snippet that plays the turns through gymnasium."""
    lines = [
        "from trace_gym.validate.wrapped import WorldEnv",
        "",
        f"env = WorldEnv({context.reference!r}, {scenario.level})",
        f"print(env.reset(seed={scenario.seed})[0])",
        *(f"print(*env.step({turn!r})[:4])" for turn in turns),
    ]
    replay = Replay(scenario=str(scenario), actions=tuple(turns))
    return Broken(f"{scenario}: {says}", "\n".join(lines) + "\n", replay=replay)

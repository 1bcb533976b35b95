"""TG9, asked of Gymnasium environments: the checker, a vector, and the spaces."""

from __future__ import annotations

import io
import warnings
from contextlib import closing, redirect_stdout
from random import Random
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from trace_gym.terminal import unstyled
from trace_gym.validate.attempts import spread
from trace_gym.validate.foreign.address import parse
from trace_gym.validate.foreign.asked import Asked, foreign
from trace_gym.validate.foreign.gym import GymBox, as_text, quiet
from trace_gym.validate.properties import Broken, Held, Inapplicable

MOST = 8
"""Problems that are tried."""
TURNS = 4
"""Turns of an attempt."""


def _made(asked: Asked) -> gymnasium.Env[Any, Any]:
    """A fresh environment.

    Raises:
        Inapplicable: It is none of Gymnasium's.
    """
    if not isinstance(asked.box, GymBox):
        raise Inapplicable(f"needs spaces, which {asked.box.kind} does not have")
    address = parse(asked.address)
    with quiet():
        return gymnasium.make(address.name, **asked.box.options)


def _snippet(asked: Asked, *lines: str) -> str:
    address = parse(asked.address)
    options = "".join(f", {k}={v!r}" for k, v in address.options.items())
    made = f"env = gymnasium.make({address.name!r}{options}).unwrapped"
    return "\n".join(["import warnings", "", "import gymnasium", "", made, *lines]) + "\n"


@foreign("TG901")
def passes_the_checker(asked: Asked) -> Held:
    """Gymnasium's own checker finds no fault, with warnings as errors."""
    with closing(_made(asked)) as env, redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("error")
        env.action_space.seed(0)  # or it would be seeded by chance
        try:
            check_env(env.unwrapped)
        except Exception as error:
            lines = (
                "warnings.simplefilter('error')",
                "from gymnasium.utils.env_checker import check_env",
                "check_env(env)",
            )
            says = f"{type(error).__name__}: {' '.join(unstyled(str(error)).split())[:300]}"
            raise Broken(says, _snippet(asked, *lines)) from error
    return Held(f"gymnasium {gymnasium.__version__} finds no fault")


@foreign("TG902")
def a_vector_is_as_good(asked: Asked) -> Held:
    """Environments of a vector, in one process, return what single ones return."""
    _made(asked).close()
    seeds = spread(asked.seeds, MOST)
    plans = [_turns(asked, seed) for seed in seeds]
    alone = [asked.play(seed, plan) for seed, plan in zip(seeds, plans, strict=True)]
    with closing(SyncVectorEnv([lambda: _made(asked)] * len(seeds))) as envs, asked.blame(seeds[0]), quiet():
        observations, _ = envs.reset(seed=list(seeds))
        found = [[as_text(o)] for o in observations]
        for n in range(max(map(len, plans))):
            turns = tuple(plan[n] if n < len(plan) else "..." for plan in plans)
            observations, paid, ended, cut, _ = envs.step(turns)
            for row, made, *told in zip(found, alone, observations, paid, ended, cut, strict=True):
                if n < len(made.turns):
                    row.append(repr((as_text(told[0]), float(told[1]), bool(told[2] or told[3]))))
    for row, made in zip(found, alone, strict=True):
        if row != [made.prompt, *(repr(tuple(turn[:3])) for turn in made.turns)]:
            raise asked.broken(made.seed, "a vector of environments returns something else", made.actions)
    return Held(f"{len(seeds)} environments of a vector return what single ones do")


def _turns(asked: Asked, seed: int) -> tuple[str, ...]:
    """The reference, or turns that know no better."""
    rng, prompt = Random(f"turns/{seed}"), asked.begin(seed)
    return asked.solution(seed) or tuple(asked.box.sample(rng, prompt) for _ in range(TURNS))


@foreign("TG903")
def spaces_hold_what_is_seen(asked: Asked) -> Held:
    """Observations and turns lie in their spaces, and the spec survives JSON."""
    seen = 0
    with closing(_made(asked)) as env, quiet():
        for seed in spread(asked.seeds, MOST):
            turns = _turns(asked, seed)
            with asked.blame(seed, turns):
                observation, _ = env.reset(seed=seed)
                done = False
                for count, turn in enumerate((*turns, "")):
                    if observation not in env.observation_space:
                        says = f"the observation after {count} turns, {str(observation)[:60]!r}, is outside its space"
                        raise asked.broken(seed, says, turns[:count])
                    seen += 1
                    if done or count == len(turns):
                        break
                    if turn not in env.action_space:
                        raise asked.broken(seed, f"turn {count + 1} is outside the action space", turns[: count + 1])
                    observation, _, ended, cut, _ = env.step(turn)
                    done = bool(ended or cut)
        assert env.spec is not None
        try:
            again = gymnasium.make(EnvSpec.from_json(env.spec.to_json())).unwrapped
        except Exception as error:
            says = f"the spec does not survive JSON: {type(error).__name__}: {str(error)[:200]}"
            raise Broken(says, _snippet(asked, "print(env.spec.to_json())")) from error
        same = (again.action_space, again.observation_space) == (env.action_space, env.observation_space)
        again.close()
    if not same:
        raise Broken("made from its spec in JSON it has other spaces", _snippet(asked, "print(env.spec.to_json())"))
    return Held(f"{seen} observations, and the turns between them, lie in their spaces; the spec survives JSON")

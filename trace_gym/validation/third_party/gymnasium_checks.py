"""Checks TG901 to TG903 for third-party Gymnasium environments: API checker, vectorized environments, and spaces."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from random import Random
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Text
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from trace_gym.terminal import unstyled
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.properties import CheckFailed, Passed, Skipped
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.gymnasium_box import GymBox, as_text, no_warnings
from trace_gym.validation.third_party.uri import parse_uri

MOST = 8
"""Maximum number of problems."""
TURNS = 4
"""Number of turns of a rollout."""


def _make_env(context: BlackBoxContext) -> gymnasium.Env[Any, Any]:
    """Create and return a new instance of the environment.

    Raises:
        Skipped: The environment is not a Gymnasium environment.
    """
    if not isinstance(context.box, GymBox):
        raise Skipped(f"requires spaces, which {context.box.kind} does not have")
    address = parse_uri(context.address)
    with no_warnings():
        return gymnasium.make(address.name, **context.box.options)


def _snippet(context: BlackBoxContext, *lines: str) -> str:
    address = parse_uri(context.address)
    options = "".join(f", {k}={v!r}" for k, v in address.options.items())
    made = f"env = gymnasium.make({address.name!r}{options}).unwrapped"
    return "\n".join(["import warnings", "", "import gymnasium", "", made, *lines]) + "\n"


def passes_the_checker(context: BlackBoxContext) -> Passed:
    """Gymnasium's environment checker reports no error, with warnings treated as errors."""
    with closing(_make_env(context)) as env, redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("error")
        env.action_space.seed(0)  # otherwise, the checker would use a random seed
        try:
            check_env(env.unwrapped)
        except Exception as error:
            lines = (
                "warnings.simplefilter('error')",
                "from gymnasium.utils.env_checker import check_env",
                "check_env(env)",
            )
            if "observation space" in str(error) and _fails(spaces_hold_what_is_seen, context):
                raise Skipped("the checker stops at an observation outside its space, which TG903 reports") from None
            message = f"{type(error).__name__}: {_without_repetition(unstyled(str(error)))[:300]}"
            raise CheckFailed(message, _snippet(context, *lines)) from error
    return Passed(f"gymnasium {gymnasium.__version__} reports no error")


def _fails(check: Callable[[BlackBoxContext], Passed], context: BlackBoxContext) -> bool:
    try:
        check(context)
    except CheckFailed:
        return True
    return False


def _without_repetition(text: str) -> str:
    """Return a message of the checker on one line, without a cause that repeats the message."""
    message, _, cause = " ".join(text.split()).partition(" with exception: ")
    return message if cause.startswith(message) else f"{message}: {cause}" if cause else message


def a_vector_is_as_good(context: BlackBoxContext) -> Passed:
    """Vectorized environments in one process return the same results as single environments."""
    _make_env(context).close()
    seeds = evenly_spaced(context.seeds, MOST)
    plans = [_turns(context, seed) for seed in seeds]
    alone = [context.run(seed, plan) for seed, plan in zip(seeds, plans, strict=True)]
    with (
        closing(SyncVectorEnv([lambda: _make_env(context)] * len(seeds))) as envs,
        context.catch_failures(seeds[0]),
        no_warnings(),
    ):
        observations, _ = envs.reset(seed=list(seeds))
        found = [[as_text(o)] for o in observations]
        for n in range(max(map(len, plans))):
            turns = tuple(plan[n] if n < len(plan) else "..." for plan in plans)
            observations, paid, ended, cut, _ = envs.step(turns)
            for row, made, *step_values in zip(found, alone, observations, paid, ended, cut, strict=True):
                if n < len(made.turns):
                    row.append(
                        repr((as_text(step_values[0]), float(step_values[1]), bool(step_values[2] or step_values[3])))
                    )
    for row, made in zip(found, alone, strict=True):
        if row != [made.prompt, *(repr(tuple(turn[:3])) for turn in made.turns)]:
            raise context.failure(
                made.seed, "vectorized environments return other results than single ones", made.actions
            )
    return Passed(f"{len(seeds)} vectorized environments return the same results as single ones")


def _turns(context: BlackBoxContext, seed: int) -> tuple[str, ...]:
    """Return the reference solution, or random turns if there is none."""
    rng, prompt = Random(f"turns/{seed}"), context.begin(seed)
    return context.solution(seed) or tuple(context.box.sample(rng, prompt) for _ in range(TURNS))


def _reason(space: gymnasium.Space[Any], value: object) -> str:
    """Return why a text is outside a text space; an empty string for other spaces and values."""
    if not isinstance(space, Text) or not isinstance(value, str):
        return ""
    if not space.min_length <= len(value) <= space.max_length:
        limit = f"min_length={space.min_length}" if len(value) < space.min_length else f"max_length={space.max_length}"
        return f": its length is {len(value)}, and the space has {limit}"
    return f": the space does not contain the characters {''.join(sorted({*value} - space.character_set))[:20]!r}"


def spaces_hold_what_is_seen(context: BlackBoxContext) -> Passed:
    """Observations and actions are elements of their spaces, and the spec can be restored from JSON."""
    seen = 0
    with closing(_make_env(context)) as env, no_warnings():
        for seed in evenly_spaced(context.seeds, MOST):
            turns = _turns(context, seed)
            with context.catch_failures(seed, turns):
                observation, _ = env.reset(seed=seed)
                done = False
                for count, turn in enumerate((*turns, "")):
                    if observation not in env.observation_space:
                        message = (
                            f"the observation after turn {count}, {str(observation)[:60]!r}, is outside its space"
                            f"{_reason(env.observation_space, observation)}"
                        )
                        raise context.failure(seed, message, turns[:count])
                    seen += 1
                    if done or count == len(turns):
                        break
                    if turn not in env.action_space:
                        message = f"turn {count + 1} is outside the action space{_reason(env.action_space, turn)}"
                        raise context.failure(seed, message, turns[: count + 1])
                    observation, _, ended, cut, _ = env.step(turn)
                    done = bool(ended or cut)
        assert env.spec is not None
        try:
            again = gymnasium.make(EnvSpec.from_json(env.spec.to_json())).unwrapped
        except Exception as error:
            message = f"the spec cannot be restored from JSON: {type(error).__name__}: {str(error)[:200]}"
            raise CheckFailed(message, _snippet(context, "print(env.spec.to_json())")) from error
        same = (again.action_space, again.observation_space) == (env.action_space, env.observation_space)
        again.close()
    if not same:
        raise CheckFailed(
            "the environment has other spaces when it is created from its JSON spec",
            _snippet(context, "print(env.spec.to_json())"),
        )
    return Passed(
        f"{seen} observations and the actions between them are in their spaces; the spec can be restored from JSON"
    )

"""Properties TG901 to TG903: compatibility with Gymnasium through this library's adapter."""

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
from trace_gym.validation import fresh_process
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import EXPERTS, evenly_spaced
from trace_gym.validation.gymnasium_env import StepResult, WorldEnv, as_text, spec_of, step_results, vector_results
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.validation.source import load
from trace_gym.world import World

MOST = 24
"""Maximum number of scenarios, evenly spaced over the sample."""
APART = 2
"""Number of rollouts that run in separate processes."""
SAMPLES = 20
"""Number of actions that are sampled from the action space of each level."""


@property_check(
    "TG901",
    statement="Every level passes Gymnasium's environment checker, with warnings treated as errors.",
    reason="Libraries that build on Gymnasium rely on the rules that the checker tests.",
    fix="Run the counterexample, which names the rule. Random values and observations that are not text come from the "
    "world.",
)
def gymnasium_checker(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    levels = sorted({s.level for s in scenarios})
    for level in levels:
        with _no_output(), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                env = gymnasium.make(spec_of(world, level)).unwrapped
                env.action_space.seed(level)  # otherwise, the checker would use a random seed
                check_env(env)
            except Exception as error:
                message = f"level {level}: {type(error).__name__}: {unstyled(str(error))[:300]}"
                raise CheckFailed(message, _checker_snippet(context, level)) from error
    return Passed(
        f"gymnasium {gymnasium.__version__} reports no error on {len(levels)} levels", {"levels": len(levels)}
    )


@contextmanager
def _no_output() -> Iterator[None]:
    """Suppress standard output, because the checker renders the environment and prints the conversation."""
    with redirect_stdout(io.StringIO()):
        yield


def _checker_snippet(context: Context, level: int) -> str:
    lines = (
        "import warnings",
        "import gymnasium",
        "from gymnasium.utils.env_checker import check_env",
        "from trace_gym.validation import load",
        "from trace_gym.validation.gymnasium_env import spec_of",
        "",
        "warnings.simplefilter('error')",
        f"check_env(gymnasium.make(spec_of(load({context.reference!r})[0], {level})).unwrapped)",
    )
    return "\n".join(lines) + "\n"


@property_check(
    "TG902",
    statement="Vectorized environments return the same results as single environments, in one process and in several.",
    reason="Trainers step many environments at once, and any difference between them adds noise to the gradient.",
    fix="Keep the state in the fields of the world. State that is shared within a process leaks between environments.",
)
def vector_parity(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    reference = load(world)[1]
    attempts = [
        TurnPlan(s.level, s.seed, as_text(context.plan(s, e))) for s in evenly_spaced(scenarios, MOST) for e in EXPERTS
    ]
    single = [_run_single(context, reference, a) for a in attempts]
    if different := _different(reference, attempts, single):
        raise _mismatch(context, "run_in_vector", *_minimal_pair(reference, attempts, different))
    separate_runs = evenly_spaced(attempts, APART) if context.profile.separate_processes else []
    if separate_runs:
        for attempt, made in zip(separate_runs, run_in_processes(reference, separate_runs), strict=True):
            if made != single[attempts.index(attempt)]:
                raise _mismatch(context, "run_in_processes", [attempt])
    message = f"{len(attempts)} rollouts are identical alone and in a vector"
    message += f", {len(separate_runs)} of them also in a vector of processes" if separate_runs else ""
    return Passed(message, {"together": len(attempts), "apart": len(separate_runs)})


class TurnPlan(NamedTuple):
    """Level and seed of a task, and the turns to take."""

    level: int
    seed: int
    turns: list[str]


def run_alone(reference: str, attempt: TurnPlan) -> list[StepResult]:
    """Return the results of a single environment."""
    return step_results(WorldEnv(reference, attempt.level), attempt.seed, attempt.turns)


def run_in_vector(reference: str, attempts: Sequence[TurnPlan]) -> list[list[StepResult]]:
    """Return the results of a `SyncVectorEnv` in this process."""
    vector = SyncVectorEnv([partial(WorldEnv, reference, a.level) for a in attempts])
    return vector_results(vector, [a.seed for a in attempts], [a.turns for a in attempts])


def run_in_processes(reference: str, attempts: Sequence[TurnPlan]) -> list[list[StepResult]]:
    """Return the results of an `AsyncVectorEnv`, which forks and is therefore started in a fresh process."""
    made: list[list[StepResult]] = fresh_process.run_job(
        {"world": reference, "attempts": [a._asdict() for a in attempts]}
    )
    return made


def _run_single(context: Context, reference: str, attempt: TurnPlan) -> list[StepResult]:
    scenario = Scenario(env=context.world.id, level=attempt.level, seed=attempt.seed)
    with context.catch_failures(scenario, attempt.turns):
        return run_alone(reference, attempt)


def _different(reference: str, attempts: Sequence[TurnPlan], single: Sequence[list[StepResult]]) -> list[int]:
    """Return the indices of rollouts that have different results in a vectorized and in a single environment.

    If the vectorized environment raises an exception, return all indices.
    """
    try:
        found = run_in_vector(reference, attempts)
    except Exception:  # the counterexample reproduces the exception
        return [*range(len(attempts))]
    return [n for n, made in enumerate(found) if made != single[n]]


def _minimal_pair(
    reference: str, attempts: Sequence[TurnPlan], different: Sequence[int]
) -> tuple[Sequence[TurnPlan], int]:
    """Return two rollouts that reproduce a difference, and the index of the rollout that differs.

    A rollout differs if its results in a vectorized environment and in a single environment are not equal. If no two
    rollouts reproduce a difference, return all rollouts.
    """
    for n in different:
        for other in range(len(attempts)):
            pair = [attempts[k] for k in sorted({n, other})]
            at = 0 if n <= other else 1
            if at in _different(reference, pair, [run_alone(reference, a) for a in pair]):
                return pair, at
    return attempts, different[0]


def _mismatch(context: Context, where: str, attempts: Sequence[TurnPlan], n: int = 0) -> CheckFailed:
    """Return a failure for rollout `n`, with a snippet that runs it alone and in a vectorized environment."""
    first = attempts[n]
    lines = (
        f"from trace_gym.validation.gymnasium_checks import TurnPlan, run_alone, {where}",
        "",
        f"attempts = {list(attempts)!r}",
        f"print({where}({context.reference!r}, attempts)[{n}])",
        f"print(run_alone({context.reference!r}, attempts[{n}]))",
    )
    scenario = f"{context.world.id}/{first.level}/{first.seed}"
    message = f"{scenario}: the rollout has other results in `{where}` than alone"
    return CheckFailed(message, "\n".join(lines) + "\n", replay=Replay(scenario=scenario, actions=tuple(first.turns)))


@property_check(
    "TG903",
    statement="Observations and actions are elements of their spaces, infos are plain data, and the spec can be "
    "restored from JSON.",
    reason="Wrappers, loggers and remote workers access an environment through its spaces, infos and spec.",
    fix="Return encodable text of less than a million characters from the initial observation, `reply` and the tools.",
)
def spaces_and_spec(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    seen = 0
    for scenario in evenly_spaced(scenarios, MOST):
        spec = spec_of(world, scenario.level)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for expert in EXPERTS:
                turns = as_text(context.plan(scenario, expert))
                with context.catch_failures(scenario, turns):
                    seen += _check_run(context, gymnasium.make(spec).unwrapped, scenario, turns)
    for level in sorted({s.level for s in scenarios}):
        _check_spaces(context, next(s for s in scenarios if s.level == level))
    return Passed(
        f"{seen} observations and actions are in their spaces; specs and spaces can be restored", {"seen": seen}
    )


def _check_run(context: Context, env: gymnasium.Env[Any, Any], scenario: Scenario, turns: Sequence[str]) -> int:
    """Run turns, check every observation, action and info, and return the number of checked observations."""
    observation, info = env.reset(seed=scenario.seed)
    done = False
    for count in range(len(turns) + 1):
        if observation not in env.observation_space:
            message = f"the observation after {count} turns, of {len(observation)} characters, is outside its space"
            raise _failure(context, scenario, message, turns[:count])
        try:
            json.dumps([observation, info], ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            message = f"the observation or info after {count} turns cannot be converted to JSON: {error}"
            raise _failure(context, scenario, message, turns[:count]) from None
        if done or count == len(turns):
            return count + 1
        if turns[count] not in env.action_space:
            raise _failure(context, scenario, f"turn {count + 1} is outside the action space", turns[: count + 1])
        observation, _, terminated, truncated, info = env.step(turns[count])
        done = terminated or truncated
    return len(turns)


def _check_spaces(context: Context, scenario: Scenario) -> None:
    """Check sampled actions, the environment restored from its JSON spec, and the spaces restored from a pickle."""
    env = gymnasium.make(spec_of(context.world, scenario.level)).unwrapped
    env.action_space.seed(scenario.seed)
    drawn = [env.action_space.sample() for _ in range(SAMPLES)]
    with context.catch_failures(scenario, drawn):
        shown = step_results(env, scenario.seed, drawn)
        if outside := [row[0] for row in shown if row[0] not in env.observation_space]:
            raise _failure(context, scenario, f"the observation {outside[0][:80]!r} is outside its space", drawn)
        assert env.spec is not None
        again = gymnasium.make(EnvSpec.from_json(env.spec.to_json())).unwrapped
        if step_results(again, scenario.seed, drawn) != shown:
            raise _failure(
                context, scenario, "the environment behaves differently when it is created from its JSON spec", drawn
            )
    spaces = (env.action_space, env.observation_space)
    if pickle.loads(pickle.dumps(spaces)) != spaces or (again.action_space, again.observation_space) != spaces:
        raise _failure(
            context,
            scenario,
            "the spaces change when they are pickled, or when the environment is created from its spec",
            (),
        )


def _failure(context: Context, scenario: Scenario, message: str, turns: Sequence[str]) -> CheckFailed:
    """Return a failure with a snippet that takes the turns through the Gymnasium interface."""
    lines = [
        "from trace_gym.validation.gymnasium_env import WorldEnv",
        "",
        f"env = WorldEnv({context.reference!r}, {scenario.level})",
        f"print(env.reset(seed={scenario.seed})[0])",
        *(f"print(*env.step({turn!r})[:4])" for turn in turns),
    ]
    replay = Replay(scenario=str(scenario), actions=tuple(turns))
    return CheckFailed(f"{scenario}: {message}", "\n".join(lines) + "\n", replay=replay)

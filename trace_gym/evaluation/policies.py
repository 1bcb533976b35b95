"""Evaluation of policies on the same scenarios, including policies that route each scenario to an adapter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random

from trace_gym import registry
from trace_gym.errors import ConfigError, SplitError
from trace_gym.evaluation.heldout import scenario_id
from trace_gym.evaluation.record import Evaluation, PolicyResult, mean
from trace_gym.route.prompt import BASE
from trace_gym.score import reward
from trace_gym.speech import Speaker
from trace_gym.trajectories import TokenRollout
from trace_gym.types import Scenario, Trajectory

ScoredRollout = TokenRollout | Trajectory
PolicyRunner = Callable[[Sequence[Scenario]], Sequence[ScoredRollout]]
"""Function that runs each scenario once and returns the rollouts in the same order."""


def evaluate(
    policies: Mapping[str, PolicyRunner],
    scenarios: Sequence[Scenario],
    *,
    split: str = "test",
    temperature: float = 0.0,
    seed: int = 0,
    rollouts_trained: Mapping[str, int] | None = None,
    note: str = "",
) -> Evaluation:
    """Run every policy on the same scenarios. The first policy is the baseline.

    Args:
        policies: Mapping of policy name to the function that runs the policy. The function `routed` creates a policy
            that uses a different adapter for each scenario.
        scenarios: Scenarios from `held_out`, or from the validation split for `oracle_choices`.
        split: The split that all scenarios must come from.
        temperature: Sampling temperature of the policies, which is recorded in the evaluation.
        seed: Training seed of the policies. `merge` combines evaluations of several seeds.
        rollouts_trained: Number of training rollouts of each policy; 0 by default.
        note: Note for the readers of the evaluation.

    Raises:
        SplitError: A scenario comes from another split.
        ConfigError: There are no policies or scenarios, or a policy does not return one rollout per scenario in order.
    """
    if not policies or not scenarios:
        raise ConfigError(
            f"nothing to evaluate: found {len(policies)} policies and {len(scenarios)} scenarios, expected at least "
            "one of each"
        )
    if len(envs := sorted({s.env for s in scenarios})) > 1:
        raise ConfigError(
            f"the scenarios belong to different environments: found {', '.join(envs)}, expected one environment. "
            "Evaluate each environment separately"
        )
    if outside_split := [s for s in scenarios if registry.split_of(s) != split]:
        raise SplitError(
            f"a scenario belongs to the wrong split: {outside_split[0]} is in the split "
            f"{registry.split_of(outside_split[0])!r}, expected the split {split!r}"
        )
    spent = rollouts_trained or {}
    rows = tuple(_row(name, player, scenarios, seed, spent.get(name, 0)) for name, player in policies.items())
    levels = tuple(sorted({s.level for s in scenarios}))
    return Evaluation(rows=rows, split=split, env=scenarios[0].env, levels=levels, temperature=temperature, note=note)


def routed(choices: Mapping[Scenario, str], players: Mapping[str, PolicyRunner]) -> PolicyRunner:
    """Return a policy that runs each scenario with the policy that was chosen for it.

    Each of the underlying policies is called only once, with all of its scenarios.

    Args:
        choices: Mapping of scenario to option, for example from a router or `oracle_choices`.
        players: Mapping of option to policy. The option ``none`` is the base model.

    Raises:
        ConfigError: A chosen option has no policy.
    """
    if unknown := set(choices.values()) - set(players):
        raise ConfigError(
            f"there is no policy for the chosen options {', '.join(sorted(unknown))}: found only the policies "
            f"{', '.join(players)}. Pass a policy for each option"
        )

    def play(scenarios: Sequence[Scenario]) -> list[ScoredRollout]:
        done: dict[Scenario, ScoredRollout] = {}
        for option in sorted({choices[s] for s in scenarios}):
            part = [s for s in scenarios if choices[s] == option]
            done.update(zip(part, players[option](part), strict=True))
        return [done[s] for s in scenarios]

    return play


def oracle_choices(
    needs: Mapping[Scenario, Collection[str]],
    validation: Evaluation,
    validation_needs: Mapping[Scenario, Collection[str]],
) -> dict[Scenario, str]:
    """Return the best adapter for each task, according to the ground-truth capabilities that the task needs.

    The result is an upper bound for routers that select one adapter. If a task needs several capabilities, the adapter
    with the highest success rate on the validation tasks that need the same capabilities is chosen. If there are no
    such tasks, all validation tasks are used. Ties are resolved by name. Tasks that need none of the trained
    capabilities are routed to the base model.

    Args:
        needs: Capabilities that each task to be routed needs.
        validation: Evaluation on the validation split with one policy per adapter, named after its capability.
        validation_needs: Capabilities that the tasks of `validation` need.

    Raises:
        SplitError: `validation` is on another split.
    """
    if validation.split != "validate":
        raise SplitError(
            f"`validation` must be an evaluation on the split 'validate', but it is on the split {validation.split!r}"
        )
    known = {str(s): frozenset(n) for s, n in validation_needs.items()}
    trained = {row.name for row in validation.rows} - {"base", BASE}

    def success(name: str, needed: frozenset[str]) -> float:
        row = validation.row(name)
        rates = list(zip(row.scenarios, row.by_scenario, strict=True))
        rate_on_same_need = mean(r for s, r in rates if known.get(s) == needed)
        return rate_on_same_need if rate_on_same_need is not None else mean(r for _, r in rates) or 0.0

    def best(needed: frozenset[str]) -> str:
        return max(sorted(needed & trained), key=lambda name: success(name, needed), default=BASE)

    by_need = {needed: best(needed) for needed in {frozenset(n) for n in needs.values()}}
    return {scenario: by_need[frozenset(needed)] for scenario, needed in needs.items()}


def random_choices(scenarios: Sequence[Scenario], options: Collection[str], *, seed: int = 0) -> dict[Scenario, str]:
    """Choose an option uniformly at random for each scenario, as a baseline for routers.

    Args:
        scenarios: Tasks to route.
        options: Names of the options, including the base model.
        seed: Seed of the choices. The choice of a scenario does not depend on the other scenarios.

    Raises:
        ConfigError: There are no options.
    """
    names = sorted(options)
    if not names:
        raise ConfigError("the list of policies to choose from is empty. Pass at least one policy")
    return {s: Random(f"random routing/{seed}/{s}").choice(names) for s in scenarios}


def first_messages(scenarios: Sequence[Scenario], user: Speaker | None = None) -> list[str]:
    """Return the first user message of each scenario, which is the input of a router.

    Args:
        scenarios: Tasks to route.
        user: Language model that rewords the messages of the scripted user.

    Raises:
        UserUnavailable: The language model that rewords the user failed.
    """
    start = registry.episode_starter(user=user)
    episodes = [start(s) for s in scenarios]
    for episode in episodes:
        if episode.failure is not None:
            raise episode.failure
    return [str(episode.messages[1]["content"]) for episode in episodes]


def _row(
    name: str, player: PolicyRunner, scenarios: Sequence[Scenario], seed: int, rollouts_trained: int
) -> PolicyResult:
    rollouts = player(scenarios)
    if [_scenario_id(r) for r in rollouts] != [scenario_id(s) for s in scenarios]:
        raise ConfigError(
            f"the policy {name} must return one rollout per scenario, in the order of the scenarios: found "
            f"{len(rollouts)} rollouts for {len(scenarios)} scenarios"
        )
    outcomes = [_outcome(r) for r in rollouts]
    return PolicyResult(
        name=name,
        scenarios=tuple(map(str, scenarios)),
        successes=tuple(success for success, _ in outcomes),
        reward_mean=mean(value for _, value in outcomes),
        seeds=(seed,),
        rollouts_trained=rollouts_trained,
    )


def _scenario_id(rollout: ScoredRollout) -> str:
    return rollout.task if isinstance(rollout, Trajectory) else str(rollout.scenario)


def _outcome(rollout: ScoredRollout) -> tuple[bool | None, float | None]:
    """Return success and reward of a rollout, or None and None if it was not scored."""
    if isinstance(rollout, Trajectory):
        return rollout.success, rollout.reward
    score = rollout.episode.score
    return (None, None) if score is None else (score.success, reward(score))

"""Playing the rows of an evaluation: each policy on the same scenarios, a routed row adapter by adapter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random

from trace_gym import registry
from trace_gym.errors import ConfigError, SplitError
from trace_gym.evaluate.heldout import address
from trace_gym.evaluate.record import Evaluation, Row, mean
from trace_gym.rollout import TokenRollout
from trace_gym.route.prompt import BASE
from trace_gym.score import reward
from trace_gym.speech import Speaker
from trace_gym.types import Scenario, Trajectory

Attempt = TokenRollout | Trajectory
Player = Callable[[Sequence[Scenario]], Sequence[Attempt]]
"""Attempts each scenario once and returns the attempts in the same order."""


def evaluate_policies(
    policies: Mapping[str, Player],
    scenarios: Sequence[Scenario],
    *,
    split: str = "test",
    temperature: float = 0.0,
    seed: int = 0,
    rollouts_trained: Mapping[str, int] | None = None,
    note: str = "",
) -> Evaluation:
    """Let every policy attempt the same scenarios; the first is the base.

    Args:
        policies: Name of the row -> who plays it; see `routed` for rows that switch adapters.
        scenarios: From `held_out`, or from the validation split for `oracle_choices`.
        split: The split that they must come from.
        temperature: What the players sample with; stands in the record.
        seed: Training seed of the policies; `merge` puts several evaluations together.
        rollouts_trained: Rollouts spent on training each row; 0 where a row is missing.

    Raises:
        SplitError: A scenario comes from another split.
        ConfigError: There is nothing to play, or a player does not return its attempts in order.
    """
    if not policies or not scenarios or len({s.env for s in scenarios}) > 1:
        raise ConfigError(f"{len(policies)} policies and {len(scenarios)} scenarios; expected some of each, of one env")
    if strangers := [s for s in scenarios if registry.split_of(s) != split]:
        raise SplitError(f"{strangers[0]} is from split {registry.split_of(strangers[0])!r}; expected {split!r}")
    spent = rollouts_trained or {}
    rows = tuple(_row(name, player, scenarios, seed, spent.get(name, 0)) for name, player in policies.items())
    levels = tuple(sorted({s.level for s in scenarios}))
    return Evaluation(rows=rows, split=split, env=scenarios[0].env, levels=levels, temperature=temperature, note=note)


def routed(choices: Mapping[Scenario, str], players: Mapping[str, Player]) -> Player:
    """A player that sends each scenario to the player it was routed to; each is called once.

    Args:
        choices: Scenario -> option, such as a router's, or `oracle_choices`'.
        players: Option -> player; ``none`` is the base model's.

    Raises:
        ConfigError: A choice has no player.
    """
    if unknown := set(choices.values()) - set(players):
        raise ConfigError(f"no player for {', '.join(sorted(unknown))}; there are {', '.join(players)}")

    def play(scenarios: Sequence[Scenario]) -> list[Attempt]:
        done: dict[Scenario, Attempt] = {}
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
    """The adapter of a capability that each task is known to need: a bound for one-adapter routing, not a method.

    Where a task needs several capabilities, the best single adapter is unknown. It is chosen on the validation
    split: the needed adapter with the highest success on the validation tasks that need the same capabilities,
    or where there is none, on all of them; a tie goes to the first name. Tasks that need nothing that an adapter
    was trained for go to the base model.

    Args:
        needs: What each task to be routed needs.
        validation: A row named after its capability for each adapter, on the validation split.
        validation_needs: What the tasks of `validation` need.

    Raises:
        SplitError: `validation` is over another split.
    """
    if validation.split != "validate":
        raise SplitError(f"adapters are compared on split {validation.split!r}; expected 'validate'")
    known = {str(s): frozenset(n) for s, n in validation_needs.items()}
    trained = {row.name for row in validation.rows} - {"base", BASE}

    def success(name: str, needed: frozenset[str]) -> float:
        row = validation.row(name)
        rates = list(zip(row.scenarios, row.by_scenario, strict=True))
        alike = mean(r for s, r in rates if known.get(s) == needed)
        return alike if alike is not None else mean(r for _, r in rates) or 0.0

    def best(needed: frozenset[str]) -> str:
        return max(sorted(needed & trained), key=lambda name: success(name, needed), default=BASE)

    by_need = {needed: best(needed) for needed in {frozenset(n) for n in needs.values()}}
    return {scenario: by_need[frozenset(needed)] for scenario, needed in needs.items()}


def random_choices(scenarios: Sequence[Scenario], options: Collection[str], *, seed: int = 0) -> dict[Scenario, str]:
    """Choose an option uniformly at random for each scenario: the control that every router must beat.

    Args:
        scenarios: Tasks to route.
        options: Names of the options, the base model's among them.
        seed: Seed of the choices; each scenario has its own stream, so its choice does not depend on the others.

    Raises:
        ConfigError: There are no options.
    """
    names = sorted(options)
    if not names:
        raise ConfigError("cannot route at random: found no options, expected at least one")
    return {s: Random(f"random routing/{seed}/{s}").choice(names) for s in scenarios}


def openings(scenarios: Sequence[Scenario], user: Speaker | None = None) -> list[str]:
    """Return the user's first message of each scenario, which a router reads.

    Args:
        scenarios: Tasks to route.
        user: Rewords what the scripted user says.

    Raises:
        UserUnavailable: The language model behind the user failed.
    """
    begun = [registry.episode(s, user=user) for s in scenarios]
    for episode in begun:
        if episode.failure is not None:
            raise episode.failure
    return [str(episode.messages[1]["content"]) for episode in begun]


def _row(name: str, player: Player, scenarios: Sequence[Scenario], seed: int, rollouts_trained: int) -> Row:
    attempts = player(scenarios)
    if [_played(a) for a in attempts] != [address(s) for s in scenarios]:
        raise ConfigError(f"the player of {name} returned {len(attempts)} attempts; expected one a scenario, in order")
    outcomes = [_outcome(a) for a in attempts]
    return Row(
        name=name,
        scenarios=tuple(map(str, scenarios)),
        successes=tuple(success for success, _ in outcomes),
        reward_mean=mean(paid for _, paid in outcomes),
        seeds=(seed,),
        rollouts_trained=rollouts_trained,
    )


def _played(attempt: Attempt) -> str:
    return attempt.task if isinstance(attempt, Trajectory) else str(attempt.scenario)


def _outcome(attempt: Attempt) -> tuple[bool | None, float | None]:
    """Success and reward; None and None where the attempt was not scored."""
    if isinstance(attempt, Trajectory):
        return attempt.success, attempt.reward
    score = attempt.episode.score
    return (None, None) if score is None else (score.success, reward(score))

"""Tasks that nothing before has seen, and the ledger that says what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from trace_gym import registry
from trace_gym.errors import ReadError, SplitError
from trace_gym.evaluate.record import write_text
from trace_gym.types import Scenario

_STAGES = TypeAdapter(dict[str, list[str]])


class Seen:
    """Which stage of a run has seen which scenarios: a JSON file in the run folder, stage -> addresses.

    A mixture's scenario is noted as the part's scenario that it stands for. One process writes at a time.

    Args:
        path: The file; it is made by the first claim.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def stages(self) -> dict[str, list[str]]:
        """Stage -> addresses, in the order of the claims.

        Raises:
            ReadError: The file is no ledger.
        """
        try:
            return _STAGES.validate_json(self.path.read_bytes()) if self.path.exists() else {}
        except (OSError, ValidationError) as error:
            raise ReadError(
                f"{self.path} is no ledger of seen scenarios ({error}); restore it, or begin a new run folder: "
                "without it nothing shows which tasks are unseen"
            ) from None

    def claim(self, stage: str, scenarios: Iterable[Scenario]) -> None:
        """Note that a stage sees these scenarios; claiming twice changes nothing."""
        stages = self.stages
        stages[stage] = list(dict.fromkeys([*stages.get(stage, ()), *map(address, scenarios)]))
        write_text(self.path, _STAGES.dump_json(stages, indent=1).decode() + "\n")

    def refuse_if_seen(self, scenarios: Iterable[Scenario], *, stage: str = "") -> None:
        """Raise if any other stage has seen one of these scenarios.

        Args:
            scenarios: What is to be scored.
            stage: Who asks; its own earlier claims (a run that is repeated) are no objection.

        Raises:
            SplitError: Names a scenario and the stage that has seen it.
        """
        seen = {address: by for by, known in self.stages.items() if by != stage for address in known}
        asked = [address(s) for s in scenarios]
        if spoiled := [a for a in asked if a in seen]:
            raise SplitError(
                f"{len(spoiled)} of {len(asked)} scenarios were seen before, such as {spoiled[0]} by stage "
                f"{seen[spoiled[0]]!r} ({self.path}); choose others with another offset, or begin a new run folder"
            )


def held_out(
    env: str, n: int, used: Seen, *, levels: Sequence[int] | None = None, offset: int = 0, stage: str = "evaluate"
) -> list[Scenario]:
    """`n` scenarios of the test split that no other stage has seen, claimed for `stage`.

    Raises:
        SplitError: An earlier stage has seen one of them.
        EnvNotFound, ScenarioError, ConfigError: As `trace_gym.registry.scenarios`.
    """
    scenarios = registry.scenarios(env, "test", n, levels=levels, offset=offset)
    used.refuse_if_seen(scenarios, stage=stage)
    used.claim(stage, scenarios)
    return scenarios


def address(scenario: Scenario) -> str:
    """The address of what is really played: a mixture's scenario stands for one of a part's."""
    return str(registry.part_of(scenario) if scenario.env in registry.mixtures() else scenario)

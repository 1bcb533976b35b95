"""Tasks that nothing before has seen, and the ledger that says what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from trace_gym import registry
from trace_gym.errors import ReadError, SplitError
from trace_gym.files import locked, make_folder, read_bytes, write
from trace_gym.parsing import first_fault
from trace_gym.types import Scenario

_STAGES = TypeAdapter(dict[str, list[str]])


class Seen:
    """Which stage of a run has seen which scenarios: a JSON file in the run folder, stage -> addresses.

    A mixture's scenario is noted as the part's scenario that it stands for. Processes may claim at the same time.

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
            return _STAGES.validate_json(read_bytes(self.path)) if self.path.exists() else {}
        except (ReadError, ValidationError) as error:
            fault = first_fault(error) if isinstance(error, ValidationError) else error
            raise ReadError(
                f"{self.path} is no ledger of seen scenarios ({fault}); restore it, or begin a new run folder: "
                "without it nothing shows which tasks are unseen"
            ) from None

    def claim(self, stage: str, scenarios: Iterable[Scenario]) -> None:
        """Note that a stage sees these scenarios; claiming twice changes nothing."""
        with self._alone():
            self._claim(stage, scenarios)

    def claim_unseen(self, stage: str, scenarios: Iterable[Scenario]) -> None:
        """Note that a stage sees these scenarios, unless any other stage has seen one of them.

        Raises:
            SplitError: Another stage has; nothing is noted.
        """
        asked = list(scenarios)
        with self._alone():
            self.refuse_if_seen(asked, stage=stage)
            self._claim(stage, asked)

    def _alone(self) -> AbstractContextManager[None]:
        """Exclude other processes while the file is read and written; they take a moment."""
        make_folder(self.path.parent)
        return locked(self.path, wait=30.0)

    def _claim(self, stage: str, scenarios: Iterable[Scenario]) -> None:
        stages = self.stages
        stages[stage] = list(dict.fromkeys([*stages.get(stage, ()), *map(address, scenarios)]))
        write(self.path, _STAGES.dump_json(stages, indent=1).decode() + "\n")

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
    used.claim_unseen(stage, scenarios)
    return scenarios


def address(scenario: Scenario) -> str:
    """The address of what is really played: a mixture's scenario stands for one of a part's."""
    return str(registry.part_of(scenario) if scenario.env in registry.mixtures() else scenario)

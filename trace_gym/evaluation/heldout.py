"""Selection of held-out tasks, and a ledger of the scenarios that each stage of a run has used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from trace_gym import registry
from trace_gym.errors import ReadError, SplitError
from trace_gym.files import make_folder, read_bytes, write
from trace_gym.locks import locked
from trace_gym.parsing import first_fault
from trace_gym.types import Scenario

_STAGES = TypeAdapter(dict[str, list[str]])


class ScenarioLedger:
    """JSON file in the run folder with the ids of the scenarios that each stage has used.

    A scenario of a mixture is recorded as the scenario of the component environment to which it maps. Several processes
    can claim scenarios at the same time.

    Args:
        path: The file. The first claim creates it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def stages(self) -> dict[str, list[str]]:
        """Mapping of each stage to the ids of the scenarios that it has claimed, in the order of the claims.

        Raises:
            ReadError: The file is not a valid ledger.
        """
        try:
            return _STAGES.validate_json(read_bytes(self.path)) if self.path.exists() else {}
        except (ReadError, ValidationError) as error:
            fault = first_fault(error) if isinstance(error, ValidationError) else error
            raise ReadError(
                f"the list of used scenarios in {self.path} cannot be read ({fault}). The list is required to select "
                "unused test tasks. Restore the file, or start a new run in another folder"
            ) from None

    def claim(self, stage: str, scenarios: Iterable[Scenario]) -> None:
        """Record that a stage uses these scenarios. Repeated claims have no effect."""
        with self._locked():
            self._claim(stage, scenarios)

    def claim_unseen(self, stage: str, scenarios: Iterable[Scenario]) -> None:
        """Record that a stage uses these scenarios, unless another stage has used one of them.

        Raises:
            SplitError: Another stage has used a scenario. Nothing is recorded.
        """
        asked = list(scenarios)
        with self._locked():
            self.raise_if_seen(asked, stage=stage)
            self._claim(stage, asked)

    def _locked(self) -> AbstractContextManager[None]:
        """Lock the ledger against other processes."""
        make_folder(self.path.parent)
        return locked(self.path, wait=30.0)

    def _claim(self, stage: str, scenarios: Iterable[Scenario]) -> None:
        stages = self.stages
        stages[stage] = list(dict.fromkeys([*stages.get(stage, ()), *map(scenario_id, scenarios)]))
        write(self.path, _STAGES.dump_json(stages, indent=1).decode() + "\n")

    def raise_if_seen(self, scenarios: Iterable[Scenario], *, stage: str = "") -> None:
        """Raise an error if another stage has used one of these scenarios.

        Args:
            scenarios: Scenarios to check.
            stage: The stage that uses the scenarios now. Its earlier claims are ignored.

        Raises:
            SplitError: Another stage has used a scenario; the message contains both.
        """
        seen = {name: other for other, names in self.stages.items() if other != stage for name in names}
        asked = [scenario_id(s) for s in scenarios]
        if overlap := [a for a in asked if a in seen]:
            raise SplitError(
                f"{len(overlap)} of {len(asked)} scenarios were already used, for example {overlap[0]} by the stage "
                f"{seen[overlap[0]]!r} (see {self.path}). Use another offset, or start a new run in another folder"
            )


def held_out(
    env: str,
    n: int,
    used: ScenarioLedger,
    *,
    levels: Sequence[int] | None = None,
    offset: int = 0,
    stage: str = "evaluate",
) -> list[Scenario]:
    """Return scenarios of the test split, after checking that no other stage has used them, and claim them.

    Args:
        env: Name or Gymnasium id of an environment or mixture.
        n: Number of scenarios.
        used: Ledger of the run.
        levels: Levels of the scenarios, interleaved; None for all levels.
        offset: Index of the first seed in the split.
        stage: Stage for which the scenarios are claimed.

    Raises:
        SplitError: Another stage has used one of the scenarios.
        EnvNotFound, ScenarioError, ConfigError: See `trace_gym.registry.scenarios`.
    """
    scenarios = registry.scenarios(env, "test", n, levels=levels, offset=offset)
    used.claim_unseen(stage, scenarios)
    return scenarios


def scenario_id(scenario: Scenario) -> str:
    """Return the id of a scenario. For a scenario of a mixture, this is the id of the component's scenario."""
    return str(registry.part_of(scenario) if scenario.env in registry.list_mixtures() else scenario)

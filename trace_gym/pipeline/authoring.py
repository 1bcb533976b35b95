"""Environments that a language model writes for what a run has diagnosed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from trace_gym import registry
from trace_gym.errors import NoUsableAnswer, RejectedEnv, TraceGymError
from trace_gym.files import working_in
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import Run
from trace_gym.synthesize import Terms
from trace_gym.synthesize.batch import Order, write_all
from trace_gym.synthesize.model import open_model
from trace_gym.types import Capability, Manifest


def written(run: Run, capabilities: Sequence[Capability], target: str) -> dict[str, Manifest | str]:
    """Have an environment written for each capability, as the settings under ``llm`` say.

    Returns:
        The manifest, or why what the model wrote was not admitted, by the name of the capability.

    Raises:
        ModelError: The model did not answer; what was finished is kept.
        ConfigError, ReadError, MissingExtra: The model cannot be asked.
        BudgetSpent: What was allowed is spent; the same run goes on from there.
    """
    folder = common.written_to(run)

    def tell(line: str) -> None:
        run.console.print(f"  {line}")

    with working_in(folder):
        return _written(run, capabilities, target, folder, tell)


def _written(
    run: Run, capabilities: Sequence[Capability], target: str, folder: Path, tell: Callable[[str], None]
) -> dict[str, Manifest | str]:
    llm = run.config.llm
    model = open_model(llm.model, folder, tell, tokens=llm.tokens, dollars=llm.dollars, price=llm.price, by=llm.by)
    evidence = common.trajectories(run.path("rollouts", "select.jsonl")) if run.config.diagnoses else []
    terms = Terms(budget=llm.seconds, policy=llm.policy)
    try:
        order = Order(capabilities, target, model, folder, terms, llm.repairs, evidence)
        done = write_all(order, llm.workers, tell)
    finally:
        model.close()
    if folder.is_dir():
        registry.add_folder(folder)
    return {name: _told(made) for name, made in done.items()}


def _told(made: Manifest | TraceGymError) -> Manifest | str:
    if isinstance(made, (NoUsableAnswer, RejectedEnv)):
        return str(made)
    if isinstance(made, TraceGymError):
        raise made  # such as an endpoint that is down
    return made

"""Generation of environments during a run, by a language model or from its recorded answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym.errors import NoUsableAnswer, RejectedEnv, TraceGymError
from trace_gym.llm.model_uri import solver_uri
from trace_gym.llm.opening import open_models
from trace_gym.locks import working_in
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import Run
from trace_gym.records import read_records
from trace_gym.review import Checkers
from trace_gym.synthesis import ValidationConfig
from trace_gym.synthesis.admission import CANDIDATES
from trace_gym.synthesis.recorded import RECORDED_MODEL, recorded_capabilities
from trace_gym.synthesis.synthesize_many import SynthesisRequest, write_all
from trace_gym.types import Capability, Manifest


def write_environments(run: Run, capabilities: Sequence[Capability], target: str) -> dict[str, Manifest | str]:
    """Generate one environment per capability with the author that the settings select.

    The author ``recorded`` skips capabilities without recorded answers.

    Returns:
        A mapping of capability name to manifest, or to the reason for rejecting the generated environment.

    Raises:
        ModelError: The model did not answer. Finished environments are kept.
        ConfigError, ReadError, MissingExtra: The model cannot be opened.
        BudgetSpent: The budget is spent. A later run with a larger budget continues.
    """
    if run.config.author == "recorded":
        recorded = {c.name for c in recorded_capabilities(target)}
        capabilities = [c for c in capabilities if c.name in recorded]
    if not capabilities:
        return {}
    folder = common.authored_folder(run)

    def log(line: str) -> None:
        run.console.print(f"  {line}")

    with working_in(folder):
        return _write_environments(run, capabilities, target, folder, log)


def _write_environments(
    run: Run, capabilities: Sequence[Capability], target: str, folder: Path, log: Callable[[str], None]
) -> dict[str, Manifest | str]:
    llm = run.config.llm
    uri = RECORDED_MODEL if run.config.author == "recorded" else llm.model
    limits: dict[str, Any] = {"tokens": llm.tokens, "dollars": llm.dollars, "price": llm.price}
    evidence = read_records(run.path("rollouts", "select.jsonl")) if run.config.diagnoses else []
    uris = [llm.reviewer, solver_uri(llm.solver, uri), llm.reader]
    with open_models(uri, uris, folder / CANDIDATES, log, answered_by=llm.by, **limits) as (model, others):
        validation = ValidationConfig(budget=llm.seconds, policy=llm.policy, checkers=Checkers(*others))
        order = SynthesisRequest(capabilities, target, model, folder, validation, llm.repairs, evidence)
        done = write_all(order, llm.workers, log)
    if folder.is_dir():
        registry.add_folder(folder)
    return {name: _result_or_raise(made) for name, made in done.items()}


def _result_or_raise(made: Manifest | TraceGymError) -> Manifest | str:
    if isinstance(made, (NoUsableAnswer, RejectedEnv)):
        return str(made)
    if isinstance(made, TraceGymError):
        raise made  # for example, the endpoint does not respond
    return made

"""Complete runs: diagnose, synthesize, validate, train, route, evaluate and report.

Each stage is a function. `trace_gym.pipeline.ledger` skips stages whose inputs and outputs have not changed.
"""

from __future__ import annotations

from pathlib import Path

from trace_gym.locks import working_in
from trace_gym.models.loading import usable_device
from trace_gym.models.server import ModelServer
from trace_gym.pipeline import (
    diagnose,
    evaluate,
    named,
    preflight,
    reporting,
    rollouts,
    route,
    skill,
    synthesize,
    train,
    validate,
)
from trace_gym.pipeline.ledger import SERVER_LOG, Run, claim_folder
from trace_gym.settings import RunConfig
from trace_gym.targets.results import read_results
from trace_gym.user_model import LanguageUser

__all__ = ["STAGES", "Run", "run"]

STAGES = (
    rollouts.rollouts,
    diagnose.diagnose,
    synthesize.synthesize,
    validate.validate,
    reporting.variance,
    skill.skill,
    train.train,
    route.route,
    evaluate.evaluate,
    reporting.report,
)


def run(config: RunConfig, folder: Path) -> Run:
    """Run all stages and write their outputs to `folder`; skip the stages that are already complete.

    Raises:
        ReadError: The source file contains no trajectories, or a folder in the settings contains no adapter.
        InUse: Another process uses this folder.
        WriteError: The folder cannot be created.
        ConfigError: The folder contains something other than a run, the settings refer to something that does not
            exist (such as a device), or a stage cannot continue.
        EnvNotFound: An environment in the settings is not registered.
        UserUnavailable: The language model that rewords the user failed. A later call continues the run.
        Unavailable: The server of the agent's model failed. A later call continues the run.
        NoSignal: The rewards of the base model do not vary within groups in any environment.
    """
    named.check(config)
    preflight.check(config)
    if config.model.device not in ("auto", "cpu"):
        usable_device(config.model.device)  # fail before any rollouts are collected
    if config.source is not None:
        read_results(config.source)  # fail before anything is written
    if config.user:
        LanguageUser(config.user)  # fail early on an invalid URI or a missing API key
    with working_in(folder), _server(config, folder) as server:
        made = Run(config, folder, server=server)
        claim_folder(made)
        for stage in STAGES:
            stage(made)
    return made


def _server(config: RunConfig, folder: Path) -> ModelServer:
    """Return the server of the model. It starts before the first stage that requires it, and serves all workers."""
    return ModelServer(config.model, log=folder / SERVER_LOG, lora_rank=config.train.lora_rank, adapters=config.workers)

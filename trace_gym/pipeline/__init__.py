"""The whole loop: diagnose, synthesize, validate, train, route, evaluate, report, one after the other."""

from __future__ import annotations

from pathlib import Path

from trace_gym.files import working_in
from trace_gym.pipeline import agents, measure, named, reporting, training
from trace_gym.pipeline.ledger import Run, claim_folder
from trace_gym.settings import RunConfig
from trace_gym.targets.results import read_results
from trace_gym.user_model import LanguageUser

__all__ = ["STAGES", "Run", "run"]

STAGES = (
    agents.rollouts,
    agents.diagnose,
    agents.synthesize,
    agents.validate,
    reporting.variance,
    training.skill,
    training.train,
    measure.route,
    measure.evaluate,
    reporting.report,
)


def run(config: RunConfig, folder: Path) -> Run:
    """Run the whole loop into `folder`, or what is left of it.

    Raises:
        ReadError: The source holds no trajectories.
        InUse: Another process runs into this folder.
        WriteError: The folder cannot be made.
        ConfigError: The folder holds something other than a run, the settings name something that does not exist, such
            as a device that this machine lacks, or a stage cannot go on.
        EnvNotFound: An environment that the settings name is not registered.
        UserUnavailable: The language model behind the user failed; the same command continues.
        NoSignal: The base model's rewards spread in no environment.
    """
    named.check(config)
    if config.train.device != "cpu":
        from trace_gym.trainers.base import usable_device

        usable_device(config.train.device)  # before rollouts are made that training cannot use
    if config.source is not None:
        read_results(config.source)  # before anything is written
    if config.user:
        LanguageUser(config.user)  # the same: a wrong address or a missing key
    with working_in(folder):
        made = Run(config, folder)
        claim_folder(made)
        for stage in STAGES:
            stage(made)
    return made

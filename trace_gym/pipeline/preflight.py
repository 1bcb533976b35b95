"""Checks of settings before the first stage of a run, so that no expensive stage runs in vain."""

from __future__ import annotations

from trace_gym import registry
from trace_gym.llm import open_model_uri
from trace_gym.llm.model_uri import solver_uri
from trace_gym.pipeline import common
from trace_gym.policies.hints import require_hints
from trace_gym.settings import RunConfig
from trace_gym.synthesis.recorded import recorded_environments
from trace_gym.trainers.config import DistillConfig, GRPOConfig
from trace_gym.trainers.teachers import require_adapter, require_teachers, teacher_folders
from trace_gym.validation.policy_groups import check_policy


def check(config: RunConfig) -> None:
    """Check the hints, the teachers and the initial adapter of the trainer, and the models that check environments.

    Raises:
        ConfigError: No environment that the run may train on has a hint, the teachers do not match the environments, or
            a model or policy is not valid.
        ReadError: A folder contains no adapter, or a model or recording cannot be read.
    """
    for uri in filter(None, (config.llm.reviewer, solver_uri(config.llm.solver, ""), config.llm.reader)):
        open_model_uri(uri).close()
    if config.llm.policy:
        check_policy(config.llm.policy)
    train = config.train
    if isinstance(train, GRPOConfig) and train.hints and (names := possible_environments(config)) is not None:
        require_hints(names, train.hints)
    if train.init_adapter is not None:
        require_adapter(train.init_adapter, "the initial adapter", "init_adapter")
    if isinstance(train, DistillConfig):
        known = [*config.environments, *([config.target.env] if config.evaluate.grpo_target else [])]
        if config.diagnoses or config.capabilities:
            require_teachers(train, known)
        else:
            teacher_folders(train, known)


def possible_environments(config: RunConfig) -> list[str] | None:
    """Return the environments that a run may train on, or None if it may generate environments."""
    if not (config.diagnoses or config.capabilities):
        return list(config.environments)
    target = common.target_of(config.target.env)
    registered = [
        manifest.id
        for manifest in registry.manifests()
        if manifest.target == target and (config.diagnoses or manifest.capability in config.capabilities)
    ]
    recorded = [
        name
        for name, (own, capability) in recorded_environments().items()
        if own == target and (config.diagnoses or capability.name in config.capabilities)
    ]
    if config.author == "llm" or not config.reuse or not {*recorded} <= {*registered}:
        return None
    return [*config.environments, *registered]

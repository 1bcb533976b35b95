"""Synthesis of environments for several capabilities in parallel, with a language model as the author."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from trace_gym.errors import BudgetSpent, ConfigError, TraceGymError
from trace_gym.llm import Model
from trace_gym.sandbox import require_isolation
from trace_gym.synthesis.admission import synthesize
from trace_gym.synthesis.base_world import write_base
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.synthesis.repair_loop import LogFunction, ValidationConfig
from trace_gym.targets.catalogue import registered, target
from trace_gym.targets.user.bases import load_base_module
from trace_gym.targets.user.folder import find
from trace_gym.types import Capability, Manifest, Trajectory


@dataclass(frozen=True)
class SynthesisRequest:
    """Capabilities to synthesize environments for, with the model and the settings."""

    capabilities: Sequence[Capability]
    target: str
    model: Model
    folder: Path
    validation: ValidationConfig
    repairs: int = 3
    trajectories: Sequence[Trajectory] = ()
    """Trajectories that the `evidence` and `contrast` ids of the capabilities refer to."""
    force: bool = False


def write_all(request: SynthesisRequest, workers: int, log: LogFunction) -> dict[str, Manifest | TraceGymError]:
    """Plan, write and admit an environment for each capability. A failed environment does not stop the others.

    If a custom target has no admitted base world, the base world is written first.

    Args:
        request: Capabilities, target, model and settings.
        workers: Maximum number of environments in progress at the same time.
        log: Function that receives a log line about each version.

    Returns:
        Mapping from the name of each capability to its manifest or the error, in the order of the capabilities.

    Raises:
        ConfigError: Two capabilities have the same name, or the target does not exist.
        RejectedEnv, ModelError: The base world could not be written.
        SandboxError: The sandbox is not available on this machine, and the user has not allowed to run without it.
        BudgetSpent: The budget is spent. Finished environments are admitted, and the same command with a higher budget
            resumes the others.
    """
    names = [c.name for c in request.capabilities]
    if duplicates := sorted({n for n in names if names.count(n) > 1}):
        raise ConfigError(
            f"several capabilities have the same name: found {', '.join(duplicates)} more than once. Use unique names"
        )
    require_isolation()  # fail before a plan is paid for
    request = _with_base_world(request, log)
    done: dict[str, Manifest | TraceGymError] = {}
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = {pool.submit(_one, request, capability, log): capability.name for capability in request.capabilities}
        try:
            for future in as_completed(futures):
                try:
                    done[futures[future]] = future.result()
                except BudgetSpent:
                    raise
                except TraceGymError as error:
                    done[futures[future]] = error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {name: done[name] for name in names}


def _with_base_world(request: SynthesisRequest, log: LogFunction) -> SynthesisRequest:
    """Admit the target's base world if necessary; return the request with recorded episodes as default evidence."""
    if request.target in registered():
        return request
    target_folder = find(request.target)
    made = write_base(target_folder, request.model, request.repairs, request.validation, log)
    load_base_module(target_folder)  # import the base world before several threads need it
    log(f"{made.id}, by {made.author}, is the base world of {target_folder.name}")
    return replace(request, trajectories=request.trajectories or target_folder.episodes)


def _one(request: SynthesisRequest, capability: Capability, log: LogFunction) -> Manifest:
    author = LlmAuthor(request.model, request.repairs)
    prefix = target(request.target).prefix
    concurrent_ids = [f"{prefix}_{c.name}" for c in request.capabilities]
    spec = author.plan(capability, request.target, request.trajectories, concurrent_ids)
    log(f"{spec.id} is planned: {spec.title}")
    return synthesize(
        spec, author=author, folder=request.folder, force=request.force, validation=request.validation, log=log
    )

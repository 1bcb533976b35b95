"""Environments for many capabilities: each planned and written by a language model, several at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from trace_gym.diagnose import Diagnosis
from trace_gym.errors import BudgetSpent, ConfigError, ReadError, TraceGymError
from trace_gym.files import read_text
from trace_gym.llm import Model
from trace_gym.parsing import first_fault, parse_json, parse_yaml
from trace_gym.sandbox import require_isolation
from trace_gym.synthesize.admission import synthesize
from trace_gym.synthesize.base import write_base
from trace_gym.synthesize.llm_author import LlmAuthor
from trace_gym.synthesize.rounds import Tell, Terms
from trace_gym.targets.catalogue import TARGETS, target
from trace_gym.targets.user.bases import load
from trace_gym.targets.user.folder import find
from trace_gym.types import Capability, Manifest, Trajectory


@dataclass(frozen=True)
class Order:
    """What is to be written, and by whom."""

    capabilities: Sequence[Capability]
    target: str
    model: Model
    folder: Path
    terms: Terms
    repairs: int = 3
    trajectories: Sequence[Trajectory] = ()
    """Where the evidence of the capabilities is found."""
    force: bool = False


def read_capabilities(path: Path) -> list[Capability]:
    """The capabilities of a file: those that a diagnosis retained, or a list of names and descriptions.

    Raises:
        ReadError: The file is missing, or holds neither.
    """
    text = read_text(path)
    is_json = text.lstrip().startswith("{") and path.suffix not in (".yaml", ".yml")  # YAML parses slowly
    data = parse_json(text, str(path)) if is_json else parse_yaml(text, str(path))
    blank = {"coverage": 0.0, "er_failed": None, "er_passed": None, "gap": None, "analyst": "given"}
    try:
        if isinstance(data, dict):
            return list(Diagnosis.model_validate_json(json.dumps(data, default=str)).retained)
        if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
            raise _no_capabilities(path, f"found {_kind(data)}")
        found = TypeAdapter(list[Capability]).validate_python([{**blank, **row} for row in data])
    except ValidationError as error:
        raise _no_capabilities(path, first_fault(error)) from None
    if not found:
        raise ReadError(f"{path} holds no capability")
    if wrong := [c.name for c in found if not re.fullmatch(r"[a-z][a-z0-9_]*", c.name)]:
        raise ReadError(f"{path} names {wrong[0]!r}; expected lower-case letters, digits and underscores")
    return found


def _no_capabilities(path: Path, fault: str) -> ReadError:
    return ReadError(
        f"{path} holds no capabilities: {fault}; expected what `trace-gym diagnose --out` writes, or a list of objects "
        "such as {name: find_refunds, description: Find the refund of an order.}. Correct the file"
    )


def _kind(data: object) -> str:
    if isinstance(data, list):
        return f"a list with {next(_kind(row) for row in data if not isinstance(row, dict))}"
    return "nothing" if data is None else f"{data!r:.60}"


def write_all(order: Order, workers: int, tell: Tell) -> dict[str, Manifest | TraceGymError]:
    """Plan, write and admit an environment for each capability; what one costs does not stop the others.

    A target of the user's own gets its base world first, unless that is admitted already.

    Args:
        order: What is to be written.
        workers: Environments that are worked on at a time.
        tell: Takes a line about each version.

    Returns:
        The manifest, or what went wrong, by the name of the capability, in the order of the capabilities.

    Raises:
        ConfigError: Two capabilities have one name, or the target does not exist.
        RejectedEnv, ModelError: The base world did not come about.
        SandboxError: This machine cannot isolate what is written, and the user has not permitted to run it so.
        BudgetSpent: What was allowed is spent; what was finished is admitted, and the same command goes on from there.
    """
    names = [c.name for c in order.capabilities]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise ConfigError(f"two capabilities are called {', '.join(twice)}; give them names of their own")
    require_isolation()  # before a language model is paid for a plan
    order = _grounded(order, tell)
    done: dict[str, Manifest | TraceGymError] = {}
    with ThreadPoolExecutor(max_workers=workers) as pool:
        asked = {pool.submit(_one, order, capability, tell): capability.name for capability in order.capabilities}
        try:
            for future in as_completed(asked):
                try:
                    done[asked[future]] = future.result()
                except BudgetSpent:
                    raise
                except TraceGymError as error:
                    done[asked[future]] = error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {name: done[name] for name in names}


def _grounded(order: Order, tell: Tell) -> Order:
    """The order, once the target has a base world; where no evidence is given, the target's own is used."""
    if order.target in TARGETS:
        return order
    home = find(order.target)
    made = write_base(home, order.model, order.repairs, order.terms, tell)
    load(home)  # before several threads ask for it
    tell(f"{made.id}, by {made.author}, is the base world of {home.name}")
    return replace(order, trajectories=order.trajectories or home.episodes)


def _one(order: Order, capability: Capability, tell: Tell) -> Manifest:
    author = LlmAuthor(order.model, order.repairs)
    prefix = target(order.target).prefix
    beside = [f"{prefix}_{c.name}" for c in order.capabilities]
    spec = author.plan(capability, order.target, order.trajectories, beside)
    tell(f"{spec.id} is planned: {spec.title}")
    return synthesize(spec, author=author, folder=order.folder, force=order.force, terms=order.terms, tell=tell)

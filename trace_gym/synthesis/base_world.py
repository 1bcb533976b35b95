"""Writing and admission of base worlds, which implement the tools of custom targets.

A language model or a person writes the base world. It is linted, validated in the sandbox and repaired in the same way
as an environment. A base world must define the tools of ``tools.json``, raise no exceptions other than refusals, and
reproduce the recorded results when recorded episodes are replayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym import world as contract
from trace_gym.errors import ConfigError, RejectedEnv
from trace_gym.llm import Model
from trace_gym.llm.quoting import inline
from trace_gym.prompts import template
from trace_gym.prompts.evidence import shorten
from trace_gym.sandbox import RULES, describe, validate_sandboxed
from trace_gym.synthesis import slots
from trace_gym.synthesis.admission import synthesize
from trace_gym.synthesis.allowed_names import allowed_names
from trace_gym.synthesis.behavior import public_part
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.synthesis.repair_loop import DEFAULT_VALIDATION, LogFunction, ValidationConfig, lint
from trace_gym.synthesis.sandbox_inputs import BASE, sandbox_inputs
from trace_gym.targets.catalogue import foundation
from trace_gym.targets.user import bases
from trace_gym.targets.user.check import check
from trace_gym.targets.user.folder import TargetFolder, find
from trace_gym.targets.user.methods import method_names
from trace_gym.targets.user.replays import answers, refused
from trace_gym.targets.user.tools import names_of, text_of
from trace_gym.tool_schema import python_name
from trace_gym.types import Manifest, Report, Spec, Trajectory, sha256
from trace_gym.validation import PROPERTIES
from trace_gym.validation.context import NO_INPUTS

CODES = ("TG001", "TG101", "TG102", "TG104", "TG401", "TG402", "TG403", "TG404", "TG411", "TG412", "TG413")
"""Codes of the properties that apply to base worlds, which have neither scenarios nor a verifier."""
PROMPTS = ("system", "base", "gate", "repair", "answer")
"""Names of the templates under ``templates/prompts/`` that the author of base worlds uses."""
MAX_EPISODES = 4
"""Maximum number of recorded episodes in the prompt."""
MAX_RESULTS, MAX_REFUSALS = 3, 2
"""Maximum number of recorded results and of recorded refusals of each tool in the prompt."""
MAX_RESULT_CHARACTERS = 2000
"""Maximum number of characters of a recorded result in the prompt. Longer results are truncated."""


@dataclass
class BaseAuthor(LlmAuthor):
    """Author that writes base worlds with a language model."""

    def template_sha256(self, spec: Spec) -> str:
        """Return the hash of the prompts and of the template for the module."""
        folder = resources.files("trace_gym.templates")
        names = (
            "prompts/system.md.jinja",
            "prompts/base.md.jinja",
            "prompts/gate.md.jinja",
            "prompts/repair.md.jinja",
            "env/base.py.jinja",
        )
        return sha256("".join((folder / name).read_text() for name in names))

    def _writing_prompt(self, spec: Spec) -> str:
        target_folder = find(spec.target)
        resolved_target = foundation(target_folder)
        return template.render(
            "base.md.jinja",
            spec=spec,
            interface=target_folder.interface,
            tools=[_tool_values(tool["function"], target_folder) for tool in target_folder.tools],
            episodes=[shorten(e) for e in _visible_episodes(target_folder)[:MAX_EPISODES]],
            contract=public_part(Path(str(contract.__file__)).read_text()),
            parents=resolved_target.sources,
            not_compared=target_folder.settings.not_compared,
            properties=[PROPERTIES[code] for code in CODES],
            imports="\n".join(slots.imports(resolved_target)),
            rules=RULES.values(),
            allowed=allowed_names(),
        )

    def _line_budget(self, spec: Spec) -> int | None:
        return None  # the length depends on the number of tools of the target

    def _assemble(self, code: str, spec: Spec) -> str:
        resolved_target, form = foundation(find(spec.target)), self._contract(spec)
        return slots.render(
            slots.sort_into_slots(code, spec, resolved_target, form), spec, resolved_target, self.name, form
        )

    def _contract(self, spec: Spec) -> slots.Contract:
        return slots.base_contract(list(method_names(names_of(find(spec.target).tools)).values()))


def base_spec(target_folder: TargetFolder) -> Spec:
    """Return the spec of a target's base world, which is derived from the files of the target."""
    tools = names_of(target_folder.tools)
    return Spec(
        id=f"{target_folder.name}{bases.SUFFIX}",
        capability="",
        target=target_folder.name,
        title=f"Base world of {target_folder.name}: records and tools.",
        rationale=f"It answers the {len(tools)} tools of {target_folder.name} as the recorded episodes do.",
        tools=tuple(tools),
        levels=("The records that a recorded episode shows.",),
        blueprint=BASE,
        slots={
            bases.TOOLS_SLOT: target_folder.tools_sha256,
            bases.TRAJECTORIES_SLOT: target_folder.trajectories_sha256,
        },
    )


def write_base(
    target_folder: TargetFolder,
    model: Model,
    repairs: int = 3,
    validation: ValidationConfig = DEFAULT_VALIDATION,
    log: LogFunction = lambda line: None,
) -> Manifest:
    """Return the manifest of a target's base world. If there is no base world, write it with a language model.

    An existing module is never overwritten, even if it is not admitted.

    Raises:
        TamperedEnv: The target has a base world that is not admitted. The message explains how to check it.
        ConfigError: The files of the target are not valid.
        RejectedEnv: The base world that the model wrote did not pass validation.
        ModelError, BudgetSpent: The model did not answer.
    """
    if target_folder.base_module.is_file() or bases.card_of(target_folder) is not None:
        bases.admitted(target_folder)
        card = bases.card_of(target_folder)
        assert card is not None
        return card
    if wrong := next((note for note in check(target_folder) if note.level == "wrong"), None):
        raise ConfigError(
            f"the target folder is not valid: {wrong.message}; {wrong.fix or 'correct the file'}. To list all errors, "
            f"run trace-gym target check {target_folder.path}"
        )
    base_validation = replace(validation, only=CODES, given=NO_INPUTS, policy="")
    return synthesize(
        base_spec(target_folder),
        author=BaseAuthor(model, repairs),
        folder=target_folder.base_module.parent,
        validation=base_validation,
        log=log,
    )


def check_base(target_folder: TargetFolder, validation: ValidationConfig = DEFAULT_VALIDATION) -> Report:
    """Validate the existing base world of a target in the sandbox.

    Raises:
        RejectedEnv: The linter rejects the base world.
        ReadError: The target has no base world, or its module cannot be read.
    """
    spec = base_spec(target_folder)
    if errors := list(lint(text_of(target_folder.base_module), spec)):
        raise RejectedEnv(
            f"{target_folder.base_module} was rejected before it was run: {'; '.join(f.message for f in errors[:5])}"
        )
    inputs = sandbox_inputs(spec)
    report = validate_sandboxed(
        target_folder.base_module,
        profile=validation.profile,
        budget=validation.budget,
        only=CODES,
        target_imports=inputs.imports,
        target_files=inputs.target_files,
        recordings=inputs.recordings,
    )
    return inputs.check_report(report)


def admit_base(target_folder: TargetFolder, validation: ValidationConfig = DEFAULT_VALIDATION) -> Manifest:
    """Validate the existing base world of a target, and write and return its manifest.

    If there is already a manifest for the same module text, the author and the origin are copied from that manifest.

    Raises:
        RejectedEnv: The base world did not pass validation; the message contains the reason.
        ReadError: The target has no base world, or its module cannot be read.
    """
    report = check_base(target_folder, validation)
    if not report.passed:
        why = "; ".join(f"{f.code} {f.message}" for f in report.findings if not f.passed)
        raise RejectedEnv(f"{target_folder.base_module} did not pass validation: {why}")
    known = bases.card_of(target_folder)
    mine = known if known and known.module_sha256 == sha256(target_folder.base_module.read_bytes()) else None
    return registry.admit(
        target_folder.base_module,
        report,
        mine.author if mine else "hand",
        base_spec(target_folder),
        mine.template_sha256 if mine else "",
        mine.origin if mine else None,
        describe=describe,
    )


def _visible_episodes(target_folder: TargetFolder) -> Sequence[Trajectory]:
    """Return the half of the recorded episodes that the prompt may contain.

    The other half is used only in validation, so that a module with results copied from the prompt does not pass.
    """
    return target_folder.episodes[::2]


def _tool_values(function: dict[str, Any], target_folder: TargetFolder) -> dict[str, Any]:
    """Return the template variables for a tool, which include some recorded calls and some refused calls."""
    name = str(function["name"])
    seen = _recorded_calls(name, _visible_episodes(target_folder)) or _recorded_calls(name, target_folder.episodes)
    accepted, rejected = ([line for line, is_refused in seen if is_refused is wanted] for wanted in (False, True))
    calls = [*accepted[:: max(1, len(accepted) // MAX_RESULTS)][:MAX_RESULTS], *rejected[:MAX_REFUSALS]]
    method = method_names(names_of(target_folder.tools))[name]
    renamed = {key: python_name(key) for key in function["parameters"].get("properties", {}) if python_name(key) != key}
    schema = json.dumps(function["parameters"])
    return {
        **function,
        "kind": target_folder.kinds[name],
        "method": method,
        "renamed": renamed,
        "schema": schema,
        "calls": calls,
    }


def _recorded_calls(tool: str, episodes: Iterable[Trajectory]) -> list[tuple[str, bool]]:
    """Return the distinct recorded calls of a tool with their results, and whether each call was refused."""
    calls = {
        f"{inline(tool)} {json.dumps(call.arguments)}\n{result[:MAX_RESULT_CHARACTERS]}": refused(result)
        for episode in episodes
        for call, result in answers(episode)
        if call.tool == tool
    }
    return list(calls.items())

"""The base world of a target of the user's own: written by a language model, or by hand, and admitted by replay.

It is screened, sandboxed and mended as environments are. What it has to be: the tools of ``tools.json``, raising
nothing but refusals, and answering the recorded calls as they were answered.
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
from trace_gym.sandbox import RULES, confined_validate
from trace_gym.synthesize import slots, template
from trace_gym.synthesize.admission import synthesize
from trace_gym.synthesize.allowances import allowances
from trace_gym.synthesize.behavior import public_part
from trace_gym.synthesize.evidence import shorten
from trace_gym.synthesize.ground import BASE, ground_of
from trace_gym.synthesize.llm_author import LlmAuthor
from trace_gym.synthesize.rounds import USUAL, Tell, Terms, screen
from trace_gym.targets.catalogue import foundation
from trace_gym.targets.user import bases
from trace_gym.targets.user.check import check
from trace_gym.targets.user.folder import TargetFolder, find, names_of, text_of
from trace_gym.targets.user.methods import method_names
from trace_gym.targets.user.replays import answers, refused
from trace_gym.types import Manifest, Report, Spec, Trajectory, sha256
from trace_gym.validate import PROPERTIES
from trace_gym.validate.context import NOTHING
from trace_gym.world import python_name

CODES = ("TG001", "TG101", "TG102", "TG104", "TG401", "TG402", "TG403", "TG404", "TG411", "TG412", "TG413")
"""What is asked of a base world, which has neither problems nor a verifier."""
PROMPTS = ("system", "base", "gate", "repair", "answer")
"""The templates under ``templates/prompts/`` that the author of base worlds uses."""
EPISODES = 4
"""Recorded episodes that the author reads from beginning to end."""
ANSWERS, REFUSALS = 3, 2
"""Recorded answers of each tool that the author reads whole."""
LONGEST = 2000
"""Characters of one of these that are kept."""


@dataclass
class BaseAuthor(LlmAuthor):
    """Writes base worlds with a language model."""

    def template_sha256(self, spec: Spec) -> str:
        """Hash of the prompts and the skeleton."""
        folder = resources.files("trace_gym.templates")
        names = (
            "prompts/system.md.jinja",
            "prompts/base.md.jinja",
            "prompts/gate.md.jinja",
            "prompts/repair.md.jinja",
            "env/base.py.jinja",
        )
        return sha256("".join((folder / name).read_text() for name in names))

    def _writing(self, spec: Spec) -> str:
        home = find(spec.target)
        place = foundation(home)
        return template.render(
            "base.md.jinja",
            spec=spec,
            interface=home.interface,
            tools=[_told(tool["function"], home) for tool in home.tools],
            episodes=[shorten(e) for e in _shown(home)[:EPISODES]],
            contract=public_part(Path(str(contract.__file__)).read_text()),
            parents=place.sources,
            not_compared=home.settings.not_compared,
            properties=[PROPERTIES[code] for code in CODES],
            imports="\n".join(slots.imports(place)),
            rules=RULES.values(),
            allowed=allowances(),
        )

    def _room(self, spec: Spec) -> int | None:
        return None  # a target has as many tools as it has

    def _assembled(self, code: str, spec: Spec) -> str:
        place, form = foundation(find(spec.target)), self._form(spec)
        return slots.render(slots.fill(code, spec, place, form), spec, place, self.name, form)

    def _form(self, spec: Spec) -> slots.Contract:
        return slots.base_contract(list(method_names(names_of(find(spec.target).tools)).values()))


def base_spec(home: TargetFolder) -> Spec:
    """The spec of a target's base world: all that it is to be follows from the target's files."""
    tools = names_of(home.tools)
    return Spec(
        id=f"{home.name}{bases.SUFFIX}",
        capability="",
        target=home.name,
        title=f"Base world of {home.name}: records and tools.",
        rationale=f"It answers the {len(tools)} tools of {home.name} as the recorded episodes do.",
        tools=tuple(tools),
        levels=("The records that a recorded episode shows.",),
        blueprint=BASE,
        slots={bases.TOOLS_SLOT: home.tools_sha256, bases.TRAJECTORIES_SLOT: home.trajectories_sha256},
    )


def write_base(
    home: TargetFolder, model: Model, repairs: int = 3, terms: Terms = USUAL, tell: Tell = lambda line: None
) -> Manifest:
    """The manifest of a target's base world, which is written by a language model unless it is admitted already.

    A module that is there and not admitted is left alone: it may be somebody's work.

    Raises:
        TamperedEnv: There is one that is not admitted; says how to check it.
        ConfigError: Something is wrong with the target's files.
        RejectedEnv: What the model wrote did not pass.
        ModelError, BudgetSpent: The model did not answer.
    """
    if home.base_module.is_file() or bases.card_of(home) is not None:
        bases.admitted(home)
        card = bases.card_of(home)
        assert card is not None
        return card
    if wrong := next((note for note in check(home) if note.level == "wrong"), None):
        raise ConfigError(f"{wrong.says}; {wrong.mend or 'mend it'}; all there is: trace-gym target check {home.path}")
    asked = replace(terms, only=CODES, given=NOTHING, policy="")
    return synthesize(
        base_spec(home), author=BaseAuthor(model, repairs), folder=home.base_module.parent, terms=asked, tell=tell
    )


def check_base(home: TargetFolder, terms: Terms = USUAL) -> Report:
    """Check the base world that is there, whoever wrote it, in the sandbox.

    Raises:
        RejectedEnv: The static gate refuses it.
        ReadError: There is none.
    """
    spec = base_spec(home)
    if faults := list(screen(text_of(home.base_module), spec)):
        raise RejectedEnv(f"{home.base_module} was not run: {'; '.join(f.says for f in faults[:5])}")
    ground = ground_of(spec)
    report = confined_validate(
        home.base_module,
        profile=terms.profile,
        budget=terms.budget,
        only=CODES,
        target_imports=ground.imports,
        lent=ground.lent,
        recordings=ground.recordings,
    )
    return ground.judged(report)


def admit_base(home: TargetFolder, terms: Terms = USUAL) -> Manifest:
    """Check the base world that is there and write its manifest; who wrote it is kept where the manifest knows.

    Raises:
        RejectedEnv: It did not pass; says why.
        ReadError: There is none.
    """
    report = check_base(home, terms)
    if not report.passed:
        why = "; ".join(f"{f.code} {f.says}" for f in report.findings if not f.passed)
        raise RejectedEnv(f"{home.base_module} did not pass: {why}")
    known = bases.card_of(home)
    mine = known if known and known.module_sha256 == sha256(home.base_module.read_bytes()) else None
    return registry.admit(
        home.base_module,
        report,
        mine.author if mine else "hand",
        base_spec(home),
        mine.template_sha256 if mine else "",
        mine.origin if mine else None,
    )


def _shown(home: TargetFolder) -> Sequence[Trajectory]:
    """Half of the recorded episodes: what an author has not seen cannot be copied into the code."""
    return home.episodes[::2]


def _told(function: dict[str, Any], home: TargetFolder) -> dict[str, Any]:
    """A tool as its author reads it: with some recorded calls, as far apart as can be, and some that were refused."""
    name = str(function["name"])
    seen = _answers(name, _shown(home)) or _answers(name, home.episodes)
    good, bad = ([line for line, no in seen if no is wanted] for wanted in (False, True))
    calls = [*good[:: max(1, len(good) // ANSWERS)][:ANSWERS], *bad[:REFUSALS]]
    method = method_names(names_of(home.tools))[name]
    renamed = {key: python_name(key) for key in function["parameters"].get("properties", {}) if python_name(key) != key}
    schema = json.dumps(function["parameters"])
    return {
        **function,
        "kind": home.kinds[name],
        "method": method,
        "renamed": renamed,
        "schema": schema,
        "calls": calls,
    }


def _answers(tool: str, episodes: Iterable[Trajectory]) -> list[tuple[str, bool]]:
    """Recorded calls of a tool with their answers, each once, and whether it was refused."""
    made = {
        f"{inline(tool)} {json.dumps(call.arguments)}\n{told[:LONGEST]}": refused(told)
        for episode in episodes
        for call, told in answers(episode)
        if call.tool == tool
    }
    return list(made.items())

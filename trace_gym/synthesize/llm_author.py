"""The author that is a language model: it plans an environment, writes it, and mends what was found in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import yaml
from pydantic import Field

from trace_gym import registry
from trace_gym import world as contract
from trace_gym.llm import Completion, Model, Request, ask, ask_for, code_in
from trace_gym.llm.quoting import fenced
from trace_gym.sandbox import RULES
from trace_gym.synthesize import evidence, slots, template
from trace_gym.synthesize.allowances import allowances
from trace_gym.synthesize.behavior import behavior, inherited_needs, public_part
from trace_gym.synthesize.behavior import code as code_of_tools
from trace_gym.synthesize.changes import MARK, is_changeable, with_changes
from trace_gym.synthesize.complaints import Complaint, Stage
from trace_gym.synthesize.forms import types_in_words
from trace_gym.targets.catalogue import Target, target
from trace_gym.targets.listening import listening
from trace_gym.types import Capability, Origin, Plan, Record, Spec, Trajectory, sha256
from trace_gym.validate import PROPERTIES

PROMPTS = ("system", "guidance", "plan", "write", "tools", "gate", "repair", "mutate", "answer")
"""The templates under ``templates/prompts/`` that it works from."""
ELSEWHERE = "tau2_precondition"
"""The environment that shows the style where the target is a user's own."""
LINES = 200
"""Of a module, at most: what is longer is not read, and holds more than the capability."""
IMPORTS = 8
"""Lines of a module that its imports take, about."""
SHOWN = 6
"""Complaints that go back to the model at once; the rest are named."""


class Planned(Record):
    """What the model answers when it is asked to plan."""

    title: str = Field(max_length=90)
    rationale: str
    tools: tuple[str, ...]
    rules: tuple[str, ...]
    goals: tuple[str, ...] = Field(min_length=1)
    guards: tuple[str, ...]
    levels: tuple[str, ...] = Field(min_length=2, max_length=5)
    plan: Plan


@dataclass
class LlmAuthor:
    """Writes environments with a language model. One author writes one environment at a time."""

    model: Model
    repairs: int = 3
    """How often what was found goes back to the model."""
    temperature: float = 0.7
    spent: list[Completion] = field(default_factory=list)
    trusted: bool = False
    """Nobody has read what it writes, so it is checked in the sandbox."""

    @property
    def name(self) -> str:
        """``llm:`` and the model that answered, as far as it is known; also where it is replayed from recordings."""
        kind, _, model = (self.spent[-1].model if self.spent else self.model.name).partition(":")
        return f"llm:{model or kind}"

    def plan(
        self, capability: Capability, aim: str, trajectories: Iterable[Trajectory] = (), beside: Collection[str] = ()
    ) -> Spec:
        """Plan an environment for a capability of a target.

        Args:
            capability: What the environment trains.
            aim: Name of the target.
            trajectories: Where the evidence of the capability is found.
            beside: Names of environments that are written at the same time. They are not told of, since the same
                command would ask for another plan as soon as one of them is admitted.

        Raises:
            ConfigError: There is no such target.
            ModelError: The model gave no plan of the form asked for.
        """
        place = target(aim)
        interface = place.world.interface()
        name = f"{place.prefix}_{capability.name}"
        taken = [card for card in registry.manifests() if card.id not in {name, *beside}]
        prompt = template.render(
            "plan.md.jinja",
            capability=capability,
            target=place,
            interface=interface,
            tools=evidence.signatures(interface),
            evidence=evidence.evidence(capability, trajectories),
            types=types_in_words(Planned.model_json_schema()),
            taken="; ".join(f"{c.id} ({c.title})" for c in taken if c.target == aim and c.capability),
        )
        planned, spent = ask(self.model, self._request(f"plan {name}", prompt), Planned)
        self.spent += spent
        told = {k: getattr(planned, k) for k in Planned.model_fields}
        return Spec(id=name, capability=capability.name, target=aim, blueprint="written", **told)

    def write(self, spec: Spec) -> str:
        """The module text of a spec.

        Raises:
            Unwritable: What the model answered is no environment.
            ModelError: The model did not answer.
        """
        return self._module(spec, f"write {spec.id}", self._writing(spec))

    def revise(self, spec: Spec, text: str, stage: Stage, complaints: Sequence[Complaint], number: int) -> str:
        """The module text after the model has seen what was found in `text`.

        Raises:
            Unwritable: What the model answered is no environment.
            ModelError: The model did not answer.
        """
        shown, rest = complaints[:SHOWN], [c.code for c in complaints[SHOWN:]]
        more = f"Further findings, which may have the same cause: {', '.join(rest)}." if rest else ""
        asked = template.render(
            "repair.md.jinja",
            stage=stage,
            faults=shown,
            more=more,
            room=self._room(spec),
            **self._answering(spec, text),
        )
        return self._module(spec, f"repair {number} {spec.id}", self._writing(spec), text, asked)

    def mutate(self, spec: Spec, text: str, direction: str, says: str, number: int) -> str:
        """The module text made harder where it is too ``easy``, easier where it is too ``hard``.

        Raises:
            Unwritable: What the model answered is no environment.
            ModelError: The model did not answer.
        """
        asked = template.render(
            "mutate.md.jinja", direction=direction, says=says, room=self._room(spec), **self._answering(spec, text)
        )
        return self._module(spec, f"mutation {number} {spec.id}", self._writing(spec), text, asked)

    def template_sha256(self, spec: Spec) -> str:
        """Hash of the prompts and the skeleton."""
        folder = resources.files("trace_gym.templates")
        parts = [(folder / "prompts" / f"{n}.md.jinja").read_text() for n in PROMPTS]
        return sha256("".join([*parts, (folder / "env" / "written.py.jinja").read_text()]))

    def origin(self, rounds: int, failed_first: Iterable[str]) -> Origin:
        """What it took so far."""
        costs = [c.cost for c in self.spent]
        return Origin(
            model=self.name.removeprefix("llm:"),
            rounds=rounds,
            requests=len(self.spent),
            prompt_tokens=sum(c.prompt_tokens for c in self.spent),
            completion_tokens=sum(c.completion_tokens for c in self.spent),
            cost=sum(c for c in costs if c is not None) if costs and None not in costs else None,
            changed=sum(c.changed for c in self.spent),
            failed_first=tuple(failed_first),
        )

    def _writing(self, spec: Spec) -> str:
        place = target(spec.target)
        plan = spec.model_dump(mode="json", exclude={"blueprint", "slots"}, exclude_none=True)
        return template.render(
            "write.md.jinja",
            spec=spec,
            plan_text=yaml.safe_dump(plan, sort_keys=False, allow_unicode=True, width=110).strip(),
            contract=public_part(Path(str(contract.__file__)).read_text()),
            target=place,
            tools=(tools := behavior(place, spec.tools)),
            tool_code=code_of_tools(place, tools),
            needs=inherited_needs(place, spec.capability),
            user=listening(place.world),
            example=_example(place),
            properties=list(PROPERTIES.values()),
            imports="\n".join(slots.imports(place)),
            rules=RULES.values(),
            allowed=allowances(),
            room=self._room(spec),
            most=LINES,
        )

    def _request(self, purpose: str, prompt: str, *turns: str) -> Request:
        """Return the request of a conversation: the prompt, then what the model and the user say in turn."""
        system = template.render("system.md.jinja", properties=PROPERTIES)
        told = zip(("system", "user", "assistant", "user"), (system, prompt, *turns), strict=False)
        messages = tuple({"role": role, "content": content} for role, content in told)
        return Request(messages=messages, purpose=purpose, temperature=self.temperature)

    def _module(self, spec: Spec, purpose: str, prompt: str, text: str = "", asked: str = "") -> str:
        """Return the module that the model answers, to the prompt alone or to a question about a module.

        The question continues the conversation in which the module was written, so that it repeats nothing of it.
        """
        turns = (fenced(text, "python"), asked) if asked else ()
        code, spent = ask_for(self.model, self._request(purpose, prompt, *turns), code_in)
        self.spent += spent
        required = self._form(spec).required
        return self._assembled(with_changes(text, code, template.camel(spec.id), required) if asked else code, spec)

    def _answering(self, spec: Spec, text: str) -> dict[str, object]:
        """Return what the templates for repairs and mutations state about the form of the answer."""
        name = template.camel(spec.id)
        return {"world": name, "mark": MARK, "partial": is_changeable(text, name)}

    def _form(self, spec: Spec) -> slots.Contract:
        """Return what a module has to define."""
        return slots.ENVIRONMENT

    def _room(self, spec: Spec) -> int | None:
        """How many lines of a module are left to the model; None where it may take as many as it needs."""
        empty = slots.Slots(before="", fields="", methods=())
        base = target(spec.target).base
        skeleton = template.render("written.py.jinja", spec=spec, slots=empty, base=base, author="", imports="")
        return LINES - IMPORTS - skeleton.count("\n")

    def _assembled(self, code: str, spec: Spec) -> str:
        """The module of what the model answered."""
        place = target(spec.target)
        text = slots.render(slots.fill(code, spec, place), spec, place, self.name)
        if (count := text.count("\n")) > LINES:
            much = f"the module has {count} lines, {count - LINES} more than the {LINES} that it may have"
            raise slots.Unwritable([f"{much}: choose a simpler design, not denser lines"], code)
        return text


def _example(place: Target) -> str:
    return registry.module_path(place.example or ELSEWHERE).read_text()

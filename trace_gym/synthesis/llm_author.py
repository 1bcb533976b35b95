"""Author that uses a language model to plan an environment, write its module, and correct errors in the module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import yaml
from pydantic import Field

from trace_gym import registry
from trace_gym import world as contract
from trace_gym.llm import Completion, Model, ModelRequest, ask, ask_for, code_in
from trace_gym.llm.quoting import fenced
from trace_gym.prompts import evidence, template
from trace_gym.sandbox import RULES
from trace_gym.synthesis import slots
from trace_gym.synthesis.allowed_names import allowed_names
from trace_gym.synthesis.behavior import behavior, inherited_needs, public_part
from trace_gym.synthesis.behavior import code as code_of_tools
from trace_gym.synthesis.changes import MARK, is_changeable, with_changes
from trace_gym.synthesis.diagnostics import CheckStage, Diagnostic
from trace_gym.synthesis.schema_types import types_in_words
from trace_gym.targets.base import Target
from trace_gym.targets.catalogue import default_target, target
from trace_gym.targets.users.description import describe_user
from trace_gym.types import Capability, Origin, Plan, Record, Spec, Trajectory, sha256
from trace_gym.validation import PROPERTIES
from trace_gym.validation.model_review import MODEL_CODES

PROMPTS = ("system", "guidance", "plan", "write", "tools", "gate", "repair", "mutate", "answer")
"""Names of the templates under ``templates/prompts/`` that the author uses."""
MAX_MODULE_LINES = 200
"""Maximum number of lines of a module. Longer modules are hard to review, and tend to test more than one capability."""
IMPORT_LINES = 8
"""Approximate number of lines that a module's imports require."""
MAX_DIAGNOSTICS = 6
"""Maximum number of diagnostics in a repair prompt. The prompt contains only the codes of further diagnostics."""


class PlanAnswer(Record):
    """Answer of the model to the planning prompt."""

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
    """Author that writes environments with a language model. One instance writes one environment at a time."""

    model: Model
    repairs: int = 3
    """Maximum number of repair attempts."""
    temperature: float = 0.7
    completions: list[Completion] = field(default_factory=list)
    trusted: bool = False
    """Always False: nobody has reviewed the code that the model writes."""

    @property
    def name(self) -> str:
        """``llm:`` followed by the name of the model that answered, which is the same when recordings are replayed."""
        kind, _, model = (self.completions[-1].model if self.completions else self.model.name).partition(":")
        return f"llm:{model or kind}"

    def plan(
        self,
        capability: Capability,
        target_name: str,
        trajectories: Iterable[Trajectory] = (),
        concurrent_ids: Collection[str] = (),
    ) -> Spec:
        """Plan an environment for a capability of a target.

        Args:
            capability: Capability that the environment trains.
            target_name: Name of the target.
            trajectories: Trajectories to which the ids in the fields `evidence` and `contrast` of the capability refer.
            concurrent_ids: Ids of environments that are written at the same time. The prompt does not list them among
                the existing environments. Otherwise, the prompt would change when one of them is admitted, and
                repeating the command would request a new plan instead of using the cache.

        Raises:
            ConfigError: The target does not exist.
            ModelError: The model returned no valid plan.
        """
        resolved_target = target(target_name)
        interface = resolved_target.world.interface()
        name = f"{resolved_target.prefix}_{capability.name}"
        taken = [card for card in registry.manifests() if card.id not in {name, *concurrent_ids}]
        prompt = template.render(
            "plan.md.jinja",
            capability=capability,
            target=resolved_target,
            interface=interface,
            tools=evidence.signatures(interface),
            evidence=evidence.evidence(capability, trajectories),
            types=types_in_words(PlanAnswer.model_json_schema()),
            taken="; ".join(f"{c.id} ({c.title})" for c in taken if c.target == target_name and c.capability),
        )
        planned, completions = ask(self.model, self._request(f"plan {name}", prompt), PlanAnswer)
        self.completions += completions
        fields = {k: getattr(planned, k) for k in PlanAnswer.model_fields}
        return Spec(id=name, capability=capability.name, target=target_name, blueprint="written", **fields)

    def write(self, spec: Spec) -> str:
        """Return the module text of a spec.

        Raises:
            InvalidModuleError: The answer of the model is not a valid module.
            ModelError: The model did not answer.
        """
        return self._module(spec, f"write {spec.id}", self._writing_prompt(spec))

    def revise(self, spec: Spec, text: str, stage: CheckStage, diagnostics: Sequence[Diagnostic], number: int) -> str:
        """Return the module text of the `number`-th repair attempt, which corrects the diagnostics of `text`.

        Raises:
            InvalidModuleError: The answer of the model is not a valid module.
            ModelError: The model did not answer.
        """
        shown, rest = diagnostics[:MAX_DIAGNOSTICS], [c.code for c in diagnostics[MAX_DIAGNOSTICS:]]
        more = f"Further findings, which may have the same cause: {', '.join(rest)}." if rest else ""
        revision = template.render(
            "repair.md.jinja",
            stage=stage,
            diagnostics=shown,
            more=more,
            room=self._line_budget(spec),
            **self._answer_form(spec, text),
        )
        return self._module(spec, f"repair {number} {spec.id}", self._writing_prompt(spec), text, revision)

    def mutate(self, spec: Spec, text: str, direction: str, message: str, number: int) -> str:
        """Return a harder version of the module if `direction` is ``easy``, an easier version if it is ``hard``.

        Raises:
            InvalidModuleError: The answer of the model is not a valid module.
            ModelError: The model did not answer.
        """
        revision = template.render(
            "mutate.md.jinja",
            direction=direction,
            message=message,
            room=self._line_budget(spec),
            **self._answer_form(spec, text),
        )
        return self._module(spec, f"mutation {number} {spec.id}", self._writing_prompt(spec), text, revision)

    def template_sha256(self, spec: Spec) -> str:
        """Return the hash of the prompts and of the template for the module."""
        folder = resources.files("trace_gym.templates")
        parts = [(folder / "prompts" / f"{n}.md.jinja").read_text() for n in PROMPTS]
        return sha256("".join([*parts, (folder / "env" / "written.py.jinja").read_text()]))

    def origin(self, rounds: int, failed_first: Iterable[str]) -> Origin:
        """Return the model, and the number and cost of its requests and tokens so far."""
        costs = [c.cost for c in self.completions]
        return Origin(
            model=self.name.removeprefix("llm:"),
            rounds=rounds,
            requests=len(self.completions),
            prompt_tokens=sum(c.prompt_tokens for c in self.completions),
            completion_tokens=sum(c.completion_tokens for c in self.completions),
            cost=sum(c for c in costs if c is not None) if costs and None not in costs else None,
            changed=sum(c.changed for c in self.completions),
            failed_first=tuple(failed_first),
        )

    def _writing_prompt(self, spec: Spec) -> str:
        resolved_target = target(spec.target)
        plan = spec.model_dump(mode="json", exclude={"blueprint", "slots"}, exclude_none=True)
        return template.render(
            "write.md.jinja",
            spec=spec,
            plan_text=yaml.safe_dump(plan, sort_keys=False, allow_unicode=True, width=110).strip(),
            contract=public_part(Path(str(contract.__file__)).read_text()),
            target=resolved_target,
            tools=(tools := behavior(resolved_target, spec.tools)),
            tool_code=code_of_tools(resolved_target, tools),
            needs=inherited_needs(resolved_target, spec.capability),
            user=describe_user(resolved_target.world, resolved_target.user_rules),
            example=_example(resolved_target),
            # Authors cannot follow a rule to satisfy a language model, and its findings explain themselves.
            properties=[p for code, p in sorted(PROPERTIES.items()) if code not in MODEL_CODES],
            imports="\n".join(slots.imports(resolved_target)),
            rules=RULES.values(),
            allowed=allowed_names(),
            room=self._line_budget(spec),
            most=MAX_MODULE_LINES,
        )

    def _request(self, purpose: str, prompt: str, *turns: str) -> ModelRequest:
        """Return a request with the system prompt, a prompt, and optional further turns of the model and the user."""
        system = template.render("system.md.jinja", properties=PROPERTIES)
        contents = zip(("system", "user", "assistant", "user"), (system, prompt, *turns), strict=False)
        messages = tuple({"role": role, "content": content} for role, content in contents)
        return ModelRequest(messages=messages, purpose=purpose, temperature=self.temperature)

    def _module(self, spec: Spec, purpose: str, prompt: str, text: str = "", revision: str = "") -> str:
        """Request a module from the model, either a new one or a revision of an existing module.

        A revision continues the conversation that produced the module, so its prompt does not have to repeat the task.

        Args:
            spec: Spec of the environment.
            purpose: Purpose of the request, for the log of requests.
            prompt: Prompt for a new module.
            text: Existing module; only for a revision.
            revision: Prompt for the revision; empty for a new module.
        """
        turns = (fenced(text, "python"), revision) if revision else ()
        code, completions = ask_for(self.model, self._request(purpose, prompt, *turns), code_in)
        self.completions += completions
        required = self._contract(spec).required
        return self._assemble(with_changes(text, code, template.camel(spec.id), required) if revision else code, spec)

    def _answer_form(self, spec: Spec, text: str) -> dict[str, object]:
        """Return template variables that describe the expected form of the answer in repair and mutation prompts."""
        name = template.camel(spec.id)
        return {"world": name, "mark": MARK, "partial": is_changeable(text, name)}

    def _contract(self, spec: Spec) -> slots.Contract:
        """Return the requirements on the methods of a module."""
        return slots.ENVIRONMENT

    def _line_budget(self, spec: Spec) -> int | None:
        """Return the maximum number of lines of code in the model's answer; None means no limit."""
        empty = slots.Slots(before="", fields="", methods=())
        base = target(spec.target).base
        skeleton = template.render("written.py.jinja", spec=spec, slots=empty, base=base, author="", imports="")
        return MAX_MODULE_LINES - IMPORT_LINES - skeleton.count("\n")

    def _assemble(self, code: str, spec: Spec) -> str:
        """Return the complete, formatted module for the code that the model returned."""
        resolved_target = target(spec.target)
        text = slots.render(slots.sort_into_slots(code, spec, resolved_target), spec, resolved_target, self.name)
        if (count := text.count("\n")) > MAX_MODULE_LINES:
            excess = f"{count - MAX_MODULE_LINES} more than the {MAX_MODULE_LINES} that it may have"
            message = f"the module has {count} lines, {excess}: choose a simpler design, not denser lines"
            raise slots.InvalidModuleError([message], code)
        return text


def _example(resolved_target: Target) -> str:
    """Return the code of the environment that the prompt shows as an example."""
    return registry.module_path(resolved_target.example or default_target().example).read_text()

"""Adapter for tasks of Inspect (package inspect_ai) whose scorers do not require a model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, ClassVar

from trace_gym.errors import ConfigError, EnvNotFound, TraceGymError
from trace_gym.validation.third_party.scripted_rollout import Ask, RolloutOutcome, ScriptedBox, fill_reference, new_text
from trace_gym.validation.third_party.uri import EnvironmentURI, creation_error, import_required

MODEL = "mockllm/model"
MODEL_GRADED = "model_graded"
"""Prefix of the names of Inspect's scorers that call a language model."""
MAX_TURNS = 8
"""Turn limit of a rollout. A task whose solver generates once ends after one turn."""


class InspectBox(ScriptedBox):
    """A task of Inspect, with a URI such as ``inspect:file.py@task`` or ``inspect:package/task``.

    A seed is the number of a sample. The solver of the task runs, and whenever it requests a completion, it receives
    the agent's next turn. The reward is the value that the scorer of the task gives to the final state. URI options:
    ``reference`` (form of the reference solution), ``scorer`` (name, if the task has several scorers), ``value`` (name,
    if the score has several values). The other options are the parameters of the task.
    """

    missing_reference = (
        "the samples have no value for the reference; set the option `reference` to a template with their fields"
    )
    kind: ClassVar[str] = "an Inspect task"
    _refused: str = ""
    """Reason, found in a rollout, why the validation does not support the task."""

    def __init__(self, address: EnvironmentURI) -> None:
        import_required("inspect_ai", "inspect", address)
        options = dict(address.options)
        self._uri = address.text
        reference, scorer, value = (options.pop(name, None) for name in ("reference", "scorer", "value"))
        self._value: str | None = None if value is None else str(value)
        try:
            self._task = _load(address, options)
            self._samples: list[Any] = list(self._task.dataset)
        except TraceGymError:
            raise
        except (Exception, SystemExit) as error:
            raise creation_error(address.text, error) from error
        self.problems, self.limit = len(self._samples), MAX_TURNS
        self._reject_unsupported()
        self._scorer = self._select_scorer(None if scorer is None else str(scorer))
        self._reference = str(reference or ("ANSWER: {target}" if self._samples[0].choices else "{target}"))
        fill_reference(self._reference, self._fields(0), address.text)
        self._try_rollout()

    def _try_rollout(self) -> None:
        """Run a rollout, so that a task that calls a model is rejected before the validation starts.

        Other exceptions are ignored here, because the validation reports them as findings.
        """
        with suppress(Exception, SystemExit):
            self.begin(0)
            while self._rollout is not None and not self._rollout.done and not self.act("...").done:
                pass
        self.close()
        if self._refused:
            raise ConfigError(self._refused)

    def _reject_unsupported(self) -> None:
        if self._task.sandbox or any(sample.sandbox for sample in self._samples):
            raise ConfigError(
                f"{self._uri} requires an Inspect sandbox, which the validation does not start. Choose a task that "
                "does not require a sandbox"
            )

    def _select_scorer(self, name: str | None) -> Any:
        """Return the scorer of the task, or the one with this name."""
        names = {_scorer_name(scorer): scorer for scorer in self._task.scorer or ()}
        if not names:
            raise ConfigError(f"{self._uri} has no scorer: expected at least one. Add a scorer to the task")
        if name is None and len(names) > 1:
            raise ConfigError(
                f"{self._uri} has several scorers: found {', '.join(names)}. Select one of them, as in "
                f"?scorer={next(iter(names))}"
            )
        if name is not None and name not in names:
            raise ConfigError(f"invalid option 'scorer' in {self._uri}: found {name!r}, expected {' or '.join(names)}")
        chosen = name or next(iter(names))
        if chosen.startswith(MODEL_GRADED):
            raise ConfigError(
                f"{self._uri} uses the scorer {chosen!r}, in which a language model computes the reward. Select a "
                "scorer that does not require a model"
            )
        return names[chosen]

    def _fields(self, seed: int) -> Mapping[str, Any]:
        sample = self._samples[seed]
        target = sample.target if isinstance(sample.target, str) else (sample.target or [""])[0]
        return {**(sample.metadata or {}), "id": sample.id, "input": sample.input, "target": target}

    def solution(self, seed: int) -> list[str] | None:
        turn = fill_reference(self._reference, self._fields(seed), self._uri)
        return None if turn is None else [turn]

    async def rollout(self, seed: int, ask: Ask) -> RolloutOutcome:
        """Run the solver and the scorer of the task on a sample."""
        model: Any = import_module("inspect_ai.model")
        solver: Any = import_module("inspect_ai.solver")
        scoring: Any = import_module("inspect_ai.scorer")
        active: Any = import_module("inspect_ai.model._model")
        sample = self._samples[seed]
        text = isinstance(sample.input, str)
        state = solver.TaskState(
            model=model.ModelName(MODEL),
            sample_id=sample.id if sample.id is not None else seed + 1,
            epoch=1,
            input=sample.input,
            messages=[model.ChatMessageUser(content=sample.input)] if text else list(sample.input),
            target=scoring.Target(sample.target),
            choices=sample.choices,
            metadata=dict(sample.metadata or {}),
        )
        # A call of the default model, such as a grader, raises an error instead of sending a request.
        mock = model.get_model(MODEL, custom_outputs=self._refuse, memoize=False)
        active.init_active_model(mock, model.GenerateConfig())

        async def generate(state: Any, *_: Any, **__: Any) -> Any:
            completion = await ask(new_text(list(state.messages)))
            state.output = model.ModelOutput.from_content(MODEL, completion)
            state.messages.append(state.output.message)
            return state

        for step in (self._task.setup, self._task.solver):
            if step is not None:
                state = await step(state, generate)
        score = await self._scorer(state, state.target)
        return RolloutOutcome(self._number(score.value, scoring.value_to_float()))

    def _unsupported(self, reason: str) -> ConfigError:
        """Record why the validation does not support the task, and return the error."""
        self._refused = f"{self._uri}: {reason}"
        return ConfigError(self._refused)

    def _refuse(self, *_: Any) -> Any:
        raise self._unsupported(
            "the task calls a language model in addition to the turns of the agent, which the validation cannot test. "
            "Use a solver and a scorer that need no model"
        )

    def _number(self, value: Any, to_float: Any) -> float:
        """Return the reward for the value of a score."""
        if isinstance(value, Mapping):
            if (self._value is None and len(value) > 1) or (self._value or next(iter(value), None)) not in value:
                found = ", ".join(map(str, value))
                raise self._unsupported(f"the score has the values {found}. Select one with the option value")
            value = value[self._value or next(iter(value))]
        elif self._value is not None:
            raise self._unsupported("the option value has no effect, because the score has one value. Remove it")
        if not isinstance(value, (str, int, float)):
            raise self._unsupported(f"found the score {value!r}, expected a number or a text. Change the scorer")
        return float(to_float(value))


def _load(address: EnvironmentURI, options: Mapping[str, Any]) -> Any:
    """Load and return the task that a URI names."""
    loader: Any = import_module("inspect_ai._eval.loader")
    registry: Any = import_module("inspect_ai._util.registry")
    try:
        found = loader.load_tasks([address.name], dict(options))
    except FileNotFoundError as error:
        raise EnvNotFound(f"{address.text} does not exist: {error}. Pass file.py@task or the name of a task") from None
    if len(found) != 1:
        names = ", ".join(task.name for task in found) or "none"
        raise EnvNotFound(
            f"{address.text} does not name one task: found {names}. Pass file.py@task or the name of a registered task"
        )
    info = registry.registry_info(found[0])
    declared = signature(registry.registry_lookup("task", info.name)).parameters.values()
    unknown = options.keys() - {parameter.name for parameter in declared}
    if unknown and not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in declared):
        names = ", ".join(("reference", "scorer", "value", *(parameter.name for parameter in declared)))
        raise ConfigError(
            f"{address.text} has an invalid option: found {', '.join(sorted(unknown))}, expected one of {names}"
        )
    return found[0]


def _scorer_name(scorer: Any) -> str:
    """Return the name of a scorer without the name of its package."""
    registry: Any = import_module("inspect_ai._util.registry")
    name: str = registry.registry_info(scorer).name
    return name.rpartition("/")[2]

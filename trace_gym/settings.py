"""The configuration of a complete run: one YAML file that is validated before the first stage starts."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SerializeAsAny, ValidationError, field_validator, model_validator

from trace_gym.errors import ConfigError, ReadError, expect_choice
from trace_gym.llm.model_uri import ignored_settings, solver_uri
from trace_gym.models.settings import ModelSettings
from trace_gym.models.unused import ROLLOUTS, ROUTER, check
from trace_gym.parsing import parse_yaml, read_yaml
from trace_gym.stage_settings import Diagnose, Evaluate, Levels, Llm, Rollouts, Route, RunTarget, Skill
from trace_gym.trainers import registered
from trace_gym.trainers.config import GRPOConfig, TrainerConfig
from trace_gym.trainers.model_support import use_of
from trace_gym.types import Record


class RunConfig(Record):
    """All settings of a run. Models other than the toy model require different values of `levels` and `train.lr`."""

    model: ModelSettings = ModelSettings()
    """Settings of the agent's model, or its name. All stages use the same settings."""
    user: str = ""
    """Language model that rewords the messages of the scripted user in every rollout, such as ``openai:MODEL@URL``. If
    empty, the messages are not reworded."""
    source: Path | None = None
    """Results of a benchmark, or JSONL of trace-gym rollout, to diagnose instead of new rollouts."""
    scorer: str = ""
    """Score in `source` that is the outcome, for logs of Inspect with several."""
    skip_invalid: bool = False
    """Whether to skip invalid and repeated records in `source`. Their number is printed."""
    folders: tuple[Path, ...] = ()
    """Folders with environments, such as the folder of a custom target, in addition to those in TRACE_GYM_ENVS."""
    environments: tuple[str, ...] = ()
    """Environments to train on. If given, the rollouts and diagnose stages are skipped."""
    capabilities: dict[str, str] = Field(default_factory=dict)
    """Mapping of capability name to description. The synthesize stage finds or generates environments for the
    capabilities that no environment in `environments` trains."""
    target: RunTarget = RunTarget()
    levels: dict[str, Levels] = Field(default_factory=dict)
    """Mapping of environment name to the levels to train on. By default all levels are used."""
    rollouts: Rollouts = Rollouts()
    diagnose: Diagnose = Diagnose()
    author: Literal["recorded", "llm"] = "recorded"
    """Author of missing environments: ``recorded`` replays the recorded answers that are part of the package, ``llm``
    is the language model that the setting `llm` selects."""
    reuse: bool = True
    """Whether to use registered environments that train a missing capability. If false, the author writes an
    environment for every missing capability."""
    llm: Llm = Llm()
    validation: Literal["quick", "gate"] = "quick"
    skill: Skill = Skill()
    train: SerializeAsAny[TrainerConfig] = GRPOConfig()
    """Settings of the trainer. `train.trainer` is its name."""
    route: Route = Route()
    evaluate: Evaluate = Evaluate()
    seeds: Levels = (0,)
    workers: int = Field(2, ge=1)
    """Number of parallel worker processes, which use one thread each."""

    @field_validator("train", mode="before")
    @classmethod
    def _settings_of_the_trainer(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        try:
            kind = registered.config_type(data)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return kind.model_validate({"trainer": "torch_grpo", **data})

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        if ":" in self.model.name and not Path(self.model.name).exists():
            raise ValueError(
                f"invalid model: found {self.model.name!r}, expected 'lab', a local model folder, or a Hugging Face "
                "model name, because training requires the model weights. If you have the weights, set model.name to "
                "their folder and model.endpoint to the endpoint. Otherwise, collect rollouts with 'trace-gym rollout "
                "--policy openai:MODEL@URL', and pass the resulting file as source"
            )
        try:
            self.model.limited(self.train.max_tokens, self.train.max_turn_tokens)
        except ConfigError as error:
            raise ValueError(f"invalid setting: train.{error}") from None
        try:
            check(self.model, ROLLOUTS, use_of(self.train), ROUTER)
        except ConfigError as error:
            raise ValueError(f"invalid settings of the model, which all stages share: {error}") from None
        if self.train.user:
            raise ValueError("the setting train.user has no effect. Use the top-level setting 'user' instead")
        if self.author == "llm" and not self.llm.model:
            raise ValueError(
                "the setting 'author: llm' requires a model. Set llm.model to openai:MODEL, replay:DIR or files:DIR"
            )
        return self

    @model_validator(mode="after")
    def _named_settings_have_an_effect(self) -> Self:
        if errors := list(self._without_effect()):
            raise ValueError("; ".join(errors))
        return self

    @property
    def diagnoses(self) -> bool:
        """Whether capabilities are diagnosed: True unless the settings list capabilities or environments."""
        return not (self.environments or self.capabilities)

    def _without_effect(self) -> Iterator[str]:
        """Yield an error message for each setting that has no effect in combination with the other settings."""
        yield from self._without_effect_on_training()
        yield from self._without_effect_on_authors()
        yield from self._without_effect_without_diagnosis()

    def _without_effect_on_training(self) -> Iterator[str]:
        if self.source is not None and self.diagnoses and self.rollouts != Rollouts():
            yield "rollouts has no effect: source is given, so no rollouts are collected. Remove rollouts or source"
        if self.source is None and (unused := [key for key in ("scorer", "skip_invalid") if getattr(self, key)]):
            yield f"{' and '.join(unused)} has no effect: source is not given. Remove it, or add source"
        if self.train.seed != TrainerConfig().seed:
            yield f"train.seed has no effect: seeds contains the seeds of a run. Use seeds: [{self.train.seed}] instead"
        if self.train.levels is not None:
            yield "train.levels has no effect: the setting levels applies to all adapters. Use levels instead"

    def _without_effect_on_authors(self) -> Iterator[str]:
        if self.author != "llm":
            if unused := sorted(key for key in Llm.model_fields if getattr(self.llm, key) != getattr(Llm(), key)):
                names = ", ".join(f"llm.{key}" for key in unused)
                yield f"{names} has no effect: author is {self.author}. Set author to llm, or remove llm"
            return
        given = {key: getattr(self.llm, key) for key in ("tokens", "dollars", "price", "by")}
        solver = solver_uri(self.llm.solver, self.llm.model)
        checkers = [self.llm.reviewer, solver, self.llm.reader]
        for key in ignored_settings(self.llm.model, given, checkers):
            yield f"llm.{key} has no effect on {self.llm.model}. Remove it, or choose another model"
        if self.llm.reader and not (self.llm.reviewer or solver):
            yield "llm.reader has no effect without llm.reviewer or llm.solver. Set one of them, or remove llm.reader"

    def _without_effect_without_diagnosis(self) -> Iterator[str]:
        named = " and ".join(key for key in ("environments", "capabilities") if getattr(self, key))
        if not named:
            return
        if self.source is not None:
            yield f"source has no effect: {named} are given, so nothing is diagnosed. Remove source"
        for key, default in (("rollouts", Rollouts()), ("diagnose", Diagnose())):
            if getattr(self, key) != default:
                yield f"{key} has no effect: {named} are given, so nothing is diagnosed. Remove {key}"
        if duplicates := sorted({n for n in self.environments if self.environments.count(n) > 1}):
            yield f"environments contains {duplicates[0]} twice. Remove one of them"
        if self.capabilities:
            return
        if self.author == "llm":
            yield "author llm has no effect: capabilities is empty, so no environments are generated. Remove author"
        if not self.reuse:
            yield "reuse has no effect: capabilities is empty, so no environments are generated. Remove reuse"
        if unused := sorted(self.levels.keys() - {*self.environments}):
            yield f"levels of {unused[0]} have no effect: expected one of {', '.join(self.environments)}. Remove them"
        if self.evaluate.mixture and len(self.environments) == 1:
            yield "evaluate.mixture has no effect: found one environment, expected at least two. Remove it"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the configuration in a YAML file.

        Raises:
            ConfigError: The file is missing, is not valid YAML, or has unknown or invalid settings.
        """
        try:
            data = read_yaml(path, "See trace-gym run --help")
        except ReadError as error:
            raise ConfigError(str(error)) from None
        if data is None:
            raise ConfigError(
                f"{path} contains no settings: expected at least one, such as 'model: lab'. To use a preset, "
                "pass --preset demo"
            )
        return cls.parse(data, str(path))

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return a shipped configuration. `presets` lists the names."""
        expect_choice("preset", name, presets())
        text = (resources.files("trace_gym") / "presets" / f"{name}.yaml").read_text()
        return cls.parse(parse_yaml(text, name) or {}, f"preset {name}")

    @classmethod
    def parse(cls, data: Any, source: str) -> Self:
        """Return the configuration in parsed YAML data.

        Raises:
            ConfigError: The data is not valid. The message starts with `source`.
        """
        if not isinstance(data, dict):
            raise ConfigError(
                f"{source} is not valid: found {type(data).__name__}, expected a mapping of setting names to values"
            )
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            errors = [f"  {where or 'the settings'}: {message}" for where, message in _errors(error)]
            raise ConfigError(f"{source} contains invalid settings:\n" + "\n".join(errors)) from None


def _errors(error: ValidationError, outer: tuple[int | str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the setting and the message of each error, including errors in the settings of the trainer."""
    for found in error.errors():
        inner, where = found.get("ctx", {}).get("error"), (*outer, *found["loc"])
        if isinstance(inner, ValidationError):
            yield from _errors(inner, where)
        else:
            yield ".".join(map(str, where)), found["msg"]


def presets() -> list[str]:
    """Return the names of the shipped configurations."""
    folder = resources.files("trace_gym") / "presets"
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))

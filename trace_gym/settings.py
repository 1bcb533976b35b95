"""The configuration of a complete run: one YAML file that is validated before the first stage starts."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, SerializeAsAny, ValidationError, field_validator, model_validator

from trace_gym.errors import ConfigError, ReadError, expect_choice
from trace_gym.llm.model_uri import ignored_settings
from trace_gym.models.settings import ModelSettings
from trace_gym.parsing import parse_yaml, read_yaml
from trace_gym.targets.catalogue import default_target
from trace_gym.trainers import registered
from trace_gym.trainers.config import GRPOConfig, TrainerConfig
from trace_gym.types import Record


def _distinct(values: tuple[int, ...]) -> tuple[int, ...]:
    if duplicates := [value for value in values if values.count(value) > 1]:
        raise ValueError(f"found {duplicates[0]} twice, expected distinct numbers. Remove one of them")
    return values


Levels = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1), AfterValidator(_distinct)]
"""Type of a nonempty tuple of distinct levels or seeds."""


class Target(Record):
    """The environment that the agent is trained for, and evaluated on."""

    env: str = Field(default_factory=lambda: default_target().tasks)
    levels: Levels = (0,)
    """Levels of the target. They are diagnosed together and evaluated separately."""


class Rollouts(Record):
    """Settings of the rollouts that are diagnosed."""

    tasks: int = Field(200, ge=1)
    samples: int = Field(1, ge=1)
    temperature: float = Field(1.0, ge=0)


class Diagnose(Record):
    """Thresholds of the diagnosis; see docs/guides/diagnose.md."""

    delta: float = Field(0.20, ge=0, le=1)
    rho: float = Field(0.10, ge=0, le=1)
    alpha: float = Field(0.05, gt=0, le=1)
    analyst: str = "rules"
    """``rules``, or the URI of a language model that discovers and labels capabilities."""
    runs: int = Field(10, ge=1)
    """Number of label runs of a language model."""
    keep: int = Field(8, ge=0)
    """Minimum number of label runs in which a selected capability reaches `delta` and `rho`."""
    outcome_aware: bool = False
    """Whether the language model sees the outcomes while it labels."""
    tokens: int | None = Field(None, ge=1)
    """Budget in tokens for the language model."""
    dollars: float | None = Field(None, ge=0)
    """Budget in US dollars; requires `price`."""
    price: str = ""
    """US dollars per million tokens as ``prompt/completion``."""


class Llm(Record):
    """The language model that generates environments if `author` is ``llm``, and its limits."""

    model: str = ""
    """``openai:MODEL``, ``openai:MODEL@URL``, ``replay:DIR`` or ``files:DIR``. The API key is read from
    an environment variable."""
    folder: Path | None = None
    """Folder for generated environments, answers and the ledger; ``envs`` in the run folder by default."""
    repairs: int = Field(3, ge=0)
    """Maximum number of repair attempts per module."""
    seconds: float = Field(300.0, gt=0)
    """Time limit in seconds for the validation of one version of a module."""
    workers: int = Field(2, ge=1)
    """Number of environments that are generated in parallel."""
    policy: str = ""
    """Policy whose rewards must vary within groups: ``openai:MODEL``, ``hf:FOLDER`` or ``mixture:P``."""
    tokens: int | None = Field(None, ge=1)
    """Budget in tokens for all runs that use `folder`."""
    dollars: float | None = Field(None, ge=0)
    """Budget in US dollars; requires `price`."""
    price: str = ""
    """US dollars per million tokens as prompt/completion, such as ``0.5/1.5``."""
    by: str = ""
    """Name of the person or program that answers ``files:DIR``; recorded in the manifests."""


class Skill(Record):
    """Settings of the skill stage, which excludes environments with too few groups of varying rewards."""

    groups: int = Field(24, ge=1)
    informative: float = Field(0.2, ge=0, le=1)
    """Minimum share of groups with varying rewards. Environments below this share are not used for training."""


class Route(Record):
    """Settings of the router."""

    permutations: int = Field(4, ge=1)
    """Number of option orders over which the probabilities are averaged."""
    threshold: float = Field(0.0, ge=0, le=1)


class Evaluate(Record):
    """Settings of the evaluation."""

    tasks: int = Field(300, ge=1)
    validation_tasks: int = Field(150, ge=1)
    """Number of tasks of the validate split, from which oracle routing chooses among several needed adapters."""
    own_tasks: int = Field(100, ge=1)
    """Number of held-out scenarios per training environment for comparing its adapter to the base model."""
    temperature: float = Field(0.0, ge=0)
    mixture: bool = False
    """Also train one LoRA adapter on a mixture of all environments, with the same total number of rollouts."""
    grpo_target: bool = False
    """Also train one LoRA adapter on the target, with the same total number of rollouts."""


class RunConfig(Record):
    """All settings of a run. Models other than the toy model require other values of `levels` and `train.lr`."""

    model: ModelSettings = ModelSettings()
    """Settings of the agent's model, or its name. All stages use the same settings."""
    user: str = ""
    """Language model that rewords the messages of the scripted user in every rollout, such as ``openai:MODEL@URL``. If
    empty, the messages are not reworded."""
    source: Path | None = None
    """Results of tau-bench or tau2, or JSONL of trace-gym rollout, to diagnose instead of new rollouts."""
    folders: tuple[Path, ...] = ()
    """Folders with environments, such as the folder of a custom target, in addition to those in TRACE_GYM_ENVS."""
    environments: tuple[str, ...] = ()
    """Environments to train on. If given, the rollouts and diagnose stages are skipped."""
    capabilities: dict[str, str] = Field(default_factory=dict)
    """Mapping of capability name to description. The synthesize stage finds or generates environments for the
    capabilities that no environment in `environments` trains."""
    target: Target = Target()
    levels: dict[str, Levels] = Field(default_factory=dict)
    """Mapping of environment name to the levels to train on. By default all levels are used."""
    rollouts: Rollouts = Rollouts()
    diagnose: Diagnose = Diagnose()
    author: Literal["recorded", "llm"] = "recorded"
    """Author of missing environments: ``recorded`` replays the recorded answers that are part of the package, ``llm``
    is the language model of `llm`."""
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
        named = {"trainer": "torch_grpo", **data}
        try:
            kind = registered.trainer(str(named["trainer"])).Config
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return kind.model_validate(named)

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        if ":" in self.model.name and not Path(self.model.name).exists():
            raise ValueError(
                f"model is not valid: found {self.model.name}, expected lab, or a Hugging Face folder or name, because "
                "training requires the weights. If they are available, set model.name to their folder, and "
                "model.endpoint to the endpoint. Otherwise collect rollouts with trace-gym rollout --policy "
                "openai:MODEL@URL, and pass that file as source"
            )
        try:
            self.model.limited(self.train.max_tokens, self.train.max_turn_tokens)
        except ConfigError as error:
            raise ValueError(f"train.{error}") from None
        if self.train.user:
            raise ValueError("train.user has no effect in a run. Set user instead")
        if self.author == "llm" and not self.llm.model:
            raise ValueError(
                "the setting author: llm requires a model. Set llm.model to openai:MODEL, replay:DIR or files:DIR"
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
        for key in ignored_settings(self.llm.model, given):
            yield f"llm.{key} has no effect on {self.llm.model}. Remove it, or choose another model"

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
                f"{path} contains no settings: expected at least one, such as model: lab. To use shipped settings, "
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
            raise ConfigError(f"{source}: expected a mapping of setting names to values, found {type(data).__name__}")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            errors = [f"  {where or 'the settings'}: {message}" for where, message in _errors(error)]
            raise ConfigError(f"{source}: {len(errors)} invalid settings\n" + "\n".join(errors)) from None


def _errors(error: ValidationError, outer: tuple[int | str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the setting and the message of each error, also of errors within the settings of the trainer."""
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

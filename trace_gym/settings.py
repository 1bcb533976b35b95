"""The configuration of a whole run: one YAML file, validated before anything is done."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from trace_gym.errors import ConfigError, ReadError
from trace_gym.llm.address import without_effect
from trace_gym.parsing import parse_yaml, read_yaml
from trace_gym.trainers.config import GRPOConfig
from trace_gym.types import Record


def _different(values: tuple[int, ...]) -> tuple[int, ...]:
    if twice := [value for value in values if values.count(value) > 1]:
        raise ValueError(f"found {twice[0]} twice, expected different numbers. Remove one of them")
    return values


Levels = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1), AfterValidator(_different)]
"""One or more different numbers of levels, or of seeds."""


class Target(Record):
    """What the agent is to become better at."""

    env: str = "tau2_airline_desk"
    levels: Levels = (0,)
    """Variants of the target; each is diagnosed together and evaluated apart."""


class Rollouts(Record):
    """How the agent's failures are collected."""

    tasks: int = Field(200, ge=1)
    samples: int = Field(1, ge=1)
    temperature: float = Field(1.0, ge=0)


class Diagnose(Record):
    """Thresholds of the paper (section 3.3)."""

    delta: float = Field(0.20, ge=0, le=1)
    rho: float = Field(0.10, ge=0, le=1)


class Llm(Record):
    """The language model that writes environments, where `author` is ``llm``, and what it may take."""

    model: str = ""
    """``openai:MODEL``, ``openai:MODEL@URL``, ``replay:DIR`` or ``files:DIR``; a key comes from the environment."""
    folder: Path | None = None
    """Where environments, answers and ledger go, and are looked for; ``envs`` of the run folder by default."""
    repairs: int = Field(3, ge=0)
    """How often it may mend a module."""
    seconds: float = Field(300.0, gt=0)
    """For checking one version."""
    workers: int = Field(2, ge=1)
    """Environments that are worked on at a time."""
    policy: str = ""
    """Agent whose rewards should spread: ``openai:MODEL``, ``hf:FOLDER`` or ``mixture:P``."""
    tokens: int | None = Field(None, ge=1)
    """Budget in tokens, of all runs with this folder."""
    dollars: float | None = Field(None, ge=0)
    """Budget in US dollars, which needs `price`."""
    price: str = ""
    """Dollars for a million tokens, prompt/completion, such as ``0.5/1.5``."""
    by: str = ""
    """Who answers with ``files:DIR``, for the manifests."""


class Skill(Record):
    """The gate before training: GRPO needs groups whose rewards differ."""

    groups: int = Field(24, ge=1)
    informative: float = Field(0.2, ge=0, le=1)
    """Least share of groups with different rewards; an environment below it is not trained on."""


class Route(Record):
    """How the router asks."""

    permutations: int = Field(4, ge=1)
    """Label orders over which the probabilities are averaged."""
    threshold: float = Field(0.0, ge=0, le=1)


class Evaluate(Record):
    """How the gain is measured."""

    tasks: int = Field(300, ge=1)
    validation_tasks: int = Field(150, ge=1)
    """Target tasks of the validate split; they say which of several needed adapters serves best."""
    own_tasks: int = Field(100, ge=1)
    """Scenarios of an adapter's own environment on which before and after are measured."""
    temperature: float = Field(0.0, ge=0)
    mixture: bool = False
    """Also train one LoRA on the mixture of all environments, with the same number of rollouts in all."""
    grpo_target: bool = False
    """Also run GRPO on the target itself, with the same number of rollouts in all."""


class RunConfig(Record):
    """Everything that decides a run. A real model needs other values of `model`, `levels` and `train.lr`."""

    model: str = "lab"
    """``lab`` is the embedded agent; otherwise a Hugging Face folder or name."""
    user: str = ""
    """Language model that rewords the scripted user in every rollout, such as ``openai:MODEL@URL``; empty for the words
    of the script."""
    source: Path | None = None
    """A results file (tau-bench, tau2 or ours) to diagnose instead of fresh rollouts of `model`."""
    folders: tuple[Path, ...] = ()
    """Folders with environments, such as that of a target; searched besides those in TRACE_GYM_ENVS."""
    environments: tuple[str, ...] = ()
    """Environments to train on. Nothing is rolled out and diagnosed then."""
    capabilities: dict[str, str] = Field(default_factory=dict)
    """Capability -> description. Those that none of `environments` trains get an environment as diagnosed ones do."""
    target: Target = Target()
    levels: dict[str, Levels] = Field(default_factory=dict)
    """Environment -> the levels to train on; every level where it is not named."""
    rollouts: Rollouts = Rollouts()
    diagnose: Diagnose = Diagnose()
    author: Literal["template", "llm"] = "template"
    """Who writes an environment for a capability: shipped specs alone, or a language model where there is none."""
    llm: Llm = Llm()
    validation: Literal["quick", "gate"] = "quick"
    skill: Skill = Skill()
    train: GRPOConfig = GRPOConfig()
    route: Route = Route()
    evaluate: Evaluate = Evaluate()
    seeds: Levels = (0,)
    workers: int = Field(2, ge=1)
    """Processes that train and evaluate side by side, one thread each."""

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        if ":" in self.model and not Path(self.model).exists():
            raise ValueError(
                f"model is {self.model}: expected lab, or a Hugging Face folder or name, as its weights are trained. "
                "To improve an agent behind an endpoint, record it with trace-gym rollout --policy openai:MODEL@URL "
                "and name that file as source"
            )
        if self.train.user:
            raise ValueError("train.user has no effect: a run has one user. Set user instead")
        if self.author == "llm" and not self.llm.model:
            raise ValueError("author llm needs a model: set llm.model to openai:MODEL, replay:DIR or files:DIR")
        return self

    @model_validator(mode="after")
    def _named_settings_have_an_effect(self) -> Self:
        if faults := list(self._without_effect()):
            raise ValueError("; ".join(faults))
        return self

    @property
    def diagnoses(self) -> bool:
        """Whether the capabilities are diagnosed; otherwise the settings name them, or the environments."""
        return not (self.environments or self.capabilities)

    def _without_effect(self) -> Iterator[str]:
        """Yield a sentence about each setting that has no effect beside the others."""
        yield from self._without_effect_on_training()
        yield from self._without_effect_on_authors()
        yield from self._without_effect_beside_names()

    def _without_effect_on_training(self) -> Iterator[str]:
        if self.source is not None and self.diagnoses and self.rollouts != Rollouts():
            yield "rollouts has no effect: source is given, so nothing is rolled out. Remove one of them"
        if self.train.seed != GRPOConfig().seed:
            yield f"train.seed has no effect: each of seeds trains one adapter. Use seeds: [{self.train.seed}] instead"
        if self.train.levels is not None:
            yield "train.levels has no effect: the levels of each environment are in levels. Use levels instead"

    def _without_effect_on_authors(self) -> Iterator[str]:
        if self.author != "llm":
            if unused := sorted(key for key in Llm.model_fields if getattr(self.llm, key) != getattr(Llm(), key)):
                names = ", ".join(f"llm.{key}" for key in unused)
                yield f"{names} has no effect: author is {self.author}. Set author to llm, or remove llm"
            return
        given = {key: getattr(self.llm, key) for key in ("tokens", "dollars", "price", "by")}
        for key in without_effect(self.llm.model, given):
            yield f"llm.{key} has no effect on {self.llm.model}. Remove it, or name another model"

    def _without_effect_beside_names(self) -> Iterator[str]:
        named = " and ".join(key for key in ("environments", "capabilities") if getattr(self, key))
        if not named:
            return
        if self.source is not None:
            yield f"source has no effect: {named} are named, so nothing is diagnosed. Remove one of them"
        for key, default in (("rollouts", Rollouts()), ("diagnose", Diagnose())):
            if getattr(self, key) != default:
                yield f"{key} has no effect: {named} are named, so nothing is diagnosed. Remove {key}"
        if twice := sorted({n for n in self.environments if self.environments.count(n) > 1}):
            yield f"environments name {twice[0]} twice. Remove one of them"
        if self.capabilities:
            return
        if self.author == "llm":
            yield "author llm has no effect: no capabilities are named, so none is written for. Remove author"
        if unused := sorted(self.levels.keys() - {*self.environments}):
            yield f"levels of {unused[0]} have no effect: found none of {', '.join(self.environments)}. Remove them"
        if self.evaluate.mixture and len(self.environments) == 1:
            yield "evaluate.mixture has no effect: found one environment, expected at least two. Remove it"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a YAML file.

        Raises:
            ConfigError: It is missing, no YAML, or has unknown or invalid settings; each is named.
        """
        try:
            data = read_yaml(path, "See trace-gym run --help")
        except ReadError as error:
            raise ConfigError(str(error)) from None
        if data is None:
            raise ConfigError(
                f"{path} holds no settings: expected at least one by name, such as model: lab. For a run with the "
                "settings that ship, use --preset demo"
            )
        return cls.parse(data, str(path))

    @classmethod
    def preset(cls, name: str) -> Self:
        """One of the configurations that ship: see `presets`."""
        if name not in presets():
            raise ConfigError(f"no preset {name!r}; there are {', '.join(presets())}")
        text = (resources.files("trace_gym") / "presets" / f"{name}.yaml").read_text()
        return cls.parse(parse_yaml(text, name) or {}, f"preset {name}")

    @classmethod
    def parse(cls, data: Any, source: str) -> Self:
        if not isinstance(data, dict):
            raise ConfigError(f"{source}: expected settings by name, found {type(data).__name__}")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            faults = [f"  {'.'.join(map(str, e['loc'])) or 'the settings'}: {e['msg']}" for e in error.errors()]
            raise ConfigError(f"{source}: {len(faults)} invalid settings\n" + "\n".join(faults)) from None


def presets() -> list[str]:
    """Names of the configurations that ship."""
    folder = resources.files("trace_gym") / "presets"
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))

"""The nouns of trace_gym.

What is written to disk is a frozen pydantic model (validated at the boundary, JSON both ways); the
three things that an episode handles by the million (`Call`, `Say`, `Check`) are plain dataclasses.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from trace_gym.errors import ScenarioError

Message = dict[str, Any]
"""One chat message: `role`, `content`, and for an assistant perhaps `tool_calls` (OpenAI shape)."""

Label = Literal["NA", "PRESENT", "LACKING"]
"""Whether a capability was needed on a task and, if so, exercised (paper, section 3.3)."""


@dataclass(frozen=True, slots=True)
class Call:
    """An agent's tool call."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Say:
    """An agent's message to the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """A step that an agent took, and what answered it."""

    step: Call | Say
    answer: str
    """The user's answer or the tool's result; empty if the user ended the conversation."""
    refused: bool = False
    """Whether the tool refused the call."""


@dataclass(frozen=True, slots=True)
class Check:
    """One sentence of a verifier, and whether it holds.

    A *goal* is what the task asks for; a *guard* is what must stay true meanwhile. *Conduct* is a rule about the way
    there, such as consent before a change; it affects the reward, not the success.
    """

    kind: Literal["goal", "guard", "conduct"]
    says: str
    holds: bool

    @classmethod
    def goal(cls, says: str, holds: bool) -> Self:
        return cls("goal", says, bool(holds))

    @classmethod
    def guard(cls, says: str, holds: bool) -> Self:
        return cls("guard", says, bool(holds))

    @classmethod
    def conduct(cls, says: str, holds: bool) -> Self:
        return cls("conduct", says, bool(holds))


class Record(BaseModel):
    """Base of every type that is written to disk: frozen, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Interface(Record):
    """What an agent sees of a target: policy, tools and the conventions of the conversation."""

    name: str
    policy: str
    """The policy text, in our words unless imported from the user's own installation."""
    tools: tuple[dict[str, Any], ...]
    """OpenAI function tools with raw JSON Schemas, in the target's order."""
    kinds: dict[str, Literal["read", "write", "generic"]]
    """What each tool does to the state."""
    conventions: str = ""
    """How a turn looks, in one or two sentences."""
    calls_per_turn: int = 1
    text_with_call: bool = False
    """Whether a message to the user may stand beside a tool call in one turn."""

    @property
    def system_prompt(self) -> str:
        """The system message: conventions first, then the policy."""
        return f"{self.conventions}\n\n{self.policy}".strip()


class Scenario(Record):
    """The address of one problem, ``env/level/seed``: the only thing a dataset has to store.

    A GRPO group is one scenario repeated K times.
    """

    env: str
    level: int = Field(ge=0)
    seed: int = Field(ge=0)

    def __str__(self) -> str:
        return f"{self.env}/{self.level}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``env/level/seed``.

        Raises:
            ScenarioError: The text is not such an address.
        """
        if not (m := re.fullmatch(r"([a-z][a-z0-9_]*)/(\d+)/(\d+)", text)):
            raise ScenarioError(f"{text!r} is no scenario; expected env/level/seed, such as tau2_precondition/0/7")
        return cls(env=m[1], level=int(m[2]), seed=int(m[3]))


class NamedCheck(Record):
    """A `Check` as it is stored with a finished episode."""

    kind: Literal["goal", "guard", "conduct"]
    says: str
    holds: bool
    at_start: bool
    """Whether it already held before the first action; such a goal pays nothing."""


class Score(Record):
    """What a finished episode is worth, from the loosest level to the strictest."""

    wellformed: float = Field(ge=0, le=1)
    """Share of assistant turns that obeyed the protocol; 0 when there were none."""
    progress: float = Field(ge=0, le=1)
    """Share of the goals, false at the start, that hold at the end."""
    success: bool
    """All goals hold and no guard is broken."""
    broken: tuple[str, ...] = ()
    """The guards (and goals that held at the start) which no longer hold."""
    conduct: float = Field(1.0, ge=0, le=1)
    """Fraction of the conduct checks that pass; 1 if there are none."""
    checks: tuple[NamedCheck, ...] = ()


class UserWords(Record):
    """The language model that reworded the scripted user of an episode."""

    model: str
    """Name of the model, such as ``openai:gpt-x``."""
    script: tuple[str, ...] = ()
    """Messages of the script, the opening first. The messages of the trajectory hold the model's words."""
    fallbacks: int = 0
    """Messages in the words of the script, because the model's words did not pass the check."""


class Trajectory(Record):
    """One agent's episode on one task, read from a log or made by a rollout."""

    id: str
    task: str
    """A scenario address, or the task id of a foreign benchmark."""
    messages: tuple[Message, ...]
    success: bool | None = None
    """None: not scored (a failed infrastructure call is never a 0)."""
    reward: float | None = Field(None, allow_inf_nan=False)
    score: Score | None = None
    temperature: float | None = Field(None, ge=0, allow_inf_nan=False)
    """Sampling temperature of the policy; None where it is not known, or the policy samples no tokens."""
    gold: tuple[Call, ...] | None = None
    """The reference actions of the task, where the benchmark publishes them."""
    outputs: tuple[str, ...] = ()
    """What the reference solution tells the user."""
    ended: Literal["user", "transfer", "turn_limit", "error", "unknown"] = "unknown"
    note: str = ""
    """Why the episode ended before the agent had finished, such as a full context or a cut turn."""
    source: str = ""
    model: str = ""
    user: UserWords | None = None
    """Who reworded the scripted user; None if the user spoke in the words of the script."""
    tools: dict[str, Literal["read", "write", "generic"]] = Field(default_factory=dict)
    """Kind of each tool of the interface."""

    @property
    def calls(self) -> list[tuple[Call, bool]]:
        """Every call made, with whether the tool refused it, in order."""
        made: list[tuple[Call, bool]] = []
        waiting: dict[Any, int] = {}  # ids repeat in some logs, so an answer belongs to the last call of its id
        for message in self.messages:
            for call in message.get("tool_calls") or ():
                name, arguments = call["function"]["name"], call["function"]["arguments"]
                waiting[call.get("id")] = len(made)
                try:
                    made.append((Call(name, json.loads(arguments) if isinstance(arguments, str) else arguments), False))
                except (ValueError, RecursionError):  # ValueError: also of a number with thousands of digits
                    made.append((Call(name), True))
            if message.get("role") == "tool" and (asked := waiting.pop(message.get("tool_call_id"), None)) is not None:
                call, unreadable = made[asked]
                made[asked] = (call, unreadable or str(message.get("content") or "").lower().startswith("error"))
        return made


class Capability(Record):
    """A skill that the trajectories show to be lacking, with its evidence (paper, definition 1)."""

    name: str
    description: str
    coverage: float
    """Share of failed trajectories in which it is LACKING."""
    er_failed: float | None
    """LACKING share of the failed trajectories that need it; None when no failed one needs it."""
    er_passed: float | None
    gap: float | None
    """er_failed - er_passed; None when either is missing."""
    gap_interval: tuple[float, float] | None = None
    """95 % interval of the gap."""
    labels: dict[str, int] = Field(default_factory=dict)
    """Counts: lacking_failed, present_failed, na_failed, lacking_passed, present_passed, na_passed."""
    retained: bool = False
    """Gap and coverage reach the thresholds."""
    evidence: tuple[str, ...] = ()
    """Ids of failed trajectories that lack it, clearest first."""
    contrast: tuple[str, ...] = ()
    """Ids of successful trajectories that exercise it."""
    analyst: str = "rules"


class Family(Record):
    """One kind of scenario."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    says: str
    """What is asked, and what decides it, in one sentence."""
    weight: int = Field(ge=1, le=100)


class Plan(Record):
    """What a language model plans of an environment before it writes code; all of it in words."""

    entities: tuple[str, ...]
    """The records of a problem and their fields, one sentence each."""
    varies: tuple[str, ...]
    """What is drawn by the seed."""
    families: tuple[Family, ...]
    near_misses: tuple[str, ...]
    """Pairs of problems that look alike and differ in one fact, which decides."""
    user: str
    """What the scripted user says, answers and insists on, and when they hang up."""
    oracle: str
    """What the expert looks up, decides, does and says."""
    ablated: str
    """What the same expert does without the capability: the shortcut that the failing agent takes."""
    hint: str = ""
    """Guidance that may stand in the prompt of some rollouts; the same for every problem, and never an answer."""


class Spec(Record):
    """The plan of one environment, complete enough to write it."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    capability: str
    target: str
    title: str
    rationale: str
    """Why skill gained here transfers to the target, three to five sentences."""
    tools: tuple[str, ...]
    rules: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    levels: tuple[str, ...]
    """One sentence a level, easiest first."""
    blueprint: str
    """The template under ``templates/env/`` that writes it."""
    slots: dict[str, Any] = Field(default_factory=dict)
    """Values for the template: wordings, weights, per-level settings."""
    plan: Plan | None = None
    """What a language model planned; None where a blueprint says it all."""

    @property
    def sha256(self) -> str:
        return sha256(self.model_dump_json(exclude_none=True))


class Curves(Record):
    """Lines over one axis, to be drawn."""

    kind: Literal["curves"] = "curves"
    title: str
    x: str
    y: str
    series: dict[str, tuple[tuple[float, float], ...]]
    """Points by the name of the line."""
    band: tuple[float, float] | None = None
    """What `y` is expected to lie in."""


class Bars(Record):
    """Amounts by name, to be drawn side by side."""

    kind: Literal["bars"] = "bars"
    title: str
    unit: str
    bars: dict[str, float]
    bound: float | None = None
    """What no bar may exceed."""


class Talk(Record):
    """A conversation, to be read."""

    kind: Literal["talk"] = "talk"
    title: str
    messages: tuple[dict[str, Any], ...]


Exhibit = Annotated[Curves | Bars | Talk, Field(discriminator="kind")]
"""What people would rather look at than read."""

Verdict = Literal["passed", "failed", "inapplicable", "unfinished"]


class Replay(Record):
    """An episode to be played again: the address of a scenario, and the actions taken in it."""

    scenario: str
    actions: tuple[Any, ...] = ()
    """Turns as text or messages; a scripted step is ``{"tool": ..., "arguments": {...}}`` or ``{"say": ...}``."""


class Finding(Record):
    """What one property found."""

    code: str
    property: str
    verdict: Verdict
    says: str
    """One sentence: what was measured, what went wrong, or why the property does not apply."""
    counterexample: str = ""
    """A runnable snippet that shows the failure."""
    replay: Replay | None = None
    """The same as data, for ``trace-gym replay``."""
    figures: dict[str, float] = Field(default_factory=dict)
    exhibits: tuple[Exhibit, ...] = ()

    @builtins.property  # the field `property` hides its name
    def passed(self) -> bool:
        """Whether nothing is held against the environment: the property holds, or does not apply."""
        return self.verdict in ("passed", "inapplicable")


class Report(Record):
    """What an environment passed, and on how many scenarios."""

    version: int = 1
    """Of this format."""
    env: str = ""
    """How the environment was named: a module, ``module:name``, or an address that an adapter understands."""
    passed: bool
    findings: tuple[Finding, ...]
    scenarios: int
    profile: str = "gate"

    def summary(self) -> Self:
        """The report without what is drawn, for a manifest."""
        short = tuple(f.model_copy(update={"exhibits": ()}) for f in self.findings)
        return self.model_copy(update={"findings": short})


class Origin(Record):
    """What it took a language model to write an environment."""

    model: str
    rounds: int
    """Versions of the module that were written; the last one passed."""
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    """US dollars; None where no price is known."""
    changed: int = 0
    """Answers that were recorded under other wordings of the prompts than today's."""
    failed_first: tuple[str, ...] = ()
    """Codes of the properties, or rules of the static gate, that an earlier version failed."""
    module_sha256: str = ""
    """Hash of the module that the model wrote. Empty as long as nobody has edited it."""


class Description(Record):
    """The part of a manifest that only running the module shows. It is computed in the sandbox."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=200)]
    capability: Annotated[str, Field(max_length=200)]
    target: Annotated[str, Field(max_length=200)]
    levels: Annotated[int, Field(strict=True, ge=1, le=1000)]
    title: Annotated[str, Field(max_length=2000)] = ""
    """First line of the world's docstring."""
    base_sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    fingerprint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Hash of the first openings and states of every level."""


class Manifest(Record):
    """The identity card of a generated environment."""

    id: str
    version: int = 0
    capability: str
    target: str
    levels: int
    title: str = ""
    spec: Spec | None = None
    spec_sha256: str = ""
    module_sha256: str
    base_sha256: str = ""
    """Hash of the base world that it stands on, where the target is a user's own."""
    template_sha256: str = ""
    author: str
    """What wrote the module: 'template', 'hand', or 'llm:<model>'."""
    fingerprint: str
    """Hash of the first openings and states of every level: drift of the generator shows here."""
    origin: Origin | None = None
    """None where no language model was asked."""
    mix: tuple[float, ...] | None = None
    """Weights of the levels at which the reference policy's rewards spread; None where all count alike."""
    report: Report


class Adapter(Record):
    """A LoRA trained for one capability, and the measured proof that it helps."""

    capability: str
    env: str
    seed: int = 0
    """Training seed."""
    path: str
    """Folder of the adapter, relative to the folder of the run."""
    base_model: str
    rank: int
    trained_on: str
    """module_sha256 of the environment."""
    rollouts: int
    before: float
    """Success rate of the base on held-out scenarios of the environment."""
    after: float
    heldout: int
    """How many held-out scenarios."""


def sha256(content: str | bytes) -> str:
    """Hex digest of text (UTF-8) or bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def to_jsonl(records: Iterable[Record]) -> str:
    """One record a line."""
    return "".join(r.model_dump_json() + "\n" for r in records)

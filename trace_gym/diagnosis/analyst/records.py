"""Answers of the language model, and the report of the analyst."""

from __future__ import annotations

from pydantic import BaseModel, Field

from trace_gym.types import Label, Record


class ProposedCapability(BaseModel):
    """Capability in an answer of the model."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{2,59}$")
    description: str = Field(min_length=1, max_length=1500)
    needed_when: str = Field(min_length=1, max_length=800)
    present_when: str = Field(min_length=1, max_length=800)
    lacking_when: str = Field(min_length=1, max_length=800)

    @property
    def definition(self) -> str:
        """Description of the capability, including when each label applies."""
        return (
            f"{self.description.strip()} Needed when: {self.needed_when.strip()} Present when: "
            f"{self.present_when.strip()} Lacking when: {self.lacking_when.strip()}"
        )


class Proposal(BaseModel):
    """Answer to the prompt that asks which capabilities matter in a batch of trajectories."""

    capabilities: list[ProposedCapability] = Field(min_length=1, max_length=10)


class Merged(BaseModel):
    """Answer to the prompt that merges the capabilities of all batches."""

    capabilities: list[ProposedCapability] = Field(min_length=1, max_length=10)


class Match(BaseModel):
    """Registered capability that corresponds to a capability that the model found."""

    capability: str
    registered: str = ""
    """Number of the registered capability, such as ``R3``; empty if none corresponds."""
    reason: str = ""


class Matches(BaseModel):
    """Answer to the prompt that compares capabilities with the registered ones."""

    matches: list[Match]


class LabelAnswer(BaseModel):
    """Label of one capability in one trajectory. The values are checked after parsing, one label at a time."""

    trajectory: str
    capability: str
    label: str
    quote: str = ""


class LabelAnswers(BaseModel):
    """Answer to the prompt for labels."""

    labels: list[LabelAnswer]


class Found(Record):
    """Capability that the analyst labels."""

    name: str
    description: str
    found_as: tuple[str, ...]
    """Names that the model chose during discovery."""
    matched: bool = False
    """Whether the name is that of a registered capability."""
    reason: str = ""
    """Reason of the model for the match."""

    @property
    def match(self) -> str:
        """Sentence about the match with a registered capability."""
        if not self.matched:
            return f"No registered capability trains the same skill, so it is called {self.name}."
        return (
            f"The registered capability {self.name} trains the same skill: {self.reason.strip() or 'no reason given.'}"
        )


class Evidence(Record):
    """Label with the quote that supports it."""

    run: int
    trajectory: str
    capability: str
    label: Label
    turn: int | None = None
    """Number of the quoted turn in the transcript; None for NA."""
    quote: str = ""


class NotLabeled(Record):
    """Trajectory and capability that have no label in one run."""

    run: int
    trajectory: str
    capability: str
    reason: str


class AnalystReport(Record):
    """Capabilities, evidence and agreement of a language-model analyst."""

    model: str
    outcome_aware: bool
    capabilities: tuple[Found, ...]
    evidence: tuple[Evidence, ...]
    not_labeled: tuple[NotLabeled, ...]
    kappa: float | None
    """Mean Cohen's kappa of all pairs of label runs; None with fewer than two runs."""
    requests: int
    cached: int
    """Number of requests whose answer was read from the cache or from a recording."""
    prompt_tokens: int
    completion_tokens: int

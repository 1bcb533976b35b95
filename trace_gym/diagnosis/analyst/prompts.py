"""Requests of the language-model analyst. Their prompts mark text from trajectories as data, not as instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trace_gym.diagnosis.analyst.records import ProposedCapability
from trace_gym.diagnosis.analyst.transcript import TranscriptEntry, system_prompt
from trace_gym.llm import ModelRequest
from trace_gym.llm.quoting import Verbatim
from trace_gym.prompts.template import render
from trace_gym.types import Trajectory, sha256

MAX_SYSTEM_PROMPT = 16_000
"""Maximum number of characters of a system prompt of the agent. The middle of a longer system prompt is omitted."""


@dataclass(frozen=True)
class ShownEpisode:
    """Trajectory as it appears in a prompt. A number such as ``T1`` replaces its id."""

    number: str
    trajectory: Trajectory
    turns: Sequence[TranscriptEntry]


@dataclass(frozen=True)
class Excerpt:
    """Block of untrusted text with the name of its delimiter, which is a hash of the text.

    A text cannot contain its own hash, so the text cannot imitate the end of the block.
    """

    title: str
    mark: str
    lines: Verbatim
    rules: str
    """Number of the trajectory's system prompt in the request."""
    outcome: str


def proposal_request(shown: Sequence[ShownEpisode], purpose: str, temperature: float) -> ModelRequest:
    """Return the request for the capabilities that distinguish failed from successful trajectories."""
    return _request("diagnose_discover.md.jinja", purpose, temperature, 0, **_excerpts(shown, outcomes=True))


def merge_request(proposals: Sequence[ProposedCapability], temperature: float) -> ModelRequest:
    """Return the request that merges the capabilities of all batches."""
    return _request("diagnose_merge.md.jinja", "merge capabilities", temperature, 0, proposals=proposals)


def match_request(
    capabilities: Mapping[str, tuple[str, str]], registered: Mapping[str, tuple[str, str]], temperature: float
) -> ModelRequest:
    """Return the request that compares capabilities with the registered ones.

    Args:
        capabilities: Mapping from a number such as ``C1`` to name and description.
        registered: Mapping from a number such as ``R1`` to name and description.
        temperature: Temperature of the model.
    """
    values = {"capabilities": list(capabilities.items()), "registered": list(registered.items())}
    return _request("diagnose_match.md.jinja", "match capabilities", temperature, 0, **values)


def label_request(
    shown: Sequence[ShownEpisode],
    capabilities: Sequence[tuple[str, str, str]],
    wanted: Mapping[str, Sequence[str]] | None,
    *,
    purpose: str,
    run: int,
    outcome_aware: bool,
    temperature: float,
) -> ModelRequest:
    """Return the request for labels.

    Args:
        shown: Trajectories.
        capabilities: Number such as ``C1``, name and description of each capability.
        wanted: Mapping from the number of a trajectory to the numbers of the capabilities whose labels are missing;
            None for all labels.
        purpose: Purpose of the request, for file names and the ledger.
        run: Number of the label run. Requests of different runs are separate even if their prompts are equal.
        outcome_aware: Whether the prompt contains the outcomes.
        temperature: Temperature of the model.
    """
    return _request(
        "diagnose_label.md.jinja",
        purpose,
        temperature,
        run,
        capabilities=capabilities,
        wanted=sorted((t, ", ".join(names)) for t, names in wanted.items()) if wanted else [],
        outcome_aware=outcome_aware,
        **_excerpts(shown, outcomes=outcome_aware),
    )


def _excerpts(shown: Sequence[ShownEpisode], outcomes: bool) -> dict[str, Any]:
    """Return the trajectories and their system prompts. Equal system prompts are included only once."""
    rules: dict[str, str] = {}
    excerpts = []
    for item in shown:
        text = system_prompt(item.trajectory)
        number = rules.setdefault(text, f"S{len(rules) + 1}") if text else ""
        lines = Verbatim("\n".join(turn.line for turn in item.turns) or "(no turns)")
        outcome = {True: "succeeded", False: "failed", None: "not scored"}[item.trajectory.success] if outcomes else ""
        excerpts.append(Excerpt(item.number, _mark(lines), lines, number, outcome))
    return {
        "excerpts": excerpts,
        "rules": [(number, _mark(short := _shortened(text)), short) for text, number in rules.items()],
    }


def _mark(text: str) -> str:
    return sha256(text)[:16]


def _shortened(text: str) -> Verbatim:
    """Return a shortened system prompt with numbered lines, so that no line can imitate a delimiter."""
    half = MAX_SYSTEM_PROMPT // 2
    if len(text) > MAX_SYSTEM_PROMPT:
        text = f"{text[:half]}\n... {len(text) - MAX_SYSTEM_PROMPT} characters omitted ...\n{text[-half:]}"
    return Verbatim("\n".join(TranscriptEntry(n, "rules", line).line for n, line in enumerate(text.split("\n"), 1)))


def _request(template: str, purpose: str, temperature: float, sample: int, **values: Any) -> ModelRequest:
    contents = (("system", render("diagnose_system.md.jinja")), ("user", render(template, **values)))
    messages = tuple({"role": role, "content": content} for role, content in contents)
    return ModelRequest(messages=messages, purpose=purpose, temperature=temperature, sample=sample)

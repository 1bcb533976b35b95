"""Estimate of the number of requests, the tokens and the cost of an analysis. No request is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trace_gym.diagnosis.analyst.discovery import proposal_requests
from trace_gym.diagnosis.analyst.labeling import label_jobs
from trace_gym.diagnosis.analyst.options import AnalystOptions
from trace_gym.diagnosis.analyst.transcript import tokens
from trace_gym.llm import ModelRequest, Price
from trace_gym.types import Trajectory

CAPABILITIES = 7
"""Assumed number of discovered capabilities. The prompt asks the model for 4 to 10."""
TOKENS_PER_CAPABILITY, TOKENS_PER_LABEL = 120, 45
"""Assumed number of tokens in the definition of a capability, and in a label with its quote."""


@dataclass(frozen=True)
class Estimate:
    """Estimated size of an analysis."""

    discovery_requests: int
    label_requests: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None
    """Estimated cost in US dollars; None without a price."""

    def __str__(self) -> str:
        cost = "" if self.dollars is None else f", {self.dollars:.2f} dollars"
        return (
            f"{self.discovery_requests} requests for discovery and {self.label_requests} for labels, about "
            f"{self.prompt_tokens:,} prompt tokens and {self.completion_tokens:,} completion tokens{cost}"
        )


def estimate(
    trajectories: Sequence[Trajectory], registered: int, options: AnalystOptions, price: Price | None
) -> Estimate:
    """Estimate the requests, tokens and cost of an analysis without a cache and without repeated requests.

    Args:
        trajectories: Trajectories to analyze.
        registered: Number of registered capabilities that are compared with the discovered ones.
        options: Options of the analyst.
        price: Price of the model.
    """
    proposals = proposal_requests(trajectories, options)
    definition = "x" * (TOKENS_PER_CAPABILITY * 4)
    assumed = {f"capability_{n}": definition for n in range(CAPABILITIES)}
    jobs = list(label_jobs(trajectories, assumed, options)) if proposals else []
    label_prompt = sum(_prompt_tokens(job.request) for job in jobs)
    follow_up = 1 + bool(registered) if proposals else 0
    discovered = len(proposals) * CAPABILITIES * TOKENS_PER_CAPABILITY
    prompt = sum(map(_prompt_tokens, proposals)) + label_prompt
    prompt += discovered + follow_up * 500 + (registered + CAPABILITIES) * TOKENS_PER_CAPABILITY * bool(proposals)
    completion = discovered + follow_up * CAPABILITIES * TOKENS_PER_CAPABILITY
    completion += sum(len(job.pairs) for job in jobs) * TOKENS_PER_LABEL
    dollars = price.of(prompt, completion) if price else None
    return Estimate(len(proposals) + follow_up, len(jobs), prompt, completion, dollars)


def _prompt_tokens(request: ModelRequest) -> int:
    return sum(tokens(str(message["content"])) for message in request.messages)

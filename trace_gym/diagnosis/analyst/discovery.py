"""Discovery of capabilities with a language model.

The model proposes capabilities for batches of trajectories, merges the proposals, and matches them with known ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from random import Random

from trace_gym.diagnosis.analyst.options import AnalystOptions
from trace_gym.diagnosis.analyst.prompts import ShownEpisode, match_request, merge_request, proposal_request
from trace_gym.diagnosis.analyst.records import Found, Matches, Merged, Proposal, ProposedCapability
from trace_gym.diagnosis.analyst.transcript import transcript
from trace_gym.errors import ModelError
from trace_gym.llm import Completion, Model, ModelRequest, ask
from trace_gym.threads import in_threads
from trace_gym.types import Trajectory


def batches(trajectories: Sequence[Trajectory], options: AnalystOptions) -> list[list[Trajectory]]:
    """Return stratified samples of failed and successful trajectories, in a random order that depends on the seed.

    Trajectories of different tasks are preferred. Trajectories without an outcome are not used.
    """
    rng = Random(f"discovery/{options.seed}")
    failed = _by_task([t for t in trajectories if t.success is False], rng)
    passed = _by_task([t for t in trajectories if t.success], rng)
    half = max(options.discovery_batch // 2, 1)
    found: list[list[Trajectory]] = []
    while failed and len(found) < options.discovery_batches:
        passed_count = min(options.discovery_batch - half, len(passed))
        failed_count = min(options.discovery_batch - passed_count, len(failed))
        batch = failed[:failed_count] + passed[:passed_count]
        failed, passed = failed[failed_count:], passed[passed_count:] + passed[:passed_count]
        rng.shuffle(batch)
        found.append(batch)
    return found


def proposal_requests(trajectories: Sequence[Trajectory], options: AnalystOptions) -> list[ModelRequest]:
    """Return one request for proposed capabilities per batch of trajectories."""
    samples = batches(trajectories, options)
    return [
        proposal_request(
            [ShownEpisode(f"T{n}", t, transcript(t, options.trajectory_tokens)) for n, t in enumerate(batch, 1)],
            f"discover batch {number} of {len(samples)}",
            options.temperature,
        )
        for number, batch in enumerate(samples, 1)
    ]


def discover(
    model: Model,
    trajectories: Sequence[Trajectory],
    registered: Mapping[str, str],
    options: AnalystOptions,
    log: Callable[[str], None],
) -> tuple[list[Found], list[Completion]]:
    """Return the capabilities that explain failures. Those that match a registered capability get its name.

    Args:
        model: Language model.
        trajectories: Trajectories, at least one of which failed.
        registered: Mapping from name to description of the capabilities for which an environment exists.
        options: Options of the analyst.
        log: Function that receives progress messages.

    Raises:
        ModelError: The model returned no usable answer to any batch, or to the merge or the match.
        BudgetSpent: The next request might cost more than the remaining budget.
    """
    requests = proposal_requests(trajectories, options)
    log(f"discovery: {len(requests)} batches of failed and successful trajectories")
    made: list[Completion] = []
    proposals, failures = [], []
    with in_threads(lambda r: _proposal(model, r), requests, options.concurrency) as answers:
        for answer in answers:
            if isinstance(answer, ModelError):
                failures.append(answer)
                log(f"a batch is skipped: {answer}")
                continue
            proposals.append(answer)
            made += answer[2]
    if not proposals:
        raise ModelError(f"no capability was discovered, because all {len(failures)} batches failed: {failures[-1]}")
    proposals.sort(key=lambda p: p[0])  # the order of completion must not change the next request
    proposed = [c for _, found, _ in proposals for c in found.capabilities]
    merged, completions = ask(model, merge_request(proposed, options.temperature), Merged)
    made += completions
    log(f"discovery: {len(proposed)} proposed capabilities, {len(merged.capabilities)} after the merge")
    found, completions = _match(model, _unique(merged.capabilities), registered, options)
    for c in found:
        log(f"discovery: {c.name}" + (f" (registered; found as {', '.join(c.found_as)})" if c.matched else " (new)"))
    return found, made + completions


def _proposal(model: Model, request: ModelRequest) -> tuple[str, Proposal, list[Completion]] | ModelError:
    try:
        answer, completions = ask(model, request, Proposal)
    except ModelError as error:
        return error
    return request.purpose, answer, completions


def _match(
    model: Model, capabilities: Sequence[ProposedCapability], registered: Mapping[str, str], options: AnalystOptions
) -> tuple[list[Found], list[Completion]]:
    """Give capabilities the names of registered capabilities that train the same skill."""
    if not registered:
        return [Found(name=c.name, description=c.definition, found_as=(c.name,)) for c in capabilities], []
    numbered = {f"C{n}": c for n, c in enumerate(capabilities, 1)}
    known = {f"R{n}": item for n, item in enumerate(sorted(registered.items()), 1)}
    shown = {number: (c.name, c.definition) for number, c in numbered.items()}
    answer, completions = ask(model, match_request(shown, known, options.temperature), Matches)
    matches = {m.capability.strip(): m for m in answer.matches}
    numbers = {n: c.name for n, c in numbered.items()} | {n: name for n, (name, _) in known.items()}
    found: dict[str, Found] = {}
    for number, c in numbered.items():
        match = matches.get(number)
        name = known[match.registered.strip()][0] if match and match.registered.strip() in known else ""
        # A new capability must not have the name of a registered one, because `run` would use that environment.
        own = c.name if c.name not in registered else f"{c.name}_new"
        new = Found(
            name=name or own,
            description=c.definition,
            found_as=(c.name,),
            matched=bool(name),
            reason=_with_names(match.reason, numbers) if match else "",
        )
        found[new.name] = _combined(found[new.name], new) if new.name in found else new
    return list(found.values()), completions


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Replace the numbers of capabilities in a prompt, such as ``R3``, by their names."""
    return re.sub(r"\b[CR]\d+\b", lambda number: names.get(number[0], number[0]), text)


def _combined(first: Found, second: Found) -> Found:
    """Combine two discovered capabilities that match the same registered capability into one."""
    return first.model_copy(
        update={
            "description": f"{first.description} Also: {second.description}",
            "found_as": (*first.found_as, *second.found_as),
        }
    )


def _unique(capabilities: Iterable[ProposedCapability]) -> list[ProposedCapability]:
    """Return the capabilities without repeated names."""
    return list({c.name: c for c in reversed(list(capabilities))}.values())[::-1]


def _by_task(trajectories: Sequence[Trajectory], rng: Random) -> list[Trajectory]:
    """Return the trajectories in random order. Each task occurs once before any task is repeated."""
    groups: dict[str, list[Trajectory]] = {}
    for t in rng.sample(list(trajectories), len(trajectories)):
        groups.setdefault(t.task, []).append(t)
    return [t for round_ in zip_longest(*groups.values()) for t in round_ if t is not None]

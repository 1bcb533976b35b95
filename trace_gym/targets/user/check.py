"""Checks of a target folder that report missing and invalid parts, each with a fix."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import jsonschema

from trace_gym.errors import ReadError, TamperedEnv
from trace_gym.schemas import complaint_about
from trace_gym.targets.user import bases, coverage
from trace_gym.targets.user.folder import ANY, GUESSED, POLICY, SETTINGS, TOOLS, TRAJECTORIES, TargetFolder, ToolKind
from trace_gym.targets.user.formats import format_of
from trace_gym.targets.user.methods import colliding, fault_of_name
from trace_gym.targets.user.replays import answers, refused
from trace_gym.targets.user.tools import names_of
from trace_gym.tool_schema import python_name

KINDS = get_args(ToolKind)
NAMED = 8
"""Maximum number of names that a message lists."""

Level = Literal["wrong", "open", "fine"]


@dataclass(frozen=True)
class Note:
    """Result of one check."""

    level: Level
    """``wrong`` for an error, ``open`` for a point that a person should review, ``fine`` for a passed check."""
    message: str
    fix: str = ""


def check(home: TargetFolder) -> Iterator[Note]:
    """Check the files of a target and the manifest of its base world, without running the base world."""
    found = dict.fromkeys(note for part in (_tools, _policy, _episodes) for note in _read(part, home))
    yield from found  # without duplicates: errors in the tools are also found while reading the episodes
    if all(note.level != "wrong" for note in found):  # the other checks require these files
        yield from _kinds(home)
        yield from _not_compared(home)
        yield from _roles(home)
        yield from _calls(home)
        yield from _coverage(home)
        yield from _base(home)


def _read(part: Callable[[TargetFolder], Iterator[Note]], home: TargetFolder) -> list[Note]:
    try:
        return list(part(home))
    except ReadError as error:  # the message contains the fix
        return [_wrong(str(error))]


def _tools(home: TargetFolder) -> Iterator[Note]:
    names = names_of(home.tools)
    for name, times in Counter(names).items():
        if times > 1:
            yield _wrong(f"{TOOLS} has {times} tools called {name}", "keep one of them")
    faults = [note for tool in home.tools for note in _schema(tool["function"]["name"], tool["function"]["parameters"])]
    yield from faults
    if not faults:
        yield _fine(f"{TOOLS}: {len(names)} tools with valid schemas")


def _not_compared(home: TargetFolder) -> Iterator[Note]:
    for tool in home.settings.not_compared:
        if tool not in home.kinds:
            yield _wrong(
                f"{SETTINGS}: not_compared of {tool!r} has no effect: found no such tool in {TOOLS}",
                "correct the name, or remove the line",
            )


def _roles(home: TargetFolder) -> Iterator[Note]:
    """Report roles for tools and arguments that the target does not have. Such roles have no effect."""
    writes = [t["function"] for t in home.tools if home.kinds[t["function"]["name"]] == "write"]
    tools = {str(tool["name"]) for tool in writes}
    arguments = {str(name) for tool in writes for name in tool["parameters"].get("properties", {})}
    said = home.settings
    for key, named, known, what in (
        ("entities", said.entities, arguments, "an argument of a tool with the kind write"),
        ("selectors", said.selectors, arguments, "an argument of a tool with the kind write"),
        ("creates", said.creates, tools, "a tool with the kind write"),
        ("routine", said.routine, tools, "a tool with the kind write"),
        ("settings", said.settings, tools, "a tool with the kind write"),
        ("times", said.times, arguments, "an argument of a tool with the kind write"),
    ):
        if unknown := [name for name in named if name not in known]:
            yield _wrong(f"{SETTINGS}: {key} is not valid: found {_some(unknown)}, expected {what}", "correct the name")


def _schema(name: str, schema: dict[str, object]) -> Iterator[Note]:
    proxy = "give it another name at the target, or put a server between that renames it"
    if why := fault_of_name(name):
        yield _wrong(f"{TOOLS}: the tool name {name!r} {why}", proxy)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        where = f"parameters{error.json_path.removeprefix('$')}"
        yield _wrong(f"{TOOLS}: {name}: {where}: {error.message[:200]}", "correct the schema (JSON Schema 2020-12)")
        return
    properties = schema.get("properties")
    known = list(properties) if isinstance(properties, dict) else []
    if pair := colliding(known):
        message = (
            f"{TOOLS}: {name}: the parameters {pair[0]!r} and {pair[1]!r} are both {python_name(pair[0])!r} in Python"
        )
        yield _wrong(message, proxy)
    needed = schema.get("required")
    for parameter in needed if isinstance(needed, list) else []:
        if parameter not in known:
            yield _wrong(f"{TOOLS}: {name} requires {parameter!r}, which is none of its properties", "add or drop it")


def _policy(home: TargetFolder) -> Iterator[Note]:
    if home.policy:
        yield _fine(f"{POLICY}: {len(home.policy.split())} words")
    else:
        yield _wrong(f"{POLICY} is empty", "write down the rules that the agent has to obey")


def _episodes(home: TargetFolder) -> Iterator[Note]:
    count = Counter(e.success for e in home.episodes)
    message = f"{TRAJECTORIES}: {count[False]} failed and {count[True]} successful episodes"
    message += f", {count[None]} not scored" if count[None] else ""
    if not home.episodes:
        yield _wrong(f"{TRAJECTORIES} holds no episode", "make the target anew with --trajectories")
    elif not count[False] or not count[True]:
        yield _open(
            message,
            "a diagnosis needs both; without one, list capabilities by hand "
            "(docs/guides/synthesize.md, docs/guides/run.md)",
        )
    else:
        yield _fine(message)


def _kinds(home: TargetFolder) -> Iterator[Note]:
    said, names = home.settings.kinds, names_of(home.tools)
    place = home.path / SETTINGS
    if unknown := [n for n in said if n not in names]:
        yield _wrong(f"{SETTINGS} has kinds of {_some(unknown)}, not in {TOOLS}", f"delete the line in {place}")
    for name in names:
        if (kind := said.get(name, "")).rstrip(GUESSED) not in KINDS:
            found = f"{name} has no kind" if not kind else f"{name} has the kind {kind!r}"
            yield _wrong(f"{SETTINGS}: {found}; expected {', '.join(KINDS)}", f'write "  {name}: read" in {place}')
    if guessed := [n for n in names if said.get(n, "").endswith(GUESSED)]:
        listed = _some([f"{n} ({said[n].rstrip(GUESSED)})" for n in guessed])
        fix = f"look at them, delete the question marks in {place}"
        yield _open(f"{len(guessed)} kinds are guessed: {listed}", fix)
    if not any(kind == "write" for kind in home.kinds.values()):
        yield _open("no tool writes, so there is nothing that an agent could do wrong", f"correct kinds in {place}")


def _calls(home: TargetFolder) -> Iterator[Note]:
    names, made = names_of(home.tools), [pair for e in home.episodes for pair in answers(e)]
    called = Counter(call.tool for call, _ in made)
    if unknown := sorted(called.keys() - set(names)):
        listed = _some([f"{n} ({called[n]} calls)" for n in unknown])
        yield _open(f"the episodes call {listed}, which {TOOLS} lacks; these calls are left out", "add the tools")
    if idle := [n for n in names if not called[n]]:
        fix = "record episodes that call them; otherwise the base world follows their descriptions alone"
        yield _open(f"{len(idle)} tools are never called in the episodes: {_some(idle)}", fix)
    taken = [(c, answer) for c, answer in made if c.tool in names and not refused(answer)]
    misfits = [(c.tool, why) for c, _ in taken if (why := complaint_about(c, home.interface))]
    if misfits:
        message = f"{len(misfits)} recorded calls were taken and do not fit their schema, such as {misfits[0][0]}"
        yield _open(f"{message}: {misfits[0][1]}", f"correct {TOOLS}")
    shown = format_of(answer for _, answer in taken)
    if shown != home.settings.results and any(answer[:1] in ("{", "[") for _, answer in taken):
        message = f"results are {home.settings.results} in {SETTINGS}, and most recorded ones are {shown}"
        yield _open(
            message, f"write results: {shown} in {home.path / SETTINGS}, unless a base world formats them itself"
        )
    if not taken:
        yield _wrong("no recorded call was answered, so there is nothing to compare with", "record other episodes")


def _coverage(home: TargetFolder) -> Iterator[Note]:
    """Report tools whose recordings are missing or insufficient."""
    found, again = coverage.coverage_of(home), "or record more: trace-gym target record --help"
    for tool in (blind := coverage.never_comparable(home, found)):
        message = (
            f"{tool}: none of its {found[tool].answered} answered calls can ever be compared, as no read comes before"
        )
        yield _wrong(
            f"{message} the first write in {_some(found[tool].blind)}",
            f"record an episode that reads before it writes, then calls {tool}; {again}",
        )
    if not blind and (share := coverage.too_few(home, found)):
        message = f"only {share[0]} of {share[1]} answered calls can ever be compared, expected at least half"
        yield _wrong(f"{message}: the other episodes write before they read", f"record reads before writes; {again}")
    for tool in coverage.only_after_writes(home, found):
        if tool not in blind:
            message = f"{tool}: all {found[tool].after} answered calls come after a write, so no record of it is shown"
            yield _open(message, f"record an episode that calls {tool} before any write; {again}")
    if brave := [t for t, c in found.items() if home.kinds[t] == "write" and c.answered and not c.refused]:
        message = f"no recorded call of {_some(brave)} was refused, so a base world guesses when they refuse"
        yield _open(message, f"record calls that they refuse, if there are any; {again}")
    if optional := coverage.never_passed(home, found):
        listed = _some([f"{tool} ({', '.join(names)})" for tool, names in optional.items()])
        yield _open(f"optional parameters that no recorded call passes: {listed}", f"record calls with them; {again}")
    for tool, (episode, between) in coverage.unexplained_changes(home).items():
        message = f"{tool} returned different results for the same call in {episode} without a write in between"
        kinds = f", or correct the kind of {_some(between)} if one of them writes" if between else ""
        yield _open(message, f"name its fields that change in not_compared in {home.path / SETTINGS}{kinds}")
    if differing := coverage.starts_differ(home):
        call, one, other = differing
        message = (
            f"episodes begin in different states: {call.tool} {json.dumps(call.arguments)} differs in {one} and {other}"
        )
        yield _open(message, "each is compared on its own records alone; if they should begin alike, reset the target")


def _base(home: TargetFolder) -> Iterator[Note]:
    write = f"trace-gym synthesize --target {home.path} --author llm --llm ..."
    card = bases.card_of(home)
    if not home.base_module.is_file() and card is None:
        yield _open("there is no base world yet", write)
        return
    try:
        bases.admitted(home)
    except TamperedEnv as error:
        yield _wrong(str(error))
        return
    assert card is not None and card.spec is not None
    yield _fine(f"the base world is admitted, by {card.author}, sha256 {card.module_sha256[:12]}")
    if card.spec.slots.get(bases.TRAJECTORIES_SLOT) != home.trajectories_sha256:
        message = f"{TRAJECTORIES} has changed since, so that the figures below are of other episodes"
        yield _open(message, bases.fix(home))
    metrics = next((f.metrics for f in card.report.findings if f.code == "TG413"), {})
    for tool in home.kinds:
        yield _fidelity(tool, metrics, home)


def _fidelity(tool: str, metrics: dict[str, float], home: TargetFolder) -> Note:
    calls, known = (metrics.get(f"{what}_{tool}", 0.0) for what in ("calls", "computable"))
    if ANY in home.settings.not_compared.get(tool, ()):
        return _open(f"{tool}: not compared, as {SETTINGS} specifies", "check its implementation by hand")
    if not known:
        message = f"{tool}: none of {calls:g} recorded calls could be compared"
        return _open(message, "record episodes that call it")
    shapes, values = metrics[f"shapes_{tool}"], metrics[f"values_{tool}"]
    alike = f"{shapes:.0%} alike in shape, {values:.0%} in values"
    return _fine(f"{tool}: {known:g} of {calls:g} recorded calls compared, {alike}")


def _wrong(message: str, fix: str = "") -> Note:
    return Note("wrong", message, fix)


def _open(message: str, fix: str) -> Note:
    return Note("open", message, fix)


def _fine(message: str) -> Note:
    return Note("fine", message)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more

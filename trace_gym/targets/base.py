"""Description of a target: an object with everything that is specific to one benchmark.

The rest of the library reads a `Target` and contains no benchmark-specific logic.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from trace_gym.targets.source import Outline, Source
from trace_gym.types import Interface, Trajectory
from trace_gym.world import World


@dataclass(frozen=True)
class Specific:
    """Capability that the agent lacks if it passes a wrong value for one argument, such as a wrong date."""

    capability: str
    description: str
    arguments: tuple[str, ...]
    """Arguments of write tools, each as ``argument``, ``tool.argument``, or ``argument.field`` for a field of the
    records in a list."""
    requires: str = ""
    """Regular expression that matches the tool result from which the value is computed. If no result matches, the agent
    did not look the data up, so a wrong value is not evidence that the agent lacks this capability."""


@dataclass(frozen=True)
class Roles:
    """Roles of a target's write tools and of their arguments, for comparing an agent's calls with a reference.

    Each argument of a write tool has one of three roles. It names the *entity* on which the tool acts (a reservation,
    an order, a customer), it *selects records* that other tools show (flights, item variants), or it is a *precise
    value* (a payment id, an amount, a name). Arguments that are neither entities nor selectors are precise values.
    """

    entities: tuple[str, ...] = ()
    """Arguments that name the entity, in order of priority. The first one in a call determines the call's entity."""
    selectors: frozenset[str] = frozenset()
    """Arguments that select records from the results of tools."""
    creates: frozenset[str] = frozenset()
    """Write tools that add a record with each call. All other write tools set the state of an entity, so a later call
    overrides an earlier one."""
    routine: frozenset[str] = frozenset()
    """Write tools that the policy always allows. All other write tools require the agent to check the record first."""
    settings: frozenset[str] = frozenset()
    """Write tools that change settings on which other tools depend. Only the final values of the settings are compared
    with the reference."""
    times: frozenset[str] = frozenset()
    """Arguments that contain a date or a time, which the agent computes from the request."""
    restricted: bool = True
    """Whether a policy forbids some writes. If not, a write that is missing from the reference is assumed to have been
    made without enough information."""
    lookups: tuple[tuple[frozenset[str], frozenset[str]], ...] = field(default=(), kw_only=True)
    """Lookups that must precede writes, as pairs of write tools and read tools. Before the agent calls one of the write
    tools, it needs a result about the entity of the call from one of the read tools."""
    endings: frozenset[str] = field(default=frozenset(), kw_only=True)
    """Tools with which the agent ends the conversation, such as a transfer to a human."""
    specific: tuple[Specific, ...] = field(default=(), kw_only=True)
    """Capabilities that are tied to individual arguments. A wrong value of such an argument is not evidence about any
    other capability."""
    claims: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    """User statements that may be false, as pairs of regular expressions. The first matches the statement in a message
    of the user. The second matches a tool result that contradicts the statement or that is needed to check it."""

    def needed_lookups(self, tool: str) -> frozenset[str]:
        """Return the read tools that can provide the result that a write tool needs; empty if it needs none."""
        return frozenset().union(*(reads for writes, reads in self.lookups if tool in writes))

    def selects_records(self, argument: str) -> bool:
        """Return whether an argument selects records that other tools show."""
        return argument in self.selectors

    def is_precise_value(self, argument: str) -> bool:
        """Return whether an argument is a precise value."""
        return argument not in self.selectors and argument not in self.entities and argument not in self.times

    def is_time(self, argument: str) -> bool:
        """Return whether an argument contains a date or a time."""
        return argument in self.times


@dataclass(frozen=True)
class Reader:
    """Reader of one JSON format in which a benchmark stores the results of a run."""

    form: str
    """Description of the format for error messages, such as ``a tau-bench results list``."""
    accepts: Callable[[Outline], bool]
    """Function that takes the outline of a file and returns whether the file has this format."""
    read: Callable[[Source], Iterator[Trajectory]]
    """Function that yields the trajectories, one record of the file at a time (see `Source.convert`)."""
    main_file: str = ""
    """Name of the results file in the folder of a run; empty if the format has no such folder."""
    parts: str = ""
    """Name of the folder next to the results file that contains further records; empty if there is none."""
    records: str = ""
    """Key of the list of records in the file; empty if the file is the list."""


@dataclass(frozen=True)
class Target:
    """A benchmark domain or system that environments simulate."""

    name: str
    prefix: str
    """Common prefix of the ids of the target's environments."""
    package: str
    """Package that contains the target's modules."""
    base: str
    """Name of the base world class, in the first module of `open`."""
    open: tuple[str, ...]
    """Modules from which an environment imports public names by name."""
    whole: tuple[str, ...] = ()
    """Modules that an environment imports as modules, because the names that they define are common words."""
    read: tuple[str, ...] = ()
    """Other modules that the author of an environment reads, because the modules above depend on them."""
    shared: tuple[str, ...] = ()
    """Modules in the parent package that an author reads for the same reason."""
    example: str = ""
    """Name of an environment that serves as an example for authors."""
    tasks: str = ""
    """Name of the environment with complete tasks of the target, on which agents are diagnosed and evaluated."""
    benchmark: str = ""
    """Name of the benchmark, if the target is one of its domains."""
    domain: str = ""
    """Name of the domain, such as ``airline``."""
    roles: Roles | None = None
    """Roles of the write tools and their arguments; None if they are unknown."""
    descriptions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Mapping from capability to its description, for the router and the reports."""
    readers: tuple[Reader, ...] = ()
    """Readers for the formats in which the benchmark stores results. Domains of one benchmark share their readers."""
    user_rules: str = ""
    """Location of the rules for how the scripted user responds to messages, as the ``package.module:NAME`` of a tuple
    of sentences. If empty, the rules of `trace_gym.targets.users.ScriptedUser` apply."""

    task_file: str = ""
    """Location of the function that reads a task file of the benchmark, as the ``package.module:NAME`` of a
    `trace_gym.targets.task_files.TaskFileReader`. If empty, task files cannot be validated."""

    @property
    def modules(self) -> tuple[str, ...]:
        """Full names of the modules that an environment may import."""
        return tuple(f"{self.package}.{m}" for m in (*self.open, *self.whole))

    @property
    def world(self) -> type[World]:
        """Base world class of the target."""
        world: type[World] = vars(importlib.import_module(f"{self.package}.{self.open[0]}"))[self.base]
        return world

    @property
    def interface(self) -> Interface:
        """Policy, tools, tool kinds (``read``, ``write`` or ``generic``), and conventions of the target."""
        return self.world.interface()

    @property
    def sources(self) -> dict[str, str]:
        """Mapping from the full name of each module that an author reads to its source code."""
        names = [f"{self.package}.{m}" for m in (*self.open, *self.whole, *self.read)]
        names += [f"{self.package.rpartition('.')[0]}.{m}" for m in self.shared]
        return {name: Path(str(importlib.import_module(name).__file__)).read_text() for name in names}

    @property
    def imports(self) -> list[str]:
        """Import statements for all names of the target that an environment may use."""
        lines = [f"from {self.package} import {', '.join(self.whole)}"] if self.whole else []
        sources, offered = self.sources, set(self.whole)
        for module in self.open:
            name = f"{self.package}.{module}"
            fresh = sorted({*_public(sources[name])} - offered)
            offered.update(fresh)
            lines += [f"from {name} import {', '.join(fresh)}"] if fresh else []
        return lines


def _public(source: str) -> Iterator[str]:
    """Yield the public names that a module defines or lists in ``__all__``."""
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                found = list(ast.literal_eval(value))
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found = [name]
            case ast.Assign(targets=targets):
                found = [t.id for t in targets if isinstance(t, ast.Name)]
            case _:
                found = []
        yield from (n for n in found if not n.startswith("_"))

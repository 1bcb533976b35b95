"""Description of a target: everything that differs between benchmarks, in one object.

The rest of the library reads a `Target` and contains no logic for a specific benchmark.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from trace_gym.types import Interface, Trajectory
from trace_gym.world import World


@dataclass(frozen=True)
class Specific:
    """Capability whose lack a wrong value of one argument shows, such as a wrong date."""

    capability: str
    description: str
    arguments: tuple[str, ...]
    """Arguments of write tools, each as ``argument``, ``tool.argument``, or ``argument.field`` for a field of the
    records in a list."""
    requires: str = ""
    """Regular expression of the tool result that contains the data for computing the value. If no result matches, the
    agent did not look the data up, and a wrong value is no evidence for the lack of this capability."""


@dataclass(frozen=True)
class Roles:
    """Roles of a target's write tools and of their arguments, for comparing an agent's calls with a reference.

    Each argument of a write tool has one of three roles. It names the *entity* on which the tool acts (a reservation,
    an order, a customer), it *selects records* that other tools show (flights, item variants), or it is a *precise
    value* (a payment id, an amount, a name). Arguments that are neither entities nor selectors are precise values.
    """

    entities: tuple[str, ...] = ()
    """Arguments that name the entity, by priority. The first of them that a call has determines its entity."""
    selectors: frozenset[str] = frozenset()
    """Arguments that select records from the results of tools."""
    creates: frozenset[str] = frozenset()
    """Write tools that add a record with each call. All others set the state of an entity, so a later call replaces an
    earlier one."""
    routine: frozenset[str] = frozenset()
    """Write tools that the policy allows without a condition; all others require a check of the record."""
    settings: frozenset[str] = frozenset()
    """Write tools that change settings on which other tools depend. They are compared by the final settings."""
    times: frozenset[str] = frozenset()
    """Arguments that contain a date or a time, which the agent computes from the request."""
    restricted: bool = True
    """Whether a policy forbids writes. If not, a write that the reference lacks was made without enough information."""
    specific: tuple[Specific, ...] = field(default=(), kw_only=True)
    """Capabilities of single arguments. A wrong value of such an argument is no evidence for other capabilities."""
    claims: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    """Statements of users that may be false, as pairs of regular expressions. The first matches the statement in a
    message of the user. The second matches the result of a tool that contradicts the statement, or that is necessary to
    check the statement."""

    def selects_records(self, argument: str) -> bool:
        """Return whether an argument selects records."""
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
    accepts: Callable[[Any], bool]
    """Function that returns whether parsed JSON data has this format."""
    read: Callable[[Any, Path, str, str], list[Trajectory]]
    """Function that returns the trajectories. Its arguments are the parsed data, the path of the file, the name of the
    file in error messages, and the name of the agent's model, which may be empty."""
    main_file: str = ""
    """Name of the results file in the folder of a run; empty if the format has no such folder."""


@dataclass(frozen=True)
class Target:
    """A benchmark domain or system whose interface environments use."""

    name: str
    prefix: str
    """Common prefix of the ids of the target's environments."""
    package: str
    """Package that contains the target's modules."""
    base: str
    """Name of the base world class, in the first module of `open`."""
    open: tuple[str, ...]
    """Modules from which an environment imports public names."""
    whole: tuple[str, ...] = ()
    """Modules that an environment imports as a whole, because they define names that are common words."""
    read: tuple[str, ...] = ()
    """Other modules that an author reads, because the modules above depend on them."""
    shared: tuple[str, ...] = ()
    """Modules in the parent package that an author reads for the same reason."""
    example: str = ""
    """Name of an environment that serves as an example for authors."""
    tasks: str = ""
    """Name of the environment with whole tasks of the target, on which agents are diagnosed and evaluated."""
    benchmark: str = ""
    """Name of the benchmark, if the target is one of its domains."""
    domain: str = ""
    """Name of the domain, such as ``airline``."""
    roles: Roles | None = None
    """Roles of the write tools and their arguments; None if they are unknown."""
    descriptions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Capability -> its description, for the router and the reports."""
    readers: tuple[Reader, ...] = ()
    """Readers of the formats in which the benchmark stores results. Domains of one benchmark share their readers."""
    user_rules: str = ""
    """Rules by which the scripted user reacts to messages, as ``package.module:NAME`` of a tuple of sentences. If
    empty, the rules of `trace_gym.targets.users.ScriptedUser` apply."""

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
        """Policy, tools, kinds of the tools, and conventions of the target."""
        return self.world.interface()

    @property
    def sources(self) -> dict[str, str]:
        """Full name of each module that an author reads -> its source code."""
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

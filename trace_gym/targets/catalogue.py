"""The targets for which environments are written, and what each offers to an author."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.targets.user import bases
from trace_gym.targets.user.folder import TargetFolder, find
from trace_gym.world import World

SHARED = ("scripted_user",)


@dataclass(frozen=True)
class Target:
    """A benchmark whose interface environments keep."""

    name: str
    prefix: str
    """What the ids of its environments begin with."""
    package: str
    """The package that holds it."""
    base: str
    """The class, in the first of `open`, that holds the target's tools."""
    open: tuple[str, ...]
    """Modules whose public names an environment imports."""
    whole: tuple[str, ...] = ()
    """Modules that an environment imports as such, because their names are common words."""
    read: tuple[str, ...] = ()
    """Further modules that an author reads, as the others rest on them."""
    shared: tuple[str, ...] = ()
    """Modules beside the package that an author reads for the same reason."""
    example: str = ""
    """A committed environment that shows how one is written."""

    @property
    def modules(self) -> tuple[str, ...]:
        """Full names of the modules that an environment may import from."""
        return tuple(f"{self.package}.{m}" for m in (*self.open, *self.whole))

    @property
    def world(self) -> type[World]:
        """The base world."""
        world: type[World] = getattr(importlib.import_module(f"{self.package}.{self.open[0]}"), self.base)
        return world

    @property
    def sources(self) -> dict[str, str]:
        """The text of every module that an author reads, by its full name."""
        names = [f"{self.package}.{m}" for m in (*self.open, *self.whole, *self.read)]
        names += [f"{self.package.rpartition('.')[0]}.{m}" for m in self.shared]
        return {name: Path(str(importlib.import_module(name).__file__)).read_text() for name in names}

    @property
    def imports(self) -> list[str]:
        """The import lines of all that an environment may use of the target."""
        lines = [f"from {self.package} import {', '.join(self.whole)}"] if self.whole else []
        sources, offered = self.sources, set(self.whole)
        for module in self.open:
            name = f"{self.package}.{module}"
            fresh = sorted({*_public(sources[name])} - offered)
            offered.update(fresh)
            lines += [f"from {name} import {', '.join(fresh)}"] if fresh else []
        return lines


TARGETS = {
    t.name: t
    for t in (
        Target(
            name="tau2_airline",
            prefix="tau2",
            package="trace_gym.targets.tau2",
            base="AirlineDesk",
            open=("airline", "requests"),
            whole=("policy", "records"),
            read=("desk",),
            shared=SHARED,
            example="tau2_precondition",
        ),
        Target(
            name="tau2_retail",
            prefix="tau2_retail",
            package="trace_gym.targets.tau2",
            base="RetailDesk",
            open=("retail", "retail_requests", "retail_items"),
            whole=("retail_policy", "retail_records"),
            read=("desk",),
            shared=SHARED,
            example="tau2_retail_precondition",
        ),
        Target(
            name="toolsandbox",
            prefix="toolsandbox",
            package="trace_gym.targets.toolsandbox",
            base="Assistant",
            open=("assistant", "errands", "requests", "lookups", "schedule", "settings"),
            whole=("records",),
            read=("expert", "hearing"),
            example="toolsandbox_permission_recovery",
        ),
    )
}


def target(name: str) -> Target:
    """The target of this name: one of `TARGETS`, or one of the user's own whose base world is admitted.

    Raises:
        ConfigError: There is none; the message lists those that exist.
        TamperedEnv: It is the user's own, and its base world is missing or another than the admitted one.
    """
    if name in TARGETS:
        return TARGETS[name]
    try:
        home = find(name)
    except ConfigError as error:
        raise ConfigError(f"{error}; those that ship are {', '.join(sorted(TARGETS))}") from None
    module = bases.load(home).__name__.rpartition(".")[2]
    return Target(
        home.name, home.prefix, bases.PACKAGE, home.base_class, open=(module,), read=("world",), shared=SHARED
    )


def foundation(home: TargetFolder) -> Target:
    """What the base world of a user's own target is built on."""
    return Target(home.name, home.prefix, bases.PACKAGE, "TargetWorld", open=("world",), shared=SHARED)


def _public(source: str) -> Iterator[str]:
    """The public names that a module defines itself, or offers in ``__all__``."""
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

"""What the names of a module stand for: imports as the real objects, and what the module defines itself.

Only modules on the lists are imported to be looked at: the standard library's, and our own.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from types import GenericAlias, ModuleType, UnionType
from typing import Any

from trace_gym.sandbox.allowed import MODULES, NEVER
from trace_gym.sandbox.rules import Fault
from trace_gym.targets.catalogue import TARGETS
from trace_gym.world import World

TARGET_IMPORTS = tuple(module for target in TARGETS.values() for module in target.modules)
"""Modules of the targets that environments are written for."""
CONTRACT = frozenset(n for n in dir(World) if not n.startswith("_"))
UNKNOWN = object()
"""What a name stands for that is no import."""
TARGETS_ROOM = "trace_gym.targets."


@dataclass
class Names:
    """The names of one module."""

    imports: dict[str, Any] = field(default_factory=dict)
    """Imported names, and what they stand for."""
    top: dict[str, list[ast.AST]] = field(default_factory=dict)
    """What else is bound at the top, and by which nodes."""
    attributes: set[str] = field(default_factory=set)
    """Attributes of the module's own classes."""
    fields: set[str] = field(default_factory=set)
    """Those that may be assigned to."""
    constants: set[str] = field(default_factory=set)
    """Class attributes that are no fields."""
    members: dict[str, list[ast.expr]] = field(default_factory=dict)
    """Class attributes with the values that classes of the module give them."""
    tables: set[str] = field(default_factory=set)
    """Class attributes of the target that are tables, which all its worlds share."""
    faults: list[Fault] = field(default_factory=list)

    def constant(self, name: str) -> ast.expr | None:
        """The value of a name that is assigned once, at the top."""
        match self.top.get(name):
            case [ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value)]:
                return value
        return None


def names_of(tree: ast.Module, target_imports: Sequence[str]) -> Names:
    """Read the top of a module and of its classes."""
    found = Names()
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _import(node, found, target_imports)
        for name in bound(node) if not isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            found.top.setdefault(name, []).append(node)
            if name in found.imports:
                found.faults.append(
                    Fault(node.lineno, "import", f"{name} is imported; call what is made here otherwise")
                )
        if isinstance(node, ast.ClassDef):
            _class(node, found)
    for name in target_imports:
        _target(importlib.import_module(name), found)
    found.attributes -= NEVER
    found.fields -= NEVER | CONTRACT | found.constants
    found.tables -= found.fields
    return found


def bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds where it stands."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _import(node: ast.Import | ast.ImportFrom, found: Names, target_imports: Sequence[str]) -> None:
    for alias in node.names:
        name = alias.asname or alias.name
        says, value = _imported(node, alias.name, target_imports)
        if not says and name in found.imports:
            says = f"{name} is imported twice"
        if says:
            found.faults.append(Fault(node.lineno, "import", says))
        found.imports[name] = UNKNOWN if says else value  # its uses are no faults of their own


def _imported(node: ast.Import | ast.ImportFrom, name: str, target_imports: Sequence[str]) -> tuple[str, Any]:
    """What is wrong with importing a name, or else what it stands for."""
    if isinstance(node, ast.Import):
        if name not in MODULES or "." in name:
            return f"import {name}: {_offer(target_imports)}", None
        return "", importlib.import_module(name)
    source = node.module or ""
    if node.level == 0 and f"{source}.{name}" in target_imports:
        return "", importlib.import_module(f"{source}.{name}")
    if node.level or (source not in MODULES and source not in target_imports):
        return f"from {'.' * node.level}{source} import {name}: {_offer(target_imports)}", None
    module = importlib.import_module(source)
    if name not in exported(module):
        return f"{source} offers no {name}; it offers {', '.join(sorted(exported(module)))}", None
    return "", getattr(module, name, None)


def _offer(target_imports: Sequence[str]) -> str:
    return f"import from {', '.join([*target_imports, *MODULES])} only"


def exported(module: ModuleType) -> frozenset[str]:
    """What a module offers to environments: of a target, what its room defines, and the modules it passes on."""
    if module.__name__ in MODULES:
        return MODULES[module.__name__]
    return frozenset(n for n, v in vars(module).items() if not n.startswith("_") and _of_target(v))


def _of_target(value: Any) -> bool:
    home = getattr(value, "__module__", None)
    if isinstance(value, ModuleType):
        return value.__name__ in TARGET_IMPORTS
    if isinstance(value, (GenericAlias, UnionType)):  # a name for a type, such as dict[str, Any]
        return True
    if isinstance(value, type) or callable(value):
        return str(home).startswith(TARGETS_ROOM)
    return isinstance(value, (str, int, float, tuple, list, Mapping, set, frozenset))


def _class(node: ast.ClassDef, found: Names) -> None:
    for line in node.body:
        own = set(bound(line))
        found.attributes |= own
        if isinstance(line, (ast.Assign, ast.AnnAssign)) and line.value is not None:
            for name in own:
                found.members.setdefault(name, []).append(line.value)
        if isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line.annotation):
            found.fields |= own
        else:
            found.constants |= own


def _target(module: ModuleType, found: Names) -> None:
    """Add the fields and public attributes of the classes that a module of the target offers."""
    for name in exported(module):
        kind = getattr(module, name)
        if isinstance(kind, type):
            own = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
            found.fields |= own
            found.attributes |= own | {n for n in dir(kind) if not n.startswith("_")}
            found.tables |= {n for n in dir(kind) if isinstance(getattr_static(kind, n), (Mapping, list, set))}


def is_record_base(found: Any) -> bool:
    """Return whether an object is `typing.NamedTuple` or `typing.TypedDict`, also where a library has replaced it."""
    return getattr(found, "__name__", "") in ("NamedTuple", "TypedDict") and not isinstance(found, str)

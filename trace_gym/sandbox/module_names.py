"""Names that a linted module imports, and names that it defines at module and class level.

The module itself is only parsed. To resolve its imports, modules on the allowlist are imported: modules of the standard
library, of trace_gym and of the target.
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

from trace_gym.sandbox.allowlist import MODULES, UNSAFE_ATTRIBUTES
from trace_gym.sandbox.lint_rules import LintViolation
from trace_gym.targets.catalogue import TARGETS, importable_modules, is_target_code
from trace_gym.world import World

WORLD_MEMBERS = frozenset(n for n in dir(World) if not n.startswith("_"))
UNKNOWN = object()
"""Placeholder for the value of a name that is not imported."""


def imports_table() -> str:
    """Return the modules that environments may import as the Markdown table of ``docs/explanation/sandbox.md``."""
    modules = {"every environment": MODULES, **{f"`{name}`": target.modules for name, target in TARGETS.items()}}
    rows = "".join(f"| {name} | {', '.join(f'`{m}`' for m in sorted(found))} |\n" for name, found in modules.items())
    return f"| Target | Modules |\n|---|---|\n{rows}"


@dataclass
class ModuleNames:
    """Names that a module imports and defines."""

    imports: dict[str, Any] = field(default_factory=dict)
    """Imported objects by name."""
    top_level: dict[str, list[ast.AST]] = field(default_factory=dict)
    """Module-level names that are not imported, with the nodes that bind them."""
    attributes: set[str] = field(default_factory=set)
    """Names of the attributes of classes that the module defines or imports from its target."""
    fields: set[str] = field(default_factory=set)
    """Names of attributes that may be assigned."""
    constants: set[str] = field(default_factory=set)
    """Names of class attributes that are not fields."""
    members: dict[str, list[ast.expr]] = field(default_factory=dict)
    """Value expressions of each class attribute."""
    tables: set[str] = field(default_factory=set)
    """Names of class attributes of the target that are containers. All worlds of the target share these containers."""
    violations: list[LintViolation] = field(default_factory=list)

    def constant(self, name: str) -> ast.expr | None:
        """Return the value expression of a name that is assigned exactly once at module level, else None."""
        match self.top_level.get(name):
            case [ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value)]:
                return value
        return None


def collect_names(tree: ast.Module, target_imports: Sequence[str]) -> ModuleNames:
    """Collect the names that a module and its classes define."""
    found = ModuleNames()
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _import(node, found, target_imports)
        for name in bound(node) if not isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            found.top_level.setdefault(name, []).append(node)
            if name in found.imports:
                found.violations.append(
                    LintViolation(node.lineno, "import", f"{name} is already imported. Choose another name")
                )
        if isinstance(node, ast.ClassDef):
            _class(node, found)
    for name in target_imports:
        _target(importlib.import_module(name), found)
    found.attributes -= UNSAFE_ATTRIBUTES
    found.fields -= UNSAFE_ATTRIBUTES | WORLD_MEMBERS | found.constants
    found.tables -= found.fields
    return found


def bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds in its scope."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _import(node: ast.Import | ast.ImportFrom, found: ModuleNames, target_imports: Sequence[str]) -> None:
    for alias in node.names:
        name = alias.asname or alias.name
        message, value = _imported(node, alias.name, target_imports)
        if not message and name in found.imports:
            message = f"{name} is imported twice. Delete one import"
        if message:
            found.violations.append(LintViolation(node.lineno, "import", message))
        found.imports[name] = UNKNOWN if message else value  # uses of the name then cause no further violations


def _imported(node: ast.Import | ast.ImportFrom, name: str, target_imports: Sequence[str]) -> tuple[str, Any]:
    """Return an error message (`""` if the import is allowed) and the imported object."""
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
        return f"{source} does not export {name}; it exports {', '.join(sorted(exported(module)))}", None
    return "", getattr(module, name, None)


def _offer(target_imports: Sequence[str]) -> str:
    return f"import from {', '.join([*target_imports, *MODULES])} only"


def exported(module: ModuleType) -> frozenset[str]:
    """Return the names that environments may use from a module.

    For a target module, these are public data, and the classes, functions and modules that belong to a target package.
    """
    if module.__name__ in MODULES:
        return MODULES[module.__name__]
    return frozenset(n for n, v in vars(module).items() if not n.startswith("_") and _of_target(v))


def _of_target(value: Any) -> bool:
    home = getattr(value, "__module__", None)
    if isinstance(value, ModuleType):
        return value.__name__ in importable_modules()
    if isinstance(value, (GenericAlias, UnionType)):  # a type alias such as dict[str, Any]
        return True
    if isinstance(value, type) or callable(value):
        return is_target_code(str(home))
    return isinstance(value, (str, int, float, tuple, list, Mapping, set, frozenset))


def _class(node: ast.ClassDef, found: ModuleNames) -> None:
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


def _target(module: ModuleType, found: ModuleNames) -> None:
    """Add the fields and public attributes of the classes that a target module exports."""
    for name in exported(module):
        kind = getattr(module, name)
        if isinstance(kind, type):
            own = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
            found.fields |= own
            found.attributes |= own | {n for n in dir(kind) if not n.startswith("_")}
            found.tables |= {n for n in dir(kind) if isinstance(getattr_static(kind, n), (Mapping, list, set))}


def is_record_base(found: Any) -> bool:
    """Return whether an object is `typing.NamedTuple` or `typing.TypedDict`, or a library's replacement for them."""
    return getattr(found, "__name__", "") in ("NamedTuple", "TypedDict") and not isinstance(found, str)

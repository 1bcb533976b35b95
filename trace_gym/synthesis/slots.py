"""Assembly of a module from code that a language model returned and a skeleton, which is a template with slots.

The code is parsed but not run. Imports, docstrings and some class attributes are removed from the code, because the
skeleton provides them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trace_gym.errors import MissingExtra
from trace_gym.parsing import parse_python
from trace_gym.prompts import template
from trace_gym.targets.base import Target
from trace_gym.types import Spec

COMMON_IMPORTS = (
    "import itertools",
    "import re",
    "from collections import Counter, defaultdict",
    "from collections.abc import Iterable, Iterator, Sequence",
    "from dataclasses import dataclass, field",
    "from datetime import datetime, timedelta",
    "from typing import Any, ClassVar, Self",
    "from trace_gym.statements import find_values, mentions",
    "from trace_gym.world import Call, Check, Random, Say, ToolError, World, asserted, states_done, "
    "states_status, tool",
)
"""Import lines that every module may use in addition to imports from its target. Unused imports are removed."""
PROVIDED_ATTRIBUTES = {"id", "capability", "levels", "target"}
"""Class attributes that the skeleton or the base world defines."""


@dataclass(frozen=True)
class Contract:
    """Requirements on the methods of a module."""

    skeleton: str
    """Name of the template that contains the slots."""
    signatures: Mapping[str, Sequence[str]]
    """Mapping from method name to parameter names, for methods whose parameters are prescribed."""
    order: tuple[str, ...]
    """Order of the methods in the module. An empty string marks the position of all other methods."""
    required: tuple[str, ...]
    """Methods that the module must define. Other methods may be inherited."""
    inherited: tuple[str, ...]
    """Methods that the module must inherit and not define."""


ENVIRONMENT = Contract(
    skeleton="written.py.jinja",
    signatures={
        "generate": ["cls", "rng", "level"],
        "opening": ["self"],
        "reply": ["self", "text"],
        "verify": ["self", "start", "said"],
        "oracle": ["self"],
        "ablated": ["self"],
        "needs": ["self"],
    },
    order=("generate", "opening", "reply", "", "verify", "oracle", "ablated", "needs"),
    required=("generate", "oracle", "ablated"),
    inherited=("from_records", "knows", "as_recorded"),
)


def base_contract(tools: Sequence[str]) -> Contract:
    """Return the contract of a base world, which is the parent class of all environments of a target.

    A base world must define the target's tools and two methods for the replay of recorded episodes.
    """
    return Contract(
        skeleton="base.py.jinja",
        signatures={"from_records": ["cls", "shown"], "knows": ["self", "call", "shown"]},
        order=("from_records", "knows", *tools, ""),
        required=("from_records", "knows", *tools),
        inherited=("as_recorded", "generate", "opening", "verify", "oracle", "ablated", "needs"),
    )


@dataclass(frozen=True)
class Slots:
    """Parts of a module that a language model writes."""

    before: str
    """Constants, helper functions and dataclasses before the world's class."""
    fields: str
    """Fields and class attributes of the world."""
    methods: tuple[str, ...]


class InvalidModuleError(ValueError):
    """Error for code that does not satisfy its contract.

    Args:
        errors: Messages that describe the violations.
        text: The invalid code.
    """

    def __init__(self, errors: list[str], text: str) -> None:
        super().__init__("; ".join(errors))
        self.errors, self.text = errors, text


def imports(target: Target) -> list[str]:
    """Return the import lines that are available to modules of this target."""
    return [*COMMON_IMPORTS, *target.imports]


def sort_into_slots(code: str, spec: Spec, target: Target, contract: Contract = ENVIRONMENT) -> Slots:
    """Split the code that a model returned into slots.

    Args:
        code: Python code. It may contain the imports that `imports` returns, but no others.
        spec: Spec of the environment.
        target: Target of the environment.
        contract: Requirements on the methods.

    Raises:
        InvalidModuleError: The code is not valid Python, lacks a required part, or contains statements that belong to
            no slot.
    """
    try:
        tree = parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidModuleError([f"the answer is not valid Python: {error}"], code) from None
    text = SourceLines(code)
    name = template.camel(spec.id)
    body = [n for n in tree.body if not _is_docstring(n)]
    found = [n for n in body if isinstance(n, ast.ClassDef) and n.name == name]
    errors = list(_misplaced_statements(body, target))
    if len(found) != 1:
        classes = ", ".join(n.name for n in body if isinstance(n, ast.ClassDef)) or "no class"
        raise InvalidModuleError([*errors, f"expected one class {name}, found {classes}"], code)
    [world] = found
    members = [n for n in world.body if not _is_docstring(n) and _targets(n).isdisjoint(PROVIDED_ATTRIBUTES)]
    errors += _member_errors(world, members, contract)
    if errors:
        raise InvalidModuleError(errors, code)
    before = [n for n in body if n is not world and not isinstance(n, (ast.Import, ast.ImportFrom))]
    methods = [n for n in members if isinstance(n, ast.FunctionDef)]
    return Slots(
        before="\n".join(text.of(n) for n in before),
        fields="\n".join(text.of(n) for n in members if not isinstance(n, ast.FunctionDef)),
        methods=tuple(text.of(n) for n in sorted(methods, key=lambda n: _place(n, contract))),
    )


def render(slots: Slots, spec: Spec, target: Target, author: str, contract: Contract = ENVIRONMENT) -> str:
    """Return the module text, which is the skeleton with filled slots, formatted with ruff.

    Raises:
        MissingExtra: Ruff is not installed.
        InvalidModuleError: Ruff cannot parse the text.
    """
    text = template.render(contract.skeleton, spec=spec, slots=slots, base=target.base, author=author,
                           imports="\n".join(imports(target)))  # fmt: skip
    return format_module(text)


def format_module(text: str) -> str:
    """Return the text of a module, formatted with ruff, with sorted imports and without unused imports.

    Raises:
        MissingExtra: Ruff is not installed.
        InvalidModuleError: Ruff cannot parse the text.
    """
    options = ["--isolated", "--no-cache", "--target-version", "py311", "--line-length", "120"]
    name = ["--stdin-filename", "module.py", "-"]
    sort = ["check", "--select", "F401,I,UP", "--fix", "--exit-zero", "--quiet"]
    first = ["--config", 'lint.isort.known-first-party=["trace_gym"]']
    for command in ([*sort, *options, *first, *name], ["format", "--quiet", *options, *name]):
        done = subprocess.run([sys.executable, "-m", "ruff", *command], input=text, capture_output=True, text=True)
        if "No module named ruff" in done.stderr:
            raise MissingExtra(
                "ruff is not installed, but it is required to format the modules of a language model. Run: pip install "
                "ruff"
            )
        if done.returncode:
            raise InvalidModuleError([f"the module cannot be formatted: {done.stderr.strip()[:300]}"], text)
        text = done.stdout
    return text


class SourceLines:
    """Lines of a module, with the same line numbers as in the syntax tree."""

    def __init__(self, code: str) -> None:
        self.rows = rows_of(code)

    def of(self, node: ast.stmt) -> str:
        """Return the lines of a statement with its decorators and the comments directly above it."""
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)]) - 1
        while first and self.rows[first - 1].strip().startswith("#"):
            first -= 1
        return "\n".join(self.rows[first : node.end_lineno])


def rows_of(code: str) -> list[str]:
    """Return the lines of a module.

    ``str.splitlines`` also splits at form feeds and U+2028, which do not end a line in Python.
    """
    return re.split(r"\r\n|\r|\n", code)


def _misplaced_statements(body: list[ast.stmt], target: Target) -> Iterator[str]:
    """Yield an error message for each module-level statement that is not allowed."""
    offered = {alias for line in imports(target) for alias in _aliases(parse_python(line).body)}
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if wrong := sorted(_aliases([node]) - offered - {"annotations"}):
                yield f"line {node.lineno} imports {', '.join(wrong)}, which is not an available import"
        elif not isinstance(node, (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef)):
            kind = type(node).__name__
            yield f"line {node.lineno} is a statement of type {kind}; expected only constants, functions and classes"


def _member_errors(world: ast.ClassDef, members: list[ast.stmt], contract: Contract) -> Iterator[str]:
    """Yield an error message for each member of the world's class that violates the contract."""
    methods = {n.name: n for n in members if isinstance(n, ast.FunctionDef)}
    for node in members:
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.FunctionDef)):
            yield f"line {node.lineno} of {world.name} is neither a field nor a method"
    for name in contract.required:
        if name not in methods:
            yield f"{world.name} lacks the method {name}"
    for name in contract.inherited:
        if name in methods:
            yield f"line {methods[name].lineno}: {world.name} defines {name}, which must be inherited; remove it"
    for name, arguments in contract.signatures.items():
        if name in methods and (found := [a.arg for a in methods[name].args.args]) != list(arguments):
            yield f"{name} has the parameters {', '.join(found)}; expected {', '.join(arguments)}"


def _place(method: ast.FunctionDef, contract: Contract) -> int:
    return contract.order.index(method.name if method.name in contract.order else "")


def _targets(node: ast.stmt) -> set[str]:
    """Return the names that a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {t.id for t in targets if isinstance(t, ast.Name)}


def _aliases(nodes: list[ast.stmt]) -> set[str]:
    return {a.asname or a.name for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

"""From the code that a language model answered to the slots of the skeleton, and from the slots to a module.

The model's text is parsed and never run here. What it writes beyond its slots (imports, docstrings, names that are
given) is put aside, as the skeleton owns it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trace_gym.errors import MissingExtra
from trace_gym.synthesize import template
from trace_gym.targets.catalogue import Target
from trace_gym.types import Spec

ALWAYS = (
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
"""What every module may import besides its target; what it does not use is taken out."""
GIVEN = {"id", "capability", "levels", "target"}
"""Class attributes that the skeleton writes, or that the base world has."""


@dataclass(frozen=True)
class Contract:
    """What the methods of a module have to be."""

    skeleton: str
    """The template that the slots go into."""
    signatures: Mapping[str, Sequence[str]]
    """The parameters of the methods whose callers pass them by position."""
    order: tuple[str, ...]
    """The methods as they stand in a module; an empty name is the place of all others."""
    required: tuple[str, ...]
    """Those without which there is nothing to check; the others may be inherited."""
    inherited: tuple[str, ...]
    """Methods that are not written."""


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
    """What a base world has to define: its tools, and the two methods by which recorded episodes are replayed."""
    return Contract(
        skeleton="base.py.jinja",
        signatures={"from_records": ["cls", "shown"], "knows": ["self", "call", "shown"]},
        order=("from_records", "knows", *tools, ""),
        required=("from_records", "knows", *tools),
        inherited=("as_recorded", "generate", "opening", "verify", "oracle", "ablated", "needs"),
    )


@dataclass(frozen=True)
class Slots:
    """What a language model fills in."""

    before: str
    """Constants, helper functions and dataclasses that stand before the world."""
    fields: str
    """Fields and class attributes of the world."""
    methods: tuple[str, ...]


class Unwritable(ValueError):
    """The answer is no module of the kind; `faults` says why, a sentence each, and `text` is what was answered."""

    def __init__(self, faults: list[str], text: str) -> None:
        super().__init__("; ".join(faults))
        self.faults, self.text = faults, text


def imports(target: Target) -> list[str]:
    """The import lines of all that a module of this target may use."""
    return [*ALWAYS, *target.imports]


def fill(code: str, spec: Spec, target: Target, contract: Contract = ENVIRONMENT) -> Slots:
    """Sort an answer into slots.

    Args:
        code: Python, without imports or with those that are offered.
        spec: Whose environment it is.
        target: What it is built on.
        contract: What it has to define.

    Raises:
        Unwritable: It does not parse, lacks a slot, or holds something that belongs in none.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unwritable([f"the answer is no Python: {error}"], code) from None
    text = SourceLines(code)
    name = template.camel(spec.id)
    body = [n for n in tree.body if not _is_docstring(n)]
    found = [n for n in body if isinstance(n, ast.ClassDef) and n.name == name]
    faults = list(_strangers(body, target))
    if len(found) != 1:
        classes = ", ".join(n.name for n in body if isinstance(n, ast.ClassDef)) or "no class"
        raise Unwritable([*faults, f"expected one class {name}, found {classes}"], code)
    [world] = found
    members = [n for n in world.body if not _is_docstring(n) and _targets(n).isdisjoint(GIVEN)]
    faults += _shape(world, members, contract)
    if faults:
        raise Unwritable(faults, code)
    before = [n for n in body if n is not world and not isinstance(n, (ast.Import, ast.ImportFrom))]
    methods = [n for n in members if isinstance(n, ast.FunctionDef)]
    return Slots(
        before="\n".join(text.of(n) for n in before),
        fields="\n".join(text.of(n) for n in members if not isinstance(n, ast.FunctionDef)),
        methods=tuple(text.of(n) for n in sorted(methods, key=lambda n: _place(n, contract))),
    )


def render(slots: Slots, spec: Spec, target: Target, author: str, contract: Contract = ENVIRONMENT) -> str:
    """The module: skeleton and slots, formatted as the project's own code.

    Raises:
        MissingExtra: The formatter is not installed.
        Unwritable: The formatter cannot read it.
    """
    text = template.render(contract.skeleton, spec=spec, slots=slots, base=target.base, author=author,
                           imports="\n".join(imports(target)))  # fmt: skip
    return formatted(text)


def formatted(text: str) -> str:
    """Sort and prune the imports of a module, and lay it out.

    Raises:
        MissingExtra: Ruff is not installed.
        Unwritable: Ruff cannot read the text.
    """
    options = ["--isolated", "--no-cache", "--target-version", "py311", "--line-length", "120"]
    name = ["--stdin-filename", "module.py", "-"]
    sort = ["check", "--select", "F401,I,UP", "--fix", "--exit-zero", "--quiet"]
    first = ["--config", 'lint.isort.known-first-party=["trace_gym"]']
    for command in ([*sort, *options, *first, *name], ["format", "--quiet", *options, *name]):
        done = subprocess.run([sys.executable, "-m", "ruff", *command], input=text, capture_output=True, text=True)
        if "No module named ruff" in done.stderr:
            raise MissingExtra("what a language model writes is formatted by ruff: pip install 'trace-gym[author]'")
        if done.returncode:
            raise Unwritable([f"the module cannot be formatted: {done.stderr.strip()[:300]}"], text)
        text = done.stdout
    return text


class SourceLines:
    """The lines of a module as Python counts them."""

    def __init__(self, code: str) -> None:
        self.rows = rows_of(code)

    def of(self, node: ast.stmt) -> str:
        """Return the lines of a statement, with its decorators and the comments right above it."""
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)]) - 1
        while first and self.rows[first - 1].strip().startswith("#"):
            first -= 1
        return "\n".join(self.rows[first : node.end_lineno])


def rows_of(code: str) -> list[str]:
    """Return the lines of a module; unlike ``splitlines``, Python does not end a line at a form feed or U+2028."""
    return re.split(r"\r\n|\r|\n", code)


def _strangers(body: list[ast.stmt], target: Target) -> Iterator[str]:
    """Statements that belong in no slot."""
    offered = {alias for line in imports(target) for alias in _aliases(ast.parse(line).body)}
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if wrong := sorted(_aliases([node]) - offered - {"annotations"}):
                yield f"line {node.lineno} imports {', '.join(wrong)}, which is not among the names that are offered"
        elif not isinstance(node, (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef)):
            yield f"line {node.lineno} is a statement of its own; expected constants, functions and classes"


def _shape(world: ast.ClassDef, members: list[ast.stmt], contract: Contract) -> Iterator[str]:
    """What is wrong with the members of the world."""
    methods = {n.name: n for n in members if isinstance(n, ast.FunctionDef)}
    for node in members:
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.FunctionDef)):
            yield f"line {node.lineno} of {world.name} is neither a field nor a method"
    for name in contract.required:
        if name not in methods:
            yield f"{world.name} lacks the method {name}"
    for name in contract.inherited:
        if name in methods:
            yield f"line {methods[name].lineno}: {world.name} defines {name}, which stays as it is inherited"
    for name, arguments in contract.signatures.items():
        if name in methods and (found := [a.arg for a in methods[name].args.args]) != list(arguments):
            yield f"{name} takes {', '.join(found)}; expected {', '.join(arguments)}"


def _place(method: ast.FunctionDef, contract: Contract) -> int:
    return contract.order.index(method.name if method.name in contract.order else "")


def _targets(node: ast.stmt) -> set[str]:
    """The names that a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {t.id for t in targets if isinstance(t, ast.Name)}


def _aliases(nodes: list[ast.stmt]) -> set[str]:
    return {a.asname or a.name for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

"""Imports go one way, in functions too; heavy ones stay inside functions; and there is one name for every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from trace_gym.targets.catalogue import TARGETS

ROOT = Path(__file__).resolve().parents[1]

# A room imports from the rooms before it. Adapters come before `validation`, which looks at every environment through
# gymnasium's.
LAYERS = """
errors files locks file_cache imports interpreter nested parent_death parsing process_group streams target_packages \
terminal threads
types statistics tables
statements tool_schema model_text chat_formats
world score actions chat mixture schemas speech start_checks
episode registration targets modules splits lookup environment admission registry domains
llm user_model prompts sampling
records trajectories policies adapters models rollouts
validation sandbox explore
review diagnosis synthesis
route evaluation lab trainers
stage_settings settings
report migrate pipeline
cli
"""
RANK = {room: rank for rank, room in enumerate(LAYERS.split())}
MAPPED = {"trainers", "templates", "generated_envs"}
"""Folders beside the package that are imported as `trace_gym.<folder>`."""
HEAVY = {"torch", "transformers", "peft", "trl", "vllm", "ray", "skyrl", "skyrl_gym", "matplotlib", "safetensors"}
HEAVY_ROOMS = {"trainers", "lab"}
FOR_WORLDS = {
    "trace_gym.world", "trace_gym.statements", "collections", "dataclasses", "datetime", "itertools", "re", "typing",
    "__future__",
}  # fmt: skip
"""Modules that a generated environment may import, in addition to its target."""

KNOWN_CIRCLES = """
models.unused models.settings
policies.batch policies.hf
targets.tau2.prices targets.tau2.airline
targets.tau2.prices targets.tau2.retail
targets.tau2.request_base targets.tau2.desk
targets.tau2.requests targets.tau2.airline
targets.tau2.retail_items targets.tau2.retail
targets.tau2.retail_requests targets.tau2.retail
targets.toolsandbox.expert targets.toolsandbox.assistant
targets.toolsandbox.expert targets.toolsandbox.requests
targets.toolsandbox.requests targets.toolsandbox.assistant
validation.properties validation.context
"""
"""Imports for type checkers that are part of a circle: a module, and the module that it imports for its types."""


def sources(*folders: str) -> list[Path]:
    """All modules below some folders, without the reviewers' scripts, which are kept as they are."""
    return sorted(p for folder in folders for p in (ROOT / folder).rglob("*.py") if "reviews" not in p.parts)


def room(path: Path) -> str:
    """`trace_gym/route/prompt.py` is in the room route, `trainers/loss.py` in trainers."""
    first, *rest = path.relative_to(ROOT).with_suffix("").parts
    return first if first != "trace_gym" else rest[0]


def imports(
    path: Path, functions: bool = True, typing: bool = True, members: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield the line and the absolute name of every import, with ``import_module("trace_gym...")``.

    Args:
        path: The module.
        functions: Include imports in functions.
        typing: Include imports for type checkers.
        members: Append the imported name to the name of its module for all ``from`` imports.
    """
    package = path.relative_to(ROOT).parent.parts
    package = package if package[0] == "trace_gym" else ("trace_gym", *package)
    for node in _nodes(ast.parse(path.read_text()), functions, typing):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom():
                base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
                module = ".".join(filter(None, [base, node.module]))
                # `from trace_gym import registry` names a room, `from trace_gym.types import Call` is in one.
                whole = members or module == "trace_gym"
                yield from ((node.lineno, f"{module}.{a.name}" if whole else module) for a in node.names)
            case ast.Call(func=ast.Name("import_module"), args=[ast.Constant(str(name))]):
                yield from [(node.lineno, name)] if name.startswith("trace_gym.") else []


def _nodes(tree: ast.AST, functions: bool, typing: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if (functions or not function) and (typing or not for_types):
            yield node
            yield from _nodes(node, functions, typing)


OURS = [p for p in sources("trace_gym", "trainers") if p != ROOT / "trace_gym" / "__init__.py"]


@pytest.mark.parametrize("path", OURS, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    own = room(path)
    assert own in RANK, f"{own} is a new room: give it a place in LAYERS"
    for line, name in imports(path):
        head, _, rest = name.partition(".")
        other = rest.partition(".")[0]
        if head == "trace_gym" and other in RANK:
            assert RANK[other] <= RANK[own], (
                f"{path.relative_to(ROOT)}:{line}: {own} comes before {other} in LAYERS, and imports it"
            )


def import_graph(paths: list[Path], typing: bool = False) -> dict[str, set[str]]:
    """Return the modules that each module imports when it is loaded or when its functions run.

    Imports for type checkers are included if `typing` is True, except those of packages, which name lazy imports.

    ``from package import name`` is an import of the submodule with this name if it exists, else of the package.
    """
    graph: dict[str, set[str]] = {module_name(path): set() for path in paths}
    for path in paths:
        for _, name in imports(path, typing=typing and path.name != "__init__.py", members=True):
            imported = name if name in graph else name.rpartition(".")[0]
            if imported in graph and imported != module_name(path):
                graph[module_name(path)].add(imported)
    return graph


def module_name(path: Path) -> str:
    """Return the absolute name of a module; `trace_gym/route/__init__.py` is `trace_gym.route`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "trace_gym" else ("trace_gym", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_modules_do_not_import_each_other() -> None:
    graph = import_graph(sources("trace_gym", *MAPPED))
    assert sum(map(len, graph.values())) > len(graph)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"these modules import each other: {' -> '.join(error.args[1])}")


def cycles_for_types(paths: list[Path]) -> set[tuple[str, str]]:
    """Return the imports for type checkers that are part of a circle, as pairs of a module and an imported module."""
    loaded, typed = import_graph(paths), import_graph(paths, typing=True)

    def reached(start: str) -> set[str]:
        found, pending = {start}, [start]
        while pending:
            new = typed[pending.pop()] - found
            found |= new
            pending += new
        return found

    only = {(module, other) for module, others in typed.items() for other in others - loaded[module]}
    return {(module, other) for module, other in only if module in reached(other)}


def test_circles_of_imports_for_types_are_known() -> None:
    found = cycles_for_types(sources("trace_gym", *MAPPED))
    known = {tuple(f"trace_gym.{name}" for name in line.split()) for line in KNOWN_CIRCLES.strip().splitlines()}
    assert found - known == set(), "use a Protocol, or move the type into a module of its own"
    assert known - found == set(), "delete these lines from KNOWN_CIRCLES"


def test_import_cycles_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    package = tmp_path / "trace_gym" / "room"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from trace_gym.room.a import x\n")
    (package / "a.py").write_text("from trace_gym.room import b\n")
    (package / "b.py").write_text("if TYPE_CHECKING:\n    from trace_gym.room.a import x\n")
    paths = sources("trace_gym")
    assert import_graph(paths) == {
        "trace_gym.room": {"trace_gym.room.a"},
        "trace_gym.room.a": {"trace_gym.room.b"},
        "trace_gym.room.b": set(),
    }
    assert cycles_for_types(paths) == {("trace_gym.room.b", "trace_gym.room.a")}
    lazy = ("from trace_gym.room.a import x", "import_module('trace_gym.room.a')")
    for text in ("from . import x\n", *(f"def f():\n    {line}\n" for line in lazy)):
        (package / "b.py").write_text(text)
        with pytest.raises(CycleError):
            TopologicalSorter(import_graph(paths)).prepare()


@pytest.mark.parametrize("path", OURS, ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_imports_wait_for_their_use(path: Path) -> None:
    if room(path) not in HEAVY_ROOMS:
        loaded = imports(path, functions=False, typing=False)
        found = [f"line {line}: {name}" for line, name in loaded if name.partition(".")[0] in HEAVY]
        assert not found, f"{path.relative_to(ROOT)} imports them with the module; import them in the function: {found}"


@pytest.mark.parametrize("path", sources("generated_envs"), ids=lambda p: p.stem)
def test_generated_environments_import_their_world_and_little_else(path: Path) -> None:
    if path.name == "__init__.py":
        return
    for line, name in imports(path):
        allowed = name in FOR_WORLDS or name.partition(".")[0] in FOR_WORLDS or name.startswith("trace_gym.targets.")
        assert allowed, f"{path.name}:{line} imports {name}; allowed are its target and {', '.join(sorted(FOR_WORLDS))}"


@pytest.mark.parametrize("path", [p for p in OURS if room(p) not in ("targets", "lab")], ids=module_name)
def test_only_targets_contain_logic_for_a_benchmark(path: Path) -> None:
    """Names of benchmarks occur in prose, such as examples in docstrings and help texts, but not in code."""
    words = {word for target in TARGETS.values() for word in (target.benchmark or target.name, target.domain) if word}
    assert {"tau2", "toolsandbox", "retail"} <= words
    found = [f"line {line}: {text}" for line, text in code_words(path) if any(w in text.lower() for w in words)]
    assert not found, f"{path.relative_to(ROOT)}: make it a field of Target: {found}"


def code_words(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every name in a module, and of every string without spaces."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text):
                yield node.lineno, text
            case ast.FunctionDef(name=text) | ast.ClassDef(name=text) | ast.alias(name=text):
                yield node.lineno, text
            case ast.ImportFrom(module=str(text)):
                yield node.lineno, text
            case ast.Constant(value=str(text)) if " " not in text:
                yield node.lineno, text


@pytest.mark.parametrize("folder", ["trace_gym", "trainers", "templates", "generated_envs", "tests", "benchmarks"])
def test_mapped_folders_have_one_name(folder: str) -> None:
    """`import trainers` works in a checkout, and makes a second copy of every class."""
    for path in sources(folder):
        twice = [f"line {line}" for line, name in imports(path) if name.partition(".")[0] in MAPPED]
        assert not twice, f"{path.relative_to(ROOT)}: write trace_gym.<folder>: {twice}"


def test_the_reader_of_imports_sees_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "trainers").mkdir()
    path = tmp_path / "trainers" / "a.py"
    path.write_text(
        "import os\nfrom . import loss\nfrom .loss import x\nfrom trace_gym import registry\n"
        "def f():\n    from trace_gym.cli import main\n    import trainers.b\n"
        "if TYPE_CHECKING:\n    import torch\nclass C:\n    import peft\n"
    )
    every = [name for _, name in imports(path)]
    loss = "trace_gym.trainers"
    assert every == ["os", loss, f"{loss}.loss", "trace_gym.registry", "trace_gym.cli", "trainers.b", "torch", "peft"]
    at_import = [name for _, name in imports(path, functions=False, typing=False)]
    assert at_import == ["os", loss, f"{loss}.loss", "trace_gym.registry", "peft"]

"""Docstrings and error messages follow the style guide in docs/reference/glossary.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
AGENT_TEXTS = ("actions.py", "model_text.py", "chat_formats/", "targets/toolsandbox/")
"""Modules whose messages are part of what agents read in an episode, so that trained models depend on them."""
MODULES = sorted(p for folder in ("trace_gym", "trainers", "examples") for p in (ROOT / folder).rglob("*.py"))
MODULES += sorted((ROOT / "benchmarks").glob("*.py"))  # the reviewers' scripts below it are kept as they were written

WH_CLAUSE = re.compile(r"(What|Whatever|Who|Whoever|Whose|How|Where|When|Which|Why)\b(?!.*\?$)")
"""A docstring that begins with a wh-clause names no thing and no action."""
RETIRED = {
    "mend", "deed", "deeds", "is_deed", "golds", "lent", "ground_of", "stand_on", "glance",
    "Held", "Inapplicable", "Unwritable", "inapplicable", "told_so",
}  # fmt: skip
"""Identifiers that the glossary replaces by standard terms."""
RETIRED_WORDS = [
    "stands? (?:in|at|on)", "(?:is|are|been) paid", "(?:is|are) worth", "earns?", "idling", "careless",
    r"blind (?:rule|polic|agent)\w*", "alike", "beside", "but for", "begun", "of (?:its|our|your|their) own",
    "goes (?:on|back)", "takes? turns", "hangs? up", "hand-over", "heard", "made up", "so many", "anybody", "ours",
    "theirs", "mend(?:s|ed)?", "deeds?", "lent", "foreign", "known need", "retained", "rungs?", "ladders?", "shed",
    "by half", "verbs? of the command", "who played", "(?:two|three|four) (?:third|quarter|fifth|tenth)s",
    "address(?:es)? of (?:an?|the) (?:scenario|model|environment)s?",
]  # fmt: skip
"""Words and phrases that the glossary replaces by standard terms, and that have no other use in the texts."""
ALLOWED = {
    "docs/reference/environments.md": {
        "been paid": "customers pay for trips",
        "are paid": "customers pay for trips",
        "of its own": "quoted from the manifest of a written environment",
    },
}
"""Retired words that a page may use, with the reason."""
CODE = re.compile(r"^ *(```|~~~).*?^ *\1|`[^`\n]+`|\{[{%].*?[%}]\}|<!--.*?-->|\]\([^)\s]*\)", re.DOTALL | re.MULTILINE)
"""Parts of a page other than prose: code, template expressions, comments, and the targets of links."""
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
PAGES += sorted(p for p in (ROOT / "templates").rglob("*.jinja") if "recorded" not in p.parts)
SHARED_NAMES = {
    "Data": "tools of two targets, whose sources are part of prompts with recorded answers",
    "Plan": "the expert of ToolSandbox, whose source is part of prompts with recorded answers",
    "Request": "one class for each domain of tau2, which environments import",
    "Step": "the expert of ToolSandbox, whose source is part of prompts with recorded answers",
}
"""Names of classes and type aliases that several modules define, with the reason."""
IS_NO = re.compile(r"(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|less\b|such\b|other\b)\w+")


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, including those below attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            for line in node.body:
                match line:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield line.lineno, text
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            yield node.lineno, text


def raised(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and literal text of each message that is raised."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc and "ToolError" not in ast.unparse(node.exc):  # the agent's to read
            for part in ast.walk(node.exc):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield node.lineno, part.value


def names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of each definition, parameter and variable."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name):
                yield node.lineno, name


def classes(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the classes and type aliases at the top level of a module."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp()) if re.match(
                "[A-Z].*[a-z]", name
            ):
                yield name


def retired_words(page: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each retired word in the prose of a page. A phrase may continue on the next line."""
    prose = CODE.sub(lambda match: "`" + "\n" * match[0].count("\n"), page)
    phrases = "|".join(RETIRED_WORDS).replace(" ", r"[\s>*#]+")
    for match in re.finditer(rf"\b(?:{phrases})\b", prose, re.IGNORECASE):
        yield prose[: match.start()].count("\n") + 1, " ".join(match[0].split())


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_follows_the_style_guide(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [(n, f"docstring begins with a wh-clause: {t[:60]!r}") for n, t in docstrings(tree) if WH_CLAUSE.match(t)]
    if not path.relative_to(ROOT / path.relative_to(ROOT).parts[0]).as_posix().startswith(AGENT_TEXTS):
        found += [(n, f"message says 'is no': {t[:60]!r}") for n, t in raised(tree) if IS_NO.search(t)]
    found += [(n, f"retired name {name!r}") for n, name in names(tree) if name in RETIRED]
    assert not found, "\n".join(f"{path.relative_to(ROOT)}:{n}: {what}" for n, what in sorted(found))


def test_retired_names_and_wh_clauses_are_found() -> None:
    tree = ast.parse('"""What it is."""\ndef deed(mend):\n    """Return it."""\n    raise ValueError("7 is no name")\n')
    assert [WH_CLAUSE.match(t) is not None for _, t in docstrings(tree)] == [True, False]
    assert {name for _, name in names(tree)} & RETIRED == {"deed", "mend"}
    assert [bool(IS_NO.search(t)) for _, t in raised(tree)] == [True]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_page_uses_standard_terms(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    text, allowed = path.read_text(encoding="utf-8"), ALLOWED.get(name, {})
    found = [(n, word) for n, word in retired_words(text) if word not in allowed]
    assert not found, "\n".join(f"{name}:{n}: retired term {word!r}" for n, word in found)


def test_retired_words_are_found_in_prose_only() -> None:
    page = "# Title\n\nThe limits stand\nin `alike`.\n\n```sh\nalike\n```\n\nThe rewards are alike.\n"
    assert list(retired_words(page)) == [(3, "stand in"), (10, "alike")]


def test_class_names_are_unique() -> None:
    modules: dict[str, set[str]] = {}
    for path in (p for p in MODULES if p.is_relative_to(ROOT / "trace_gym")):
        for name in classes(ast.parse(path.read_text(encoding="utf-8"))):
            modules.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    repeated = {name: sorted(places) for name, places in modules.items() if len(places) > 1}
    assert repeated.keys() == SHARED_NAMES.keys(), repeated


def test_classes_and_type_aliases_are_found() -> None:
    tree = ast.parse("class Row:\n    class Cell: ...\nRows = list[Row]\nMAX = 3\nT = TypeVar('T')\nJob = Row | int\n")
    assert list(classes(tree)) == ["Row", "Rows", "Job"]

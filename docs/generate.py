"""MkDocs hook: the reference pages that are generated from the package when the site is built.

The pages about the command line, the validation properties, the settings of a run, and the file formats are generated
from the code that they describe, so they cannot become outdated. No generated page is committed.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import tomllib
import types
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the site describes this checkout, whatever else is installed
MAPPED = ("trainers", "templates", "generated_envs")
"""Top-level directories of the checkout that are subpackages of trace_gym in a wheel."""
FENCE = re.compile(r"^(```.*?^```$)", flags=re.S | re.M)
LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)\s]+)\)")
_merged = tempfile.TemporaryDirectory(prefix="trace-gym-docs-")


def merged_package() -> Path:
    """Return a directory with a `trace_gym` that contains the mapped directories, as the wheel does."""
    package = Path(_merged.name) / "trace_gym"
    if not package.exists():
        package.mkdir()
        for path in [*(ROOT / "trace_gym").iterdir(), *(ROOT / name for name in MAPPED)]:
            (package / path.name).symlink_to(path)
    return package.parent


@event_priority(100)  # before mkdocstrings reads its settings
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the generated pages and the decisions to the navigation, and tell mkdocstrings where the package is."""
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [str(merged_package())]
    properties = [{f"{p.code} {p.name}": f"reference/properties/{p.code}.md"} for p in all_properties()]
    decisions = [f"decisions/{p.name}" for p in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    section(config.nav, "Validation properties").extend(properties)
    section(config.nav, "Decisions").extend(decisions)
    return config


def section(nav: Any, title: str) -> list[Any]:
    """Return the list of the entries below a title of the navigation."""
    for entry in nav:
        for name, below in entry.items() if isinstance(entry, dict) else ():
            if name == title and isinstance(below, list):
                return below
            if isinstance(below, list) and (found := section(below, title)) is not None:
                return found
    return None  # type: ignore[return-value]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the files of the site."""
    for path, content in pages():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace links to files outside of `docs/` by their paths, or by URLs once the project names its repository."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def replaced(link: re.Match[str]) -> str:
        path = (folder / link[2].partition("#")[0]).resolve()
        if path.is_relative_to(ROOT / "docs") or not path.exists() or not path.is_relative_to(ROOT):
            return link[0]
        return outside(link[1], path.relative_to(ROOT).as_posix())

    return "".join(part if part.startswith("```") else LINK.sub(replaced, part) for part in FENCE.split(markdown))


def outside(text: str, path: str) -> str:
    """Return what replaces a link to a file of the repository that is not part of the site."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    if source := urls.get("Source", ""):
        return f"[{text}]({source.rstrip('/')}/blob/main/{path})"
    return f"`{path}`" if text.strip("`") in (path, Path(path).name) else f"{text} (`{path}`)"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each generated page."""
    from trace_gym.settings import RunConfig
    from trace_gym.types import Manifest, Report

    yield "reference/cli.md", cli_page()
    yield "reference/properties/index.md", properties_page()
    for p in all_properties():
        yield f"reference/properties/{p.code}.md", property_page(p)
    yield "reference/settings.md", SETTINGS + "\n".join(model_tables([RunConfig]))
    yield "reference/schemas.md", SCHEMAS + "\n".join(model_tables([Manifest, Report]))
    for model in (Manifest, Report):
        schema = json.dumps(model.model_json_schema(), indent=1)
        yield f"reference/{model.__name__.lower()}.schema.json", schema
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    yield "reference/changelog.md", changelog.replace("](docs/", "](../")


def cli_page() -> str:
    """Return the page that contains the help text of every command."""
    import typer
    from typer.testing import CliRunner

    from trace_gym.cli.entry import app

    def leaves(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        for name, command in group.commands.items():
            yield from leaves(command, (*path, name)) if hasattr(command, "commands") else [(*path, name)]

    parts = [CLI]
    for path in [(), *sorted(leaves(typer.main.get_command(app)))]:
        result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "88"}, prog_name="trace-gym")
        assert result.exit_code == 0, result.output
        parts.append(f"## {' '.join(('trace-gym', *path))}\n\n```text\n{result.output.strip()}\n```\n")
    return "\n".join(parts)


def all_properties() -> list[Any]:
    """Return the registered properties of environments and task files, sorted by code."""
    return [*environment_properties(), *task_file_properties()]


def environment_properties() -> list[Any]:
    """Return the registered properties of environments, sorted by code."""
    from trace_gym.validation import PROPERTIES

    return [PROPERTIES[code] for code in sorted(PROPERTIES)]


def task_file_properties() -> list[Any]:
    """Return the registered properties of task files, sorted by code."""
    from trace_gym.validation.report import TASK_PROPERTIES

    return [TASK_PROPERTIES[code] for code in sorted(TASK_PROPERTIES)]


def properties_page() -> str:
    """Return the page that lists the validation properties."""
    lists = [(PROPERTY_INDEX, environment_properties()), (TASK_FILE_INDEX, task_file_properties())]
    return "\n".join(intro + property_table(properties) for intro, properties in lists)


def property_table(properties: Iterable[Any]) -> str:
    """Return a table of properties with links to their pages."""
    rows = [f"| [{p.code}]({p.code}.md) | `{p.name}` | {cell(p.statement)} |\n" for p in properties]
    return f"\n| Code | Name | Checked condition |\n|---|---|---|\n{''.join(rows)}"


def property_page(p: Any) -> str:
    """Return the page of one validation property."""
    from trace_gym.validation.third_party.checks import statement_for
    from trace_gym.validation.third_party.remedies import remedy_for

    parts = [
        f"# {p.code}: {p.name}",
        f"**Checked condition.** {p.statement}",
        f"**Reason.** {p.reason}",
        f"**How to fix a failure.** {p.fix}",
    ]
    if (what := statement_for(p.code)) and (how := remedy_for(p.code, "gym:x")):
        parts += [f"## Environments of other libraries\n\n{what}", f"**How to fix a failure.** {how}"]
    if confidence := getattr(p, "confidence", ""):  # only properties of task files have a confidence
        effect = "fails" if confidence == "certain" else "returns a `warning`"
        parts.append(f"**Confidence.** The confidence is {confidence}: if a task has an issue, the property {effect}.")
    target = "tau2-tasks:tasks.json" if confidence else "ENV"
    parts.append(f"## Run this check\n\n```sh\ntrace-gym validate {target} --only {p.code}\n```")
    return "\n\n".join(parts) + "\n"


def model_tables(models: Iterable[type[BaseModel]]) -> Iterator[str]:
    """Yield a heading and a table for each model, and for the models of their fields."""
    todo, done = list(models), set()
    while todo:
        model = todo.pop(0)
        if model in done:
            continue
        done.add(model)
        source = definition(model)
        yield f"## {model.__name__}\n\n{docstring(source)}\n"
        yield "| Field | Type | Default | Description |\n|---|---|---|---|"
        for name, info in model.model_fields.items():
            described = docstring(owner(source, model, name))
            yield f"| `{name}` | `{type_name(info.annotation)}` | {default(info)} | {cell(described)} |"
            todo += [*nested(info.annotation), *nested(type(info.default))]
        yield ""


@cache
def parsed(module: str) -> Any:
    """Return the parsed source code of a module."""
    path = Path(str(sys.modules[module].__file__))
    return griffe.visit(module, filepath=path, code=path.read_text(encoding="utf-8"))


def definition(item: type) -> Any:
    """Return the parsed source code of a class of the package."""
    return parsed(item.__module__)[item.__qualname__]


def owner(source: Any, model: type[BaseModel], name: str) -> Any:
    """Return the definition of a field in the model, or in the base class that declares it."""
    if name in source.members:
        return source.members[name]
    base = next(b for b in model.__mro__[1:] if name in getattr(b, "__annotations__", {}))
    return definition(base).members[name]


def docstring(item: Any) -> str:
    """Return the docstring of a definition as Markdown, or an empty string."""
    return item.docstring.value.replace("``", "`") if item.docstring else ""


def nested(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a type contains."""
    if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from nested(argument)


def type_name(annotation: Any) -> str:
    """Return a type as it is written in the code, without the constraints of `Annotated`."""
    arguments = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return type_name(arguments[0])
    origin = get_origin(annotation)
    if origin is None:
        return "None" if annotation is type(None) else getattr(annotation, "__name__", str(annotation))
    if origin is types.UnionType or getattr(origin, "__name__", "") == "Union":
        return " | ".join(map(type_name, arguments))
    if getattr(origin, "__name__", str(origin)).endswith("Literal"):
        return ", ".join(map(repr, arguments))
    inside = ", ".join("..." if a is Ellipsis else type_name(a) for a in arguments)
    return f"{getattr(origin, '__name__', origin)}[{inside}]"


def default(info: Any) -> str:
    """Return the default of a field; a model stands for the defaults of its fields."""
    if info.default_factory is not None:
        return f"`{info.default_factory()!r}`"
    if info.default is PydanticUndefined:
        return "required"
    if isinstance(info.default, BaseModel):
        return f"see [{type(info.default).__name__}](#{type(info.default).__name__.lower()})"
    return f"`{info.default!r}`"


def cell(text: str) -> str:
    """Return a text that fits into one cell of a table; a vertical bar in code needs no escape."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else part.replace("|", "\\|") for part in parts)


CLI = """# Command line

The help texts of all commands, as `trace-gym COMMAND --help` prints them. Exit codes: 0 success, 1 error, 2 usage
error, 130 interrupted. `trace-gym validate` returns 1 if the environment failed, and 2 if the check could not be
completed.
"""
SETTINGS = """# Settings of a run

`trace-gym run FILE.yaml` reads these settings. A section of the file is a mapping, such as `rollouts: {tasks: 100}`.
Unknown settings are errors. [Run the complete loop](../guides/run.md) describes the command and its presets.

"""
SCHEMAS = """# Manifest and report schemas

An admitted environment `NAME` consists of a module `NAME.py` and a manifest `NAME.json`. The manifest contains the
validation report. JSON Schemas: [manifest](manifest.schema.json), [report](report.schema.json).
[Report of a validation](report.md) explains the fields of the report with an example.

"""
PROPERTY_INDEX = """# Validation properties

`trace-gym validate ENV` checks these properties. `--only TG304` checks only the property that you name.
[Validate an environment](../../guides/validate.md) explains the command and how to read a finding.
"""
TASK_FILE_INDEX = """## Properties of task files

`trace-gym validate tau2-tasks:PATH` checks these properties.
[Task files](../../guides/validate_others.md#task-files) explains the URI and the meaning of a warning.
"""

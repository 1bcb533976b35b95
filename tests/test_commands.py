"""Every command line that help texts, README and docs print is valid, and no output splits or truncates an id."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from snippets import ROOT
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.errors import EnvNotFound

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEMPLATES = sorted((ROOT / "templates").rglob("*.md.jinja"))
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", flags=re.S | re.M)
SHELL = ("bash", "sh", "console", "")
INLINE = re.compile(r"`(trace-gym [^`]+)`")
TARGETS = ("tau2_airline", "tau2_retail")
ENDS = ("|", "&&", "||", ";", "&", ">", ">>", "<", "2>", "2>&1")
"""Tokens of a shell that end the arguments of a command."""


def tree() -> Any:
    """Return the commands, with functions that do nothing."""
    made: Any = typer.main.get_command(app)
    for _, command in leaves(made):
        command.callback = lambda **_: None
    return made


def leaves(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each command with the words that name it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(leaves(typer.main.get_command(app)))


def arguments(line: str) -> list[str]:
    """Return what a shell passes to `trace-gym`, up to a pipe, a redirection or a comment."""
    words = shlex.split(line, comments=True)
    while words and not words[0].endswith("trace-gym"):
        words = words[1:]  # variables in front of the command
    end = next((n for n, word in enumerate(words) if word in ENDS), len(words))
    return words[1:end]


def problem(given: list[str]) -> str:
    """Return why the command line is invalid, or an empty string.

    A command without any argument, or with names of options alone, is a mention of these names. An argument of three
    dots stands for what is left out.
    """
    path = next((p for p in COMMANDS if tuple(given[: len(p)]) == p), None)
    if path is None:
        groups = {p[:1] for p in COMMANDS if len(p) > 1}
        return (
            ""
            if tuple(given) in groups or set(given) <= {o for p in tree().params for o in p.opts}
            else "there is no such command"
        )
    command, rest = COMMANDS[path], given[len(path) :]
    known = {o for p in command.params for o in p.opts} | {"-h", "--help"}
    if unknown := [w.partition("=")[0] for w in rest if w.startswith("-") and w.partition("=")[0] not in known]:
        return f"unknown options {unknown}"
    if "..." in rest or all(word.startswith("-") for word in rest):
        return ""
    if missing := [word for word in rest if is_missing_environment(word)]:
        return f"there are no environments {missing}"
    try:
        tree().main(list(given), prog_name="trace-gym", standalone_mode=False)
    except Exception as error:  # a usage error, which would end with exit code 2
        return str(getattr(error, "message", "") or error)
    return ""


def is_missing_environment(word: str) -> bool:
    """Return whether the word has the form of an environment's name or id, and no such environment exists."""
    if re.fullmatch(r"(trace/)?(tau2|toolsandbox)[_-][a-z0-9_-]+", word) is None or word in TARGETS:
        return False
    try:
        registry.name_of(word)
    except EnvNotFound:
        return True
    return False


def printed(page: Path) -> Iterator[str]:
    """Yield the command lines of a page: in shell blocks, in inline code, and in the configuration of MCP clients."""
    text = page.read_text(encoding="utf-8")
    for language, block in FENCE.findall(text):
        if language in SHELL:
            for line in block.replace("\\\n", " ").splitlines():
                if re.match(r"(\$ )?([A-Z_]+=\S+ )*(\S*/)?trace-gym ", line):
                    yield line.removeprefix("$ ")
        for call in re.findall(r'"command": "trace-gym",\s*"args": (\[[^\]]*\])', block):
            yield shlex.join(["trace-gym", *json.loads(call)])
    yield from INLINE.findall(FENCE.sub("", text).replace("\n", " "))


def hints(source: Path) -> Iterator[str]:
    """Yield the command lines in the strings of a module, which are messages; values in them become `X`."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node] if isinstance(node, ast.Constant) else []
        text = "".join(str(p.value) if isinstance(p, ast.Constant) else "X" for p in parts)
        yield from re.findall(r"(?<![\w-])trace-gym (?:[a-z]+(?:-[a-z]+)*\b)(?: --?[a-z-]+\b| [A-Z]\w*\b)+", text)


LINES = sorted({(page.name, line) for page in PAGES for line in printed(page)})
HINTS = sorted({(p.name, line) for p in (ROOT / "trace_gym").rglob("*.py") for line in hints(p)})


@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{p}:{line}" for p, line in LINES])
def test_printed_command_line_is_valid(page: str, line: str) -> None:
    assert problem(arguments(line)) == ""


@pytest.mark.parametrize(("module", "line"), HINTS, ids=[f"{p}:{line}" for p, line in HINTS])
def test_command_in_a_message_exists_and_has_the_named_options(module: str, line: str) -> None:
    words = arguments(line)
    known = next((o for p, c in COMMANDS.items() if tuple(words[: len(p)]) == p for o in [c.params]), None)
    assert known is not None or any(p[0] == words[0] for p in COMMANDS), f"{module}: {line}"
    options = {o for parameter in known or () for o in parameter.opts}
    assert {w for w in words if w.startswith("-")} - {"--help"} <= options, f"{module}: {line}"


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_of_each_command_has_an_example_that_is_valid(path: tuple[str, ...]) -> None:
    examples = re.findall(r"trace-gym [^\n`]+", COMMANDS[path].help)
    assert f"Example: trace-gym {' '.join(path)}" in " ".join(COMMANDS[path].help.split())
    for line in examples:
        assert problem(arguments(line.strip().strip(".)"))) == "", line


@pytest.mark.parametrize("path", [(), ("target",), *COMMANDS], ids=lambda p: " ".join(p) or "trace-gym")
def test_h_is_short_for_help(path: tuple[str, ...]) -> None:
    short, long = (CliRunner().invoke(app, [*path, option]) for option in ("-h", "--help"))
    assert short.exit_code == 0 and short.output == long.output


@pytest.mark.parametrize("width", ["60", "80", "120"])
@pytest.mark.parametrize("path", [(), ("target",), *COMMANDS], ids=lambda p: " ".join(p) or "trace-gym")
def test_help_prints_names_and_summaries_in_full(path: tuple[str, ...], width: str) -> None:
    shown = CliRunner().invoke(app, [*path, "-h"], env={"COLUMNS": width}).output
    words = shown.replace(",", " ").split()
    if path in COMMANDS:
        assert {o for p in COMMANDS[path].params for o in p.opts if o.startswith("-")} <= set(words)
    else:
        below = [c for p, c in COMMANDS.items() if p[:-1] == path]
        assert all(" ".join(c.help.partition("\n\n")[0].split()) in " ".join(shown.split()) for c in below)
    assert "…" not in shown


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("trace-gym vali", "validate"),
        ("trace-gym target i", "init"),
        ("trace-gym show tau2_precon", "tau2_precondition"),
        ("trace-gym rollout tau2_mix", "tau2_mixture"),
        ("trace-gym validate toolsandbox_d", "toolsandbox_datetime"),
        ("trace-gym route hello --env tau2_multi_s", "tau2_multi_step"),
        ("trace-gym serve-openenv tau2_air", "tau2_airline_desk"),
    ],
)
def test_shell_completes_commands_and_environments(typed: str, offered: str) -> None:
    env = {
        "_TRACE_GYM_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    result = CliRunner().invoke(app, [], env=env, prog_name="trace-gym")
    assert offered in result.output.split()

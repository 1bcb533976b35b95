"""Tables of the command line: every word is printed in full at any width, and pipes get plain columns."""

from __future__ import annotations

import ast
import io
import json
from pathlib import Path

import pytest
import typer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from snippets import ROOT
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.cli.synthesis import _print_results
from trace_gym.errors import ConfigError
from trace_gym.tables import Grid

WIDTHS = (60, 80, 120)
WORDS = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=30)
CELLS = st.lists(WORDS, max_size=12).map(" ".join)


def printed(grid: Grid, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=True, color_system=None).print(grid, crop=False)
    return out.getvalue()


@settings(max_examples=60, deadline=None, derandomize=True)
@example([("", "0 0 0000 " + "漢字" * 14, "0 " * 9 + "0" * 30)], 93, False)  # wide characters that fit exactly
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.integers(20, 160), st.booleans())
def test_every_word_is_printed_in_full(rows: list[tuple[str, ...]], width: int, numbers: bool) -> None:
    grid = Grid(("one", "two", "three"), rows, title="A title", whole=frozenset({1}) if numbers else frozenset())
    lines = printed(grid, width).splitlines()
    shown = " ".join(lines).replace(",", " ").split()
    for word in " ".join(cell for row in rows for cell in row).replace(",", " ").split():
        assert word in shown
    longest = max((cell_len(w) for row in rows for cell in row for w in cell.split()), default=0)
    for line in lines:
        assert cell_len(line.rstrip()) <= max(width, longest + len("  three: ") + 2)


def test_narrow_table_becomes_blocks_and_wide_one_keeps_its_columns() -> None:
    grid = Grid(("id", "what"), [("x" * 50, "a sentence of some words that has to be wrapped in any narrow terminal")])
    assert printed(grid, 60).startswith("x" * 50 + "\n  a sentence")
    assert printed(grid, 200).split()[:2] == ["id", "what"]


def test_cells_are_never_read_as_markup() -> None:
    assert "[red]x[/]" in printed(Grid(("a", "b"), [("[red]x[/]", Text("y", "red"))]), 80)


def test_tables_are_made_in_one_place() -> None:
    made = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "trace_gym").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module == "rich.table"
        and any(a.name == "Table" for a in node.names)
    ]
    assert set(made) == {"trace_gym/tables.py"}, "use trace_gym.tables.Grid, which does not split words"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Rollouts of two policies with which each table is printed."""
    folder = tmp_path_factory.mktemp("files")
    made = {policy: folder / f"{policy}_with_a_rather_long_name_of_its_file.jsonl" for policy in ("ablated", "oracle")}
    for policy, out in made.items():
        asked = ["rollout", "tau2_airline_desk", "--policy", policy, "-n", "12", "--split", "test", "--out", str(out)]
        assert CliRunner().invoke(app, asked).exit_code == 0
    return made


def commands(files: dict[str, Path]) -> dict[str, list[str]]:
    return {
        "list": ["list"],
        "properties": ["validate", "--list"],
        "validate": ["validate", "tau2_precondition", "--profile", "quick", "--only", "TG00", "--engine", "here"],
        "diagnose": ["diagnose", str(files["ablated"])],
        "evaluate": ["evaluate", *map(str, files.values())],
        "doctor": ["doctor"],
    }


@pytest.mark.parametrize("name", ["list", "properties", "validate", "diagnose", "evaluate", "doctor"])
def test_output_has_the_same_words_at_every_width(name: str, files: dict[str, Path]) -> None:
    def words(width: int) -> set[str]:
        env = {"COLUMNS": str(width), "TTY_COMPATIBLE": "1", "NO_COLOR": "1", "TERM": "dumb"}
        result = CliRunner().invoke(app, commands(files)[name], env=env)
        assert result.exit_code == 0, result.output
        return set(result.output.replace(",", " ").split())

    everything = words(1000)
    for width in WIDTHS:
        # Blocks have labels (`capability: x`) and no row of headings.
        assert {w for w in everything - words(width) if "_" in w or "-" in w or "/" in w} == set(), width
        assert "…" not in "".join(words(width))


@pytest.mark.parametrize("width", WIDTHS)
def test_list_in_a_pipe_has_one_line_with_tabs_per_environment(width: int) -> None:
    piped = CliRunner().invoke(app, ["list"], env={"COLUMNS": str(width)}).output.splitlines()
    told = json.loads(CliRunner().invoke(app, ["list", "--json"]).output)
    assert [line.split("\t")[0] for line in piped] == [row["id"] for row in told]
    assert all(line.count("\t") == 3 for line in piped)


@pytest.mark.parametrize("width", WIDTHS)
def test_synthesized_paths_are_printed_in_full(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    written = registry.manifest("tau2_claim_verification")
    failed = ConfigError("the answer has [no] module: found text, expected a fenced block")
    with pytest.raises(typer.Exit):
        _print_results({"claim_verification": written, "other_capability": failed}, tmp_path / ("f" * 70))
    output = capsys.readouterr().out
    assert str(tmp_path / ("f" * 70) / f"{written.id}.py") in output
    assert "[no] module" in " ".join(output.split())

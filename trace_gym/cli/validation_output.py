"""Output of the command `validate`: report files and printed text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trace_gym import terminal
from trace_gym.errors import ConfigError
from trace_gym.terminal import say

if TYPE_CHECKING:
    from trace_gym.types import Report


def check_output_options(paths: Mapping[str, Path | None], checklist: str | None, as_json: bool) -> None:
    """Check the output options before the validation starts.

    Args:
        paths: Output file by option, such as ``--out``; None for an option that was not given.
        checklist: Name of a checklist, if one was given.
        as_json: Whether the report is printed as JSON.

    Raises:
        ConfigError: There is no such checklist, an option has no effect, or two options name the same file.
    """
    from trace_gym.validation.checklists import items

    if checklist is not None:
        items(checklist)
        if as_json:
            raise ConfigError("--checklist and --json cannot be used together. Remove one of them")
    options: dict[Path, str] = {}
    for option, path in paths.items():
        if path is not None and (other := options.setdefault(path.resolve(), option)) != option:
            raise ConfigError(f"{other} and {option} specify the same file {path}. Choose two different files")


def write_report(report: Report, out: Path | None, html: Path | None, sarif: Path | None) -> None:
    """Write the report to the files that were requested."""
    from trace_gym.files import write

    if out is not None:
        write(out, report.model_dump_json(indent=1) + "\n")
    if html is not None:
        from trace_gym.report.validation import render_report

        write(html, render_report(report))
    if sarif is not None:
        from trace_gym.validation.sarif import dump_sarif

        write(sarif, dump_sarif(report))


def print_report(report: Report, checklist: str | None, as_json: bool) -> None:
    """Print the report as a table or as JSON, and the verdicts of a checklist."""
    from trace_gym.validation import render
    from trace_gym.validation.checklists import render_checklist

    if as_json:
        say(json.dumps(report.model_dump(mode="json"), indent=1))
        return
    terminal.console().print(render(report), crop=False)
    if checklist is not None:
        terminal.console().print(render_checklist(report, checklist), crop=False)


def print_listing(checklist: str | None) -> None:
    """Print the table of the properties, or the table of a checklist."""
    from trace_gym.validation import listing
    from trace_gym.validation.checklists import checklist_table

    terminal.console().print(listing() if checklist is None else checklist_table(checklist))

"""Help output for command groups that shows the full summary of each command."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class Summaries(TyperGroup):
    """Command group whose help wraps the summary of each command instead of truncating it."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the section that lists the commands."""
        shown = [(name, command) for name, command in self.commands.items() if not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(name, " ".join((c.help or "").split("\n\n")[0].split())) for name, c in shown])

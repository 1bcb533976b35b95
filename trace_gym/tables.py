"""Tables for the terminal that never split a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

PROSE = 30
"""Least width of a column that is wrapped."""
GAP = 2
"""Spaces between columns, and in front of what belongs to a row that is printed as a block."""


@dataclass
class Grid:
    """Rows under headings, for `rich`: a table where it fits, otherwise one block of lines per row.

    Neither form splits a word. A word that is wider than the terminal is printed in full.

    Attributes:
        headings: One per column.
        rows: Cells, as strings (without markup) or `rich.text.Text`; missing cells at the end are empty.
        title: A line above the table.
        notes: A paragraph below the table.
        head: Number of columns in the first line of a block.
        whole: Columns whose cells are never wrapped, and are aligned to the right. The first column is never wrapped
            either.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str | Text]] = ()
    title: str | Text = ""
    notes: str = ""
    head: int = 1
    whole: frozenset[int] = frozenset()

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Yield what `rich` prints at the width of `options`."""
        from rich.text import Text

        cells = [[_text(c) for c in (*row, *[""] * (len(self.headings) - len(row)))] for row in self.rows]
        if self.title:
            yield from _wrapped(_text(self.title, "bold"), options.max_width)
        if (widths := self._widths(cells, options.max_width)) is not None:
            yield self._table(cells, widths)
        else:
            for row in cells:
                yield from self._block(row, options.max_width)
        if self.notes:
            yield from _wrapped(Text(self.notes, "dim"), options.max_width)

    def _widths(self, cells: list[list[Text]], width: int) -> list[int] | None:
        """Return the column widths of a table, or None if it needs more than `width`."""
        natural, least = [], []
        for n, heading in enumerate(self.headings):
            column = [row[n].plain for row in cells]
            whole = _longest(line for cell in column for line in cell.splitlines())
            words = _longest(word for cell in column for word in cell.split())
            kept = max(words, min(PROSE, whole)) if n and n not in self.whole else whole
            least.append(max(kept, _longest(heading.split())))
            natural.append(max(whole, _longest([heading])))
        spare = width - GAP * (len(least) - 1) - sum(least)
        if spare < 0:
            return None
        for n in sorted(range(len(least)), key=lambda n: natural[n] - least[n]):
            grown = min(natural[n] - least[n], spare)
            least[n] += grown
            spare -= grown
        return least

    def _table(self, cells: list[list[Text]], widths: list[int]) -> Table:
        from rich.table import Table

        table = Table(box=None, header_style="bold", padding=(0, GAP, 0, 0), pad_edge=False)
        for n, (heading, width) in enumerate(zip(self.headings, widths, strict=True)):
            justify: Literal["left", "right"] = "right" if n in self.whole else "left"
            # No word is wider than its column, so nothing is folded; `ellipsis` would replace the end of a line of
            # wide characters that fits exactly.
            table.add_column(heading, width=width, justify=justify, overflow="fold")
        for row in cells:
            table.add_row(*row)
        return table

    def _block(self, row: list[Text], width: int) -> Iterator[Text]:
        """Yield the lines of one row: the first columns, then what is short, then each longer text."""
        from rich.text import Text

        yield from _wrapped(Text(" " * GAP).join(c for c in row[: self.head] if c.plain), width, hanging=GAP)
        rest = [(h, c) for h, c in list(zip(self.headings, row, strict=True))[self.head :] if c.plain]
        short = [Text(f"{heading}: " if heading else "").append_text(c) for heading, c in rest if _is_short(c)]
        for text in [Text(", ").join(short), *(c for _, c in rest if not _is_short(c))]:
            if text.plain:
                yield from _wrapped(text, width, indent=GAP)


def _is_short(cell: Text) -> bool:
    return len(cell.plain) <= PROSE and "\n" not in cell.plain


def _text(cell: str | Text, style: str = "") -> Text:
    from rich.text import Text

    return Text(cell, style) if isinstance(cell, str) else cell


def _longest(parts: Any) -> int:
    """Return the width of the widest part in terminal cells."""
    from rich.cells import cell_len

    return max(map(cell_len, parts), default=0)


def _wrapped(text: Text, width: int, indent: int = 0, hanging: int = 0) -> Iterator[Text]:
    """Yield the lines of a text, broken at spaces only."""
    from rich.cells import cell_len
    from rich.text import Text

    for line in text.split("\n"):
        breaks, at, room = [], 0, width - indent
        for word in re.finditer(r"\S+", line.plain):
            if at < word.start() and cell_len(line.plain[at : word.end()]) > room:
                breaks.append(word.start())
                at, room = word.start(), width - indent - hanging
        for n, part in enumerate(line.divide(breaks)):
            part.rstrip()
            shown = Text(" " * (indent + (hanging if n else 0))).append_text(part)
            shown.no_wrap, shown.overflow = True, "ignore"
            yield shown

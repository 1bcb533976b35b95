"""Tables for the terminal in which words are never split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

PROSE = 30
"""Minimum width of a column with wrapped text, unless all of its lines are shorter."""
GAP = 2
"""Number of spaces between columns, and of indentation in a row that is printed as a block of lines."""


@dataclass
class Grid:
    """Table that `rich` can print. If the table is too wide for the terminal, each row is printed as a block of lines.

    Words are never split. A word that is wider than the terminal is printed in full.

    Attributes:
        headings: Headings of the columns.
        rows: Cells of each row, as strings (without markup) or `rich.text.Text`. Missing cells at the end are empty.
        title: Line above the table.
        notes: Paragraph below the table.
        head: Number of columns in the first line of a block.
        whole: Indices of the columns whose cells are aligned to the right and never wrapped. The first column is never
            wrapped either.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str | Text]] = ()
    title: str | Text = ""
    notes: str = ""
    head: int = 1
    whole: frozenset[int] = frozenset()

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Yield the table or the blocks of lines for the width in `options`."""
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
        """Return the column widths of a table, or None if the table is wider than `width`."""
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
            # No word is wider than its column, so `fold` never splits a word. `ellipsis` would cut off the end of a
            # line of wide characters that fits exactly.
            table.add_column(heading, width=width, justify=justify, overflow="fold")
        for row in cells:
            table.add_row(*row)
        return table

    def _block(self, row: list[Text], width: int) -> Iterator[Text]:
        """Yield the lines of one row: the first columns, then the short cells in one line, then each longer cell."""
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

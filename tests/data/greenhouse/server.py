"""An MCP server of a greenhouse, made for the tests: ``python tests/data/greenhouse/server.py``.

Its tools have dashes in their names, optional parameters, results as text, as objects and as lists, and writes that
refuse. Its records are in memory, so a restart resets them.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Any

from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from pydantic import Field

Bed = dict[str, Any]
BEDS: dict[str, Bed] = {
    "bed-1": {"bed": "bed-1", "size": 4, "plants": [{"plant": "tomato", "count": 2}]},
    "bed-2": {"bed": "bed-2", "size": 6, "plants": []},
    "bed-3": {"bed": "bed-3", "size": 3, "plants": [{"plant": "basil", "count": 3}]},
}


def greenhouse() -> FastMCP:
    """Return a server with records of its own."""
    server, beds = FastMCP("greenhouse", log_level="ERROR"), deepcopy(BEDS)

    def known(bed: str) -> Bed:
        if bed not in beds:
            raise ToolError(f"there is no bed {bed}")
        return beds[bed]

    def taken(bed: Bed) -> int:
        return sum(row["count"] for row in bed["plants"])

    @server.tool(name="list-beds")
    def list_beds() -> list[Bed]:
        """List all beds with their plants."""
        return list(beds.values())

    @server.tool(name="get-bed")
    def get_bed(bed: str, detailed: bool = False) -> Bed:
        """Show the size of a bed and its free places; with `detailed` also its plants."""
        row = known(bed)
        shown = {"bed": bed, "size": row["size"], "free": row["size"] - taken(row)}
        return {**shown, "plants": row["plants"]} if detailed else shown

    @server.tool()
    def overview() -> str:
        """Show how full each bed is."""
        return "\n".join(f"{name}: {taken(row)} of {row['size']} places taken" for name, row in beds.items())

    @server.tool(name="watering-days")
    def watering_days(first: int, last: int = 7) -> str:
        """Calculate the days on which plants are watered, every third day."""
        days = [str(day) for day in range(first, last + 1) if day % 3 == 0]
        return f"days {', '.join(days)}" if days else "no day"

    @server.tool(name="sow-seed")
    def sow_seed(bed: str, plant: str, count: Annotated[int, Field(ge=1, le=9)] = 1) -> Bed:
        """Sow seeds in a bed, one per place."""
        row = known(bed)
        if taken(row) + count > row["size"]:
            raise ToolError(f"{bed} has only {row['size'] - taken(row)} free places")
        for old in row["plants"]:
            if old["plant"] == plant:
                old["count"] += count
                return row
        row["plants"].append({"plant": plant, "count": count})
        return row

    @server.tool(name="clear-bed")
    def clear_bed(bed: str) -> str:
        """Clear a bed of all its plants."""
        if not (row := known(bed))["plants"]:
            raise ToolError(f"{bed} is empty already")
        row["plants"] = []
        return f"{bed} is empty now"

    return server


if __name__ == "__main__":
    greenhouse().run()

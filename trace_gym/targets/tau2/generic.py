"""Tools and interface data that the tau2 domains share: arithmetic and the transfer to a human."""

from __future__ import annotations

import ast
import json
import operator
import re
from functools import cache
from pathlib import Path
from typing import Any

from trace_gym.types import Interface
from trace_gym.world import ToolError, World, tool

Data = dict[str, Any]
"""A record as a JSON object."""

HERE = Path(__file__).parent
CONVENTIONS = "You are an agent who serves one customer at a time. Follow the rules below."


@cache
def interface_of_domain(domain: str) -> Interface:
    """Return the interface of the domain ``airline`` or ``retail``.

    The names and types are those of the benchmark. The descriptions were written for this project.
    """
    data = json.loads((HERE / f"{domain}.json").read_text())
    return Interface(
        name=data["name"],
        policy=(HERE / f"{domain}_policy.md").read_text(),
        tools=tuple(data["tools"]),
        kinds=data["kinds"],
        conventions=CONVENTIONS,
    )


class GenericTools(World):
    """The two tools of every tau2 domain that neither read nor change records."""

    transferred: bool

    @property
    def ended(self) -> bool:
        return self.transferred

    @tool(kind="generic")
    def calculate(self, expression: str) -> str:
        try:
            if not re.fullmatch(r"[0-9.+*/() -]{1,200}", expression):  # letters could make the parser issue warnings
                raise ValueError
            return str(round(float(_arithmetic(ast.parse(expression.strip(), mode="eval").body)), 2))
        except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError, TypeError):
            raise ToolError("not an arithmetic expression of numbers, + - * / and parentheses") from None

    @tool(kind="generic")
    def transfer_to_human_agents(self, summary: str) -> str:
        self.transferred = True
        return "Transfer successful"


def found(table: dict[str, Data], key: str, what: str) -> Data:
    """Return the record with an id.

    Raises:
        ToolError: The table has no record with this id.
    """
    if key not in table:
        raise ToolError(f"there is no {what} {key[:40]!r}")
    return table[key]


_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def _arithmetic(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return float(_OPERATORS[type(op)](_arithmetic(left), _arithmetic(right)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_arithmetic(operand)
    raise ValueError

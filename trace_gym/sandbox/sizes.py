"""Sizes that can be computed from constants: lengths of sequences, values of numbers, widths in formats.

A size that depends on a value of the scenario, or grows in a loop, is unknown here. The limits of the sandbox bound it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from trace_gym.sandbox.names import UNKNOWN
from trace_gym.sandbox.rules import MAX_EXPONENT, MAX_NUMBER, MAX_REPEATS
from trace_gym.sandbox.scopes import Where

PADDING = frozenset({"center", "expandtabs", "ljust", "rjust", "zfill"})
"""Methods of text whose first argument is the width of the result."""
SAME_LENGTH = frozenset({"enumerate", "list", "range", "reversed", "set", "sorted", "tuple"})
"""Builtins whose result is at most as long as their argument; of `range`, as the argument says."""
_WIDTH = re.compile(r"\d+")
_PERCENT = re.compile(r"%(?:\(\w*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?")
"""A field of a template of the operator %, with its width and its precision."""


class Size(NamedTuple):
    """The largest value that is known of an expression."""

    is_number: bool
    most: int
    """The length of a sequence, or the absolute value of a number."""


Known = dict[str, Size | None]


def size_of(node: ast.AST, where: Where, known: Known | None = None) -> Size | None:
    """Return the size of an expression, or None if constants do not determine it.

    A name may stand for several values; the largest one that is known counts.
    """
    known = {} if known is None else known
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() as number):
            return Size(True, abs(number))
        case ast.Constant(value=str() as text):
            return Size(False, len(text))
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return Size(False, len(parts))
        case ast.Name(id=name) if where.resolve(node) is UNKNOWN:
            if name not in known:
                known[name] = None  # of a name that leads back to itself
                values = [value for value in where.bound(name) if isinstance(value, ast.expr)]
                known[name] = _largest([size_of(value, where, known) for value in values])
            return known[name]
        case ast.Attribute(value=ast.Name(), attr=attr):  # of self or of a class
            return _largest([size_of(value, where, known) for value in where.names.members.get(attr, ())])
        case ast.IfExp(body=one, orelse=other):
            return _largest([size_of(one, where, known), size_of(other, where, known)])
        case ast.BoolOp(values=values):
            return _largest([size_of(value, where, known) for value in values])
        case ast.NamedExpr(value=value) | ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=value):
            return size_of(value, where, known)
        case ast.Subscript(value=value, slice=ast.Slice()):
            return size_of(value, where, known)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, size_of(left, where, known), size_of(right, where, known))
        case ast.ListComp(generators=[ast.comprehension(iter=value)]):
            return _sequence(size_of(value, where, known))
        case ast.Call():
            return _of_call(node, where, known)
    return None


def _of_call(node: ast.Call, where: Where, known: Known) -> Size | None:
    sizes = [size_of(arg, where, known) for arg in node.args]
    match node.func:
        case ast.Name(id=name) if where.local(name) or name in where.names.top:
            return None
        case ast.Name(id="len") if sizes and sizes[0] is not None:
            return Size(True, sizes[0].most)
        case ast.Name(id="range"):
            found = _largest(sizes)
            return None if found is None else Size(False, found.most)
        case ast.Name(id=name) if name in SAME_LENGTH:
            return _sequence(sizes[0] if sizes else None)
        case ast.Name(id="max" | "min" | "abs" | "int" | "round"):
            return _largest([size for size in sizes if size is not None and size.is_number])
        case ast.Attribute(attr=attr) if attr in PADDING and sizes and sizes[0] is not None:
            return Size(False, sizes[0].most)
    return None


def _sequence(size: Size | None) -> Size | None:
    return size if size is not None and not size.is_number else None


def _largest(sizes: list[Size | None]) -> Size | None:
    """Return the largest of the sizes that are known; sequences go before numbers."""
    found = [size for size in sizes if size is not None]
    return max(found, key=lambda size: (not size.is_number, size.most), default=None)


def _combined(op: ast.operator, left: Size | None, right: Size | None) -> Size | None:
    """Return the size of what an operator makes; numbers are cut off where no rule permits them."""
    if left is None or right is None:
        return None
    both = left.is_number and right.is_number
    a, b = left.most, right.most
    match op:
        case ast.Mult() if left.is_number or right.is_number:
            return Size(both, min(a * b, MAX_NUMBER * 10))
        case ast.Add() if left.is_number == right.is_number:
            return Size(both, min(a + b, MAX_NUMBER * 10))
        case ast.Sub() if both:
            return Size(True, a + b)
        case ast.FloorDiv() if both:
            return Size(True, a)
        case ast.Mod() if both:
            return Size(True, b)
        case ast.Pow() | ast.LShift() if both and b <= MAX_EXPONENT:
            return Size(True, min(a**b if isinstance(op, ast.Pow) else a << b, MAX_NUMBER * 10))
    return None


def size_faults(node: ast.expr | ast.AugAssign, where: Where) -> Iterator[str]:
    """Yield what is too large about an operation, a call, or a value in an f-string."""
    match node:
        case ast.BinOp(left=left, op=ast.Mod()) if text := _text(left, where):
            yield from _percent_faults(text)
        case ast.BinOp():
            yield from _too_large(size_of(node, where))
        case ast.AugAssign(target=ast.expr() as target, op=op, value=value):
            yield from _too_large(size_of(ast.BinOp(target, op, value), where))
        case ast.Call(func=ast.Name(id="range")):
            yield from _too_large(size_of(node, where))
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in PADDING:
            yield from _too_large(size_of(node, where))
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=parts)):
            for part in parts:
                if isinstance(part, ast.Constant):
                    yield from width_faults(str(part.value))
                elif isinstance(part, ast.FormattedValue) and (size := size_of(part.value, where)) is not None:
                    yield from _too_wide(size.most if size.is_number else 0)


def _text(node: ast.expr, where: Where) -> str:
    """Return the constant text that an expression stands for, or an empty text."""
    if isinstance(node, ast.Name):
        [node, *_] = [value for value in where.bound(node.id) if isinstance(value, ast.expr)] or [node]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _too_large(size: Size | None) -> Iterator[str]:
    if size is not None and size.is_number and size.most > MAX_NUMBER:
        yield f"the number is too large: found more than {MAX_NUMBER:.0e}, expected at most that. Compute with less"
    elif size is not None and not size.is_number and size.most > MAX_REPEATS:
        yield f"the sequence is too long: found {size.most} items, expected at most {MAX_REPEATS}. Make a shorter one"


def width_faults(spec: str) -> Iterator[str]:
    """Yield what is wrong with the widths in the format of a value, such as ``>12.2f``."""
    for digits in _WIDTH.findall(spec):
        yield from _too_wide(int(digits) if len(digits) < 20 else MAX_NUMBER)


def _too_wide(width: int) -> Iterator[str]:
    if width > MAX_REPEATS:
        yield f"a width in a format is too large: found {width}, expected at most {MAX_REPEATS}. Use a smaller width"


def _percent_faults(template: str) -> Iterator[str]:
    for found in _PERCENT.finditer(template):
        if "*" in found.groups():
            yield f"{found[0]} takes its width from a value: found *, expected a number. Use an f-string"
        yield from width_faults(" ".join(filter(None, found.groups())).replace("*", ""))

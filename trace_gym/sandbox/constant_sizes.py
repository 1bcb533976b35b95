"""Sizes that constants determine: lengths of sequences, magnitudes of numbers, and widths in format specifications.

The linter uses these sizes to reject code that would use too much memory. The linter cannot compute sizes that depend
on the scenario or grow in a loop. For these, the resource limits of the sandbox apply.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from trace_gym.sandbox.lint_rules import MAX_EXPONENT, MAX_NUMBER, MAX_REPEATS
from trace_gym.sandbox.module_names import UNKNOWN
from trace_gym.sandbox.scopes import NameContext

PADDING = frozenset({"center", "expandtabs", "ljust", "rjust", "zfill"})
"""String methods whose first argument is the width of the result."""
SAME_LENGTH = frozenset({"enumerate", "list", "range", "reversed", "set", "sorted", "tuple"})
"""Builtins whose result is at most as long as their argument. For `range`, the argument is the length."""
_WIDTH = re.compile(r"\d+")
_PERCENT = re.compile(r"%(?:\(\w*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?")
"""A conversion specifier of a %-format string, with its width and precision."""


class ValueSize(NamedTuple):
    """Largest known size of the value of an expression."""

    is_number: bool
    most: int
    """Length of a sequence, or absolute value of a number."""


KnownSizes = dict[str, ValueSize | None]


def size_of(node: ast.AST, context: NameContext, known: KnownSizes | None = None) -> ValueSize | None:
    """Return the size of an expression, or None if constants do not determine it.

    If a name has several values, the size is that of the largest known value.
    """
    known = {} if known is None else known
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() as number):
            return ValueSize(True, abs(number))
        case ast.Constant(value=str() as text):
            return ValueSize(False, len(text))
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return ValueSize(False, len(parts))
        case ast.Name(id=name) if context.imported(node) is UNKNOWN:
            if name not in known:
                known[name] = None  # prevents infinite recursion if the name is defined in terms of itself
                values = [value for value in context.bound(name) if isinstance(value, ast.expr)]
                known[name] = _largest([size_of(value, context, known) for value in values])
            return known[name]
        case ast.Attribute(value=ast.Name(), attr=attr):  # an attribute of self or of a class
            return _largest([size_of(value, context, known) for value in context.names.members.get(attr, ())])
        case ast.IfExp(body=one, orelse=other):
            return _largest([size_of(one, context, known), size_of(other, context, known)])
        case ast.BoolOp(values=values):
            return _largest([size_of(value, context, known) for value in values])
        case ast.NamedExpr(value=value) | ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=value):
            return size_of(value, context, known)
        case ast.Subscript(value=value, slice=ast.Slice()):
            return size_of(value, context, known)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, size_of(left, context, known), size_of(right, context, known))
        case ast.ListComp(generators=[ast.comprehension(iter=value)]):
            return _sequence(size_of(value, context, known))
        case ast.Call():
            return _of_call(node, context, known)
    return None


def _of_call(node: ast.Call, context: NameContext, known: KnownSizes) -> ValueSize | None:
    sizes = [size_of(arg, context, known) for arg in node.args]
    match node.func:
        case ast.Name(id=name) if context.local(name) or name in context.names.top_level:
            return None
        case ast.Name(id="len") if sizes and sizes[0] is not None:
            return ValueSize(True, sizes[0].most)
        case ast.Name(id="range"):
            found = _largest(sizes)
            return None if found is None else ValueSize(False, found.most)
        case ast.Name(id=name) if name in SAME_LENGTH:
            return _sequence(sizes[0] if sizes else None)
        case ast.Name(id="max" | "min" | "abs" | "int" | "round"):
            return _largest([size for size in sizes if size is not None and size.is_number])
        case ast.Attribute(attr=attr) if attr in PADDING and sizes and sizes[0] is not None:
            return ValueSize(False, sizes[0].most)
    return None


def _sequence(size: ValueSize | None) -> ValueSize | None:
    return size if size is not None and not size.is_number else None


def _largest(sizes: list[ValueSize | None]) -> ValueSize | None:
    """Return the largest known size, or None if no size is known. Sizes of sequences take precedence over numbers."""
    found = [size for size in sizes if size is not None]
    return max(found, key=lambda size: (not size.is_number, size.most), default=None)


def _combined(op: ast.operator, left: ValueSize | None, right: ValueSize | None) -> ValueSize | None:
    """Return the size of the result of an operator. Sizes above the permitted maximum are capped to save time."""
    if left is None or right is None:
        return None
    both = left.is_number and right.is_number
    a, b = left.most, right.most
    match op:
        case ast.Mult() if left.is_number or right.is_number:
            return ValueSize(both, min(a * b, MAX_NUMBER * 10))
        case ast.Add() if left.is_number == right.is_number:
            return ValueSize(both, min(a + b, MAX_NUMBER * 10))
        case ast.Sub() if both:
            return ValueSize(True, a + b)
        case ast.FloorDiv() if both:
            return ValueSize(True, a)
        case ast.Mod() if both:
            return ValueSize(True, b)
        case ast.Pow() | ast.LShift() if both and b <= MAX_EXPONENT:
            return ValueSize(True, min(a**b if isinstance(op, ast.Pow) else a << b, MAX_NUMBER * 10))
    return None


def size_errors(node: ast.expr | ast.AugAssign, context: NameContext) -> Iterator[str]:
    """Yield a message if the result of an operation or a call, or a width in an f-string, is too large."""
    match node:
        case ast.BinOp(left=left, op=ast.Mod()) if text := _text(left, context):
            yield from _percent_errors(text)
        case ast.BinOp():
            yield from _too_large(size_of(node, context))
        case ast.AugAssign(target=ast.expr() as target, op=op, value=value):
            yield from _too_large(size_of(ast.BinOp(target, op, value), context))
        case ast.Call(func=ast.Name(id="range")):
            yield from _too_large(size_of(node, context))
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in PADDING:
            yield from _too_large(size_of(node, context))
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=parts)):
            for part in parts:
                if isinstance(part, ast.Constant):
                    yield from width_errors(str(part.value))
                elif isinstance(part, ast.FormattedValue) and (size := size_of(part.value, context)) is not None:
                    yield from _too_wide(size.most if size.is_number else 0)


def _text(node: ast.expr, context: NameContext) -> str:
    """Return the constant string value of an expression, or `""`."""
    if isinstance(node, ast.Name):
        [node, *_] = [value for value in context.bound(node.id) if isinstance(value, ast.expr)] or [node]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _too_large(size: ValueSize | None) -> Iterator[str]:
    if size is not None and size.is_number and size.most > MAX_NUMBER:
        yield f"the number is too large: expected at most {MAX_NUMBER:.0e}. Use smaller numbers"
    elif size is not None and not size.is_number and size.most > MAX_REPEATS:
        yield f"the sequence is too long: found {size.most}, expected at most {MAX_REPEATS}. Shorten the sequence"


def width_errors(spec: str) -> Iterator[str]:
    """Yield a message for each width in a format specification, such as ``>12.2f``, that is too large."""
    for digits in _WIDTH.findall(spec):
        yield from _too_wide(int(digits) if len(digits) < 20 else MAX_NUMBER)


def _too_wide(width: int) -> Iterator[str]:
    if width > MAX_REPEATS:
        yield f"a width in a format is too large: found {width}, expected at most {MAX_REPEATS}. Use a smaller width"


def _percent_errors(template: str) -> Iterator[str]:
    for found in _PERCENT.finditer(template):
        if "*" in found.groups():
            yield f"{found[0]} takes its width from an argument: found *, expected a number. Use an f-string"
        yield from width_errors(" ".join(filter(None, found.groups())).replace("*", ""))

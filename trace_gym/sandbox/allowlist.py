"""Allowlists of the linter: syntax, builtins, attributes, and importable names.

The linter refuses everything in a generated module that these tables do not contain.
"""

from __future__ import annotations

import abc
import ast
import collections.abc
import functools
import itertools
import types
from importlib.machinery import ModuleSpec

from trace_gym import statements, world
from trace_gym.targets import dialogue


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


ALLOWED_NODES: frozenset[type[ast.AST]] = frozenset(
    {
        *(ast.Module, ast.Expr, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred),
        *(ast.Import, ast.ImportFrom, ast.alias, ast.ClassDef, ast.FunctionDef, ast.arguments, ast.arg, ast.Lambda),
        *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.Delete, ast.Pass, ast.Assert, ast.Nonlocal),
        *(ast.If, ast.IfExp, ast.For, ast.While, ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom),
        *(ast.Raise, ast.Try, ast.ExceptHandler, ast.Call, ast.keyword),
        *(ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr, ast.FormattedValue),
        *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
        *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare),
        *(ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchMapping),
        *(ast.MatchClass, ast.MatchStar, ast.MatchAs, ast.MatchOr),
    }
)
"""Syntax nodes that a module may contain."""
OPERATOR_NODES = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
"""Base classes of syntax nodes without content, such as operators. All of their subclasses are allowed."""
TOP_LEVEL_STATEMENTS = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Expr)
CLASS_BODY_STATEMENTS = (ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass)

EXCEPTIONS = _words(
    "ArithmeticError AssertionError IndexError KeyError LookupError NotImplementedError OverflowError TypeError",
    " ValueError ZeroDivisionError",
)
BUILTINS = EXCEPTIONS | _words(
    "abs all any bool chr classmethod dict divmod enumerate filter float frozenset int isinstance issubclass iter len",
    "list map max min next ord property range repr reversed round set slice sorted staticmethod str sum super tuple",
    "vars zip NotImplemented",
)
RESERVED_BUILTINS = _words("classmethod dict filter isinstance issubclass map property staticmethod super vars")
"""Builtins that a module may not rebind, because lint rules rely on their meaning."""
DUNDERS = _words("__post_init__ __str__ __len__ __iter__ __contains__ __lt__")
"""Special methods that a class may define."""

METHODS = _words(
    # text
    "capitalize casefold center count endswith expandtabs find format index isalnum isalpha isascii isdecimal isdigit",
    "isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip partition removeprefix",
    "removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title",
    "translate upper zfill",
    # lists, dicts, sets, counters, deques
    "append clear copy extend insert pop remove reverse sort fromkeys get items keys popitem setdefault update values",
    "add difference difference_update discard intersection intersection_update isdisjoint issubset issuperset",
    "symmetric_difference symmetric_difference_update union most_common elements total subtract appendleft popleft",
    "extendleft rotate move_to_end from_iterable",
    # numbers, and the random number generator passed to `generate`
    "bit_count bit_length is_integer choice choices expovariate gauss getrandbits randint random randrange sample",
    "shuffle triangular uniform",
    # dates
    "combine day days date fromisocalendar fromisoformat fromordinal hour isocalendar isoformat isoweekday max",
    "microsecond min minute month second seconds strftime strptime time toordinal total_seconds weekday year",
    # matches
    "end findall finditer fullmatch group groupdict groups match pattern search span start sub subn",
    # values that `find_values` extracts from messages; further attributes are kind, start and end
    "unit value",
    # steps, checks and worlds
    "arguments tool text goal guard kind says holds id capability target levels max_turns generate opening reply",
    "verify oracle ablated needs ended conduct step answer refused",
)
"""Attributes that are allowed on any value."""
MUTATORS = _words(
    "add append appendleft clear difference_update discard extend extendleft insert intersection_update move_to_end",
    "pop popitem popleft remove reverse rotate setdefault sort subtract symmetric_difference_update update",
)
CLOCK_NAMES = _words("astimezone ctime fromtimestamp localtime now timestamp today utcfromtimestamp utcnow")
RANDOM_NAMES = _words("getstate randbytes seed setstate")
INTERPRETER_TYPES = (
    *(types.FunctionType, types.CodeType, types.FrameType, types.TracebackType, types.MethodType, types.CellType),
    *(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.GetSetDescriptorType, property, type),
    *(abc.ABCMeta, ModuleSpec, functools.partial, BaseException),
)
"""Types of interpreter internals. Environments do not need their attributes."""
SHARED_NAMES = METHODS | _words(
    "args cached close deleter func getter has_location keywords name origin parent register send setter value"
)
"""Names of interpreter attributes that are also attributes of harmless types."""
SELF_ONLY = frozenset({"register"})
"""Attributes in `SHARED_NAMES` that are allowed only on `self`, because on a class they modify the whole process."""
UNSAFE_ATTRIBUTES = (
    frozenset(name for kind in INTERPRETER_TYPES for name in dir(kind) if not name.startswith("_"))
    | _words("cr_origin format_map func_code func_globals gi_yieldfrom interface")
) - SHARED_NAMES
"""Attributes that are refused even if the module defines an attribute of the same name."""

MODULES: dict[str, frozenset[str]] = {
    "__future__": _words("annotations"),
    "collections": _words("Counter OrderedDict defaultdict deque"),  # ChainMap is excluded: it modifies its arguments
    "collections.abc": frozenset(collections.abc.__all__),
    "dataclasses": _words("KW_ONLY asdict astuple dataclass field replace"),
    "datetime": _words("date datetime time timedelta"),
    "itertools": frozenset(n for n in vars(itertools) if not n.startswith("_")),
    "re": _words(
        "A ASCII DOTALL I IGNORECASE M MULTILINE Match Pattern S VERBOSE X",
        "compile escape findall finditer fullmatch match search split sub subn",
    ),
    "typing": _words(
        "Any Callable ClassVar Dict Final Iterable Iterator List Literal Mapping NamedTuple Never NoReturn NotRequired",
        "Optional Required Self Sequence Set Tuple TypeAlias TypedDict Union cast",
    ),
    "trace_gym.statements": frozenset(statements.__all__),
    "trace_gym.targets.dialogue": frozenset(dialogue.__all__),
    "trace_gym.world": frozenset(world.__all__),
}
"""Importable names by module, except for modules of the target. `tests/test_layers.py` lists the same modules."""

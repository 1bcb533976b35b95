"""Lint rules for generated modules, their numeric limits, and the violations that the linter reports."""

from __future__ import annotations

from dataclasses import dataclass

MAX_CHARACTERS = 64_000
MAX_LINES = 1_000
MAX_NESTING = 40
"""Maximum depth of the syntax tree. Environments in this repository reach a depth of about 20."""
MAX_INT = 10**15
MAX_STRING = 5_000
MAX_ITEMS = 2_000
"""Maximum number of items in a display, such as a list literal."""
MAX_REPEATS = 100_000
"""Maximum length of a range or a repeated sequence, if constants determine the length."""
MAX_EXPONENT = 64
MAX_NUMBER = 10**100
"""Maximum value of a number that is computed from constants."""
MAX_VIOLATIONS = 50
"""Maximum number of violations that one lint run returns."""

RULES: dict[str, str] = {
    "size": f"A module has at most {MAX_LINES} lines and {MAX_CHARACTERS} characters, and its syntax tree is at most "
    f"{MAX_NESTING} levels deep.",
    "encoding": "The file is UTF-8 without another encoding declaration or invisible control characters, and names are "
    "ASCII.",
    "syntax": "The text is valid Python.",
    "statement": "The top level contains only imports, constants, functions and classes; functions contain no imports "
    "or classes; and `async`, `with`, `global`, `finally` and `del` of attributes are not used.",
    "literal": f"Numbers are at most {MAX_INT:.0e}, strings have at most {MAX_STRING} characters, displays have at "
    f"most {MAX_ITEMS} items, and constant exponents are at most {MAX_EXPONENT}; lengths and widths that constants "
    f"determine are at most {MAX_REPEATS}, and numbers computed from constants at most {MAX_NUMBER:.0e}.",
    "import": "A module imports only names on the allowlist, from `trace_gym.world`, its target and a few modules of "
    "the standard library, and does not rebind an imported name.",
    "builtin": "Only builtins that compute values are used, not builtins that run code, inspect objects or access "
    "files; `vars` only copies the fields of `self`.",
    "dunder": "Names that begin with two underscores are not used, also not in strings, but a class may define "
    "`__post_init__`, `__str__`, `__len__`, `__iter__`, `__contains__` and `__lt__`.",
    "attribute": "An attribute is defined by the module or a class of its target, is a method of plain data, or is a "
    "name on the allowlist of an imported module; names that begin with an underscore are accessed only on `self`.",
    "class": "Base classes are worlds, classes of the module, ToolError, NamedTuple or TypedDict, not requests, and a "
    "class has no metaclass or keywords and does not override `copy` or `interface`.",
    "decorator": "Classes are decorated only with @dataclass, and methods only with @tool, @classmethod, @staticmethod "
    "and @property, with constant arguments.",
    "assignment": "A function assigns only to declared fields and items of `self`, of objects reachable from `self`, "
    "and of objects that the function created, but not of parameters, methods or classes, and not to `self`.",
    "shared-state": "Imported objects, module-level objects and class attributes are not modified, also not by `+=`.",
    "value": "Modules, classes, types and imported functions are used only directly, in attribute access, calls, base "
    "classes, annotations, `isinstance` and `except`, and are not assigned, stored or passed as arguments, except "
    "classes and functions as the first argument of `map` or `filter`, and functions as `key`. Methods are called on "
    "objects or by `super()`, not through a class.",
    "exception": "An `except` clause names ToolError, ordinary builtin exceptions such as KeyError, or exception "
    "classes of the module, but not BaseException, Exception or StopIteration, because a module could then ignore the "
    "exception that stops it.",
    "annotation": "Annotations, including annotations in strings, are types and contain no other expressions.",
    "format": "`format` is called only on constant templates that are not modified, and template fields do not access "
    "attributes or items.",
    "regex": "Regular expressions and flags are constants, inserted text is escaped with re.escape, and patterns have "
    "no exponential or cubic backtracking and no back references, and are simple enough to analyze.",
    "random": "All randomness comes from the `rng` argument of `generate`, so a module creates no generator and sets "
    "no seed.",
    "clock": "The system clock and the local time zone are not used.",
}
"""Lint rules that every generated module follows, by name."""


@dataclass(frozen=True, slots=True, order=True)
class LintViolation:
    """Violation of a lint rule in one line of a module."""

    line: int
    rule: str
    """A key of `RULES`."""
    message: str
    """Description of the violation and of the fix."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.message} ({self.rule})"


def rules_table() -> str:
    """Return the rules as the Markdown table of ``docs/explanation/sandbox.md``."""
    rows = "".join(f"| `{rule}` | {sentence} |\n" for rule, sentence in RULES.items())
    return f"| Rule | Requirement |\n|---|---|\n{rows}"

"""The rules of the static gate: what each forbids, and the fault that it finds."""

from __future__ import annotations

from dataclasses import dataclass

MAX_CHARACTERS = 64_000
MAX_LINES = 1_000
MAX_NESTING = 40
"""Depth of the syntax tree; committed environments reach about 20."""
MAX_INT = 10**15
MAX_STRING = 5_000
MAX_ITEMS = 2_000
"""Items of one display, such as a list."""
MAX_REPEATS = 100_000
"""Constant lengths of a range, and of a sequence that is repeated."""
MAX_EXPONENT = 64
MAX_NUMBER = 10**100
"""A number that is computed from constants."""
MAX_FAULTS = 50
"""Faults that are told at once."""

RULES: dict[str, str] = {
    "size": f"At most {MAX_LINES} lines and {MAX_CHARACTERS} characters, nested at most {MAX_NESTING} levels deep.",
    "encoding": "UTF-8 without another declaration or invisible control characters; names are in ASCII.",
    "syntax": "The text is Python.",
    "statement": "Plain statements at their places: imports, constants, functions and classes at the top, no imports "
    "and classes inside of functions; no async, with, global, finally, and no del of attributes.",
    "literal": f"Numbers up to {MAX_INT:.0e}, strings up to {MAX_STRING} characters, displays up to {MAX_ITEMS} items, "
    f"constant exponents up to {MAX_EXPONENT}. If constants determine the length of a sequence, a range or a width in "
    f"a format, it is at most {MAX_REPEATS}; if they determine a number, it is at most {MAX_NUMBER:.0e}.",
    "import": "Only the modules of a world, its target's and a few pure ones, name by name; an imported name is not "
    "bound again.",
    "builtin": "Only builtins that compute; none that run code, look inside of objects, or touch files and streams; "
    "`vars` only to copy the fields of `self`.",
    "dunder": "No names with two underscores in front, and no strings that hold such names; a class may define "
    "`__post_init__`, `__str__`, `__len__`, `__iter__`, `__contains__` and `__lt__`.",
    "attribute": "Only attributes that the module defines, that its target's classes have, or that are methods of "
    "plain data; of an imported module only what it offers to environments; a name with an underscore in front only of "
    "`self`.",
    "class": "Bases are worlds, the module's own classes, ToolError, NamedTuple or TypedDict; no metaclass or keyword; "
    "`copy` and `interface` stay as they are inherited.",
    "decorator": "Only @dataclass on classes, and @tool, @classmethod, @staticmethod and @property on methods, with "
    "constant arguments.",
    "assignment": "Only declared fields and items of `self`, of what is reached from it, and of objects that the "
    "function made are assigned to; never those of a parameter, a method, a class, or `self` itself.",
    "shared-state": "What is imported, and what stands in the module or in a class, is not changed, nor by `+=`.",
    "value": "Modules, classes, types and imported functions are not values: they are not assigned, stored, or passed "
    "as arguments. Modules are used only for attribute access. Classes are used only in calls, attribute access, "
    "base-class lists, `isinstance` and `except`, and as the first argument of `map` and `filter`. Types from `typing` "
    "are used only in annotations, and `field` only for defaults in a dataclass. Imported functions are called, or "
    "passed as a `key` or as the first argument of `map` or `filter`.",
    "exception": "An `except` clause names the exceptions that it catches. Each of them is ToolError, an ordinary "
    "builtin exception such as KeyError, or an exception class of the module. BaseException, Exception and "
    "StopIteration are not caught, because a module could then ignore the exception that stops it.",
    "annotation": "Annotations are types and nothing else, in strings too, as they are evaluated.",
    "format": "`format` is called on constant templates, which are only read, and templates name their values "
    "without looking into them.",
    "regex": "Regular expressions and their flags are constants, with re.escape for what is filled in, and not "
    "ambiguous enough to run for ages or too complex to judge: no "
    "exponential or cubic backtracking, no back references.",
    "random": "All randomness comes from the `rng` that `generate` is given: no generator of its own, no new seed.",
    "clock": "No wall clock and no local time zone.",
}
"""What every generated module obeys, a sentence each."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One place where a module breaks a rule."""

    line: int
    rule: str
    """A key of `RULES`."""
    says: str
    """What was found, and what to write instead."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.says} ({self.rule})"


def markdown() -> str:
    """The rules as the table of ``docs/sandbox.md``."""
    rows = "".join(f"| `{rule}` | {sentence} |\n" for rule, sentence in RULES.items())
    return f"| Rule | What it asks |\n|---|---|\n{rows}"

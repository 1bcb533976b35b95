"""Attempts to get at code that runs other code: imports by every trick, builtins, annotations, encodings."""

from hostile.case import HARMLESS, case

WRITE = 'open("<OUTSIDE>/written", "w").write("x")'

case(
    "plain_import",
    "imports os and writes a file",
    "import",
    HARMLESS,
    imports="import os",
    generate='os.system("echo x > <OUTSIDE>/written")',
)
case("import_as", "hides a module under another name", "import", imports="import subprocess as re_tools")
case("from_import", "imports one function of a module", "import", imports="from os import system")
case("star_import", "imports all names of a module", "import", imports="from shutil import *")
case(
    "relative_import", "reaches its neighbours by a relative import", "import", imports="from . import tau2_multi_step"
)
case(
    "import_of_ours",
    "imports the registry, and through it everything",
    "import",
    imports="from trace_gym import registry",
)
case(
    "import_of_the_harness",
    "imports the checks that judge it",
    "import",
    imports="from trace_gym.validation import properties",
)
case(
    "import_of_a_reader",
    "imports a module of the target that reads files",
    "import",
    imports="from trace_gym.targets.tau2 import recorded",
)
case(
    "module_behind_a_module",
    "takes sys from a module that imports it",
    "attribute",
    HARMLESS,
    imports="import itertools, re",
    top="SYSTEM = re.copyreg",
    generate="SYSTEM.pickle(complex, print)",
)
case(
    "name_behind_a_module",
    "imports sys from a module that imports it",
    "import",
    imports="from dataclasses import sys as s",
)
case(
    "late_import",
    "imports where nobody looks",
    "statement",
    "open",
    opening='import io\nio.open("<OUTSIDE>/written", "w")',
)
case(
    "dunder_import",
    "imports by the function behind the statement",
    "dunder",
    generate='__import__("os").system("echo x > <OUTSIDE>/written")',
)
case(
    "builtins_by_name",
    "takes a builtin out of the module's own table",
    "dunder",
    generate='__builtins__["open"]("<OUTSIDE>/written", "w")',
)
case("importlib", "imports by a library", "import", imports="import importlib")
case(
    "pickle",
    "runs code by unpickling it",
    "import",
    "os.system",
    imports="import pickle",
    generate="pickle.loads(b\"cposix\\nsystem\\n(S'echo x > <OUTSIDE>/written'\\ntR.\")",
)
case("exec_of_text", "runs text", "builtin", "compile", generate=f"exec({WRITE!r})")
case("eval_of_text", "evaluates text", "builtin", generate=f"eval({WRITE!r})")
case("compile_of_text", "compiles text", "builtin", generate=f'compile({WRITE!r}, "x", "exec")')
case("opened_file", "opens a file by the builtin", "builtin", "open", opening=WRITE)
case("open_as_a_default", "keeps a builtin as the default of a parameter", "builtin", body="def peek(self, f=open): f")
case("open_in_a_lambda", "keeps a builtin in a lambda", "builtin", top="peek = lambda f=open: f")
case(
    "open_through_a_comprehension",
    "lets a comprehension's name hide a builtin",
    "builtin",
    top="KEPT = [open for open in [open]]",
)
case("open_before_it_is_bound", "binds the name of a builtin after using it", "builtin", top="kept = open\nopen = 3")
case("open_in_a_class_body", "binds the name of a builtin in a class", "builtin", body="reader = open")
case(
    "wide_letters",
    "writes a builtin in letters that Python folds",
    "builtin",
    generate=f"\uff45\uff58\uff45\uff43({WRITE!r})",
)
case("input", "waits for the keyboard", "builtin", "input", opening='input("?")')
case("breakpoint", "opens a debugger", "builtin", opening="breakpoint()")
case("print_flood", "prints", "builtin", opening='print("x")')
case(
    "annotation_in_a_string",
    "runs code in an annotation that the tool's schema evaluates",
    "annotation",
    "open",
    argument=f""", where: {WRITE!r} = 1""",
)
case(
    "annotation_with_a_call",
    "runs code in an annotation as the module loads",
    "annotation",
    argument=f", where: {WRITE} = 1",
)
case(
    "annotation_of_the_future",
    "runs code in an annotation that is evaluated late",
    "annotation",
    future="from __future__ import annotations",
    argument=f", where: {WRITE} = 1",
)
case(
    "annotation_by_an_alias",
    "hides the code of an annotation in a type of the module",
    "annotation",
    "open",
    top=f"Where = list[{WRITE!r}]",
    argument=", where: Where = 1",
)
case(
    "annotation_bound_twice",
    "binds the type of an annotation twice, so that it is no constant",
    "annotation",
    top=f"Where = int\nWhere = list[{WRITE!r}]",
    argument=", where: Where = 1",
)
case(
    "other_encoding",
    "declares an encoding in which comments are code",
    "encoding",
    future="# -*- coding: utf-7 -*-\n# +AAo-import os",
)
case("hidden_direction", "reorders what a reader sees", "encoding", top="# \u202e } flesym os tropmi \u2066")
case("null_byte", "ends the text for some readers", "encoding", top="# \0")
case("deep_nesting", "exhausts the parser", "size", top="X = " + "[" * 150 + "]" * 150)
case("deep_operators", "exhausts the compiler", "syntax", top="X = " + "-" * 30_000 + "1")
case("too_long", "buries something in a long file", "size", top="# x\n" * 2_000)
case(
    "own_decorator",
    "calls a function by decorating with it",
    "decorator",
    top="def keep(f): return f",
    body="@keep\ndef again(self) -> int:\n    return 1",
)
case(
    "decorator_with_a_call",
    "computes the argument of a decorator",
    "decorator",
    body='@tool(kind=str("read"))\ndef again(self) -> str:\n    return "x"',
)
case("rebound_decorator", "binds the name of a decorator again", "import", top="tool = print")
case("walrus_decorator", "binds the name of a decorator inside of an expression", "import", top="KEPT = [tool := len]")
case("async_method", "needs a loop of its own", "statement", body="async def wait(self): pass")
case(
    "type_parameters",
    "has a string evaluated as the bound of a type",
    "import",
    imports="from typing import TypeVar",
    top=f"T = TypeVar('T', bound={WRITE!r})",
)

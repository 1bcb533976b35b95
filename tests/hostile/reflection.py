"""Attempts to reach interpreter objects from plain ones: classes, frames, templates, special methods."""

from hostile.case import HARMLESS, case

SUBCLASSES = "().__class__.__base__.__subclasses__()"

case(
    "class_walk",
    "walks from a tuple to all classes",
    "dunder",
    "open",
    opening=f"""
found = [c for c in {SUBCLASSES} if c.__name__ == "_wrap_close"]
found[0].__init__.__globals__["popen"]("echo x > <OUTSIDE>/written").read()
""",
)
case(
    "function_globals",
    "reads the globals of an imported function",
    "dunder",
    HARMLESS,
    opening='return str(asdict.__globals__["sys"].modules["os"].environ)',
    imports="from dataclasses import asdict",
)
case("own_globals", "reads its own globals", "builtin", HARMLESS, opening="return str(globals())")
case("own_locals", "reads a frame's variables", "builtin", opening="return str(locals())")
case("vars_of_the_module", "reads its own globals by another name", "builtin", top="KEPT = vars()")
case("vars_of_an_object", "writes fields that it did not declare", "builtin", generate='vars(cls)["copy"] = None')
case("type_of_self", "takes the class of an object to change it", "builtin", opening="type(self).levels = 3")
case(
    "getattr_by_parts",
    "puts the name of an attribute together",
    "builtin",
    "open",
    opening='getattr(self.opening, "__glo" + "bals__")["__builtins__"]["open"]("<OUTSIDE>/written", "w")',
)
case("setattr_by_name", "assigns an attribute by its name", "builtin", generate='setattr(World, "copy", None)')
case(
    "format_walk",
    "looks into a value by a template",
    "format",
    HARMLESS,
    opening='return "{0.thing.real}".format(self)',
)
case(
    "format_dunder_walk",
    "reads globals by a template",
    "dunder",
    HARMLESS,
    opening='return "{0.opening.__func__.__globals__[World].copy.__globals__}".format(self)',
)
case(
    "format_of_parts",
    "puts a walking template together",
    "format",
    HARMLESS,
    opening="""
template = "{0.opening._" + "_func_" + "_._" + "_globals_" + "_}"
return template.format(self)
""",
)
case("format_of_a_field", "formats what stands in its state", "format", opening="return self.thing.format(self)")
case("format_of_an_argument", "formats what the agent says", "format", reply="return text.format(self)")
case("format_map", "formats by the other method", "attribute", opening='return "{x}".format_map({"x": self})')
case(
    "format_as_a_function",
    "passes format on instead of calling it",
    "format",
    opening='list(map(str.format, ["{0}"], [self]))',
)
case(
    "format_in_a_field",
    "hides a walk in the width of a field",
    "format",
    opening='return "{0:{1.thing}}".format(3, self)',
)
case(
    "format_by_a_loop",
    "formats whatever a loop yields",
    "format",
    opening="""
for template in [self.thing, "x"]:
    return template.format(self)
""",
)
case(
    "walk_for_the_base",
    "leaves a walking template to a base class that formats it",
    "format",
    body='wording: str = "{user.real}"',
)
case(
    "dunder_in_an_fstring",
    "looks into a value in a string",
    "dunder",
    HARMLESS,
    opening='return f"{self.__class__.__mro__}"',
)
case(
    "generator_frame",
    "climbs from a generator to the frames above",
    "attribute",
    "gi_frame",
    opening="""
frame = (n for n in ()).gi_frame
return str(frame.f_builtins["open"]("<OUTSIDE>/written", "w"))
""",
)
case(
    "declared_generator_frame",
    "declares the attribute that it wants to read",
    "attribute",
    body="gi_frame: int = 0",
    opening="return str((n for n in ()).gi_frame)",
)
case(
    "matched_generator_frame",
    "reads an attribute by a pattern",
    "attribute",
    top="class Any_: pass",
    opening="""
match (n for n in ()):
    case Hostile(gi_frame=frame):
        return str(frame)
""",
)
case(
    "traceback_frame",
    "climbs from an exception to the frames above",
    "dunder",
    HARMLESS,
    opening="""
try:
    [][1]
except IndexError as error:
    return str(error.__traceback__.tb_frame.f_back.f_locals)
""",
)
case(
    "frames_by_sys",
    "climbs the stack from the bottom",
    "import",
    "_getframe",
    imports="import sys",
    opening="""
frame = sys._getframe()
while frame:
    job = frame.f_locals.get("job")
    if hasattr(job, "auth_token"):
        return job.auth_token
    frame = frame.f_back
""",
)
case(
    "objects_by_gc",
    "finds objects by the garbage collector",
    "import",
    "gc.get_objects",
    imports="import gc",
    opening="""
return str([o for o in gc.get_objects() if type(o).__name__ == "Job" and hasattr(o, "auth_token")][0].auth_token)
""",
)
case("metaclass", "gives its class another metaclass", "class", bases="World, metaclass=type")
case("strange_base", "inherits from what is no world", "class", bases="World, list")
case("class_in_a_function", "makes classes as it goes", "statement", generate="class Inner: pass")
case("lying_equality", "is equal to everything", "dunder", body="def __eq__(self, other): return True")
case(
    "own_reduce",
    "runs code when it is pickled",
    "dunder",
    "open",
    body='def __reduce__(self):\n    open("<OUTSIDE>/written", "w")\n    return (str, ("x",))',
)
case("own_setstate", "runs code when it is unpickled", "dunder", body="def __setstate__(self, state): raise SystemExit")
case("own_deepcopy", "runs code when it is copied", "dunder", body="def __deepcopy__(self, memo): return self")
case("own_getattribute", "answers every look-up itself", "dunder", body="def __getattribute__(self, name): return 1")
case(
    "finalizer",
    "runs code when it is thrown away",
    "dunder",
    "open",
    body='def __del__(self):\n    open("<OUTSIDE>/written", "w")',
)
case(
    "assigned_finalizer",
    "assigns a special method instead of defining it",
    "dunder",
    body="__del__ = lambda self: None",
)
case("subclass_hook", "runs code when somebody inherits from it", "dunder", body="def __init_subclass__(cls): pass")
case(
    "descriptor_name",
    "runs code when a class is made",
    "dunder",
    top="class Hook:\n    def __set_name__(self, owner, name): pass",
)
case("mangled_name", "reaches a private attribute by its mangled name", "attribute", opening="return self._World__x")
case(
    "private_of_a_library", "uses what a library keeps to itself", "attribute", opening="return str(Random._randbelow)"
)

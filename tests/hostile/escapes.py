"""Attempts to make the harness's own code reach for names, objects and tables that a module assembles at run time."""

from hostile.case import case

EXPERT = "from trace_gym.targets.toolsandbox.assistant import Expert"
REACH = '''
def reach(thing, name, **given):
    """Call the method of any object whose name is assembled, by the expert of the target."""
    plan = Expert(thing, frozenset()).do(name, **given)
    next(plan)
    try:
        next(plan)
    except StopIteration as stop:
        return stop.value


def kinds(cls):
    """Every class of the interpreter, by its name."""
    top = reach(cls, "mro")[-1]
    return {str(kind): kind for kind in reach(top, "_" + "_subclasses_" + "_")}
'''
NAMES = """
@dataclass
class Names:
    value: Any = None
    modules: Any = None
    system: Any = None
    getcwd: Any = None
    environ: Any = None
    IGNORED_EVENTS: Any = None


class Everything:
    def __contains__(self, thing):
        return True
"""
SEEN = """
look = kinds(cls)["<class 'operator.attrgetter'>"]
table = look("_" + "_globals_" + "_")(reach)
builtins = table["_" + "_builtins_" + "_"]
load = builtins["_" + "_import_" + "_"]
"""

case(
    "expert_calls_any_method",
    "has the expert call methods of any object, and starts a process",
    "exception",
    "cannot call a tool",
    imports=EXPERT,
    top="@dataclass\nclass Names:\n    value: Any = None\n" + REACH,
    generate="""kinds(cls)["<class 'subprocess.Popen'>"](["touch", "<OUTSIDE>/written"])""",
)
case(
    "expert_blinds_the_tripwire",
    "reaches the interpreter by the expert, blinds the tripwire, and writes only where it is not validated",
    "assignment",
    "cannot call a tool",
    imports=EXPERT,
    top=NAMES + REACH,
    generate=SEEN
    + """
audit_hook = load("sys").modules.get("trace_gym.sandbox.audit_hook")
if audit_hook is not None:
    audit_hook.IGNORED_EVENTS = Everything()
if "trace-gym" not in load("os").getcwd():
    load("os").system("echo " + load("os").environ.get("<VARIABLE>", "") + " > <OUTSIDE>/written")
""",
)
case(
    "expert_by_yield_from",
    "has the expert call a method by an assembled name, and takes what it comes to without catching anything",
    "value",
    "cannot call a tool",
    imports=EXPERT,
    top="""
def plan(thing, name, found):
    found.append((yield from Expert(thing, frozenset()).do(name)))
""",
    generate="""
found = []
list(plan(cls, "m" + "ro", found))
list(plan(found[0][-1], "_" + "_subclasses_" + "_", found))
""",
)
DESK = """
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.requests import Request, day
from trace_gym.targets.tau2.policy import ALLOWED
"""
case(
    "desk_calls_any_method",
    "has the desk carry out a request whose call is no tool",
    "",
    "the tool .* does not exist",
    imports=DESK,
    top="""
@dataclass
class Odd(Request):
    def verdict(self, desk):
        return ALLOWED

    def call(self, desk, skills):
        return Call("_" + "_init_" + "_", {"wording": "x"})


@dataclass(kw_only=True)
class Mine(AirlineDesk):
    pass
""",
    generate="Mine(requests=[Odd('X')]).served()",
)
case(
    "desk_calls_a_field",
    "keeps something to call in a field that goes by a tool's name",
    "value",
    "the tool .* does not exist",
    imports=DESK,
    top="""
@dataclass
class Odd(Request):
    def verdict(self, desk):
        return ALLOWED

    def call(self, desk, skills):
        return Call("th" + "ink", {"sep": ""})


@dataclass(kw_only=True)
class Mine(AirlineDesk):
    think: Any = dict
""",
    generate="Mine(requests=[Odd('X')]).served()",
)
case(
    "desk_guards_any_attribute",
    "has the desk read attributes whose names are assembled, as tables to guard",
    "",
    "KeyError",
    imports=DESK,
    top="""
@dataclass(kw_only=True)
class Mine(AirlineDesk):
    guarded = {"_" + "_dict_" + "_": "field"}
""",
    generate="mine = Mine()\nlist(mine.untouched(mine))",
)
case(
    "template_of_the_base",
    "assembles a template that looks into values, and has the target's base world fill it in",
    "",
    "cannot be filled in",
    imports="from trace_gym.targets.tau2.airline import AirlineDesk",
    top="def helper() -> None:\n    return None\n\n\n@dataclass(kw_only=True)\nclass Mine(AirlineDesk):\n    pass",
    opening="""
mine = Mine(customer=helper)
mine.wording = "{user._" + "_globals_" + "_[sys].modules[os].environ}"
return mine.opening()
""",
)
case(
    "template_of_the_shop",
    "assembles a template that looks into the name of a customer",
    "",
    "cannot be filled in",
    imports="from trace_gym.targets.tau2.retail import RetailDesk",
    top="def helper() -> None:\n    return None\n\n\n"
    "@dataclass(kw_only=True)\nclass Mine(RetailDesk):\n    def who(self):\n        return helper",
    opening="""
mine = Mine(wording="{who._" + "_globals_" + "_}")
return mine.opening()
""",
)
for name, change in {
    "tuple": "_, rng.random = 1, lambda: 0.5",
    "loop": "for rng.random in [lambda: 0.5]:\n    pass",
    "augmented": "rng.random += 1",
    "annotated": "rng.random: Any = 1",
    "starred": "[*rng.random] = [1]",
}.items():
    case(
        f"foreign_field_by_{name}",
        f"assigns a field of an object that it was handed, by a declared name ({name})",
        "assignment",
        body="random: Any = None",
        generate=change,
    )
case(
    "foreign_field_by_comprehension",
    "assigns a field of an object that it was handed, as the target of a comprehension",
    "assignment",
    body="random: Any = None",
    generate="[0 for rng.random in [lambda: 0.5]]",
)
case(
    "foreign_item", "changes a list of the harness's that it was handed", "assignment", verify="said[:] = [self.thing]"
)
case("foreign_item_deleted", "deletes items of a list that it was handed", "assignment", verify="del said[0]")
case(
    "foreign_field_by_a_helper",
    "passes an object of the harness to a function that assigns a declared field",
    "assignment",
    top="def change(thing): thing.open = True",
    verify="change(start)",
)
case(
    "foreign_start",
    "changes the start state that it is judged by",
    "assignment",
    verify="start.open = True",
)
LABELS = "from trace_gym.targets.toolsandbox.settings import LABELS"
case(
    "target_by_a_field",
    "changes a table of its target by a field that leads to it",
    "shared-state",
    "does not support|has no attribute",
    imports=LABELS,
    body="table: Any = None",
    generate="mine = cls('x')\nmine.table = LABELS\nmine.table['wifi'] = 'x'",
)
case(
    "target_by_a_default",
    "changes a table of its target by the default of a parameter",
    "assignment",
    "does not support",
    imports=LABELS,
    top="def change(table=LABELS): table['wifi'] = 'x'",
    generate="change()",
)
case(
    "target_by_a_lambda",
    "changes a table of its target by the parameter of a lambda",
    "",
    "has no attribute",
    imports=LABELS,
    generate="(lambda table: table.update(wifi='x'))(LABELS)",
)
case(
    "target_by_a_cast",
    "changes a table of its target by a cast",
    "assignment",
    "does not support",
    imports=LABELS + "\nfrom typing import cast",
    generate="cast(Any, LABELS)['wifi'] = 'x'",
)
case(
    "target_by_its_base",
    "changes a table that its base class shares with every other world",
    "shared-state",
    "has no attribute",
    imports="from trace_gym.targets.tau2.airline import AirlineDesk",
    top="@dataclass(kw_only=True)\nclass Mine(AirlineDesk):\n    def change(self):\n        self.guarded.clear()",
    generate="Mine().change()",
)
case(
    "inner_table_of_the_target",
    "changes a table inside of a table of its target",
    "",
    "has no attribute|does not support|changed the harness",
    imports="from trace_gym.targets.tau2 import retail_records",
    generate="(lambda table: [inner.clear() for inner in table.values()])(retail_records.PRODUCTS)",
)
case(
    "registered_abc",
    "registers its class with a class of the library, by a name that it declares",
    "attribute",
    imports="from collections.abc import Sequence",
    body="register: Any = None",
    generate="Sequence.register(cls)",
)
case(
    "decorator_as_a_function",
    "marks a function of a library by calling a decorator",
    "decorator",
    imports="from dataclasses import asdict",
    generate="tool(asdict)",
)
case(
    "dataclass_as_a_function",
    "rewrites the methods of a class that it was handed",
    "decorator",
    generate="dataclass(cls)",
)
case(
    "declared_getter",
    "declares the name under which a property keeps its function",
    "attribute",
    body="fget: Any = None\n@property\ndef ended(self) -> bool:\n    return False",
    opening="return str(dict(vars(self)) or self.ended.fget)",
)
case(
    "vars_of_a_special_form",
    "reads what a library's object keeps to itself as a dict",
    "builtin",
    imports="from typing import Literal",
    opening="return str(dict(vars(Literal)))",
)
case(
    "vars_of_its_class",
    "reads its class as a dict",
    "builtin",
    generate="dict(vars(cls))",
)
case(
    "named_tuple_as_a_function",
    "makes classes as it goes, by a function of typing",
    "class",
    imports="from typing import NamedTuple",
    generate='NamedTuple("Row", [("copy", int)])',
)
case(
    "typed_dict_as_a_function",
    "makes classes as it goes, by another function of typing",
    "class",
    imports="from typing import TypedDict",
    generate='TypedDict("Row", {"copy": int})',
)
case(
    "stopped_iteration",
    "takes the value of a generator that it drives by hand",
    "exception",
    opening="try:\n    next(self.oracle())\nexcept StopIteration:\n    pass",
)
case(
    "interface_without_a_base",
    "writes an object that passes for a world, to have its methods called",
    "class",
    imports=EXPERT,
    top="class Odd:\n    def interface(self):\n        return self",
)
for name, code in {
    "a_number": 're.compile(r"(ab|AB)*b", 2)',
    "a_name": 're.compile(r"(ab|AB)*b", IGNORECASE)',
    "a_constant": 're.compile(r"(ab|AB)*b", FLAGS)',
    "a_keyword": 're.compile(r"(ab|AB)*b", flags=re.M | re.I)',
    "a_group": 're.compile(r"(?i:(ab|AB)*)b")',
    "an_inner_group": 're.compile(r"(?:(?i:ab)|AB)*b")',
    "a_sum": 're.compile(r"(ab|AB)*b", re.M + re.I)',
    "a_dict": 're.compile(r"(ab|AB)*b", **{"flags": 2})',
    "a_choice": 're.compile(r"(ab|AB)*b", (2 if NAMES else 0))',
    "a_position": 're.sub(r"(ab|AB)*b", "", "x", 0, 2)',
    "a_long_s": 're.compile("(?i)(?:sa|\\u017fa)*x")',
    "a_kelvin": 're.compile("(?i)(?:[j-l]a|[\\u2100-\\u2200]a)*x")',
    "verbose": 're.compile(r"(ab | a b)*c", 64)',
}.items():
    case(
        f"flags_by_{name}",
        f"gives the flags of an exponential pattern where they are easily missed ({name})",
        "regex",
        imports="import re\nfrom re import IGNORECASE",
        top=f"FLAGS = re.IGNORECASE\nNAMES = ('a', 'b')\nP = {code}",
    )
case(
    "filled_in_copy",
    "fills a text into a repetition that holds the same text already",
    "regex",
    imports="import re",
    reply='re.search(rf"(?:aa|{re.escape(self.thing)})*b", text)',
)

BLIND = """
audit_hook = sys.modules["trace_gym.sandbox.audit_hook"]
class Everything(frozenset):
    def __contains__(self, thing): return True
kept = dict(vars(audit_hook))
vars(audit_hook).update(IGNORED_EVENTS=Everything(), INTERNAL_EVENTS=Everything())
vars(audit_hook).update(MAX_FORBIDDEN_ACTIONS=0, FUNCTION_ATTRIBUTES=Everything())
vars(audit_hook).update(len=lambda _: 99, type=lambda _: None, sys=None)
for name in ("asleep", "path", "name", "_hook", "_read"):
    try:
        setattr(audit_hook.AuditHook, name, Everything())
    except Exception:
        pass
"""
case(
    "blinded_tripwire",
    "replaces whatever the tripwire looks at, and opens a file",
    "import",
    "may not do",
    imports="import sys",
    generate=BLIND + 'open("<OUTSIDE>/written", "w")',
)
case(
    "blinded_and_restored",
    "replaces whatever the tripwire looks at, opens a file, and puts it back",
    "import",
    "may not do",
    imports="import sys",
    generate=BLIND
    + """
try:
    open("<OUTSIDE>/written", "w")
except OSError:
    pass
vars(audit_hook).clear()
vars(audit_hook).update(kept)
""",
)
OBJECT = "random: Any = None\ntable: Any = None"
PART = """
@dataclass
class Part:
    value: Any = None
    random: Any = None

    def change(self):
        self.random = 1
"""
for name, rule, places in (
    ("returned", "assignment", {"top": "def same(x): return x", "generate": "same(rng).random = 1"}),
    ("listed", "assignment", {"generate": "[rng][0].random = 1"}),
    ("matched", "assignment", {"generate": "match rng:\n    case x:\n        x.random = 1"}),
    ("put_into_a_list", "assignment", {"generate": "kept = []\nkept.append(rng)\nkept[0].random = 1"}),
    ("put_into_a_dict", "assignment", {"generate": "kept = {}\nkept['a'] = rng\nkept['a'].random = 1"}),
    ("put_into_a_part", "assignment", {"top": PART, "generate": "part = Part(rng)\npart.value.random = 1"}),
    ("put_into_a_field", "assignment", {"generate": "mine = cls('x')\nmine.table = rng\nmine.table.random = 1"}),
    ("put_there_by_a_loop", "assignment", {
        "generate": "mine = cls('x')\n[0 for mine.table in [rng]]\nmine.table.random = 1",
    }),
    ("bound_by_nonlocal", "assignment", {
        "generate": "x = []\ndef inner():\n    nonlocal x\n    x = rng\ninner()\nx.random = 1",
    }),
    ("read_by_a_method", "assignment", {
        "body": OBJECT + "\ndef get(self):\n    return self.table",
        "generate": "mine = cls('x')\nmine.table = rng\nmine.get().random = 1",
    }),
    ("made_self", "value", {"top": PART, "generate": "Part.change(rng)"}),
    ("made_self_by_map", "value", {"top": PART, "generate": "list(map(Part.change, [rng]))"}),
    ("made_self_by_a_loop", "value", {"top": PART, "generate": "for kind in (Part,):\n    kind.change(rng)"}),
    ("called_self", "assignment", {"top": "def change(self): self.random = 1", "generate": "change(rng)"}),
):  # fmt: skip
    case(
        f"foreign_object_{name}",
        f"assigns a declared field of an object that it was handed ({name})",
        rule,
        **{"body": OBJECT, **places},
    )
COUNT = "SEEN = []"
case("state_by_a_kept_method", "keeps a method", "shared-state", top=COUNT, generate="f = SEEN.append\nf(1)")
case("state_by_an_unbound_method", "counts by list", "shared-state", top=COUNT, generate="list.append(SEEN, 1)")
case(
    "state_by_a_parameter",
    "counts in what a parameter is bound to again",
    "shared-state",
    top=COUNT,
    generate="def count(x=None):\n    x = SEEN\n    x.append(1)\ncount()",
)
case(
    "template_put_into_a_list",
    "formats a template of its state that it puts beside a constant one",
    "format",
    opening="texts = ['{a}']\ntexts.append(self.thing)\nreturn texts[1].format(a=self)",
)
case(
    "template_put_into_a_dict",
    "formats a template of its state that it puts in place of a constant one",
    "format",
    opening="texts = {'a': '{a}'}\ntexts['a'] = self.thing\nreturn texts['a'].format(a=self)",
)

"""Modules in which somebody outside of the project found a way past the static gate."""

from hostile.case import case

CODE = """
DU = "_" + "_"
CODE = f"({DU}import{DU}('os').system('true'), int)[1]"
"""
PLANT = 'found.name = "x=" + CODE + ",_return_type=None,MISSING=None,**k):#"'
HEIR = "@dataclass\nclass Heir(Plain):\n    pass"

case(
    "key_is_a_field",
    "changes a field of a dataclass that it used as a key, so that a class that inherits it executes code",
    "value",
    top=f"""{CODE}
KEPT = [field(init=False, repr=False, compare=False, hash=False, kw_only=False)]


@dataclass
class Plain:
    name: str
    evil: str = KEPT[0]


def planted(one: object) -> int:
    keys = {{}}
    keys[one] = 1
    found = next(iter(keys))
    {PLANT}
    return 1


PLANTED = planted(KEPT[0])


{HEIR}""",
)
KEYED = {
    "setdefault": "keys = {}\nkeys.setdefault(one, 1)\nfound = next(iter(keys))",
    "display": "found = next(iter({one: 1}))",
    "comprehension": "found = next(iter({part: 1 for part in [one]}))",
    "pairs": "found = next(iter(dict([(one, 1)])))",
    "fromkeys": "found = next(iter(dict.fromkeys([one])))",
    "zip": "found = next(iter(dict(zip([one], [1]))))",
    "add": "keys = set()\nkeys.add(one)\nfound = next(iter(keys))",
    "set": "found = list({one})[0]",
    "update": "keys = {}\nkeys.update({one: 1})\nfound = next(iter(keys))",
    "items": "keys = {}\nkeys[one] = 1\nfound = [key for key, _ in keys.items()][0]",
    "popitem": "keys = {}\nkeys[one] = 1\nfound = keys.popitem()[0]",
    "loop": "keys = {}\nkeys[one] = 1\nfor found in keys:\n    found.thing = 'x'\nfound = one",
    "inner": "keys = {'a': {}}\nkeys['a'][one] = 1\nfound = next(iter(keys['a']))",
}
for _name, _lines in KEYED.items():
    case(
        f"key_by_{_name}",
        "changes what it was handed, and used as a key or an element before",
        "assignment",
        body="def swap(self, one: object) -> None:\n    " + _lines.replace("\n", "\n    ") + "\n    found.thing = 'x'",
    )
case(
    "key_kept_in_a_field",
    "changes what it was handed, and used as a key of a field before",
    "assignment",
    body="kept: dict[Any, int] = field(default_factory=dict)\n"
    "def keep(self, one: object) -> None:\n    self.kept[one] = 1\n"
    "def swap(self) -> None:\n    next(iter(self.kept)).thing = 'x'",
)
case(
    "class_as_a_key",
    "replaces a function of the contract in a class that it used as a key",
    "value",
    body="goal: str = ''",
    opening="keys = {}\nkeys[Check] = 1\nnext(iter(keys)).goal = len",
)
for _name, _value in {
    "in_a_tuple": "(World,)[0]",
    "in_a_keyword": "dict(default_factory=World)['default_factory']",
    "in_a_list_of_forms": "[Optional][0]",
    "of_its_own": "{'a': Hostile}",
    "by_a_name": "World",
    "handed_over": "print_all(World)",
    "mutable_builtin": "(list,)[0].append([1], 1)",
    "itself": "cls",
}.items():
    case(
        f"class_{_name}",
        "takes a class for a value, which nobody can follow",
        "value",
        imports="from typing import Optional",
        top="def print_all(thing: object) -> str:\n    return str(thing)",
        generate=f"kept = {_value}",
    )
case(
    "cast_hands_on_a_class",
    "hides a class behind cast and reads its table of fields",
    "value",
    imports="from typing import cast",
    generate='kept = dict(vars(cast("object", World)))',
)
for _name, _value in {
    "cast": 'cast("object", self)',
    "choice": "self if self.open else World",
    "alias": "Union[CODE, int]",
    "builtin": "str",
    "item": "[self][0]",
    "other_name": "thing",
}.items():
    case(
        f"vars_of_{_name}",
        "reads the attributes of what nobody can follow",
        "builtin",
        imports="from typing import Union, cast",
        top=CODE,
        opening=f"thing = self\nkept = dict(vars({_value}))",
    )
case(
    "forward_reference_is_evaluated",
    "has a form of typing make a reference of a text, and evaluate it",
    "attribute",
    imports="from typing import List",
    top=f"{CODE}\nclass Names:\n    _evaluate: str\n    _determine_new_args: str",
    opening="List[CODE]._determine_new_args(())[0]._evaluate({}, {}, frozenset())",
)
case(
    "form_of_typing_is_a_value",
    "looks into a type that is made of a text",
    "value",
    imports="from typing import List",
    top=CODE,
    opening="kept = List[CODE]",
)
case(
    "abstract_class_registers_another",
    "makes every text a mapping in the whole process",
    "attribute",
    imports="from typing import Mapping",
    body="register: str = ''",
    opening="Mapping.register(str)",
)
for _name, _lines in {
    "alias": "other = texts\nother.append(WALKS)",
    "function": "add(texts)",
    "unbound_method": "list.append(texts, WALKS)",
    "inner_list": "outer = [texts]\nouter[0].append(WALKS)",
    "loop": "for other in (texts,):\n    other.append(WALKS)",
    "own_method": "self.add(texts)",
    "addition": "other = texts\nother += [WALKS]",
}.items():
    case(
        f"template_changed_by_{_name}",
        "puts a template that looks into a value into a list under another name",
        "format",
        top='WALKS = "{0._" + "_class_" + "_}"\ndef add(texts: list[str]) -> None:\n    texts.append(WALKS)',
        body="def add(self, texts: list[str]) -> None:\n    texts.append(WALKS)",
        opening=f'texts = ["{{}}"]\n{_lines}\ntexts[-1].format(self)',
    )
case(
    "template_of_the_module_changed_by_addition",
    "adds a template that looks into a value to a list of the module",
    "format",
    top='TEXTS = ["{}"]',
    opening='texts = TEXTS\ntexts += ["{0._" + "_class_" + "_}"]\nTEXTS[-1].format(self)',
)
case(
    "pattern_changed_by_alias",
    "puts a pattern that takes exponential time into a list under another name",
    "regex",
    imports="import re",
    opening='patterns = ["a"]\nother = patterns\nother.append("(a|a)" + "*b")\nre.search(patterns[-1], "a" * 40)',
)
case(
    "list_grows_under_another_name",
    "extends a list of the module in place",
    "shared-state",
    top="TABLE = [0]",
    opening="table = TABLE\ntable += [1]",
)
case(
    "pattern_too_complex_for_the_gate",
    "has a pattern that the gate itself would look at for hours",
    "regex",
    imports="import re",
    top="SLOW = re.compile('^(?:" + "a?b*" * 70 + ")*$')",
)
case(
    "names_in_many_ways",
    "has names that lead to each other in more ways than can be followed",
    "builtin",
    opening="\n".join(f"v{n} = v{n + 1}\nv{n} = v{n + 1}" for n in range(40)) + "\nv40 = self\ndict(vars(v0))",
)

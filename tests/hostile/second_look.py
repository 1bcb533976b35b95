"""Modules that a second look from outside found: sizes, iterators, aliases, and functions that are values."""

from hostile.case import case

SWAP = "kept: list[Any] = field(default_factory=list)\ndef swap(self, row: dict[str, Any], one: Any) -> None:\n    "


def swap(lines: str) -> str:
    """Return a method that changes what it was handed."""
    return SWAP + lines.replace("\n", "\n    ")


for _name, (_places) in {
    "width_in_a_field": {"opening": "return f'{1:>1000000000}'"},
    "width_by_a_name": {"opening": "width = 10**9\nreturn f'{1:>{width}}'"},
    "precision": {"opening": "return f'{1.0:.999999999f}'"},
    "width_of_percent": {"opening": "return '%1000000000d' % 1"},
    "width_of_percent_by_a_name": {"top": "LINE = '%1000000000d'", "opening": "return LINE % 1"},
    "width_from_a_value": {"opening": "return '%*d' % (10**9, 1)"},
    "padding": {"opening": "return 'x'.ljust(10**9)"},
    "zeros": {"opening": "return '1'.zfill(1_000_000 * 1000)"},
    "products_of_products": {"opening": "return 'a' * 1000 * 1000 * 1000"},
    "product_with_its_length": {"opening": "x = [0] * 100_000\ny = x * len(x)\nreturn str(len(y))"},
    "product_in_place": {"opening": "x = [0] * 100_000\nx *= len(x)\nreturn str(len(x))"},
    "product_with_a_constant": {"top": "N = 10**9", "opening": "return 'a' * N"},
    "product_with_a_class_constant": {"body": "N = 10**9", "opening": "return 'a' * self.N"},
    "doubled_in_a_loop": {"opening": "x = 'a' * 99_999\nfor _ in range(40):\n    x += x\nreturn x"},
    "nested_lists": {"opening": "x = [0] * 100_000\ny = [x, x] * 60_000\nreturn str(len(y * 4))"},
    "tower_of_small_exponents": {"opening": "return str((((((9**64)**64)**64)**64)**64)**64)"},
    "range_by_a_name": {"top": "N = 10**9", "opening": "return str(sum(range(N)))"},
}.items():
    case(f"size_{_name}", "makes something that no memory holds", "literal", **_places)
case(
    "size_width_in_a_template",
    "makes a text that no memory holds",
    "format",
    opening="return '{:>1000000000}'.format(1)",
)

for _name, _places in {
    "iterator": {"top": "IDS = iter(range(1000))", "opening": "return str(next(IDS))"},
    "counter": {"imports": "from itertools import count", "top": "IDS = count()", "opening": "return str(next(IDS))"},
    "counter_of_a_module": {
        "imports": "import itertools",
        "top": "IDS = [itertools.count()]",
        "opening": "return str(next(IDS[0]))",
    },
    "cycle": {
        "imports": "from itertools import cycle",
        "top": "IDS = cycle('ab')",
        "opening": "for x in IDS:\n    return x",
    },
    "generator": {"top": "IDS = (n for n in range(1000))", "opening": "return str(next(IDS))"},
    "generator_of_a_function": {
        "top": "def ids() -> Iterator[int]:\n    yield 1\n\n\nIDS = ids()",
        "opening": "return str(next(IDS))",
    },
    "iterator_of_a_function": {
        "top": "def ids():\n    return iter([1, 2])\n\n\nIDS = ids()",
        "opening": "return str(next(IDS))",
    },
    "iterator_in_a_tuple": {"top": "IDS = tuple([iter('ab')])", "opening": "return next(IDS[0])"},
    "iterator_of_a_class": {"body": "ids = zip('ab', 'cd')", "opening": "return str(next(self.ids))"},
    "default_list": {"body": "def note(self, one: Any, seen: list[Any] = []) -> None:\n    seen.append(one)"},
    "default_of_a_lambda": {"opening": "note = lambda x, seen=[]: seen.append(x)\nnote(1)\nreturn ''"},
    "default_iterator": {"body": "def note(self, ids: Any = iter('ab')) -> str:\n    return next(ids)"},
}.items():
    case(f"shared_{_name}", "keeps a state that all episodes share", "shared-state", **_places)

case(
    "shared_table_under_a_chain_map",
    "changes a table of the module through a view of it",
    "import",
    imports="from collections import ChainMap",
    top="ROWS: dict[str, Any] = {}",
    opening="ChainMap(ROWS)['x'] = 1\nreturn ''",
)
for _name, _lines in {
    "asdict": "self.kept = [asdict]",
    "cast": "self.kept = [cast('Any', asdict)]",
    "name": "change = replace\nchange(self, kept=row)",
    "append": "put = self.kept.append\nput(one)",
    "map": "found = []\nlist(map(found.append, [one]))\nfound[0].thing = 1",
    "unbound": "found = []\nlist.append(found, one)\nfound[0].thing = 1",
}.items():
    case(
        f"function_value_{_name}",
        "hands a function on as a value, whose globals or effects nobody can follow",
        "value",
        imports="from dataclasses import asdict, replace\nfrom typing import cast",
        body=swap(_lines),
    )
for _name, _lines in {
    "cast_function_attribute": "cast('Any', helper).thing = 1",
    "cast_function_result": "cast('Any', helper)(one).thing = 1",
    "own_items": "for _, entry in self.items(one):\n    entry.thing = 1",
    "items_of_a_function": "for _, entry in helper(one).items():\n    entry.thing = 1",
    "key_of_items": "found = {}\nfound[one] = {}\nfor key, _ in found.items():\n    key.thing = 1",
    "value_of_items": "found = {'a': one}\nfor _, entry in found.items():\n    entry.thing = 1",
    "default_of_get": "found = {}\nfound.get('a', one).thing = 1",
    "default_of_setdefault": "found = {}\nfound.setdefault('a', one).thing = 1",
    "value_by_an_alias": "found = {}\nother = found\nother['a'] = one\nfound['a'].thing = 1",
    "key_by_an_alias": "found = {}\nother = found\nother[one] = 1\nfor key in found:\n    key.thing = 1",
    "alias_that_is_chosen": "found = []\nother = found if row else []\nother.append(one)\nfound[0].thing = 1",
    "key_of_an_inner_table": "found = {}\nfound['a'] = {one: 1}\nfor key in found['a']:\n    key.thing = 1",
}.items():
    case(
        f"handed_over_{_name}",
        "changes what it was handed",
        "assignment",
        imports="from typing import cast",
        top="def helper(one: Any) -> Any:\n    return one",
        body=swap(_lines) + "\ndef items(self, one: Any) -> Any:\n    return [(1, one)]",
    )

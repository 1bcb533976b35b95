"""A repair may be answered with the whole module or with what changes in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_modules import WRITTEN, recorded

from trace_gym.prompts import template
from trace_gym.synthesis import slots
from trace_gym.synthesis.changes import MARK, is_changeable, with_changes
from trace_gym.synthesis.diagnostics import excerpt
from trace_gym.synthesis.slots import ENVIRONMENT
from trace_gym.targets.catalogue import target

ROOT = Path(__file__).resolve().parents[1]
NAMES = WRITTEN[:6]
OLD = '''
"""Title."""

import re

FIRST = 1
SECOND = FIRST + 1  # one more


def helper(n: int) -> int:
    return n + SECOND


@dataclass(kw_only=True)
class Desk(Base):
    """Title."""

    id = "desk"
    color: str = "red"

    # The first.
    @classmethod
    def generate(cls, rng, level):
        return cls()

    def oracle(self):
        text = """
column zero
    column four
"""
        yield text

    def ablated(self):
        yield 1
'''
REQUIRED = ENVIRONMENT.required


def names(text: str) -> dict[str, str]:
    """Return the definitions of a module, at the top and in its class, as normalized code."""
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        body = node.body if isinstance(node, ast.ClassDef) and node.name == "Desk" else [node]
        for part in body:
            match part:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    found[name] = ast.unparse(part)
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    found[name] = ast.unparse(part)
    return found


def changed(answer: str) -> dict[str, str]:
    return names(with_changes(OLD, answer, "Desk", REQUIRED))


def test_whole_module_replaces_everything() -> None:
    whole = OLD.replace("SECOND = FIRST + 1  # one more\n", "").replace("SECOND", "FIRST")
    assert with_changes(OLD, whole, "Desk", REQUIRED) == whole


@pytest.mark.parametrize("first", [f"{MARK}\n", f"{MARK.upper()}: the fee\n", "\n"])
@pytest.mark.parametrize(
    "answer",
    [
        "class Desk(Base):\n    def ablated(self):\n        yield 2\n",
        "class Desk:\n  def ablated(self):\n    yield 2\n",
        "class Desk:\n\tdef ablated(self):\n\t\tyield 2\n",
        "def ablated(self):\n    yield 2\n",
        "import re\n\n@data\nclass Desk(Base):\n    '''Doc.'''\n    ...\n\n    def ablated(self):\n        yield 2\n",
    ],
)
def test_method_is_replaced_however_it_is_answered(first: str, answer: str) -> None:
    assert changed(first + answer) == {**names(OLD), "ablated": "def ablated(self):\n    yield 2"}


def test_constants_and_functions_are_replaced_in_their_places_and_new_ones_come_before_their_use() -> None:
    answer = (
        f"{MARK}\nZERO = 0\nFIRST = ZERO + 5\n\ndef helper(n: int) -> int:\n    return n\n\n"
        "def other(n: int) -> int:\n    return n\n"
    )
    made = with_changes(OLD, answer, "Desk", REQUIRED)
    assert [n for n in names(made) if n.isupper()] == ["ZERO", "FIRST", "SECOND"]
    space: dict[str, object] = {}
    exec(made[: made.index("class Desk")], space)
    assert (space["SECOND"], "def other" in made, made.count("def helper")) == (6, True, 1)


def test_fields_are_added_and_replaced() -> None:
    made = changed(f"{MARK}\nclass Desk(Base):\n    color: str = 'blue'\n    size: int = 3\n")
    assert made["color"] == "color: str = 'blue'" and made["size"] == "size: int = 3"
    assert made.keys() - names(OLD).keys() == {"size"}


def test_strings_of_several_lines_stay_as_they_are() -> None:
    assert changed(f"{MARK}\nFIRST = 2\n")["oracle"] == names(OLD)["oracle"]


def test_marked_answer_with_all_required_methods_keeps_the_rest() -> None:
    methods = "".join(f"    def {name}(self):\n        return 7\n\n" for name in REQUIRED)
    assert changed(f"{MARK}\nclass Desk(Base):\n{methods}")["color"] == names(OLD)["color"]
    assert "color" not in changed(f"class Desk(Base):\n{methods}")


@pytest.mark.parametrize("old", ["def f(:", "x = 1", ""])
def test_answer_to_a_module_that_cannot_be_changed_is_the_module(old: str) -> None:
    assert not is_changeable(old, "Desk") and is_changeable(OLD, "Desk")
    assert with_changes(old, f"{MARK}\nx = 2\n", "Desk", REQUIRED) == f"{MARK}\nx = 2\n"


def test_answer_that_is_no_python_stays_so_that_its_fault_is_told() -> None:
    assert with_changes(OLD, f"{MARK}\ndef f(:\n", "Desk", REQUIRED) == f"{MARK}\ndef f(:\n"


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_part_of_a_written_module_can_be_answered_alone(name: str, data: st.DataObject) -> None:
    """With some methods emptied, the answer that restores them gives the module back."""
    spec, text, author, _ = recorded(name)
    place = target(spec.target)
    [world] = (n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == template.camel(spec.id))
    methods = [n for n in world.body if isinstance(n, ast.FunctionDef)]
    lost = data.draw(st.lists(st.sampled_from(methods), min_size=1, unique_by=lambda n: n.name))
    lines, source = text.split("\n"), slots.SourceLines(text)
    for node in lost:
        lines[node.body[0].lineno - 1] = "        return None"
        for row in range(node.body[0].lineno, node.end_lineno or 0):
            lines[row] = ""
    answer = f"{MARK}\nclass {world.name}(X):\n" + "\n\n".join(source.of(node) for node in lost)
    made = with_changes("\n".join(lines), answer, world.name, REQUIRED)
    assert slots.render(slots.sort_into_slots(made, spec, place), spec, place, author) == text


def test_lines_are_counted_as_python_counts_them() -> None:
    """Python ends no line at a form feed or at U+2028, which may stand in a string."""
    text = 'A = "\u2028\x0c\x85"\nB = 2\n\nclass Desk:\n    def late(self):\n        return 1\n'
    [*_, world] = ast.parse(text).body
    assert slots.SourceLines(text).of(world).startswith("class Desk:")
    assert ">    2  B = 2" in excerpt(text, [2])

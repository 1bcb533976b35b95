"""The static gate lets the committed environments through and names the rule that each hostile module breaks."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from honest_modules import HONEST
from hostile import CASES, Case
from test_layers import FOR_WORLDS

from trace_gym import registry
from trace_gym.sandbox import RULES, LintViolation, rules_table
from trace_gym.sandbox.allowlist import BUILTINS, METHODS, MODULES, UNSAFE_ATTRIBUTES
from trace_gym.sandbox.layer_list import layers_table
from trace_gym.sandbox.lint_rules import MAX_CHARACTERS, MAX_VIOLATIONS
from trace_gym.sandbox.linter import lint
from trace_gym.sandbox.module_names import imports_table
from trace_gym.sandbox.regex_rules import pattern_error
from trace_gym.targets.catalogue import importable_modules

ROOT = Path(__file__).resolve().parents[1]
GENERATED = sorted((ROOT / "generated_envs").glob("[a-z]*.py"))
CLEAN = Case("clean", "does nothing else", "", "", ())
REAL = "from trace_gym.world import Call, Check, Random, Say, ToolError, World, tool, asserted"
"""Imports of a generated module that replace those of the worlds of the tests."""


def rules(text: str) -> set[str]:
    return {violation.rule for violation in lint(text)}


@pytest.mark.parametrize("path", GENERATED, ids=lambda p: p.stem)
def test_committed_environments_pass(path: Path) -> None:
    assert lint(path.read_text()) == []


def test_all_that_ship_are_looked_at() -> None:
    assert {path.stem for path in GENERATED} == set(registry.list_environments())


@pytest.mark.parametrize("name", ["user_folder/library_loans.py", "toy_world.py"])
def test_worlds_of_the_tests_pass_but_for_where_they_import_from(name: str) -> None:
    text = (ROOT / "tests" / name).read_text()
    text = re.sub(r"^from (random|trace_gym\.(episode|types)) import .*$", "", text, flags=re.M)
    text = re.sub(r"^from trace_gym\.world import .*$", REAL, text, flags=re.M)
    assert lint(text.partition("def open_toy")[0]) == []  # what follows there is for tests


def test_the_world_that_hostile_modules_are_made_of_passes() -> None:
    assert lint(CLEAN.text()) == []


@pytest.mark.parametrize("case", CASES.values(), ids=lambda c: c.name)
def test_each_hostile_module_breaks_its_rule(case: Case) -> None:
    text = case.text()
    found = lint(text)
    assert all(f.rule in RULES and 1 <= f.line <= text.count("\n") + 1 and f.message for f in found)
    if case.rule:
        assert case.rule in {f.rule for f in found}, found
    else:
        assert found == [], "it is listed as one that only running shows"


def test_there_are_enough_of_them_and_every_rule_is_broken() -> None:
    assert len(CASES) >= 80
    broken = {case.rule for case in CASES.values()}
    assert RULES.keys() <= broken


def test_a_fault_names_the_line_and_the_rule() -> None:
    text = CASES["open_before_it_is_bound"].text()
    [violation] = lint(text)
    assert text.splitlines()[violation.line - 1] == "kept = open"
    assert (violation.rule, str(violation)) == ("builtin", f"line {violation.line}: {violation.message} (builtin)")
    assert lint(text) == [violation] == sorted([violation]) and isinstance(violation, LintViolation)


@pytest.mark.parametrize(
    "places",
    [
        {"opening": "return str({**vars(self)}) + str(dict(vars(self)))"},
        {"body": "def again(self) -> str:\n    return super().opening()"},
        {
            "imports": "from datetime import date, timedelta",
            "opening": "return (date.fromisoformat('2024-05-15') + timedelta(days=1)).isoformat()",
        },
        {
            "imports": "import re",
            "reply": r"return None if re.search(rf'\b{re.escape(self.thing)}\b', text) else 'What?'",
        },
        {
            "imports": "import re",
            "top": r"ASKED = re.compile(r'\b(what|which)\b', re.I)",
            "reply": "ASKED.search(text)",
        },
        {
            "top": "TEXTS = ({'a': 'Hello {name}.'}, {'a': '{name}!'})",
            "opening": "template = TEXTS[0]\nreturn template['a'].format(name=self.thing)",
        },
        {"top": "TEXTS = ('Hello {}.', '{name:>8}')", "generate": "rng.choice(TEXTS).format(1, name=level)"},
        {"top": "Row = dict[str, Any]", "body": "def rows(self) -> list[Row]:\n    return [{}]"},
        {"imports": "from typing import Literal", "argument": ', where: Literal["left side", "right"] = "right"'},
        {
            "imports": "from collections import Counter, defaultdict",
            "opening": "found = defaultdict(list)\nfound['x'].append(1)\nCounter(self.thing).most_common(1)",
        },
        {"imports": "from collections.abc import Sequence", "tool": "assert isinstance(self.thing, (str, Sequence))"},
        {"top": "SIZES = {'a': [1, 2]}", "opening": "mine = dict(SIZES)\nmine['b'] = [3]\nlist(SIZES['a']).append(4)"},
        {"reply": "match text.split():\n    case [first, *rest] if rest:\n        return first"},
        {
            "top": "class Refused(ToolError):\n    pass",
            "tool": "try:\n    raise Refused('no')\nexcept (Refused, KeyError):\n    pass",
        },
        {
            "top": "@dataclass\nclass Part:\n    name: str\n    def __post_init__(self):\n        self.name = 'x'",
            "generate": "Part('x').name.upper()",
        },
        {
            "imports": "from typing import NamedTuple",
            "top": "class Pair(NamedTuple):\n    left: int\n    right: int = 0",
            "generate": "Pair(1).left",
        },
        {"body": "seed: int = 0\ntoday: str = ''\nnow: str = ''", "opening": "return f'{self.today} {self.now}'"},
        {"generate": "level = level * 2 ** 3\nx = [n for n in range(level) if (y := n)]"},
        {
            "imports": "from trace_gym.targets.tau2 import records",
            "generate": "records.day(1) + rng.choice(list(records.AIRPORTS))",
        },
        {"verify": "was = start.copy()\nwas.open = True\nwas.thing = self.thing"},
        {
            "body": "rows: list[dict[str, Any]] = field(default_factory=list)\n"
            "def find(self, key: str) -> dict[str, Any]:\n    return next(r for r in self.rows if r['key'] == key)",
            "tool": "row = self.find('x')\nrow['open'] = True\n"
            "for row in sorted(self.rows, key=len):\n    row['n'] = 1",
        },
        {
            "top": "@dataclass\nclass Part:\n    name: str\n    open: bool = False\n\n"
            "def made(rng: Random, n: int) -> list[Part]:\n    return [Part(rng.choice('abc')) for _ in range(n)]",
            "body": "parts: dict[str, Part] = field(default_factory=dict)",
            "generate": "parts = made(rng, 3)\nparts[0].open = True\nrng.choice(parts).open = True\n"
            "for n, part in enumerate(parts):\n    part.name += str(n)\n    parts[n], last = part, part\n"
            "last.open = True",
            "tool": "match list(self.parts.values()):\n    case [first, *_]:\n        first.open = True",
        },
        {
            "tool": "rows: dict[str, list[int]] = {}\nrows.setdefault('a', []).append(1)\nrows['b'] = [2]\n"
            "rows['b'][0] += 1\ndel rows['a']\nmine = {**rows}\nmine['c'], mine['d'] = [], []"
        },
        {
            "body": "booked: dict[str, dict[str, Any]] = field(default_factory=dict)",
            "argument": ", guest: str = ''",
            "tool": "self.booked['a'] = {'guest': guest}\nself.booked['a']['open'] = True\n"
            "booking = self.booked.get('a') or {}\nbooking['guest'] = guest.upper()",
        },
        {
            "generate": "count = 0\ndef again() -> None:\n    nonlocal count\n    count += 1\nagain()\n"
            "made = cls('x')\nmade.open = bool(count)\nother = made if count else cls('y')\nother.thing = 'z'",
        },
        {"body": "register: str = ''\ncached: bool = False", "opening": "return f'{self.register} {self.cached}'"},
        {"body": "def send(self) -> str:\n    return 'x'\ndef close(self) -> str:\n    return self.send()"},
    ],
    ids=lambda p: next(iter(p.values()))[:40],
)
def test_what_environments_are_made_of_passes(places: dict[str, str]) -> None:
    assert lint(Case("legit", "does what environments do", "", "", tuple(places.items())).text()) == []


@pytest.mark.parametrize("name", HONEST)
def test_module_of_an_ordinary_author_passes(name: str) -> None:
    assert lint(Case(name, "does what environments do", "", "", tuple(HONEST[name].items())).text()) == []


@pytest.mark.parametrize("name", HONEST)
def test_code_of_an_ordinary_author_compiles(name: str) -> None:
    compile(Case(name, "", "", "", tuple(HONEST[name].items())).text(), name, "exec")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (r"(a+)+$", "exponential"),
        (r"(a|a)*b", "exponential"),
        (r"(\w+\s?)*$", "exponential"),
        (r"([a-z]+)*\d", "exponential"),
        (r"(?:a?){40}a{40}", "exponential"),
        (r"(.*a){20}", "exponential"),
        (r"(?=(a+)+b)", "exponential"),
        (r"(?i)(ab|A?B)*c", "exponential"),
        (r".*.*.*x", "cubic"),
        (r"\s*\s*\s*x", "cubic"),
        (r"(a+)\1", "back reference"),
        (r"(a", "not a valid pattern"),
        ("x" * 400, "characters"),
        (r"(?:abcdefghij){5}(?:abcdefghij){5}(?:abcdefghij){5}", "too large"),
        (r"\s+$", ""),
        (r"(?<=[.!?])\s", ""),
        (r"\d+(?:\.\d+)?", ""),
        (r"(\w+ )*x", ""),
        (r"(?:,\d{3})*", ""),
        (r"^[\w.-]+@[\w-]+\.com$", ""),
        (r"\b(reservation|booking) (id|number|code)\b|\bwhich reservation", ""),
        (r"(yes|no|ok)+", ""),
        (r"(?:[a-z]+-)*[a-z]+", ""),
    ],
)
def test_patterns_are_screened(text: str, wrong: str) -> None:
    found = pattern_error(text)
    assert (wrong in found) if wrong else not found, found


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("re.compile(r'(ab|AB)*c', 2)", "exponential"),
        ("re.compile(r'(ab|AB)*c', re.M | re.I)", "exponential"),
        ("re.compile(r'(ab|AB)*c', flags=IGNORECASE)", "exponential"),
        ("re.compile(r'(ab|AB)*c', FLAGS)", "exponential"),
        ("re.search(r'(ab|AB)*c', 'x', re.I)", "exponential"),
        ("re.sub(r'(ab|AB)*c', '', 'x', 0, 2)", "exponential"),
        ("re.split(r'(ab|AB)*c', 'x', 1, re.I)", "exponential"),
        ("re.compile(r'(?i:(ab|AB)*)c')", "exponential"),
        ("re.compile(r'(?i)(?:(?-i:ab)|AB)*c')", "exponential"),
        ("re.compile('(?i)(?:sa|\\u017fa)*x')", "exponential"),
        ("re.compile('(?i)(?:ka|[\\u2100-\\u2200]a)*x')", "exponential"),
        ("re.compile(r'(ab | a b)*c', re.X)", "exponential"),
        ("re.compile(r'(ab|AB)*c', 1024)", "flags"),
        ("re.compile(r'(ab|AB)*c', -1)", "flags"),
        ("re.compile(r'(ab|AB)*c', re.M + re.I)", "flags"),
        ("re.compile(r'(ab|AB)*c', **{'flags': 2})", "flags"),
        ("re.compile(r'(ab|AB)*c', LEVEL)", "flags"),
        ("re.compile(r'(ab|AB)*c')", ""),
        ("re.compile(r'(ab|AB)*c', re.M | re.S)", ""),
        ("re.compile(r'(ab | a b)*c', re.M)", ""),
        ("re.compile(r'(?i:(ab)*)(AB)*c')", ""),
        ("re.compile(r'(?:(?-i:ab)|AB)*c')", ""),
        ("re.sub(r'(ab|AB)*c', '', 'x', 2)", ""),
        ("re.compile(r'\\b(what|which|who|whom)\\b', FLAGS)", ""),
        ("re.compile(r'[a-zà-ÿ]+ street', re.I | re.ASCII)", ""),
    ],
)
def test_flags_count_however_they_are_given(call: str, wrong: str) -> None:
    top = f"FLAGS = re.IGNORECASE | 8\nLEVEL = len('ab')\nP = {call}"
    text = Case("flags", "", "", "", (("imports", "import re\nfrom re import IGNORECASE"), ("top", top))).text()
    found = lint(text)
    assert [f.rule for f in found] == (["regex"] if wrong else []) and all(wrong in f.message for f in found), found


@pytest.mark.parametrize(
    ("use", "wrong"),
    [
        (r"states_pattern(r'(?:is|was) insured', [text])", ""),
        (r"states_pattern(said=[text], pattern='insured', record=self.thing)", ""),
        (r"states_pattern(rf'{re.escape(self.thing)} (?:is|was) open', [text])", ""),
        (r"states_pattern(WORDS, [text])", ""),
        (r"states_pattern(r'(a+)+b', [text])", "exponential"),
        (r"states_pattern(said=[text], pattern=r'(a+)+b')", "exponential"),
        (r"claims(r'(?:\w+\s?)*b', [text])", "exponential"),
        (r"states_pattern(r'.*.*.*x', [text])", "cubic"),
        (r"states_pattern(r'a)+(?:a+', [text])", "not a valid pattern"),
        (r"states_pattern('x' if text else r'(a|a)*b', [text])", "exponential"),
        (r"states_pattern(rf'(?:aa|{re.escape(text)})*b', [text])", "exponential"),
        (r"states_pattern(text, [text])", "not a constant"),
        (r"states_pattern(f'{text} is open', [text])", "not a constant"),
        (r"states_pattern('(a+)' + '+b', [text])", "not a constant"),
        (r"states_pattern(WORDS.replace('o', '(a+)+'), [text])", "not a constant"),
        (r"states_pattern(*[text, [text]])", "not a constant"),
        (r"states_pattern(**{'pattern': text, 'said': [text]})", "not a constant"),
        (r"any(map(states_pattern, [r'(a+)+b'], [[text]]))", "constant pattern"),
        (r"max([r'(a+)+b'], key=states_pattern)", "constant pattern"),
        (r"(states := states_pattern)(r'(a+)+b', [text])", "constant pattern"),
    ],
)
def test_patterns_of_claims_are_screened_like_those_of_re(use: str, wrong: str) -> None:
    imports = "import re\nfrom trace_gym.statements import states_pattern"
    places = [("imports", imports), ("top", "WORDS = 'open|shut'"), ("reply", f"return str({use})")]
    if use.startswith("claims"):
        places[0] = ("imports", f"{imports} as claims")
    found = lint(Case("claims", "", "", "", tuple(places)).text())
    assert {f.rule for f in found} == ({"regex"} if wrong else set()), found
    assert all(wrong in f.message for f in found), found


def test_stated_values_are_read_and_what_functions_remember_is_not() -> None:
    imports = "from trace_gym.statements import find_values, normalize"
    read = "any(v.unit == 'money' and v.value == 5 and v.start < v.end for v in find_values(normalize(text)))"
    assert lint(Case("values", "", "", "", (("imports", imports), ("reply", read))).text()) == []
    for name in ("cache_clear", "cache_info", "cache_parameters"):
        places = (("imports", imports), ("body", f"{name}: str = ''"), ("reply", f"normalize.{name}()"))
        assert rules(Case("values", "", "", "", places).text()) == {"value"}


def test_a_text_that_is_filled_in_may_be_any_text() -> None:
    for pattern, refused in (
        ("(?:aa|{re.escape(text)})*b", True),
        ("(?:[{re.escape(text)}]b|ab)*c", True),
        (r"\b{re.escape(text)}\b", False),
        (r"\b{re.escape(text)} *(is|was) +\d+", False),
    ):
        places = (("imports", "import re"), ("reply", f"re.search(rf'{pattern}', text)"))
        assert rules(Case("filled", "", "", "", places).text()) == ({"regex"} if refused else set()), pattern


def test_the_lists_agree_with_each_other() -> None:
    plain = [m for m in MODULES if not m.startswith("trace_gym.targets.")]
    assert {m if m in FOR_WORLDS else m.partition(".")[0] for m in plain} == FOR_WORLDS
    assert not METHODS & UNSAFE_ATTRIBUTES
    assert not BUILTINS & {
        "open",
        "exec",
        "eval",
        "compile",
        "getattr",
        "setattr",
        "type",
        "object",
        "globals",
        "print",
    }
    assert set(importable_modules()) >= {"trace_gym.targets.tau2.airline", "trace_gym.targets.tau2.records"}


def test_only_named_modules_of_a_target_are_imported_from() -> None:
    text = CLEAN.text().replace(
        "import Any, Self\n", "import Any, Self\nfrom trace_gym.targets.tau2.records import day\n"
    )
    assert lint(text) == []
    assert rules(text.replace("import day", "import Random")) == {"import"}
    [violation] = lint(text, target_imports=("trace_gym.targets.tau2.policy",))
    assert violation.rule == "import" and "trace_gym.targets.tau2.policy" in violation.message


def test_whatever_the_text_is_the_gate_answers() -> None:
    rng = random.Random("scan")
    text = GENERATED[0].read_text()
    for _ in range(40):
        at, length = rng.randrange(len(text)), rng.randrange(60)
        garbled = text[:at] + "".join(rng.choices(text, k=rng.randrange(4))) + text[at + length :]
        assert isinstance(lint(garbled), list)
    for odd in (
        "",
        "\n",
        "\0",
        "\ufeff",
        "\ud800",
        "(" * 300,
        "x" * (MAX_CHARACTERS + 1),
        "def f(:",
        "lambda: (yield)",
    ):
        assert all(isinstance(f, LintViolation) for f in lint(odd))
    assert rules("\ud800") == {"encoding"} and rules("(" * 300) == {"syntax"}


LINKS = ("x{n} = [x{m}, x{m}]", "x{n} = x{m} or x{m}", "x{n} = x{m} if x{m} else x{m}", "x{n} = same(x{m}, x{m})")


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("place", ["top", "generate"])
def test_names_that_lead_to_many_others_do_not_keep_the_gate_busy(link: str, place: str) -> None:
    """Each name leads to two others, so that there are more ways than could ever be followed one by one."""
    chain = "\n".join(["x0 = ['{a}']", *(link.format(n=n, m=n - 1) for n in range(1, 60))])
    uses = "x59[0].thing = 1\nx59[0].format(a=1)\nx59.append(1)"
    function = "def same(x, y): return x or y"
    aliases = "A0 = list[int]\n" + "\n".join(f"A{n} = dict[A{n - 1}, A{n - 1}]" for n in range(1, 30))
    top = f"{function}\n{aliases}\n" + (chain if place == "top" else "")
    body = "kept: A29 = None"
    generate = uses if place == "top" else f"{chain}\n{uses}"
    case = Case("many", "", "", "", (("top", top), ("body", body), ("generate", generate)))
    assert isinstance(lint(case.text()), list)


def test_a_long_chain_of_names_is_refused_and_not_raised() -> None:
    chain = "\n".join(["x0 = rng", *(f"x{n} = x{n - 1}" for n in range(1, 800))])
    text = Case("long", "", "", "", (("generate", f"{chain}\nx799.thing = 1"),)).text()
    assert rules(text) & {"size", "assignment"}


def test_a_module_full_of_faults_is_not_told_all_of_them() -> None:
    assert len(lint("x = eval\n" * 300)) == MAX_VIOLATIONS


def test_the_documentation_holds_the_rules_the_layers_and_the_counts() -> None:
    written = (ROOT / "docs" / "explanation" / "sandbox.md").read_text()
    for table in (rules_table(), imports_table(), layers_table()):
        assert table in written, "docs/explanation/sandbox.md: paste what `python -m trace_gym.sandbox` prints"
    run = sum(bool(case.sandbox) for case in CASES.values())
    assert f"contains {len(CASES)} modules" in written and f"also run {run} of these" in written

"""Tools whose names are not Python identifiers: agents see the exact names, in every library."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path

import pytest
import test_contract
from players import Player, players

from trace_gym import registry
from trace_gym.adapters.sb3 import MenuEnv
from trace_gym.episode import Episode
from trace_gym.policies import Idle, Oracle
from trace_gym.rollouts import play
from trace_gym.sandbox import describe
from trace_gym.types import Call, Report, Scenario
from trace_gym.validation import validate
from trace_gym.world import World, python_name, tool, tool_methods

DESK = "dashed_loans"
RENAMED = (
    ('id = "library_loans"', f'id = "{DESK}"'),
    ("    @tool\n    def search(self, words", '    @tool(name="search-copies")\n    def search(self, from_'),
    ("            words: Part", "            from_: Part"),
    ("words.lower()", "from_.lower()"),
    ('Call("search", {"words"', 'Call("search-copies", {"from"'),
    ('@tool(kind="write")\n    def lend(', '@tool(kind="write", name="copy")\n    def lend('),
    ('Call("lend"', 'Call("copy"'),
    ('@tool(kind="write")\n    def take_back(', '@tool(kind="write", name="take-back")\n    def take_back('),
    ('Call("take_back"', 'Call("take-back"'),
    (
        "    def opening(self)",
        """    @classmethod
    def interface(cls) -> Any:
        made = super().interface()
        tools = tuple(json.loads(json.dumps(made.tools).replace('"from_"', '"from"')))
        return made.model_copy(update={"tools": tools})

    def opening(self)""",
    ),
    ("from collections.abc", "import json\nfrom collections.abc"),
)
"""Turns the library into one with dashed names, a tool ``copy``, which worlds have themselves, and a keyword."""


@pytest.fixture
def desk(user_folder: Path) -> str:
    text = (user_folder / "library_loans.py").read_text()
    for old, new in RENAMED:
        assert old in text, old
        text = text.replace(old, new)
    path = user_folder / f"{DESK}.py"
    path.write_text(text)
    registry.admit(path, Report(passed=True, findings=(), scenarios=0), author="hand", describe=describe)
    return DESK


def test_agents_see_the_exact_names(desk: str) -> None:
    episode = registry.start_episode(f"{desk}/2/7")
    names = {t["function"]["name"]: t["function"]["parameters"] for t in episode.tools}
    assert set(names) == {"search-copies", "copy", "take-back"} and set(names["search-copies"]["properties"]) == {
        "from",
        "limit",
    }
    [answer] = episode.step('<tool_call>{"name": "search-copies", "arguments": {"from": ""}}</tool_call>')
    assert answer["name"] == "search-copies" and len(json.loads(answer["content"])) == 5
    [refusal] = episode.step(Call("search_copies", {"from": ""}))
    assert "there is no tool 'search_copies'" in refusal["content"] and "search-copies, take-back" in refusal["content"]
    assert all(play(Oracle(), registry.start_episode(f"{desk}/{n}/7")).finish().success for n in range(3))


@pytest.mark.parametrize("player", list(players()), ids=lambda p: p.name)
def test_every_library_keeps_the_contract_with_such_names(player: Player, desk: str) -> None:
    held = [
        t for n, t in sorted(vars(test_contract).items()) if n.startswith("test_") and "env" in signature(t).parameters
    ]
    assert len(held) >= 5
    for test in held:
        for policy in (Oracle(), Idle()) if "policy" in signature(test).parameters else (None,):
            test(player, desk, *[policy] if policy else [])


def test_the_menu_offers_such_calls(desk: str) -> None:
    env = MenuEnv(desk, level=0)
    env.reset(seed=7)
    calls = {n: c.action.tool for n, c in enumerate(env.offered) if c.offered and isinstance(c.action, Call)}
    env.step(next(n for n, name in calls.items() if name == "search-copies"))
    assert env.text.episode.messages[-1]["name"] == "search-copies"


def test_validation_finds_methods_by_the_names_of_their_tools(desk: str) -> None:
    report = validate(desk, profile="quick", only=("TG401", "TG403", "TG404"), progress=False)
    assert report.passed, [f.message for f in report.findings if not f.passed]


def test_two_methods_cannot_be_one_tool() -> None:
    class Twice(World):
        @tool(name="get-sum")
        def one(self) -> str:
            return ""

        @tool(name="get-sum")
        def two(self) -> str:
            return ""

    with pytest.raises(TypeError, match=r"two methods define the same tool 'get-sum': found one\(\) and two\(\)"):
        tool_methods(Twice)


@pytest.mark.parametrize(
    ("name", "made"),
    [("get_sum", "get_sum"), ("get-sum", "get_sum"), ("from", "from_"), ("_id", "id_"), ("2fa", "n2fa"),
     ("a.b/c", "a_b_c"), ("self", "self_"), ("---", "name_"), ("größe", "gr__e")],
)  # fmt: skip
def test_python_names_are_identifiers(name: str, made: str) -> None:
    assert python_name(name) == made and made.isidentifier()


def test_a_world_formats_results_as_its_target_does(episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    world, at = type(episode.world), Scenario(env=episode.world.id, level=1, seed=7)
    plain = Episode(world, at).step(Call("search", {"words": ""}))[0]["content"]

    def indented(self: World, call: Call, result: object) -> str:
        return result if isinstance(result, str) else json.dumps(result, indent=2)

    monkeypatch.setattr(world, "format_result", indented)
    shown = Episode(world, at).step(Call("search", {"words": ""}))[0]["content"]
    assert json.loads(plain) == json.loads(shown) and "\n" not in plain and shown.startswith("[\n  {\n    ")
    free = next(row["copy"] for row in json.loads(plain) if not row["card"])
    assert Episode(world, at).step(Call("take_back", {"copy": free}))[0]["content"].startswith("Error: ")
    assert play(Oracle(), Episode(world, at)).finish().success

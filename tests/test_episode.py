"""The waist: one attempt at one scenario, from the opening to the score."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trace_gym.episode import Episode, complaint_about, interface_of
from trace_gym.errors import ConfigError, EnvBug, ScenarioError
from trace_gym.schemas import tools_of
from trace_gym.types import Call, Check, Interface, Say, Scenario
from trace_gym.world import Random, ToolError, World, tool


def finish(episode: Episode, line: str) -> Episode:
    for step in list(getattr(episode.start, line)()):
        episode.step(step)
    return episode


def again(episode: Episode, level: int | None = None, seed: int | None = None) -> Episode:
    at = episode.scenario
    chosen = Scenario(env=at.env, level=at.level if level is None else level, seed=at.seed if seed is None else seed)
    return Episode(type(episode.world), chosen)


def test_an_episode_begins_with_the_policy_and_the_user(episode: Episode) -> None:
    system, user = episode.messages
    assert system == {"role": "system", "content": episode.interface.system_prompt}
    assert "A card with a late book" in system["content"]
    assert user == {"role": "user", "content": episode.start.opening()}
    assert [t["function"]["name"] for t in episode.tools] == ["lend", "search", "take_back"]


def test_the_address_decides_everything(episode: Episode) -> None:
    same, other = again(episode), again(episode, seed=8)
    assert (same.messages, same.state_hash) == (episode.messages, episode.state_hash)
    assert other.state_hash != episode.state_hash


@pytest.mark.parametrize("level", range(3))
def test_the_expert_succeeds_and_the_ablated_one_fails_where_there_is_a_late_book(episode: Episode, level: int) -> None:
    expert, ablated = finish(again(episode, level), "oracle"), finish(again(episode, level), "ablated")
    assert expert.score is not None
    assert (expert.score.success, expert.score.wellformed, expert.truncated) == (True, 1.0, False)
    ablated.finish()
    assert ablated.score is not None
    assert ablated.score.success == (level == 0)


def test_the_idle_earn_nothing(episode: Episode) -> None:
    score = episode.finish()
    assert (score.progress, score.success, score.wellformed, episode.truncated) == (0, False, 0, True)
    assert episode.finish() is score


def test_the_turn_limit_ends_and_scores(episode: Episode) -> None:
    limit = episode.world.max_turns
    for turn in range(limit):
        assert not episode.done, turn
        episode.step("Let me think.")
    assert (episode.done, episode.truncated, episode.turns) == (True, True, limit)
    assert episode.score is not None


def test_after_the_end_nothing_happens(episode: Episode) -> None:
    finish(episode, "oracle")
    before = (episode.state_hash, episode.turns, len(episode.messages), episode.score)
    assert "over" in episode.step(Call("search", {"words": ""}))[0]["content"]
    assert (episode.state_hash, episode.turns, len(episode.messages), episode.score) == before


def test_a_refusal_by_a_tool_is_well_formed(episode: Episode) -> None:
    before = episode.state_hash
    assert episode.step(Call("lend", {"copy": "c99", "card": "ada"}))[0]["content"].startswith("Error: c99 is not on")
    assert (episode.state_hash, episode.malformed) == (before, 0)


def test_unknown_levels_and_styles_are_refused(episode: Episode) -> None:
    with pytest.raises(ScenarioError, match=r"found level 3, but .* has levels \[0, 1, 2\]"):
        again(episode, level=3)
    with pytest.raises(ConfigError, match="hermes, json"):
        Episode(type(episode.world), episode.scenario, style="smoke signals")


def test_an_episode_pickles_in_the_middle(episode: Episode) -> None:
    steps = list(episode.start.oracle())
    episode.step(steps[0])
    for twin in (pickle.loads(pickle.dumps(episode)), copy.deepcopy(episode)):
        assert (twin.state_hash, twin.messages, twin.interface) == (
            episode.state_hash,
            episode.messages,
            episode.interface,
        )
        for step in steps[1:]:
            twin.step(step)
        assert twin.score is not None
        assert twin.score.success
    assert not episode.done


def test_an_interface_of_ones_own_travels_along(episode: Episode) -> None:
    own = episode.interface.model_copy(update={"policy": "Be brief."})
    sent = pickle.dumps(Episode(type(episode.world), episode.scenario, interface=own))
    assert pickle.loads(sent).interface == own
    assert len(pickle.dumps(episode)) < len(sent)
    first, second = pickle.loads(sent).interface, pickle.loads(sent).interface
    assert tools_of(first) is tools_of(second)  # schemas are compiled once, however often they arrive


def test_the_state_hash_sees_every_field_and_no_order(episode: Episode) -> None:
    before = episode.state_hash
    world: Any = episode.world
    world.copies = dict(reversed(world.copies.items()))
    assert episode.state_hash == before
    next(iter(world.copies.values())).late ^= True
    assert episode.state_hash != before


@dataclass
class Faulty(World):
    """A world with one fault of choice."""

    id = "faulty"
    capability = "none"
    fault: str = ""
    seen: set[str] = field(default_factory=set)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls()

    def opening(self) -> str:
        return "Hi."

    def reply(self, text: str) -> str | None:
        if self.fault == "reply":
            raise ToolError("a tool's word from the user")
        return None

    @tool
    def count(self, to: int) -> Any:
        """Count."""
        if self.fault == "tool":
            raise KeyError(to)
        return {1, 2} if self.fault == "result" else to

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        if self.fault == "verify":
            raise ZeroDivisionError
        yield Check.goal("all is well", bool(said))


@pytest.mark.parametrize(
    ("fault", "action", "message"),
    [
        ("reply", Say("Hi"), "ToolError"),
        ("verify", Say("Hi"), "ZeroDivisionError"),
        ("tool", Call("count", {"to": 3}), "KeyError"),
        ("result", Call("count", {"to": 3}), "TypeError"),
    ],
)
def test_a_fault_of_the_world_is_named_as_one(fault: str, action: Call | Say, message: str) -> None:
    episode = Episode(Faulty, Scenario(env="faulty", level=0, seed=0))
    episode.world.fault = fault  # type: ignore[attr-defined]
    with pytest.raises(EnvBug, match=f"faulty/0/0: turn 1 raised {message}"):
        episode.step(action)


def test_a_verifier_that_fails_at_the_end_is_named_as_one() -> None:
    episode = Episode(Faulty, Scenario(env="faulty", level=0, seed=0))
    episode.world.fault = "verify"  # type: ignore[attr-defined]
    with pytest.raises(EnvBug, match="the verifier raised ZeroDivisionError"):
        episode.finish()


def test_a_generator_that_fails_is_named_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Faulty, "opening", lambda self: 1 / 0)
    with pytest.raises(EnvBug, match="faulty/0/0: generate failed with ZeroDivisionError"):
        Episode(Faulty, Scenario(env="faulty", level=0, seed=0))


def test_the_interface_is_built_once() -> None:
    assert interface_of(Faulty) is interface_of(Faulty)


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"Person": PERSON},
    "properties": {
        "text": {"type": "string"},
        "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "kind": {"enum": ["a", "b"]},
        "people": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
        "price": {"type": ["number", "null"]},
        "sure": {"type": "boolean", "default": False},
        "code": {"type": "string", "pattern": "^x"},
    },
    "required": ["text"],
}
PARTS: st.SearchStrategy[Any] = st.sampled_from(
    ["a", "x1", 1, 1.0, 1.5, True, None, [], {}, [{"name": "n"}], [{"name": "n", "age": 2.0}], [3]]
)


@example(arguments={"text": "a", "code": "a"})  # a pattern that the quick check does not know
@example(arguments={"text": "a", "kind": "c"})
@example(arguments={"text": "a", "people": [{"age": 2}]})
@given(arguments=st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), PARTS, max_size=4))
@settings(derandomize=True, deadline=None, database=None, max_examples=300)
def test_the_quick_check_agrees_with_jsonschema(arguments: dict[str, Any]) -> None:
    plain = {k: v for k, v in SCHEMA["properties"].items() if k != "code"}
    for properties in (SCHEMA["properties"], plain):  # with a keyword that the quick check does not know, and without
        schema = {**SCHEMA, "properties": properties}
        made = {"type": "function", "function": {"name": "f", "description": "", "parameters": schema}}
        interface = Interface(name="i", policy="", tools=(made,), kinds={"f": "read"})
        right = jsonschema.Draft202012Validator(schema).is_valid(arguments) and arguments.keys() <= properties.keys()
        assert (complaint_about(Call("f", arguments), interface) == "") == right


def test_the_quick_check_is_in_use(episode: Episode) -> None:
    assert all(tool.quick for tool in tools_of(episode.interface).values())


def test_messages_are_plain_json(episode: Episode) -> None:
    finish(episode, "oracle")
    assert json.loads(json.dumps(episode.messages)) == episode.messages
    assert [m["role"] for m in episode.messages] == ["system", "user", *["assistant", "tool"] * 3, "assistant"]

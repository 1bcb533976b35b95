"""Assistant turns that obey no convention: answered with what was wrong and what is possible, never raised."""

from __future__ import annotations

import json
import keyword
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trace_gym.actions import read_turn
from trace_gym.chat import calls_of, steps_of
from trace_gym.chat_formats import FORMATS
from trace_gym.episode import Episode
from trace_gym.model_text import MAX_TEXT, Malformed, clean, parse_json
from trace_gym.types import Call, Say

SURROGATE = "\ud800"
CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE


def hermes(body: str) -> str:
    return f"<tool_call>{body}</tool_call>"


def call(name: str, arguments: object) -> str:
    return hermes(json.dumps({"name": name, "arguments": arguments}))


def wire(arguments: object, name: object = "search", **more: object) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}], **more}


DEEP = "[" * 50 + "]" * 50
MALFORMED: dict[str, tuple[Any, str]] = {
    "malformed JSON": (hermes('{"name": "search", "arguments": {"words": '), "not valid JSON"),
    "no JSON at all": (hermes("search('moss')"), "not valid JSON"),
    "an empty call": (hermes(""), "not valid JSON"),
    "JSON of another shape": (hermes("[1, 2]"), "has no name"),
    "a call without a name": (hermes('{"arguments": {}}'), "has no name"),
    "arguments of another shape": (hermes('{"name": "search", "arguments": [1]}'), "must be a JSON object"),
    "an unknown tool": (call("burn_down", {}), "there is no tool 'burn_down'"),
    "a method that is no tool": (call("verify", {}), "there is no tool 'verify'"),
    "a dunder": (call("__init__", {}), "there is no tool '__init__'"),
    "a name with control characters": (call("search\x1b[2J", {}), "is no tool name"),
    "a megabyte of a name": (wire("{}", name="x" * 10**6), "is no tool name"),
    "a missing argument": (call("search", {}), "'words' is a required property"),
    "an ill-typed argument": (call("search", {"words": 3}), "3 is not of type 'string'"),
    "a bool for an integer": (call("search", {"words": "", "limit": True}), "not of type 'integer'"),
    "a fraction for an integer": (call("search", {"words": "", "limit": 1.5}), "not of type 'integer'"),
    "an unknown argument": (call("search", {"words": "", "why": 1}), "unknown argument 'why'"),
    "two calls in a turn": (call("search", {"words": ""}) * 2, "2 calls in one turn"),
    "text beside a call": ("One moment. " + call("search", {"words": ""}), "a message and a tool call"),
    "a megabyte of text": ("x" * 10**6, "1000000 characters"),
    "a megabyte of arguments": (wire(json.dumps({"words": "x" * 10**6})), "characters"),
    "nothing": ("", "empty"),
    "white space": (" \n\t", "empty"),
    "only thoughts": ("<think>hm</think>", "empty"),
    "only control characters": ("\x00\x1b\x7f", "empty"),
    "a lone surrogate": (SURROGATE, "empty"),
    "a lone surrogate in an argument": (call("search", {"words": SURROGATE}), "lone surrogate"),
    "deeply nested JSON": (hermes('{"name": "search", "arguments": {"words": ' + DEEP + "}}"), "at most 32 levels"),
    "bottomless JSON": (hermes("[" * 90_000), "nested too deeply"),
    "a huge integer": (call("search", {"words": "", "limit": "HUGE"}).replace('"HUGE"', "9" * 5000), "5000 digits"),
    "a large integer": (call("search", {"words": "", "limit": 10**30}), "31 digits"),
    "NaN": (call("search", {"words": "", "limit": float("nan")}), "NaN is not a valid JSON number"),
    "infinity by overflow": (call("search", {"words": "", "limit": "HUGE"}).replace('"HUGE"', "1e999"), "too large"),
    "None": (None, "found NoneType"),
    "a number": (7, "found int"),
    "bytes": (b"hi", "found bytes"),
    "a list": ([{"role": "assistant", "content": "hi"}], "found list"),
    "an empty message": ({}, "empty"),
    "a message of another shape": ({"content": 5}, "empty"),
    "calls that are no list": ({"tool_calls": 7}, "must be a list"),
    "a message of the user": ({"role": "user", "content": "Please cancel it."}, "found the role 'user'"),
    "the result of a tool": ({"role": "tool", "content": "done", "tool_call_id": "c1"}, "found the role 'tool'"),
    "a role that is no text": ({"role": ["assistant"], "content": "hi"}, "found the role"),
    "a call that is no object": ({"tool_calls": [None]}, "must hold function.name"),
    "a name that is no text": (wire("{}", name=3), "must hold function.name"),
    "arguments that are no JSON": (wire("{"), "not valid JSON"),
    "arguments that are a list": (wire("[]"), "must be a JSON object"),
    "arguments that refer to themselves": (wire(CYCLE), "not valid JSON"),
    "arguments that JSON cannot hold": (wire({"words": object()}), "not valid JSON"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_turn_is_answered_and_changes_nothing(episode: Episode, case: str) -> None:
    action, complaint = MALFORMED[case]
    before, tools = episode.state_hash, list(episode.interface.kinds)
    answers = episode.step(action)
    told = " ".join(m["content"] for m in answers)
    assert complaint in told
    assert told.startswith("Error: ")
    # What is possible: the tools, the right arguments, or the right form of a turn.
    assert any(t in told for t in tools) or "send one or the other" in told or "make at most 1" in told
    assert episode.state_hash == before
    assert not episode.said
    assert (episode.malformed, episode.turns, episode.done) == (1, 1, False)
    assert len(json.dumps(episode.messages)) < 10_000
    json.dumps(episode.messages, ensure_ascii=False).encode()  # a log can hold it


@pytest.mark.parametrize("case", MALFORMED)
def test_after_a_malformed_turn_the_episode_goes_on(episode: Episode, case: str) -> None:
    episode.step(MALFORMED[case][0])
    for step in list(episode.start.oracle()):
        episode.step(step)
    assert episode.score is not None
    assert episode.score.success
    assert episode.score.wellformed < 1


def test_every_well_formed_turn_is_one(episode: Episode) -> None:
    turns: list[Any] = [call("search", {"words": ""}), wire('{"words": "moss"}'), wire({"words": "moss"}), "Hello."]
    for turn in turns:
        episode.step(turn)
    assert episode.malformed == 0


def test_integral_floats_are_integers_where_the_schema_says_so(episode: Episode) -> None:
    whole = episode.step(call("search", {"words": "", "limit": 1}))
    assert episode.step(call("search", {"words": "", "limit": 1.0}))[0]["content"] == whole[0]["content"]
    assert episode.malformed == 0


def test_an_openai_message_keeps_its_call_ids(episode: Episode) -> None:
    assert episode.step(wire('{"words": ""}'))[0]["tool_call_id"] == "c1"
    assert episode.messages[-2]["tool_calls"][0]["id"] == "c1"


@pytest.mark.parametrize("thoughts", ["<think>a</think>", "\n<think>\n<tool_call>no</tool_call></think>", "a</think>"])
def test_thoughts_come_before_the_turn(thoughts: str) -> None:
    assert read_turn(thoughts + "Hello") == ("Hello", [])
    assert read_turn(thoughts + call("search", {"words": "</think>"})) == ("", [Call("search", {"words": "</think>"})])


def test_content_parts_are_text(episode: Episode) -> None:
    episode.step({"role": "assistant", "content": [{"type": "text", "text": "Good"}, {"type": "text", "text": "day"}]})
    assert episode.said == ["Good day"]


def test_thoughts_and_control_characters_are_not_said(episode: Episode) -> None:
    episode.step("<think>secret</think>Good\x1b[31m\x00 day\u00a0🙂\n- one")
    assert episode.said == ["Good[31m day\u00a0🙂\n- one"]


LEAVES = st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
same_twice = settings(derandomize=True, deadline=None, database=None, max_examples=100)


NAMES = st.from_regex(r"[a-z_]{1,20}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
JSON_FORMATS = ("hermes", "json", "llama3", "mistral")


@pytest.mark.parametrize("style", JSON_FORMATS)
@same_twice
@example(name="note", arguments={"text": "</tool_call><tool_call></think>[TOOL_CALLS]"})
@given(name=NAMES, arguments=st.dictionaries(st.text(), VALUES))
def test_a_rendered_call_is_read_back(style: str, name: str, arguments: dict[str, Any]) -> None:
    text = FORMATS[style].render(Call(name, arguments))
    assert read_turn(text, style) == ("", [Call(name, arguments)])


@pytest.mark.parametrize("style", sorted(FORMATS.keys() - JSON_FORMATS))
@same_twice
@given(name=NAMES, arguments=st.dictionaries(NAMES, VALUES.filter(lambda value: "</" not in str(value))))
def test_a_rendered_call_in_another_notation_is_read_back(style: str, name: str, arguments: dict[str, Any]) -> None:
    kinds = {key: {"type": "string"} if isinstance(value, str) else {} for key, value in arguments.items()}
    schema = {"function": {"name": name, "parameters": {"type": "object", "properties": kinds}}}
    text = FORMATS[style].render(Call(name, arguments))
    assert read_turn(text, style, [schema]) == ("", [Call(name, arguments)])


@pytest.mark.parametrize("style", FORMATS)
@same_twice
@given(text=st.text() | st.text('<>tool_call/{}[]":,think\\u0d8 1e', max_size=200))
def test_any_text_is_read_or_malformed(style: str, text: str) -> None:
    message = {"tool_calls": [{"function": {"name": text, "arguments": text}}]}
    for action in (text, f"<tool_call>{text}</tool_call>", f"{{{text}}}", message):
        try:
            said, _ = read_turn(action, style)
        except Malformed:
            continue
        assert clean(said) == said


@same_twice
@given(value=VALUES | st.floats(allow_nan=False, allow_infinity=False))
def test_json_that_others_write_is_read(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False)) == value


def test_the_longest_turn_is_read(episode: Episode) -> None:
    episode.step("x" * MAX_TEXT)
    assert episode.malformed == 0


def test_giant_integers_of_a_message_are_the_agents_fault() -> None:
    giant = 10**5000
    call = {"id": "a", "function": {"name": "look", "arguments": {"box": "b1"}}}
    for turn in (
        {"tool_calls": [call | {"id": giant}]},
        {"tool_calls": [call | {"function": {"name": "look", "arguments": {"box": giant}}}]},
        {"tool_calls": [call | {"function": {"name": "look", "arguments": '{"box": ' + "9" * 5000 + "}"}}]},
    ):
        with pytest.raises(Malformed):
            read_turn(turn)


def test_turns_in_a_conversation_are_converted_back_to_steps(episode: Episode) -> None:
    steps = [Say("One moment."), Call("look", {"box": "b1"}), Call("put", {"box": "b1", "coins": 1.5})]
    for step in steps:
        episode.step(step)
    turns = [m for m in episode.messages if m["role"] == "assistant"]
    assert [step for turn in turns for step in steps_of(turn)] == steps
    assert [call for message in episode.messages for call in calls_of(message)] == steps[1:]

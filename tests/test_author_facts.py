"""Tests that the statements of prompts about base worlds, the gate and the user match the code."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from toy_world import ToyBoxes

from trace_gym import registry
from trace_gym.sandbox.linter import lint
from trace_gym.schemas import settle
from trace_gym.synthesis.allowed_names import allowed_names
from trace_gym.synthesis.behavior import behavior, code, inherited_needs, public_part
from trace_gym.synthesis.llm_author import LlmAuthor, PlanAnswer
from trace_gym.synthesis.refusals import refusals_of
from trace_gym.synthesis.schema_types import types_in_words
from trace_gym.targets.catalogue import TARGETS, target
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.toolsandbox.requests import PhoneRequest
from trace_gym.targets.users import ScriptedUser
from trace_gym.targets.users.description import MESSAGES, describe_user
from trace_gym.types import Call, Say, Scenario
from trace_gym.validation import validate
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.world import ToolError

ROOT = Path(__file__).resolve().parents[1]
GOOD = (ROOT / "generated_envs" / "tau2_precondition.py").read_text()
SHORT = 144_000
"""Maximum number of characters of a prompt. The sources of the target, with their docstrings, are most of it."""


def refused_calls(name: str, count: int) -> Iterator[tuple[str, str]]:
    """Return the refusals of random valid calls, in states that earlier calls have changed."""
    place, rng = target(name), Random(f"refusals/{name}")
    envs = [e for e in registry.list_environments() if registry.manifest(e).target == name]
    for number in range(count):
        if number % 200 == 0:
            scenario = Scenario(env=rng.choice(envs), level=0, seed=number)
            world = registry.start_episode(scenario).world
            draw = CallSampler(rng, place.world.interface(), StateValues.of(world))
        call = draw.call()
        arguments, complaint = settle(call, draw.interface)
        if not complaint:
            try:
                getattr(world, call.tool)(**arguments)
            except ToolError as refusal:
                yield call.tool, str(refusal)


@pytest.mark.parametrize("name", TARGETS)
def test_every_refusal_that_a_tool_makes_is_stated(name: str) -> None:
    known = {tool: refusals_of(target(name).world, tool) for tool in target(name).world.interface().kinds}
    met = set()
    for tool, text in refused_calls(name, 4000):
        fitting = [r for r in known[tool] if r.pattern.fullmatch(text)]
        assert fitting, (tool, text)
        met |= {(tool, r.message) for r in fitting}
    assert len(met) >= 20
    unconditional = {(tool, r.message) for tool, found in known.items() for r in found if not r.condition}
    assert not unconditional


def test_conditions_name_the_arguments_of_the_tool() -> None:
    found = {r.message: r.condition for r in refusals_of(target("tau2_airline").world, "update_reservation_baggages")}
    assert found["there is no reservation {reservation_id[:40]}"] == "reservation_id not in self.reservations"
    bags = "bags must satisfy 0 <= nonfree_baggages <= total_baggages <= 50"
    assert found[bags] == "not 0 <= nonfree_baggages <= total_baggages <= 50"
    assert "method['source'] == 'certificate'" in found.values()
    phone = {r.message: r.condition for r in refusals_of(target("toolsandbox").world, "set_wifi_status")}
    assert phone["PermissionError: wifi cannot be switched on in low battery mode"].startswith("on and ")


def test_refusals_of_a_custom_base_world_are_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    place = ROOT / "tests" / "data" / "parcel_depot" / "base.py"
    spec = importlib.util.spec_from_file_location("trace_gym.targets.user.depot_of_a_test", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, spec.name, module)
    spec.loader.exec_module(module)
    found = {r.message: r.condition for r in refusals_of(module.ParcelDepotBase, "hand_over")}
    assert found == {
        "there is no parcel {parcel_id[:40]}; find_parcels lists those of a recipient": "not self.whole(parcel_id)",
        "parcel {parcel_id} is no longer here": "self.parcel(parcel_id)['status'] != 'waiting'",
    }


def prompt_of(name: str) -> str:
    place = target(name)
    spec = registry.manifest(place.example).spec
    assert spec is not None
    return LlmAuthor(SimpleNamespace(name="nobody"))._writing_prompt(spec)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TARGETS)
def test_write_prompt_states_what_authors_had_to_guess(name: str) -> None:
    prompt, place = prompt_of(name), target(name)
    spec = registry.manifest(place.example).spec
    assert spec is not None
    tools = behavior(place, spec.tools)
    assert {t.name for t in tools if t.planned} == {*spec.tools} & place.world.interface().kinds.keys()
    for tool in tools:
        assert f"`{tool.name}(" in prompt
        assert all(text.replace('"', '\\"') in prompt for text in tool.texts)
        assert all(r.condition in prompt for r in tool.refusals if tool.planned)
    for node in ast.parse(code(place, tools)).body:
        assert isinstance(node, ast.FunctionDef) and f"def {node.name}(" in prompt
    for names in allowed_names().values():
        assert names in prompt
    heard = describe_user(place.world, place.user_rules)
    assert heard is not None and all(rule in prompt for rule in heard.rules)
    assert inherited_needs(place, spec.capability) in prompt
    assert len(prompt) < SHORT


def test_all_tools_are_shown_whole_where_the_plan_names_none_of_them() -> None:
    assert all(tool.planned for tool in behavior(target("tau2_airline"), ["telepathy"]))


def test_needs_has_to_be_overridden_for_a_capability_that_the_target_does_not_know() -> None:
    place = target("tau2_airline")
    assert "override it" in inherited_needs(place, "claim_verification")
    assert "override it" not in inherited_needs(place, "precondition_verification")


def test_contract_is_shown_without_its_private_parts() -> None:
    source = (ROOT / "trace_gym" / "world.py").read_text()
    shown = ast.parse(public_part(source)).body
    defined = {n.name for n in shown if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    assert defined >= {"ToolError", "World", "asserted", "tool"}
    assert not [name for name in defined if name.startswith("_")]


def rules_broken(text: str) -> set[str]:
    return {fault.rule for fault in lint(text)}


def test_gate_accepts_exactly_builtins_in_prompt() -> None:
    listed = {*allowed_names()["Builtins"].split(), *allowed_names()["Exceptions"].split()}
    called_only = {"super", "vars"}  # allowed in some forms only
    for name in {n for n in dir(builtins) if not n.startswith("_")} - {"True", "False", "None"} - called_only:
        text = f"{GOOD}\n\ndef spare() -> object:\n    return {name}\n"
        assert ("builtin" in rules_broken(text)) == (name not in listed), name


def test_gate_accepts_attributes_in_prompt() -> None:
    listed = allowed_names()["Attributes and methods of any value"].split()
    lines = "".join(f"    x.{name}\n" for name in listed)
    assert "attribute" not in rules_broken(f"{GOOD}\n\ndef spare(x: object) -> None:\n{lines}")
    for name in ("today", "seed", "mro", "gi_frame", "nobody_knows_this"):
        assert name not in listed
        assert rules_broken(f"{GOOD}\n\ndef spare(x: object) -> None:\n    x.{name}\n"), name


CLAIMS: dict[type[Any], dict[str, str | None]] = {
    ScriptedUser: {
        "I cannot do that. Shall I do the other?": "Yes, please.",
        "I cannot do that. What is the reason?": "My cat is ill.",
        "Please tell me the reason.": "My cat is ill.",
        "Would you rather have economy or business?": "That is up to you; please go by what I wrote.",
        "I am going to transfer you to a human colleague.": "All right, I will wait.",
        "I cannot do that.": "But I need this. Please make an exception.",
        "The first one has been cancelled. Next, I will cancel the other.": "Thank you, please go on.",
        "It has been cancelled.": None,
        "Goodbye!": None,
        "Is there anything else I can do for you?": "Nothing else, thank you.",
        "One moment.": "All right.",
        "Your trip is in economy.": "I see, thank you.",
        "Purple seven of.": "Sorry, I do not understand what you mean.",
    },
    Assistant: {
        "Please tell me which number to call": "It is 5.",
        "May I have the number?": "It is 5.",
        "Shall I call the number?": "Yes, please, as I asked.",
        "Shall I switch on wifi?": "Yes, if what I asked for needs it.",
        "I cannot do that.": None,
        "I will look it up.": "All right.",
        "There are 3 of them.": None,
        "Purple seven of.": "Sorry, I do not understand what you mean.",
    },
}
"""Examples of the rules in `describe_user`, as messages with their answers."""


class Person(ScriptedUser):
    questions = {"reason": re.compile(r"\breason\b")}

    def tells(self, topic: str) -> str:
        return "My cat is ill." if topic == "reason" else ""


class Known(PhoneRequest):
    wish = "call Ann"  # type: ignore[assignment]
    facts = {"number": "It is 5."}  # type: ignore[assignment]


@pytest.mark.parametrize("kind", CLAIMS, ids=lambda kind: kind.__name__)
def test_users_answer_as_the_rules_say(kind: type[Any]) -> None:
    for message, answer in CLAIMS[kind].items():
        if kind is ScriptedUser:
            user: Any = Person(wording="Hello, help me.", pushes=1)
        else:
            user = Assistant(requests=[Known()])
        assert user.reply(message) == answer, message


@pytest.mark.parametrize("name", TARGETS)
def test_examples_are_what_the_user_hears(name: str) -> None:
    heard = describe_user(target(name).world, target(name).user_rules)
    assert heard is not None and [message for message, _ in heard.examples] == list(MESSAGES)
    kinds = {kind.split()[0] for _, kind in heard.examples}
    stated = set(re.findall(r"^`(\w+)`", "\n".join(heard.rules), re.MULTILINE))
    assert stated <= kinds  # each kind of message has an example
    topics = set(getattr(target(name).world, "questions", ()))
    assert kinds - stated - {"greeting"} <= topics


class TriesTwice(ToyBoxes):
    """World whose oracle opens the box twice and is refused the second time."""

    id = "tries_twice"

    def oracle(self) -> Iterator[Call | Say]:
        *before, last = super().oracle()
        yield from (*before, before[-1], last)


class ForgetsAnArgument(ToyBoxes):
    id = "forgets_an_argument"

    def oracle(self) -> Iterator[Call | Say]:
        yield Call("look", {})
        yield from super().oracle()


class NamesTheCapabilityAlways(ToyBoxes):
    id = "names_the_capability_always"

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability})


@pytest.mark.parametrize(
    ("world", "code", "passes"),
    [
        (TriesTwice, "TG201", True),
        (TriesTwice, "TG203", True),
        (ForgetsAnArgument, "TG201", False),
        (ToyBoxes, "TG205", True),
        (NamesTheCapabilityAlways, "TG205", False),
    ],
)
def test_experts_and_needs_are_judged_as_the_prompt_says(world: type[ToyBoxes], code: str, passes: bool) -> None:
    report = validate(world, profile="quick", only=(code,), progress=False)
    found = next(f for f in report.findings if f.code == code)
    assert found.passed == passes, found.message


def test_plan_prompt_states_the_type_of_every_field() -> None:
    types = types_in_words(PlanAnswer.model_json_schema())
    assert types["plan.oracle"] == types["plan.ablated"] == types["rationale"] == "string"
    assert types["levels"] == "list of 2 to 5 strings" and types["plan.families"] == "list of objects"
    page = (ROOT / "templates" / "prompts" / "plan.md.jinja").read_text()
    for path in types:
        assert f'{{{{ types["{path}"] }}}}' in page, path

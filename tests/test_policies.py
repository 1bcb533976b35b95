"""Scripted policies as pure functions, and the OpenAI policy against a server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random as Generator
from typing import Any

import jsonschema
import pytest
from toy_world import ToyBoxes, open_toy, toys

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug, PolicyError
from trace_gym.policies import Ablated, ExpertMixture, Idle, Oracle, Random
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.policies.scripted import _Draw
from trace_gym.rollouts import play, rollout
from trace_gym.types import Call, Say


def test_the_oracle_succeeds_and_the_ablated_one_only_by_luck() -> None:
    for level in ToyBoxes.levels:
        played = [(play(Oracle(), open_toy(s)), play(Ablated(), open_toy(s))) for s in toys(20, level)]
        assert all(good.score and good.score.success for good, _ in played)
        assert 0 < sum(bool(bad.score and bad.score.success) for _, bad in played) < 20


def test_an_expert_reads_the_untouched_start_and_says_done_at_the_end() -> None:
    episode = open_toy(toys(1, 1)[0])
    for step in list(episode.start.oracle())[:-1]:
        assert Oracle().act(episode) == step
        episode.step(step)
    last = Oracle().act(episode)
    assert isinstance(last, Say) and "opened" in last.text
    episode.step(Say("Something else."))
    assert Oracle().act(episode) == Say("Done.")


class Clueless(ToyBoxes):
    """A world whose expert has a bug."""

    def oracle(self) -> Iterator[Call | Say]:
        yield Say("Let me see.")
        raise KeyError("no plan")


def test_a_bug_of_an_expert_names_its_scenario() -> None:
    with pytest.raises(EnvBug, match="toy_boxes/0/3: oracle raised KeyError"):
        Oracle().act(Episode(Clueless, toys(4)[3]))


def test_a_mixture_has_the_competence_it_is_given() -> None:
    def share(p: float, seed: int = 0) -> list[bool]:
        played = [play(ExpertMixture(p, seed, n), open_toy(s)) for s in toys(40, 2) for n in range(5)]
        return [bool(e.score and e.score.success) for e in played]

    lucky = sum(share(0.0)) / 200
    assert lucky < 0.3 and all(share(1.0))
    assert abs(sum(share(0.5)) / 200 - (0.5 + 0.5 * lucky)) < 0.1
    assert share(0.5) == share(0.5) != share(0.5, seed=1)
    assert ExpertMixture(0.5).with_sample(3) == ExpertMixture(0.5, sample=3)
    with pytest.raises(ValueError, match="invalid probability p: found 2"):
        ExpertMixture(2)


def test_the_idle_earn_nothing() -> None:
    episode = play(Idle(), open_toy(toys(1)[0]))
    assert episode.turns == ToyBoxes.max_turns and episode.truncated
    assert episode.score and episode.score.progress == 0 and not episode.score.success


def test_random_calls_are_well_typed_seeded_and_reach_the_world() -> None:
    played = [play(Random(sample=n), open_toy(s)) for s in toys(15, 1) for n in range(4)]
    assert sum(e.malformed for e in played) == 0
    assert any(e.world.opened for e in played)  # type: ignore[attr-defined]
    assert any(e.said for e in played)
    again = play(Random(sample=3), open_toy(toys(15, 1)[14]))
    assert again.messages == played[-1].messages != played[-2].messages


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["who", "bags", "party", "cabin"],
    "properties": {
        "who": {"$ref": "#/$defs/Person"},
        "party": {"type": "array", "minItems": 1, "items": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]}},
        "cabin": {"enum": ["economy", "business"]},
        "bags": {"type": "integer", "minimum": 3, "maximum": 9},
        "price": {"type": ["number", "null"]},
        "insured": {"type": "boolean"},
        "nights": {"type": "integer", "minimum": 100},
    },
    "$defs": {
        "Person": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "friend": {"$ref": "#/$defs/Person"}},
        }
    },
}


def test_random_values_fit_nested_schemas() -> None:
    drawn = [_Draw(Generator(n), ["a", "b"], [0, 4, 7], SCHEMA).value(SCHEMA) for n in range(80)]
    for value in drawn:
        jsonschema.validate(value, SCHEMA)
    assert len({json.dumps(v) for v in drawn}) > 60
    assert any("friend" in v["who"] for v in drawn if isinstance(v, dict))


class Endpoint:
    """An OpenAI-compatible server with an able agent behind it, which can fail with a status."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.failures: list[int] = []
        self.answer: dict[str, Any] | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.keys.add(self.headers["Authorization"])
                status = outer.failures.pop() if outer.failures else 200
                payload = json.dumps(outer.completion(body) if status == 200 else {"error": {"message": "no"}}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        message = self.answer or self.agent(body["messages"])
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None} | message}
        return {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}

    def agent(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Look into the first of two boxes, then open the right one; nothing is known but the messages."""
        seen = [m["content"] for m in messages if m["role"] == "tool"]
        call = ("look", "b1")
        if seen:
            box = "b1" if f"I am {json.loads(seen[0])['owner']}." in messages[1]["content"] else "b2"
            if len(seen) == 2:
                return {"content": f"I opened {box}."}
            call = ("open_box", box)
        function = {"name": call[0], "arguments": json.dumps({"box": call[1]})}
        return {"tool_calls": [{"id": f"abc{len(messages)}", "type": "function", "function": function}]}

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    served = Endpoint()
    yield served
    served.close()


def test_an_endpoint_plays_an_episode(endpoint: Endpoint) -> None:
    policy = OpenAIPolicy("tiny", base_url=endpoint.url, temperature=0.5)
    episode = play(policy, open_toy(toys(1)[0]))
    assert episode.score and episode.score.success and not episode.malformed
    first, last = endpoint.requests[0], endpoint.requests[-1]
    assert (first["model"], first["temperature"]) == ("tiny", 0.5)
    assert first["tools"] == json.loads(json.dumps(episode.tools))
    assert [m["role"] for m in last["messages"][:4]] == ["system", "user", "assistant", "tool"]
    assert last["messages"][2]["tool_calls"][0]["id"] == last["messages"][3]["tool_call_id"] == "abc2"
    policy.client.close()


def test_a_short_failure_is_repeated_and_a_lasting_one_is_named(endpoint: Endpoint) -> None:
    policy = OpenAIPolicy("tiny", base_url=endpoint.url, max_retries=2)
    endpoint.failures = [500, 429]
    assert play(policy, open_toy(toys(1)[0])).done
    endpoint.failures = [500] * 3
    with pytest.raises(PolicyError, match=r"127\.0\.0\.1.* \(tiny\) failed on toy_boxes/0/0: InternalServerError"):
        policy.act(open_toy(toys(1)[0]))
    policy.client.close()


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_that_will_last_stops_the_run(endpoint: Endpoint, status: int) -> None:
    policy = OpenAIPolicy("tiny", base_url=endpoint.url)
    endpoint.failures = [status]
    with pytest.raises(ConfigError, match="Check the API key, base_url and the model name"):
        rollout(policy, toys(1), open_episode=open_toy)
    policy.client.close()


def test_an_answer_without_a_message_is_no_turn(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = OpenAIPolicy("tiny", base_url=endpoint.url)
    monkeypatch.setattr(Endpoint, "completion", lambda self, body: {"id": "c", "object": "chat.completion"})
    with pytest.raises(PolicyError, match="returned no completion for toy_boxes/0/0"):
        policy.act(open_toy(toys(1)[0]))
    policy.client.close()


def test_an_empty_message_is_the_agents_fault(endpoint: Endpoint) -> None:
    policy = OpenAIPolicy("tiny", base_url=endpoint.url)
    endpoint.answer = {"content": ""}
    episode = play(policy, open_toy(toys(1)[0]))
    assert episode.malformed == episode.turns == ToyBoxes.max_turns
    policy.client.close()


def test_a_server_that_is_not_there_leaves_the_episode_unscored() -> None:
    policy = OpenAIPolicy("tiny", base_url="http://127.0.0.1:9/v1", max_retries=0)
    record = rollout(policy, toys(1), open_episode=open_toy)[0]
    assert (record.success, record.reward, record.ended) == (None, None, "error")
    policy.client.close()


def test_collect_asks_a_server_in_threads(endpoint: Endpoint) -> None:
    policy = OpenAIPolicy("tiny", base_url=endpoint.url)
    records = rollout(policy, toys(8), samples=2, concurrency=4, open_episode=open_toy)
    assert len(records) == 16 and all(r.success for r in records)
    assert {r.model for r in records} == {"tiny"}
    policy.client.close()


def test_the_key_comes_from_the_argument_the_environment_or_is_not_needed(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="Set OPENAI_API_KEY, or pass base_url"):
        OpenAIPolicy("tiny")
    for key, expected in ((None, "Bearer none"), ("mine", "Bearer mine")):
        policy = OpenAIPolicy("tiny", base_url=endpoint.url, api_key=key)
        policy.act(open_toy(toys(1)[0]))
        policy.client.close()
        assert endpoint.keys == {expected}
        endpoint.keys.clear()
    monkeypatch.setenv("OPENAI_API_KEY", "from outside")
    policy = OpenAIPolicy("tiny", base_url=endpoint.url)
    policy.act(open_toy(toys(1)[0]))
    policy.client.close()
    assert endpoint.keys == {"Bearer from outside"}

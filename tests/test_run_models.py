"""All stages of a run with a model other than the toy model, at an endpoint and in process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="the loop needs the lab extra")

from llm_server import Body, Handler, Server
from tiny_model import tiny_tokenizer
from transformers import Qwen3Config, Qwen3ForCausalLM, set_seed

from trace_gym import pipeline, registry, validation
from trace_gym.errors import ConfigError, ReadError, Unavailable
from trace_gym.evaluation import Evaluation
from trace_gym.llm.ledger import read_ledger
from trace_gym.policies import Ablated, Oracle
from trace_gym.records import read_records
from trace_gym.rollouts import play
from trace_gym.sampling.serving import load_adapter, versioned_name
from trace_gym.settings import RunConfig
from trace_gym.types import Scenario

pytestmark = pytest.mark.slow

VOCABULARY = 151_936
TARGET, OWN = "tau2_airline_desk", ("tau2_multi_step", "tau2_structured_data", "tau2_tool_precision")
SMALL: dict[str, Any] = {
    "target": {"env": TARGET, "levels": [0]},
    "levels": {name: [0] for name in OWN},
    "skill": {"groups": 1, "informative": 0.0},
    "train": {"groups": 1, "samples": 2, "iterations": 1, "max_turn_tokens": 2},
    "route": {"permutations": 1},
    "evaluate": {"tasks": 2, "validation_tasks": 1, "own_tasks": 1},
    "workers": 1,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Qwen3 with the vocabulary size of the real one, whose prompt contains the whole policy and all tools."""
    made = tmp_path_factory.mktemp("models") / "qwen"
    opening = registry.start_episode(Scenario(env=TARGET, level=0, seed=1))
    corpus = [str(m["content"]) for m in opening.messages] + [json.dumps(tool) for tool in opening.tools]
    tokenizer = tiny_tokenizer(3000, corpus=corpus)
    tokenizer.save_pretrained(made)
    set_seed(0)
    config = Qwen3Config(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=32_768, tie_word_embeddings=True,
    )  # fmt: skip
    model: Any = Qwen3ForCausalLM
    model(config).save_pretrained(made)
    assert len(tokenizer.apply_chat_template(opening.messages, tools=opening.tools)["input_ids"]) > 1024
    return made


class Agent:
    """A server whose model is an oracle in three quarters of the tasks, and otherwise lacks a capability."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.adapters: dict[str, str] = {}
        self.models: set[str] = set()
        for env in (TARGET, *OWN):
            for split, count in (("select", 32), ("validate", 32), ("test", 32)):
                for scenario in registry.scenarios(env, split, count, levels=[0]):
                    self._learn(scenario)

    def _learn(self, scenario: Scenario) -> None:
        policy = Oracle() if scenario.seed % 4 else Ablated()
        messages = play(policy, registry.start_episode(scenario)).messages
        for n, message in enumerate(messages):
            if message["role"] == "assistant":
                self.answers[json.dumps(messages[:n])] = message

    def __call__(self, handler: Handler, body: Body) -> None:
        match handler.path.removeprefix("/v1/"):
            case "models":
                listed = [{"id": name, "object": "model", "created": 0, "owned_by": "me"} for name in self.adapters]
                handler.reply(json.dumps({"object": "list", "data": listed}).encode())
            case "load_lora_adapter":
                self.adapters[body["lora_name"]] = body["lora_path"]
                handler.reply(b"Success")
            case "chat/completions":
                self.models.add(body["model"])
                message = self.answers.get(json.dumps(body["messages"]), {"role": "assistant", "content": "Hello."})
                usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                answer = {"id": "a", "object": "chat.completion", "created": 0, "model": "m"}
                handler.reply(json.dumps({**answer, "choices": [choice], "usage": usage}).encode())
            case other:
                handler.reply(f"no route {other}".encode(), 404)


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return Agent()


@pytest.fixture
def server(agent: Agent) -> Iterator[Server]:
    made = Server(agent)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def few_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "validate", partial(validation.validate, only=("TG401",)))


def config(folder: Path, **changes: Any) -> RunConfig:
    model = {"name": str(folder), "max_turn_tokens": 2, **changes.pop("model", {})}
    return RunConfig.parse(SMALL | {"model": model, **changes}, "run.yaml")


def test_all_stages_with_weights_and_an_endpoint(folder: Path, agent: Agent, server: Server, tmp_path: Path) -> None:
    settings = config(
        folder,
        model={"endpoint": f"openai:agent@{server.url}", "price": "2/10"},
        rollouts={"tasks": 32},
        diagnose={"rho": 0.15},
    )
    made = pipeline.run(settings, tmp_path / "run")
    assert list(made.ledger) == [
        "rollouts", "diagnose", "synthesize", "validate", "variance", "skill", "train", "route", "evaluate", "report",
    ]  # fmt: skip
    records = read_records(made.path("rollouts", "select.jsonl"))
    assert 0.5 < sum(bool(r.success) for r in records) / len(records) < 1
    trained = [made.path(a["path"]) for a in json.loads(made.path("adapters.json").read_text())]
    assert trained and {Path(path) for path in agent.adapters.values()} == {path.resolve() for path in trained}
    assert agent.models == {"agent", *agent.adapters}, "the base model and each adapter were asked"
    rows = {row.name: row.rate for row in Evaluation.read(made.path("evaluation", "level-0.json")).rows}
    assert rows["base"] is not None and rows["base"] > 0 and {"routed", "random_routed"} <= rows.keys()
    assert "agent" in made.path("report.html").read_text()
    entries = read_ledger(made.requests)
    assert len(entries) == sum("messages" in body for body in server.requests), "each request is counted once"
    assert {entry.purpose.split()[0] for entry in entries} == {"rollouts", "skill", "evaluate"}
    assert f"{len(entries) * (9 * 2 + 2 * 10) / 1e6:,.4f}" in made.path("report.html").read_text()
    pipeline.run(settings, tmp_path / "run")
    assert read_ledger(made.requests) == entries, "a finished run sends no requests"


def test_all_stages_with_weights_in_process(folder: Path, tmp_path: Path) -> None:
    """The opening has more tokens than the limit of the toy model."""
    made = pipeline.run(config(folder, environments=[OWN[0]], levels={OWN[0]: [0]}), tmp_path / "run")
    assert made.path("report.html").exists()
    records = read_records(made.path("rollouts", "base", "test-0.jsonl"))
    assert len(records) == 2 and all(record.messages[-1] for record in records)


def test_a_server_without_adapters_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "adapter_model.safetensors").write_bytes(b"weights")
    loaded: list[Body] = []

    def act(handler: Handler, body: Body) -> None:
        if handler.command == "POST":
            loaded.append(body)
            handler.reply(b'{"detail": "Not Found"}', 404)
        else:
            handler.reply(b'{"object": "list", "data": []}')

    server = Server(act)
    with pytest.raises(ConfigError, match="did not load the adapter .*status 404.*--enable-lora"):
        load_adapter(server.url, tmp_path)
    server.close()
    assert loaded == [{"lora_name": versioned_name(tmp_path), "lora_path": str(tmp_path)}]
    with pytest.raises(Unavailable, match="cannot be reached"):
        load_adapter(server.url, tmp_path)
    with pytest.raises(ReadError, match="is not an adapter folder"):
        load_adapter(server.url, tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="the endpoint of the model has no URL"):
        load_adapter(None, tmp_path)


def test_other_weights_have_another_name_at_the_server(tmp_path: Path) -> None:
    names = []
    for weights in (b"one", b"two", b"one"):
        (tmp_path / "adapter_model.safetensors").write_bytes(weights)
        names.append(versioned_name(tmp_path))
    assert names[0] == names[2] != names[1]


def test_a_server_that_stops_is_not_a_score(folder: Path, agent: Agent, tmp_path: Path) -> None:
    settings = config(folder, model={"endpoint": "openai:agent@http://127.0.0.1:9/v1"}, rollouts={"tasks": 2})
    with pytest.raises(Unavailable, match="127.0.0.1:9"):
        pipeline.run(settings, tmp_path / "run")
    parts = tmp_path.glob("run/rollouts/*.jsonl")
    assert not any(record.reward is not None for part in parts for record in read_records(part))

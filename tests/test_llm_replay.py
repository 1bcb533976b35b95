"""Tests of recordings and their replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from trace_gym.errors import ConfigError, ModelError, ReadError
from trace_gym.llm import Completion, ModelRequest, Usage, ask, open_model_uri
from trace_gym.llm.recordings import RecordedAnswer, Recordings


def request(text: str = "Plan it, please.", purpose: str = "plan claims", **fields: Any) -> ModelRequest:
    return ModelRequest(messages=({"role": "user", "content": text},), purpose=purpose, **fields)


def record(folder: Path, asked: ModelRequest, text: str = "Good.", model: str = "openai:tiny") -> None:
    Recordings(folder).save(asked, Completion(text=text, model=model, prompt_tokens=3, completion_tokens=4, cost=0.5))


class Plan(BaseModel):
    title: str


def test_replay_returns_recorded_answer(tmp_path: Path) -> None:
    record(tmp_path, request())
    model = open_model_uri(f"replay:{tmp_path}", ledger=tmp_path / "ledger")
    assert model.name == "replay:openai:tiny"
    done = model.complete(request(purpose="under another purpose"))
    assert (done.text, done.model, done.cached, done.cost) == ("Good.", "openai:tiny", True, 0.5)
    assert Usage.read(tmp_path / "ledger") == Usage(cached=1)
    [path] = tmp_path.rglob("*.json")
    assert path.relative_to(tmp_path) == Path("openai-tiny", f"{request().key}.json")
    assert json.loads(path.read_text())["request"]["purpose"] == "plan claims"


def test_replay_by_purpose_accepts_changed_prompts(tmp_path: Path) -> None:
    record(tmp_path, request())
    changed = request("Plan it better, please.")
    with pytest.raises(ModelError, match="recorded request for this purpose is different"):
        open_model_uri(f"replay:{tmp_path}").complete(changed)
    model = open_model_uri(f"replay-purpose:{tmp_path}")
    answers = [model.complete(asked) for asked in (request(), changed)]
    assert [(c.text, c.changed) for c in answers] == [("Good.", False), ("Good.", True)]
    with pytest.raises(ModelError, match="no recorded answer to the request 'plan trips'"):
        model.complete(request("Plan trips.", purpose="plan trips"))
    record(tmp_path, request("Plan it well."), text="Better.")
    with pytest.raises(ReadError, match="two different answers to the request 'plan claims'"):
        open_model_uri(f"replay-purpose:{tmp_path}")


def test_turns_of_conversations_are_not_replayed_by_purpose(tmp_path: Path) -> None:
    tools = ({"type": "function", "function": {"name": "cancel", "parameters": {}}},)
    for text in ("First environment.", "Second environment."):
        record(tmp_path, request(text, purpose="solve level 0 seed 0 turn 1").model_copy(update={"tools": tools}), text)
    record(tmp_path, request())
    model = open_model_uri(f"replay-purpose:{tmp_path}")
    other = request("Third environment.", purpose="solve level 0 seed 0 turn 1").model_copy(update={"tools": tools})
    with pytest.raises(ModelError, match="no recorded answer to the request 'solve level 0 seed 0 turn 1'"):
        model.complete(other)
    assert model.complete(request()).text == "Good."


def test_replay_includes_invalid_answers(tmp_path: Path) -> None:
    class Scripted:
        name = "openai:tiny"
        answers = iter(["no", '{"title": "Claims"}'])

        def complete(self, asked: ModelRequest) -> Completion:
            done = Completion(text=next(self.answers), model=self.name)
            Recordings(tmp_path).save(asked, done)
            return done

    first = ask(Scripted(), request(), Plan)
    again = ask(open_model_uri(f"replay:{tmp_path}"), request(), Plan)
    assert again[0] == first[0] and [c.text for c in again[1]] == ["no", '{"title": "Claims"}']


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        (request("Plan it, thanks."), "message 1 had 'please.' at character 9, and has 'thanks.'"),
        (request("Plan it"), "had ', please.' at character 7, and has ''"),
        (request(sample=1), "its sample was 0, and is 1"),
        (request(temperature=0.0), "its temperature was 0.7, and is 0.0"),
        (request(answer={"type": "object"}), "its answer had another schema"),
        (request(purpose="plan claim", sample=1), "The most similar recorded purpose is 'plan claims'"),
    ],
)
def test_missing_recording_names_most_similar_request(asked: ModelRequest, nearest: str, tmp_path: Path) -> None:
    record(tmp_path, request())
    record(tmp_path, request(purpose="something else", sample=9))
    with pytest.raises(ModelError) as error:
        open_model_uri(f"replay:{tmp_path}").complete(asked)
    message = str(error.value)
    assert message.startswith(
        f"{tmp_path} contains no recorded answer to the request {asked.purpose!r}. "
        "The folder contains 2 answers by openai:tiny. "
    )
    assert nearest in message
    assert message.endswith(
        f". To record answers, run the same command with the model openai:MODEL and the cache {tmp_path}"
    )


def test_two_answers_to_one_request_raise_read_error(tmp_path: Path) -> None:
    record(tmp_path, request(), "One.", "openai:a")
    record(tmp_path, request(), "Two.", "openai:b")
    with pytest.raises(
        ReadError, match="contains two different answers to the request 'plan claims', by openai:a and openai:b"
    ):
        open_model_uri(f"replay:{tmp_path}")
    assert open_model_uri(f"replay:{tmp_path / 'openai-b'}").complete(request()).text == "Two."
    record(tmp_path / "mixed", request(), model="openai:a")
    record(tmp_path / "mixed", request(sample=1), model="openai:b")
    assert open_model_uri(f"replay:{tmp_path / 'mixed'}").name == "replay:openai:a+openai:b"


def test_damaged_recording_raises_read_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="contains no recordings. To record"):
        open_model_uri(f"replay:{tmp_path / 'none'}")
    record(tmp_path, request())
    [path] = tmp_path.rglob("*.json")
    whole = path.read_text()
    for broken, fault in (
        (whole[:90], "is not a valid recording .*Delete the file to repeat the request"),
        (whole.replace("Plan it", "Write it"), "so it was edited"),
        (whole.replace('"version": 1', '"version": 2').replace('"version":1', '"version":2'), "has format version 2"),
        ("[]", "is not a valid recording"),
    ):
        path.write_text(broken)
        with pytest.raises(ReadError, match=f"{path.name}.*{fault}"):
            open_model_uri(f"replay:{tmp_path}")
        with pytest.raises(ReadError, match=fault):
            Recordings(tmp_path).find("openai:tiny", request())


def test_recording_is_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path, request(), "old")

    def full(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space"):
        record(tmp_path, request(), "new")
    [path] = tmp_path.rglob("*.json")
    assert RecordedAnswer.read(path).completion.text == "old"


def test_request_key_is_stable() -> None:
    assert request().key == request(purpose="another").key
    others = [request("X"), request(temperature=0.5), request(max_tokens=5), request(sample=1), request(answer={})]
    assert len({r.key for r in [request(), *others]}) == 6
    # Recordings are found by it: a change of the key makes all of them useless.
    assert request().key == "5dc49f0f9d4c3fa4e70dea62d92369d7d08bb7a927a6ff724e5720487d3520cb"


@pytest.mark.parametrize(
    "fields", [{"messages": ()}, {"messages": ({"content": "x"},)}, {"sample": -1}, {"max_tokens": 0}, {"extra": 1}]
)
def test_invalid_request_raises_validation_error(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ModelRequest(**({"messages": ({"role": "user", "content": "x"},), "purpose": "p"} | fields))


@pytest.mark.parametrize(
    "address", ["gpt-x", "openai:", "openai:@http://127.0.0.1/v1", "replay:", "files:", "http://127.0.0.1", ""]
)
def test_unknown_model_uri_raises_config_error(address: str) -> None:
    with pytest.raises(
        ConfigError, match=r"is not a valid model URI: expected one of openai:MODEL, openai:MODEL@URL, replay:DIR"
    ):
        open_model_uri(address)


def test_invalid_limits_raise_config_error(tmp_path: Path) -> None:
    for name in ("concurrency", "timeout", "patience"):
        limit: dict[str, Any] = {name: 0}
        with pytest.raises(ConfigError, match=f"invalid {name}: found 0, expected a number greater than 0"):
            open_model_uri(f"files:{tmp_path}", **limit)

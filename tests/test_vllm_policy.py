"""Rollouts at a vLLM server: exact tokens, limits, hints, parallel conversations, and failures that are no score."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="training needs the lab extra")

import torch
from llm_server import Act, Body, Server, Together, breaks_off, drops, fails, hangs, raw
from peft import LoraConfig, get_peft_model
from tiny_model import save_tiny
from toy_world import open_toy, toys
from transformers import AutoModelForCausalLM, AutoTokenizer
from vllm_server import Change, Vllm, changed, serve

from trace_gym.errors import ConfigError, ReadError, Unavailable
from trace_gym.models import ModelSettings, load_policy
from trace_gym.policies.base import BatchPolicy
from trace_gym.policies.hf import HFPolicy
from trace_gym.policies.vllm import VLLMPolicy
from trace_gym.rollouts import rollout
from trace_gym.sampling import vllm
from trace_gym.sampling.sampled import BadAnswer, read_sampled
from trace_gym.sampling.truncation import ALL_TOKENS
from trace_gym.sampling.vllm import VLLMServer
from trace_gym.trajectories import TokenRollout

HINT = "Zebras look before they leap."
LIMITS = {"max_tokens": 420, "max_turn_tokens": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def adapter(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter that changes the model."""
    torch.manual_seed(0)
    made: Any = AutoModelForCausalLM.from_pretrained(folder)
    model = get_peft_model(made, LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    model.save_pretrained(str(out := tmp_path_factory.mktemp("adapters") / "skill"))
    return out


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm, "PAUSES", {"first": 0.01, "longest": 0.05, "longest_wait": 1.0})
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def model(folder: Path) -> Vllm:
    return Vllm(folder)


@pytest.fixture
def server(model: Vllm) -> Iterator[Server]:
    made = serve(model)
    yield made
    made.close()


def policy(folder: Path, *urls: str, patience: float = 20.0, timeout: float = 10.0, **limits: int) -> VLLMPolicy:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    servers = [VLLMServer(url, "base", patience=patience, timeout=timeout) for url in urls]
    return VLLMPolicy(servers, tokenizer, vocabulary=len(tokenizer), **LIMITS | limits)


def run(player: BatchPolicy, count: int = 3, temperature: float = 1.0, **options: Any) -> list[TokenRollout]:
    generator = torch.Generator().manual_seed(5)
    return player.rollout([open_toy(s) for s in toys(count)], temperature=temperature, generator=generator, **options)


def tokens(rollouts: list[TokenRollout]) -> list[tuple[list[int], list[bool], bool]]:
    return [(r.ids, r.mask, r.overflow) for r in rollouts]


@pytest.mark.parametrize("limits", [{}, {"max_turn_tokens": 2}, {"max_turn_tokens": 1, "max_tokens": 1500}])
def test_rollouts_are_those_of_the_model_in_process(folder: Path, server: Server, limits: dict[str, int]) -> None:
    """The same tokens, limits and hints as `HFPolicy`, with greedy decoding."""
    loaded = HFPolicy(
        AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder), **LIMITS | limits
    )
    hints = ["", HINT, ""]
    expected = run(loaded, temperature=0, hints=hints)
    found = run(policy(folder, server.url, **limits), temperature=0, hints=hints)
    assert tokens(found) == tokens(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4) and a.hint == b.hint
        assert a.episode.messages == b.episode.messages and a.episode.score == b.episode.score
    assert any(r.overflow for r in found) == ("max_tokens" not in limits)


def test_returned_tokens_are_exactly_those_that_were_sampled(folder: Path, model: Vllm, server: Server) -> None:
    seen: list[int] = []
    found = run(policy(folder, server.url), progress=seen.append)
    assert sum(seen) == len(found) == 3
    for r in found:
        own = [(b, i, p) for b, i, p in model.completions if b["prompt"] == r.ids[: len(b["prompt"])]]
        assert [i for i, m in zip(r.ids, r.mask, strict=True) if m] == [i for _, ids, _ in own for i in ids]
        assert [p for p, m in zip(r.logprobs, r.mask, strict=True) if m] == [p for _, _, ps in own for p in ps]
    bodies = [body for body, _, _ in model.completions]
    assert len({body["seed"] for body in bodies}) == len(bodies), "each turn of each episode has another seed"
    assert all(body["top_p"] == 1 and body["top_k"] == -1 for body in bodies), "not those of generation_config.json"
    assert tokens(run(policy(folder, server.url))) == tokens(found), "the same generator gives the same rollouts"


def test_a_slow_conversation_does_not_delay_others(folder: Path, model: Vllm, server: Server) -> None:
    others, late = threading.Event(), []
    first = policy(folder, server.url).chat.opening(open_toy(toys(1)[0]).messages, open_toy(toys(1)[0]).tools)

    def before(body: Body) -> None:
        if body["prompt"] == first:
            late.append(not others.wait(10))

    def progress(finished: int) -> None:
        done.append(finished)
        if len(done) == 3:
            others.set()

    done: list[int] = []
    model.before = before
    run(policy(folder, server.url), 4, progress=progress)
    assert late == [False] and len(done) == 4


@pytest.mark.parametrize("concurrency", [1, 2])
def test_concurrency_limits_the_conversations_over_all_servers(
    concurrency: int, folder: Path, model: Vllm, server: Server
) -> None:
    model.before = together = Together(concurrency)
    assert len(run(policy(folder, server.url, server.url, concurrency=concurrency), 6)) == 6
    assert together.most == concurrency


def test_a_conversation_stays_at_one_server(folder: Path) -> None:
    models = [Vllm(folder), Vllm(folder)]
    servers = [serve(m) for m in models]
    found = run(policy(folder, *(s.url for s in servers)), 4)
    for s in servers:
        s.close()
    prompts = [{tuple(b["prompt"][:250]) for b, _, _ in m.completions} for m in models]
    openings = [tuple(r.ids[:250]) for r in found]
    assert prompts == [set(openings[:2]), set(openings[2:])]


FAULTS: dict[str, Act] = {
    "overloaded": fails(503, "overloaded"),
    "server error": fails(500, "engine died"),
    "garbage": raw(b"<html>"),
    "no completion": raw(b'{"choices": []}'),
    "connection lost": drops,
    "half an answer": breaks_off,
}
CHANGES: dict[str, Change] = {
    "fewer log-probabilities than tokens": lambda c: c["logprobs"]["token_logprobs"].pop(),
    "no log-probabilities": lambda c: c.update(logprobs=None),
    "log-probability that is not finite": lambda c: c["logprobs"]["token_logprobs"].__setitem__(0, float("nan")),
    "log-probability of minus infinity": lambda c: c["logprobs"]["token_logprobs"].__setitem__(0, -9999.0),
    "no token ids": lambda c: c.pop("token_ids"),
    "text instead of token ids": lambda c: c.update(token_ids=["a"] * len(c["token_ids"])),
    "no tokens": lambda c: c.update(token_ids=[], logprobs={"token_logprobs": []}),
    "another prompt": lambda c: c["prompt_token_ids"].append(1),
}


def act_of(fault: str, model: Vllm) -> Act:
    return FAULTS[fault] if fault in FAULTS else changed(model, CHANGES[fault])


@pytest.mark.parametrize("fault", [*FAULTS, *CHANGES])
def test_a_failure_is_repeated_and_changes_nothing(fault: str, folder: Path, model: Vllm, server: Server) -> None:
    player = policy(folder, server.url, max_turn_tokens=2)
    expected = [(r.ids, r.mask, r.logprobs) for r in run(player, 2)]
    model.acts = [act_of(fault, model)] * 2
    assert [(r.ids, r.mask, r.logprobs) for r in run(player, 2)] == expected and not model.acts


def test_a_turn_must_end_with_the_end_of_turn_token() -> None:
    def answer(ids: list[int], **more: object) -> str:
        return json.dumps({"choices": [{"token_ids": ids, "logprobs": {"token_logprobs": [-1.0] * len(ids)}, **more}]})

    assert read_sampled(answer([5, 2]), [1], 4, 2) == ([5, 2], [-1.0, -1.0])
    assert read_sampled(answer([5, 6, 7, 8]), [1], 4, 2)[0] == [5, 6, 7, 8]
    for ids in ([5, 6], [2, 5], [5, 6, 7, 8, 9]):  # cut by the server, not stopped, and longer than the limit
        with pytest.raises(BadAnswer, match="expected 4 tokens, or fewer tokens that end with token 2"):
            read_sampled(answer(ids), [1], 4, 2)


@pytest.mark.parametrize("fault", ["server error", "garbage", "connection lost", "fewer log-probabilities than tokens"])
def test_a_permanent_failure_is_not_a_score(fault: str, folder: Path, model: Vllm, server: Server) -> None:
    player = policy(folder, server.url, patience=0.3)
    episodes = [open_toy(s) for s in toys(3)]
    model.acts = [act_of(fault, model)] * 1000
    with pytest.raises(Unavailable, match=r"127.0.0.1.* failed on \d+ attempts .* No episode was scored"):
        player.rollout(episodes)
    assert all(e.score is None and not e.done for e in episodes)


def test_a_server_that_hangs_or_is_gone_is_not_a_score(folder: Path, model: Vllm, server: Server) -> None:
    player = policy(folder, server.url, patience=0.3, timeout=0.2)
    model.acts = [hangs] * 100
    with pytest.raises(Unavailable, match=r"failed on \d+ attempts .*[Tt]imed out"):
        run(player)
    server.close()
    with pytest.raises(Unavailable, match="Connection"):
        run(player)
    with pytest.raises(Unavailable, match="Connection"):
        policy(folder, server.url, patience=0.1)


def test_an_adapter_is_loaded_confirmed_and_replaced(folder: Path, adapter: Path, model: Vllm, server: Server) -> None:
    player = policy(folder, server.url)
    plain = tokens(run(player))
    player.use(adapter)
    [name] = model.adapters
    assert name.startswith("skill-") and model.completions[-1][0]["model"] == name, "a request confirms the adapter"
    assert tokens(run(player)) != plain and model.completions[-1][0]["model"] == name
    player.use(adapter, "skill-2")
    assert model.log == [f"+{name}", "+skill-2", f"-{name}"]
    player.servers[0].release()
    assert not model.adapters and tokens(run(player)) == plain


def test_a_restarted_server_gets_the_adapter_again(folder: Path, adapter: Path, model: Vllm, server: Server) -> None:
    player = policy(folder, server.url)
    player.use(adapter)
    expected = tokens(run(player))
    asked, once = len(model.completions), iter([True])

    def before(body: Body) -> None:  # several threads call it at the same time
        if len(model.completions) >= asked + 2 and next(once, False):
            model.restart()

    model.before = before
    assert tokens(run(player)) == expected
    assert len(model.log) == 2 and model.log[0] == model.log[1], "loaded once again, not once per conversation"


def test_a_refused_adapter_is_not_a_score(folder: Path, adapter: Path, model: Vllm, server: Server) -> None:
    player = policy(folder, server.url, patience=5)
    model.refuses_adapters = True
    with pytest.raises(Unavailable, match=r"failed on 4 attempts .*status 404.*--enable-lora"):
        player.use(adapter)
    assert player.servers[0].model == "base", "the model before is still used"
    model.refuses_adapters, model.acts = False, [fails(404, "The adapter does not exist")] * 1000
    with pytest.raises(Unavailable, match="The adapter does not exist"):
        player.use(adapter, "listed-but-not-usable")
    assert player.servers[0].model == "base"
    model.acts = []
    player.use(adapter, "usable")
    assert set(model.adapters) == {"usable"}, "the adapter that was not confirmed is unloaded"
    with pytest.raises(ReadError, match="is not an adapter folder"):
        player.use(folder)


def test_an_adapter_in_use_is_not_unloaded(folder: Path, adapter: Path, model: Vllm, server: Server) -> None:
    player = policy(folder, server.url)
    player.use(adapter, "a")
    started, finish = threading.Event(), threading.Event()

    def before(body: Body) -> None:
        if body["model"] == "a":
            started.set()
            finish.wait(10)

    model.before = before
    ask = {"limit": 1, "temperature": 1.0, "seed": 0, "end": 2, "stop": threading.Event(), "among": ALL_TOKENS}
    request = threading.Thread(target=player.servers[0].sample, args=([1],), kwargs=ask)
    request.start()
    assert started.wait(10)
    player.use(adapter, "b")
    assert "-a" not in model.log
    finish.set()
    request.join()
    player.use(adapter, "c")
    assert {"-a", "-b"} <= set(model.log) and set(model.adapters) == {"c"}


def test_log_probabilities_must_be_those_at_the_temperature(folder: Path, model: Vllm, server: Server) -> None:
    loaded = HFPolicy(AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder))
    player = policy(folder, server.url)
    [found] = run(player, 1, temperature=0.7)
    body, ids, logprobs = next(c for c in model.completions if "stop_token_ids" in c[0])
    with torch.no_grad():
        logits = loaded.model(torch.tensor([body["prompt"]])).logits[0, -1] / 0.7
    assert logprobs[0] == pytest.approx(float(logits.log_softmax(-1)[ids[0]]), abs=1e-4) and found.ids
    model.scaled = False
    run(player, 1, temperature=1.0)
    run(player, 1, temperature=0.0)
    with pytest.raises(ConfigError, match="--logprobs-mode processed_logprobs"):
        run(player, 1, temperature=0.7)


def test_servers_that_do_not_fit_are_errors(folder: Path, model: Vllm, server: Server) -> None:
    model.length = 400
    with pytest.raises(ConfigError, match="found 400, expected at least 420 .*--max-model-len 420"):
        policy(folder, server.url)
    with pytest.raises(ConfigError, match="does not serve the model qwen: found base"):
        VLLMServer(server.url, "qwen").context_length()
    model.length = 4096
    player = policy(folder, server.url)
    model.acts = [fails(401, "no")]
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        run(player)
    model.acts = [fails(400, "This model's maximum context length is 300 tokens")] * 3
    with pytest.raises(ConfigError, match="--max-model-len"):
        run(player)
    player.vocabulary = 1
    with pytest.raises(Unavailable, match="sampled a token that the model does not have"):
        run(player)
    with pytest.raises(ConfigError, match="invalid temperature"):
        run(player, temperature=-1.0)
    used = open_toy(toys(1)[0])
    used.step("Hello.")
    with pytest.raises(ConfigError, match="already started"):
        player.rollout([used])


def test_all_rollouts_use_the_engine(folder: Path, adapter: Path, model: Vllm, server: Server, tmp_path: Path) -> None:
    settings = ModelSettings(name=str(folder), endpoint=f"openai:base@{server.url}", engine="vllm", **LIMITS)  # type: ignore[arg-type]
    player = load_policy(settings, adapter)
    assert isinstance(player, VLLMPolicy) and player.name == "skill"
    records = rollout(player, toys(2), path=tmp_path / "r.jsonl", open_episode=open_toy, temperature=0.0)
    assert all(r.reward is not None for r in records)
    assert {body["model"] for body, _, _ in model.completions} == {*model.adapters}
    assert rollout(load_policy(settings), [], open_episode=open_toy) == []

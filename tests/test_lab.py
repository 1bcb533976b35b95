"""The embedded agent's base: the code that is here makes it, twice the same, and its lessons tell the truth."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="the embedded agent needs the lab extra")

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.lab import BASE, corpus, demos, heads, lessons, pretrain, sizes, tokenizer
from trace_gym.targets.tau2.airline import SKILLS
from trace_gym.types import Scenario

TINY = sizes.ModelSize(
    hidden=16, layers=1, heads=2, ffn=16, phases=(sizes.Phase(80), sizes.Phase(80, routes=10, quizzes=40))
)


def test_the_same_command_makes_the_same_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "make_tokenizer", partial(corpus.make_tokenizer, 60))
    monkeypatch.setattr(corpus, "CHUNK", 40)
    for name in ("one", "two"):
        pretrain.train(TINY, tmp_path / name)
    for file in ("model.safetensors", "tokenizer.json", "lab.json", "config.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file
    assert json.loads((tmp_path / "one" / "config.json").read_text())["head_dim"] == heads.HEAD_DIM
    with pytest.raises(ConfigError, match="found the head size 32, expected 8"):
        pretrain.train(TINY, tmp_path / "one", skip=1)


def qwen3(head_dim: int = 8, **changes: Any) -> Any:
    """A random model in double precision, with key heads that are shared and norms that are not all 1."""
    shape = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 2, "intermediate_size": 16}
    sizes = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": head_dim, "rms_norm_eps": 0.3}
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(Qwen3Config(**shape, **sizes, **changes)).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.7)
    return model


@pytest.mark.parametrize("head_dim", [2, 8, 16])
@pytest.mark.parametrize("bias", [False, True])
def test_widened_heads_give_the_same_logits(head_dim: int, bias: bool) -> None:
    """The large epsilon would show if its share of the norm changed."""
    model = qwen3(head_dim, attention_bias=bias)
    wide = heads.widen(model)
    assert wide.config.head_dim == heads.HEAD_DIM
    ids = torch.randint(0, 50, (3, 200))
    with torch.inference_mode():
        before, after = model(ids).logits, wide(ids).logits
    assert before.std() > 1
    torch.testing.assert_close(after, before, atol=1e-5, rtol=1e-5)


def test_heads_that_are_wide_enough_are_left_alone() -> None:
    assert heads.widen(model := qwen3(32)) is model


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head_dim": 12}, "32 is not a multiple of 12"),
        ({"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}, "rotary embedding 'linear'"),
    ],
)
def test_heads_that_cannot_be_widened_are_an_error(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        heads.widen(qwen3(**changes))


def test_the_shipped_base_ends_with_the_widening_of_its_heads() -> None:
    """Dropping the new dimensions and adding them again gives the shipped weights."""
    base = Qwen3ForCausalLM.from_pretrained(str(BASE))
    size, wide = sizes.SIZES["small"], base.config.head_dim
    assert wide == heads.HEAD_DIM
    stretch = wide * size.heads // size.hidden
    for name, weight in base.state_dict().items():
        if (layer := name.split(".")[-2]) in ("q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm"):
            rows = weight.T if layer == "o_proj" else weight
            assert not rows.unflatten(0, (-1, stretch))[:, 1:].any(), name


def test_the_shipped_base_has_the_size_that_the_code_names() -> None:
    written = json.loads((BASE / "lab.json").read_text())
    assert written["size"] == json.loads(json.dumps(asdict(sizes.SIZES["small"])))
    assert written["competence"] == demos.COMPETENCE
    assert sum(f.stat().st_size for f in BASE.iterdir()) < 8_000_000


@pytest.mark.slow
def test_the_shipped_base_was_trained_on_the_environments_that_are_here() -> None:
    shipped = corpus.load_tokenizer(str(BASE))
    assert tokenizer.digest(shipped) == tokenizer.digest(corpus.make_tokenizer())


def test_shipped_model_names_the_facts_that_forbid_a_cancellation() -> None:
    """A model with other weights of the same size named the wrong cabin in 45 % of the refusals, and learned less."""
    tok, model = corpus.load_tokenizer(str(BASE)), Qwen3ForCausalLM.from_pretrained(str(BASE)).eval()
    refusals = 0
    for seed in registry.SPLITS["select"][:60]:
        scenario = Scenario(env="tau2_precondition", level=seed % 2, seed=seed)
        shown = demos.demonstration(scenario, SKILLS)
        text = tokenizer.render(tok, shown.messages, shown.tools)
        if "I cannot cancel" in text:
            ids = tok(text)["input_ids"]
            facts = tok(text[text.index("I cannot cancel") :].split(":", 1)[1])["input_ids"]
            with torch.inference_mode():
                expected = model(torch.tensor([ids])).logits[0].argmax(-1).tolist()
            assert expected[-len(facts) - 1 : -1] == ids[-len(facts) :], text[-200:]
            refusals += 1
    assert refusals >= 20


@pytest.mark.parametrize("kind", lessons.KINDS)
def test_the_answers_of_lessons_are_right(kind: str) -> None:
    asked = 0
    for chat in lessons.questions(0, 20, (kind,)):
        for n, turn in enumerate(chat):
            if turn["role"] == "assistant":
                record = chat[n - 1]["content"] if chat[n - 1]["role"] == "tool" else ""
                question = chat[n - 2 if record else n - 1]["content"]
                assert turn["content"] in answers(question, json.loads(record) if record else None)
                asked += 1
    assert asked >= 20


def answers(question: str, record: object) -> set[str]:
    """The right answers to a lesson's question, worked out anew."""
    if prices := re.fullmatch(r"Which is lower, (\d+) or (\d+)\?", question):
        return {str(min(map(int, prices.groups())))}
    if owner := re.search(r"Which trip has (\w+)\?$", question):
        return {re.findall(rf"{owner[1]} has trip (\w+)", question)[0]}
    if done := re.search(r"(\w+) is done\. Which trip is next\?$", question):
        trips = re.findall(r"\w+", question.partition(".")[0].replace(" and ", ", "))
        return {trips[trips.index(done[1]) + 1]}
    if question.endswith("Which is the cheapest?"):
        return _cheapest({flight: int(price) for flight, price in re.findall(r"(\w+) at (\d+)", question)})
    if cabin := re.fullmatch(r"Which flight is the cheapest in (\w+)\?", question):
        assert isinstance(record, list)
        return _cheapest({f["flight_number"]: f["prices"][cabin[1]] for f in record})
    assert isinstance(record, dict)
    kind = question.removeprefix("What is the id of the ").removesuffix("?").replace(" ", "_")
    return {m["id"] for m in record["payment_methods"].values() if m["source"] == kind}


def _cheapest(prices: dict[str, int]) -> set[str]:
    return {flight for flight, price in prices.items() if price == min(prices.values())}


def test_lessons_and_demonstrations_use_seeds_of_their_own() -> None:
    used = {e.scenario.seed for e in demos.demonstrations(0, 40)}
    assert all(seed in registry.SPLITS["pretrain"] for seed in used) and len(used) == 40


def test_routing_exercises_name_an_option_that_is_offered() -> None:
    for chat in lessons.routing_exercises(0, 6):
        letters = re.findall(r"^([A-H])\. ", chat[1]["content"], flags=re.M) or re.findall(r"\b[A-H]\b", str(chat[:2]))
        assert {t["content"] for t in chat if t["role"] == "assistant"} <= set(letters)

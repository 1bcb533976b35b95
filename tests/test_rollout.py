"""Token rollouts against plain forward passes, and the collection of trajectories with its resumption."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from tiny_model import Puppet, save_tiny, tiny_model, tiny_tokenizer
from toy_world import ToyBoxes, open_toy, toys

from trace_gym.actions import read_turn
from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError, EnvBug, PolicyError, ReadError
from trace_gym.models import ModelSettings, load_policy
from trace_gym.policies import Ablated, ExpertMixture, Idle, Oracle, batch
from trace_gym.policies.chat import Chat
from trace_gym.policies.hf import HFPolicy, merged
from trace_gym.rollouts import play, rollout
from trace_gym.trajectories import TokenRollout, trajectory
from trace_gym.types import Call, Say, Scenario, Trajectory

TOKENIZER = tiny_tokenizer()
MIXED = [*toys(3, 0), *toys(2, 2), *toys(2, 1)]


class Deaf(ToyBoxes):
    """A world with a bug in its user."""

    def reply(self, text: str) -> str | None:
        raise KeyError("oops")


class HandsOver(ToyBoxes):
    """A world that is over as soon as a box is open."""

    @property
    def ended(self) -> bool:
        return bool(self.opened)


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model(len(TOKENIZER))


@pytest.fixture
def adapted() -> Any:
    """A LoRA whose second matrix is not zero, so that it changes the distribution."""
    torch.manual_seed(1)
    lora = get_peft_model(tiny_model(len(TOKENIZER)), LoraConfig(r=4, target_modules="all-linear", lora_dropout=0.1))
    for name, parameter in lora.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.2)
    return lora


def random_policy(model: Any, **limits: int) -> HFPolicy:
    given: dict[str, Any] = {"max_turn_tokens": 8, "max_tokens": 480} | limits
    return HFPolicy(model, TOKENIZER, **given)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def fresh(scenarios: Sequence[Scenario]) -> list[Episode]:
    return [open_toy(scenario) for scenario in scenarios]


def off_by(rollout: TokenRollout, model: Any, temperature: float = 1.0) -> float:
    """The largest difference between stored log-probabilities and those of one plain forward pass."""
    with torch.no_grad():
        logits = model.eval()(input_ids=torch.tensor([rollout.ids]), use_cache=False).logits[0]
    logp = (logits / temperature).log_softmax(-1)
    plain = [logp[n - 1, token].item() if sampled else 0.0 for n, (token, sampled) in enumerate(tagged(rollout))]
    return float(max(abs(a - b) for a, b in zip(plain, rollout.logprobs, strict=True)))


def tagged(rollout: TokenRollout) -> list[tuple[int, bool]]:
    return list(zip(rollout.ids, rollout.mask, strict=True))


def spans(rollout: TokenRollout, sampled: bool) -> list[list[int]]:
    """Maximal runs of tokens that the model did (or did not) sample."""
    runs: list[list[int]] = []
    before = None
    for token, mine in tagged(rollout):
        if mine == sampled:
            runs = [*runs, [token]] if before != mine else [*runs[:-1], [*runs[-1], token]]
        before = mine
    return runs


def test_logprobs_are_those_of_a_plain_forward_pass(model: Any) -> None:
    rollouts = random_policy(model).rollout(fresh(MIXED), generator=seeded())
    assert len({len(r.ids) for r in rollouts}) > 4, "the rows must be ragged for this to mean anything"
    assert max(off_by(r, model) for r in rollouts) < 1e-4


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_every_feeding_rule_gives_the_same_logprobs(model: Any, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "PREFILL_SHARE", share)
    monkeypatch.setattr(batch, "MASK_CELLS", 4000)  # feeds the openings in pieces
    rollouts = random_policy(model, max_turn_tokens=16).rollout(fresh(MIXED), generator=seeded())
    assert max(off_by(r, model) for r in rollouts) < 1e-4


def test_a_model_with_eager_attention_works_the_same(model: Any) -> None:
    eager = tiny_model(len(TOKENIZER))
    eager.set_attn_implementation("eager")
    eager_rollouts, rollouts = (random_policy(m).rollout(fresh(MIXED), generator=seeded()) for m in (eager, model))
    assert [r.ids for r in eager_rollouts] == [r.ids for r in rollouts]
    assert max(off_by(r, eager) for r in eager_rollouts) < 1e-4
    assert (eager.config._attn_implementation, model.config._attn_implementation) == ("eager", "sdpa")


def test_a_model_in_half_precision_works() -> None:
    model = tiny_model(len(TOKENIZER)).to(torch.bfloat16)
    rollouts = random_policy(model).rollout(fresh(MIXED[:3]), generator=seeded())
    assert max(off_by(r, model) for r in rollouts) < 0.2


def test_logprobs_with_an_adapter_merged_or_not(adapted: Any) -> None:
    policy = random_policy(adapted)
    plain = policy.rollout(fresh(MIXED[1:5]), generator=seeded())
    assert max(off_by(r, adapted) for r in plain) < 1e-4
    with merged(adapted):
        inside = policy.rollout(fresh(MIXED[1:5]), generator=seeded())
    assert [r.ids for r in inside] == [r.ids for r in plain]
    assert max(off_by(r, adapted) for r in inside) < 1e-4
    with adapted.disable_adapter():
        assert max(off_by(r, adapted) for r in plain) > 1e-2, "the adapter must matter"


def test_merging_restores_every_bit_even_after_an_error(adapted: Any) -> None:
    before = {name: p.detach().clone() for name, p in adapted.named_parameters()}
    with pytest.raises(KeyError), merged(adapted):
        changed = any(not torch.equal(before[n], p) for n, p in adapted.named_parameters())
        assert changed
        raise KeyError
    assert all(torch.equal(before[n], p) for n, p in adapted.named_parameters())


def test_the_adapter_still_learns_after_merging(adapted: Any) -> None:
    with merged(adapted):
        pass
    adapted(input_ids=torch.tensor([[5, 6, 7]])).logits.sum().backward()
    assert all(p.grad is not None for n, p in adapted.named_parameters() if "lora_B" in n)


def test_merging_a_plain_model_or_twice_does_nothing(model: Any, adapted: Any) -> None:
    with merged(model):
        pass
    before = {name: p.detach().clone() for name, p in adapted.named_parameters()}
    with merged(adapted), merged(adapted):
        pass
    assert all(torch.equal(before[n], p) for n, p in adapted.named_parameters())


def test_stored_logprobs_follow_the_temperature(model: Any) -> None:
    rollouts = random_policy(model).rollout(fresh(MIXED[:4]), temperature=0.5, generator=seeded())
    assert max(off_by(r, model, temperature=0.5) for r in rollouts) < 1e-4
    assert max(off_by(r, model) for r in rollouts) > 1e-2


def test_tokens_are_drawn_from_the_distribution(model: Any) -> None:
    policy = random_policy(model)
    logp = torch.tensor([0.5, 0.0, 0.2, 0.3]).log().repeat(20_000, 1)
    counts = torch.bincount(policy.choose(logp, [], greedy=False, generator=seeded()), minlength=4)
    assert counts[1] == 0
    assert torch.allclose(counts / 20_000, torch.tensor([0.5, 0.0, 0.2, 0.3]), atol=0.015)


def test_a_seed_reproduces_and_another_does_not(model: Any) -> None:
    first, again, other = (random_policy(model).rollout(fresh(MIXED), generator=seeded(s)) for s in (3, 3, 4))
    assert [(r.ids, r.logprobs) for r in first] == [(r.ids, r.logprobs) for r in again]
    assert [r.ids for r in first] != [r.ids for r in other]


def test_greedy_rows_do_not_depend_on_their_company(model: Any) -> None:
    together = random_policy(model).rollout(fresh(MIXED), temperature=0)
    alone = [random_policy(model).rollout([open_toy(s)], temperature=0)[0] for s in MIXED]
    backwards = random_policy(model, max_rows=3).rollout(fresh(MIXED[::-1]), temperature=0)[::-1]
    assert [r.ids for r in together] == [r.ids for r in alone] == [r.ids for r in backwards]
    assert max(off_by(r, model) for r in together) < 1e-4


def test_the_policy_leaves_the_model_in_its_mode(adapted: Any) -> None:
    adapted.train()
    rollouts = random_policy(adapted).rollout(fresh(MIXED[:2]), generator=seeded())
    assert adapted.training
    assert max(off_by(r, adapted) for r in rollouts) < 1e-4  # dropout was off


def puppet(model: Any, script: Any, **limits: int) -> Puppet:
    return Puppet(script, model, TOKENIZER, **({"max_turn_tokens": 80, "max_tokens": 1500} | limits))


@pytest.mark.parametrize("script", [Oracle(), Ablated(), ExpertMixture(0.5), Idle()])
def test_masked_spans_are_the_assistant_messages(model: Any, script: Any) -> None:
    for one in puppet(model, script).rollout(fresh(MIXED)):
        said = [m for m in one.episode.messages if m["role"] == "assistant"]
        turns = spans(one, sampled=True)
        assert all(turn[-1] == TOKENIZER.eos_token_id for turn in turns)
        for turn, message in zip(turns, said, strict=True):
            text, calls = read_turn(TOKENIZER.decode(turn[:-1]))
            assert text == message["content"]
            made = [c["function"] for c in message.get("tool_calls", ())]
            assert calls == [Call(f["name"], json.loads(f["arguments"])) for f in made]
        assert off_by(one, model) < 1e-4


def test_unmasked_tokens_are_the_prompt_and_the_answers(model: Any) -> None:
    rollout = puppet(model, Oracle()).rollout(fresh(toys(1, 1)))[0]
    rendered = TOKENIZER.apply_chat_template(
        rollout.episode.messages, tools=list(rollout.episode.tools), tokenize=False
    )
    assert f"{TOKENIZER.decode(rollout.ids)}\n" == rendered, "the ids are the whole conversation"
    fed = str(TOKENIZER.decode([token for token, sampled in tagged(rollout) if not sampled]))
    for message in rollout.episode.messages:
        if message["role"] in ("system", "user", "tool"):
            assert message["content"] in fed
    assert "open_box" not in fed.split("</tools>")[1]
    assert all(value == 0.0 for value, sampled in zip(rollout.logprobs, rollout.mask, strict=True) if not sampled)
    assert all(value < 0.0 for value, sampled in zip(rollout.logprobs, rollout.mask, strict=True) if sampled)


def test_the_oracle_succeeds_through_tokens_and_groups_share_their_start(model: Any) -> None:
    rollouts = puppet(model, Oracle()).rollout(fresh([s for s in toys(3, 2) for _ in range(2)]))
    assert all(r.episode.score and r.episode.score.success and not r.overflow for r in rollouts)
    assert [r.start_hash for r in rollouts[::2]] == [r.start_hash for r in rollouts[1::2]]
    assert len({r.start_hash for r in rollouts}) == 3
    assert all(r.start_hash != r.episode.state_hash for r in rollouts), "the hash is the one before the first turn"


def test_a_long_turn_is_cut_and_closed_by_a_fed_token(model: Any) -> None:
    rollout = puppet(model, Idle("word " * 50), max_turn_tokens=7).rollout(fresh(toys(1)))[0]
    turns, fed = spans(rollout, sampled=True), spans(rollout, sampled=False)
    assert rollout.episode.turns == len(turns) == ToyBoxes.max_turns and rollout.episode.truncated
    assert all(len(turn) == 7 and TOKENIZER.eos_token_id not in turn for turn in turns)
    assert all(part[0] == TOKENIZER.eos_token_id for part in fed[1:])
    assert off_by(rollout, model) < 1e-4


@pytest.mark.parametrize("budget", range(420, 450, 3))
def test_the_budget_ends_an_episode(model: Any, budget: int) -> None:
    done: list[int] = []
    short, long = puppet(model, Idle("word " * 9), max_tokens=budget).rollout(
        fresh([toys(1, 0)[0], toys(1, 2)[0]]), progress=done.append
    )
    for one in (short, long):
        assert one.overflow and one.episode.done and one.episode.score
        assert len(one.ids) == len(one.mask) == len(one.logprobs) <= budget
        assert one.episode.turns in (len(spans(one, True)), len(spans(one, True)) - 1)
        assert one.trajectory(model="m", source="s").ended == "turn_limit"
    assert sum(done) == 2


def test_an_opening_that_does_not_fit_names_its_scenario(model: Any) -> None:
    with pytest.raises(
        ConfigError,
        match=r"the initial observation of toy_boxes/0/0 is too long: found \d+ tokens.* Increase max_tokens",
    ):
        random_policy(model, max_tokens=100).rollout(fresh(toys(1)))


def test_an_episode_that_has_begun_is_refused(model: Any) -> None:
    episode = open_toy(toys(1)[0])
    episode.step(Say("hello"))
    with pytest.raises(ConfigError, match="the episode of toy_boxes/0/0 was already started"):
        random_policy(model).rollout([episode])


def test_a_bug_of_one_environment_is_not_swallowed(model: Any) -> None:
    episodes = [*fresh(toys(2)), Episode(Deaf, toys(9)[8])]
    with pytest.raises(EnvBug, match=r"toy_boxes/0/8: .*KeyError"):
        puppet(model, Idle()).rollout(episodes)


def test_a_broken_model_is_an_error_and_not_a_score() -> None:
    model = tiny_model(len(TOKENIZER))
    with torch.no_grad():
        model.lm_head.weight[5] = float("nan")
    with pytest.raises(PolicyError, match="the log-probabilities of the model are not finite in toy_boxes/0/0"):
        random_policy(model).rollout(fresh(toys(1)), generator=seeded())


def test_a_negative_temperature_is_refused(model: Any) -> None:
    with pytest.raises(ConfigError, match="invalid temperature: found -1"):
        random_policy(model).rollout(fresh(toys(1)), temperature=-1)


def test_no_episodes_no_rollouts(model: Any) -> None:
    assert random_policy(model).rollout([]) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layer_types": ["full_attention", "linear_attention"]}, "linear_attention"),
        ({"layer_types": ["full_attention", "sliding_attention"], "sliding_window": 64}, "window of 64"),
    ],
)
def test_a_model_that_forgets_is_refused(change: dict[str, Any], message: str) -> None:
    model = tiny_model(len(TOKENIZER))
    model.config.use_sliding_window = True
    for key, value in change.items():
        setattr(model.config, key, value)
    with pytest.raises(ConfigError, match=message):
        random_policy(model)


def test_a_template_that_ends_no_turn_is_refused() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.eos_token = "<|endoftext|>"
    with pytest.raises(ConfigError, match="Set tokenizer.eos_token"):
        Chat(tokenizer).answer([{"role": "user", "content": "x"}], [])


def test_turns_keep_tags_that_are_special_tokens() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens(["<tool_call>", "</tool_call>"], special_tokens=True)
    turn = tokenizer('<tool_call>{"name": "look"}</tool_call>')["input_ids"]
    assert Chat(tokenizer).texts([[*turn, tokenizer.eos_token_id], turn, []]) == [
        '<tool_call>{"name": "look"}</tool_call>',
        '<tool_call>{"name": "look"}</tool_call>',
        "",
    ]


def test_load_reads_a_folder_and_an_adapter(tmp_path: Path, adapted: Any, model: Any) -> None:
    folder = save_tiny(tmp_path / "model")
    adapted.save_pretrained(tmp_path / "lora")
    policy: Any = load_policy(ModelSettings(name=str(folder), max_tokens=500), tmp_path / "lora")
    assert policy.name == "lora" and policy.max_tokens == 500
    rollout = policy.rollout(fresh(toys(1)), temperature=0)[0]
    assert off_by(rollout, adapted) < 1e-4 < off_by(rollout, model)
    with pytest.raises(ReadError, match="cannot load .*nowhere"):
        load_policy(ModelSettings(name=str(tmp_path / "nowhere")))


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, trace_gym.rollouts, trace_gym.policies, trace_gym.policies.hf, trace_gym.policies.openai\n"
        "print([m for m in ('torch', 'transformers', 'peft', 'openai') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


# Trajectories


def test_a_trajectory_holds_the_gold_and_the_score() -> None:
    scenario = toys(3, 1)[2]
    record = trajectory(play(Oracle(), open_toy(scenario)), sample=4, model="oracle", source="test")
    mine = open_toy(scenario).world._mine()  # type: ignore[attr-defined]
    assert (record.id, record.task) == ("toy_boxes/1/2#4", "toy_boxes/1/2")
    assert record.gold == (Call("open_box", {"box": mine}),)
    assert (record.success, record.reward, record.ended) == (True, 1.0, "user")
    assert record.tools == {"look": "read", "open_box": "write"}
    assert Trajectory.model_validate_json(record.model_dump_json()) == record


def test_what_is_not_finished_is_not_scored() -> None:
    episode = open_toy(toys(1)[0])
    assert trajectory(episode).success is None and trajectory(episode).ended == "unknown"
    episode.finish()
    assert trajectory(episode).success is False and trajectory(episode).ended == "turn_limit"
    failed = trajectory(episode, ended="error")
    assert (failed.success, failed.reward, failed.score) == (None, None, None)


def test_a_transfer_ends_an_episode_as_such() -> None:
    assert trajectory(play(Oracle(), Episode(HandsOver, toys(1)[0]))).ended == "transfer"


class Counting:
    """Mixture that counts its turns and can fail."""

    name = "counting"
    remote = True

    def __init__(self, fails_on: str = "") -> None:
        self.turns, self.fails_on = 0, fails_on

    def act(self, episode: Episode) -> Action:
        self.turns += 1
        if str(episode.scenario) == self.fails_on:
            raise PolicyError("the server is gone")
        return Oracle().act(episode)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_collect_orders_by_scenario_and_sample(tmp_path: Path, concurrency: int) -> None:
    path = tmp_path / "deep" / "r.jsonl"
    got = rollout(Counting(), toys(5), samples=2, path=path, concurrency=concurrency, open_episode=open_toy)
    assert [r.id for r in got] == [f"{s}#{n}" for s in toys(5) for n in range(2)]
    stored = [Trajectory.model_validate_json(line) for line in path.read_text().splitlines()]
    assert sorted(stored, key=lambda r: r.id) == sorted(got, key=lambda r: r.id)


def test_samples_of_a_mixture_differ_and_repeat() -> None:
    first, again = (rollout(ExpertMixture(0.5), toys(4), samples=8, open_episode=open_toy) for _ in range(2))
    assert first == again
    assert all(len({r.messages[2:] for r in _hashable(first[n : n + 8])}) == 2 for n in range(0, 32, 8))


def _hashable(records: Sequence[Trajectory]) -> list[Any]:
    return [r.model_copy(update={"messages": tuple(map(str, r.messages))}) for r in records]


def test_an_infrastructure_failure_is_not_scored_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "r.jsonl"
    got = rollout(Counting(fails_on="toy_boxes/0/1"), toys(3), path=path, open_episode=open_toy)
    assert [r.success for r in got] == [True, None, True] and got[1].ended == "error"
    assert "toy_boxes/0/1#0 is not scored: the server is gone" in caplog.text
    mended = Counting()
    got = rollout(mended, toys(3), path=path, open_episode=open_toy)
    assert [r.success for r in got] == [True, True, True]
    assert mended.turns == len([m for m in got[1].messages if m["role"] == "assistant"])
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize("cut", [1, 40, 400, 1500, 4000])
def test_collect_resumes_after_a_kill(tmp_path: Path, cut: int) -> None:
    whole, path = tmp_path / "whole.jsonl", tmp_path / "r.jsonl"
    wanted = rollout(Oracle(), toys(3), path=whole, open_episode=open_toy)
    other = trajectory(play(Oracle(), open_toy(toys(1)[0])), model="someone else").model_dump_json()
    path.write_bytes(other.encode() + b"\n" + whole.read_bytes()[:-cut])
    kept = path.read_bytes().count(b"}\n") - 1
    opened: list[Scenario] = []
    got = rollout(Oracle(), toys(3), path=path, open_episode=lambda s: opened.append(s) or open_toy(s))  # type: ignore[func-returns-value]
    assert got == wanted
    assert path.read_text() == other + "\n" + whole.read_text()
    assert len(opened) == (0 if cut == 1 else 3 - kept)
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".tmp"] == []


def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"not": "a trajectory"}\n{"nor": "this"}\n')
    with pytest.raises(ReadError, match=r"r\.jsonl, line 1 is not a valid trajectory"):
        rollout(Oracle(), toys(1), path=path, open_episode=open_toy)
    assert path.read_text() == '{"not": "a trajectory"}\n{"nor": "this"}\n'


def test_collect_plays_a_batch_policy(model: Any, tmp_path: Path) -> None:
    def once(path: Path, **options: Any) -> list[Trajectory]:
        return rollout(random_policy(model), toys(3), samples=2, path=path, open_episode=open_toy, **options)

    first = once(tmp_path / "a.jsonl")
    assert [r.id for r in first] == [f"{s}#{n}" for s in toys(3) for n in range(2)]
    assert first == once(tmp_path / "b.jsonl") != once(tmp_path / "c.jsonl", seed=1)
    assert first == once(tmp_path / "a.jsonl", seed=2), "complete records are kept"
    greedy = once(tmp_path / "d.jsonl", temperature=0.0)
    assert greedy[0].messages == greedy[1].messages


def test_a_bug_of_an_environment_stops_collect_and_keeps_the_rest(tmp_path: Path) -> None:
    def opener(scenario: Scenario) -> Episode:
        return Episode(Deaf if scenario.seed == 2 else ToyBoxes, scenario)

    path = tmp_path / "r.jsonl"
    with pytest.raises(EnvBug, match="toy_boxes/0/2: .*KeyError"):
        rollout(Oracle(), toys(4), path=path, open_episode=opener)
    assert len(path.read_text().splitlines()) == 2


def test_records_bear_the_address_that_was_asked_for() -> None:
    asked = Scenario(env="mixture", level=0, seed=5)
    record = rollout(Oracle(), [asked], open_episode=lambda s: open_toy(toys(1)[0]))[0]
    assert (record.id, record.task) == ("mixture/0/5#0", "toy_boxes/0/0")

"""SkyRL's own generator, data set and configuration with our environments, on a CPU with a scripted client.

SkyRL pins transformers, peft and Ray, so it lives in an environment of its own: `.ci/skyrl` builds it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import typing
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

if sys.version_info < (3, 12):  # pydantic refuses the TypedDict of the standard library, of which SkyRL makes models
    import typing_extensions

    typing.TypedDict = typing_extensions.TypedDict  # type: ignore[misc, assignment]

pytest.importorskip("skyrl", reason="SkyRL is in an environment of its own; run .ci/skyrl PYTHON WORKDIR")

import jinja2
import skyrl_gym
import tokenizers
import torch  # noqa: F401  # SkyRL needs it first
from conftest import TOY
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.dataset import PromptDataset
from skyrl.train.entrypoints.main_base import BasePPOExp
from skyrl.train.generators.base import TrajectoryID
from skyrl.train.utils import validate_cfg
from snippets import runs
from transformers import PreTrainedTokenizerFast

from trace_gym import registry
from trace_gym.adapters.skyrl import opening_of, register_all, write_dataset
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug
from trace_gym.models import ModelSettings
from trace_gym.policies import Ablated, Idle, Oracle, Policy
from trace_gym.score import reward
from trace_gym.trainers.skyrl_config import SkyRLConfig
from trace_gym.trainers.skyrl_project import options
from trace_gym.types import Call, Scenario

QWEN = """\
{%- macro system() %}{{ messages[0]['content'] if messages[0]['role'] == 'system' else 'You are Qwen.' }}{% endmacro %}
{%- if tools %}
    {{- '<|im_start|>system\\n' }}{{ system() }}
    {{- "\\n\\n# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\nYou are provided \
with function signatures within <tools></tools> XML tags:\\n<tools>" }}
    {%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
    {{- "\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within \
<tool_call></tool_call> XML tags:\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n\
</tool_call><|im_end|>\\n" }}
{%- else %}
    {{- '<|im_start|>system\\n' }}{{ system() }}{{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages[1:] if messages[0]['role'] == 'system' or not loop.first %}
    {%- set role = 'user' if message.role == 'tool' else message.role %}
    {{- '<|im_start|>' + role + '\\n' }}
    {{- '<tool_response>\\n' + message.content + '\\n</tool_response>' if message.role == 'tool' else message.content }}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""
"""How Qwen 2.5 writes system messages, tools and their answers."""

TURN = "<|im_start|>assistant\n"
VALUES = {"name": "loans", "model": "m", "gpus": 1, "max_turns": 12, "max_prompt_length": 30_000, "envs": [TOY]}


@pytest.fixture(autouse=True)
def registered(user_folder: Path) -> None:
    register_all()


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """A token for each byte."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    bare = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = tokenizers.decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|im_end|>", pad_token="<|im_end|>")
    made.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    made.chat_template = QWEN
    return made


@pytest.fixture
def script(tmp_path: Path) -> ModuleType:
    """The files of a run, and its `train.py`."""
    env = jinja2.Environment(loader=jinja2.PackageLoader("trace_gym.templates", "skyrl"), keep_trailing_newline=True)
    for name in ("train.py", "config.yaml"):
        (tmp_path / name).write_text(env.get_template(f"{name}.jinja").render(VALUES))
    write_dataset(tmp_path / "train.parquet", registry.scenarios(TOY, n=40))
    spec = importlib.util.spec_from_file_location("train", tmp_path / "train.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Client:
    """An inference engine whose model follows a policy, one for each sample of a scenario."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, policies: list[Policy]) -> None:
        self.tokenizer, self.policies = tokenizer, policies
        self.shadows: dict[str, Episode] = {}
        self.prompts: dict[str, list[list[int]]] = {}
        self.finished: list[str] = []

    async def generate(self, given: dict[str, Any], model: str | None = None) -> dict[str, Any]:
        [session], [ids] = given["session_ids"], given["prompt_token_ids"]
        scenario, _, sample = session.rpartition("_")
        shadow = self.shadows.setdefault(session, registry.start_episode(scenario))
        self.prompts.setdefault(session, []).append(list(ids))
        action = self.policies[int(sample)].act(shadow)
        shadow.step(action)
        text = written(action)
        made = [*self.tokenizer.encode(text, add_special_tokens=False), self.tokenizer.eos_token_id]
        answer: dict[str, Any] = {"responses": [text], "response_ids": [made], "stop_reasons": ["stop"]}
        return {**answer, "response_logprobs": [[-0.5] * len(made)], "rollout_expert_indices": None}

    async def finish_session(self, session: str) -> None:
        self.finished.append(session)


def written(action: Any) -> str:
    if isinstance(action, Call):
        return f"<tool_call>\n{json.dumps({'name': action.tool, 'arguments': action.arguments})}\n</tool_call>"
    return str(getattr(action, "text", action))


Play = Callable[..., dict[str, Any]]


@pytest.fixture
def play(script: ModuleType, tokenizer: PreTrainedTokenizerFast) -> Play:
    """Generate a batch with the configuration of the run; `clients` keeps what it used."""

    def generate(
        rows: list[dict[str, Any]], policies: list[Policy], client: Any = None, **overrides: Any
    ) -> dict[str, Any]:
        cfg = script.settings([f"{k.replace('__', '.')}={v}" for k, v in overrides.items()])
        generator = BasePPOExp.get_generator(SimpleNamespace(), cfg, tokenizer, client or Client(tokenizer, policies))
        samples = [(row, n) for row in rows for n in range(len(policies))]
        batch = {
            "prompts": [row["prompt"] for row, _ in samples],
            "env_classes": [row["env_class"] for row, _ in samples],
            "env_extras": [{k: row[k] for k in row.keys() - {"prompt", "env_class"}} for row, _ in samples],
            "trajectory_ids": [TrajectoryID(instance_id=row["scenario"], repetition_id=n) for row, n in samples],
            "sampling_params": None,
        }
        return dict(asyncio.run(generator.generate(batch, disable_tqdm=True)))

    return generate


def rows(scenarios: list[Scenario], tmp_path: Path, **options: Any) -> list[dict[str, Any]]:
    write_dataset(tmp_path / "rows.jsonl", scenarios, **options)
    return [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]


def paid(scenario: str, policy: Policy) -> float:
    episode = registry.start_episode(scenario)
    while not episode.done:
        episode.step(policy.act(episode))
    return reward(episode.finish())


def test_groups_are_paid_what_the_episode_pays(play: Play, tmp_path: Path) -> None:
    scenarios = registry.scenarios(TOY, n=3) + registry.scenarios("twin_loans", n=2)
    policies: list[Policy] = [Oracle(), Ablated(), Idle()]
    made = play(rows(scenarios, tmp_path), policies)
    expected = [paid(str(s), policy) for s in scenarios for policy in policies]
    assert [sum(r) for r in made["rewards"]] == pytest.approx(expected)
    assert max(expected) == 1
    assert min(expected) == 0
    for rewards, mask in zip(made["rewards"], made["loss_masks"], strict=True):
        assert not any(rewards[:-1])  # it is paid on the last token, which the model wrote
        assert mask[-1] == 1
    for name, own in ((TOY, expected[:9]), ("twin_loans", expected[9:])):
        share = made["rollout_metrics"][f"environment/{name}/success"]
        assert share == pytest.approx(own.count(1.0) / len(own))


def test_members_of_a_group_begin_with_the_same_tokens(play: Play, tmp_path: Path) -> None:
    made = play(rows(registry.scenarios(TOY, n=2), tmp_path), [Oracle(), Idle(), Ablated()])
    prompts = made["prompt_token_ids"]
    assert prompts[0] == prompts[1] == prompts[2] != prompts[3] == prompts[4] == prompts[5]


def test_the_mask_holds_what_the_model_wrote_and_nothing_else(
    play: Play, tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    [scenario] = registry.scenarios(TOY, n=1, levels=[1])
    client = Client(tokenizer, [Oracle()])
    made = play(rows([scenario], tmp_path), [Oracle()], client)
    [ids], [mask], [logprobs] = made["response_ids"], made["loss_masks"], made["rollout_logprobs"]
    [shadow] = client.shadows.values()
    turns = [written(step) for step in shadow.start.oracle()]
    assert len(turns) > 2
    assert tokenizer.decode([i for i, own in zip(ids, mask, strict=True) if own]) == "".join(
        t + "<|im_end|>" for t in turns
    )
    between = tokenizer.decode([i for i, own in zip(ids, mask, strict=True) if not own])
    assert between.count(TURN) == len(turns) - 1
    for message in shadow.messages[2:]:
        assert message["role"] == "assistant" or message["content"] in between
    assert logprobs == [-0.5 * own for own in mask]
    assert client.finished == [f"{scenario}_0"]
    [prompts] = client.prompts.values()  # token in, token out: a prompt is the last one and what came since
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(prompts))


@pytest.mark.parametrize("env", [TOY, "tau2_precondition"])
def test_the_policy_reads_the_schemas_of_the_target_in_either_place(
    play: Play, tokenizer: PreTrainedTokenizerFast, tmp_path: Path, env: str
) -> None:
    scenarios, tools = registry.scenarios(env, n=1), list(registry.load_world(env).interface().tools)
    message = play(rows(scenarios, tmp_path), [Oracle()])["prompt_token_ids"]
    kwargs = json.dumps({"tools": tools})
    template = play(rows(scenarios, tmp_path, tools="template"), [Oracle()], generator__chat_template_kwargs=kwargs)[
        "prompt_token_ids"
    ]
    assert message == template
    [ids] = message
    listed = tokenizer.decode(ids).partition("<tools>\n")[2].partition("\n</tools>")[0]
    assert [json.loads(line) for line in listed.splitlines()] == tools


def test_a_conversation_too_long_is_paid_nothing_and_scored_for_the_log(play: Play, tmp_path: Path) -> None:
    [row] = rows(registry.scenarios(TOY, n=1, levels=[1]), tmp_path)
    length = len(play([row], [Oracle()])["prompt_token_ids"][0])
    limits = {"generator__max_input_length": length + 150, "trainer__max_prompt_length": length}
    made = play([row], [Oracle()], **limits)
    assert made["stop_reasons"] == ["length"]
    assert sum(made["rewards"][0]) == 0
    metrics = made["rollout_metrics"]
    assert metrics[f"environment/{TOY}/success"] == 0
    assert metrics[f"environment/{TOY}/turns"] >= 1


def test_max_turns_ends_and_scores(play: Play, tmp_path: Path) -> None:
    [scenario] = registry.scenarios(TOY, n=1, levels=[0])
    steps = len(list(registry.start_episode(scenario).start.oracle()))
    full, cut = (play(rows([scenario], tmp_path), [Oracle()], generator__max_turns=n) for n in (steps, steps - 1))
    assert sum(full["rewards"][0]) == 1
    assert sum(cut["rewards"][0]) < 1
    with pytest.raises(ConfigError, match="generator.max_turns=12"):
        play(rows([scenario], tmp_path), [Oracle()], generator__max_turns=1)


def test_a_fault_is_no_reward(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = rows(registry.scenarios(TOY, n=1), tmp_path)

    def broken(*_: Any) -> None:
        raise KeyError("c1")

    monkeypatch.setattr(registry.load_world(TOY), "reply", broken)
    with pytest.raises(EnvBug, match="KeyError"):
        play(row, [Idle()])


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_skyrl_reads_what_was_written(tokenizer: PreTrainedTokenizerFast, tmp_path: Path, ending: str) -> None:
    scenarios = registry.scenarios(TOY, n=4) + registry.scenarios("tau2_precondition", n=4)
    write_dataset(tmp_path / f"rows.{ending}", scenarios, weights="sparse")
    data = PromptDataset(str(tmp_path / f"rows.{ending}"), tokenizer, max_prompt_length=40_000, num_workers=1)
    read = [data[n] for n in range(len(data))]
    assert [extras["scenario"] for _, _, extras, _ in read] == [str(s) for s in scenarios]
    for (prompt, env_class, extras, _), scenario in zip(read, scenarios, strict=True):
        assert prompt == opening_of(scenario)
        env = skyrl_gym.make(env_class, env_config={}, extras={**extras, "max_turns": 30})
        assert env.init(prompt)[0] == prompt


def test_the_configuration_is_valid_and_can_be_overridden(script: ModuleType, tmp_path: Path) -> None:
    cfg = script.settings(["generator.n_samples_per_prompt=4", "trainer.ckpt_path=/elsewhere"])
    validate_cfg(cfg)
    assert cfg.data.train_data == [str(tmp_path / "train.parquet")]
    assert (cfg.trainer.export_path, cfg.trainer.ckpt_path) == (str(tmp_path / "exports"), "/elsewhere")
    assert (cfg.generator.n_samples_per_prompt, cfg.generator.max_turns) == (4, 12)
    assert cfg.trainer.policy.model.lora.rank == 32
    assert cfg.trainer.policy.optimizer_config.lr == 3e-5
    with pytest.raises(ValueError, match="no_such"):
        script.settings(["trainer.no_such=1"])


def test_the_configuration_takes_what_the_docs_override(script: ModuleType) -> None:
    [printed] = runs("docs/guides/skyrl.md")
    install, start = printed.splitlines()
    assert install == "uv sync"  # of packages for GPUs
    program, name, *overrides = start.split()
    assert (program, name) == (".venv/bin/python", "train.py")
    validate_cfg(cfg := script.settings(overrides))
    assert cfg.generator.n_samples_per_prompt == 16


def test_the_process_that_trains_knows_the_environments(
    script: ModuleType, user_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for gym_id in register_all():
        del skyrl_gym.registry[gym_id]
    monkeypatch.delitem(sys.modules, "trace_gym.adapters.skyrl")
    ran: list[Any] = []

    class Experiment(BasePPOExp):
        def __init__(self, cfg: Any) -> None:
            self.cfg = cfg

        def run(self) -> None:
            ran.append((self.cfg.generator.max_turns, skyrl_gym.spec("trace/library-loans-v0").kwargs["name"]))

    monkeypatch.setattr(script, "Experiment", Experiment)
    script.train._function(script.settings([]), str(user_folder))
    assert ran == [(12, TOY)]


def test_the_tracker_records_the_metrics_of_each_step(script: ModuleType, tmp_path: Path) -> None:
    cfg = script.settings([])
    experiment = object.__new__(script.Experiment)
    experiment.cfg = cfg
    tracker = experiment.get_tracker()
    tracker.log({"reward/avg_raw_reward": 0.25, "name": "x"}, step=1)
    tracker.log({"timing/step": 2}, step=1)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert lines == [{"step": 1, "reward/avg_raw_reward": 0.25}, {"step": 1, "timing/step": 2.0}]


@pytest.mark.parametrize(
    "changed",
    [{}, {"objective": "gspo", "kl_coef": 0.1}, {"objective": "cispo", "average": "token"}, {"advantage": "dr_grpo"}],
)
def test_the_options_of_the_trainer_are_options_of_skyrl(script: ModuleType, changed: dict[str, Any]) -> None:
    config = SkyRLConfig.parse({"trainer": "skyrl_grpo", "overlong": "mask", "trackers": ["tensorboard"], **changed})
    model = ModelSettings.parse({"name": "some/model", "max_tokens": 4096, "dtype": "float32"})
    cfg = SkyRLTrainConfig.from_cli_overrides(options(config, model, 12))
    validate_cfg(cfg)
    assert cfg.generator.inference_engine.model_dtype == "float32" and not cfg.trainer.bf16
    precision = cfg.trainer.policy.fsdp_config.mixed_precision
    assert precision is not None and precision.param_dtype == "float32"
    assert (cfg.trainer.train_batch_size, cfg.trainer.policy_mini_batch_size) == (8, 4)
    assert cfg.trainer.algorithm.policy_loss_type == {"grpo": "regular"}.get(config.objective, config.objective)

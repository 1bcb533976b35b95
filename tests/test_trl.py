"""TRL: real trainers, whose turns are scripted where the policy matters and sampled where the sampling does."""

from __future__ import annotations

import itertools
import json
import runpy
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("trl", reason="pip install 'trace-gym[trl]'")
pytest.importorskip("datasets", reason="pip install 'trace-gym[trl]'")

from conftest import TOY
from peft import LoraConfig
from players import text_of
from snippets import blocks, runs
from tiny_model import tiny_model, tiny_tokenizer
from transformers.utils.chat_template_utils import get_json_schema

from trace_gym import registry
from trace_gym.adapters import trl
from trace_gym.adapters.trl.environment import TrlEnvironment, environment_class
from trace_gym.adapters.trl.rollout_function import RolloutFunction, TokenConversation
from trace_gym.adapters.trl.tools import TALK
from trace_gym.episode import Action, Episode, plan
from trace_gym.errors import ConfigError, EnvBug, MissingExtra
from trace_gym.policies import Ablated, Oracle, Policy
from trace_gym.policies.chat import Chat
from trace_gym.rollouts import play
from trace_gym.score import DEFAULT_WEIGHTS, SPARSE_WEIGHTS, reward
from trace_gym.types import Call, Message, Say
from trace_gym.world import World

library: Any = import_module("trl")

ROOT = Path(__file__).resolve().parents[1]
TWIN = "twin_loans"
LEVEL = 2
"""Of the toy environment: two late books, which the ablated expert leaves."""


@pytest.fixture(autouse=True)
def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")


class Breaker:
    """The oracle, but for a tool that breaks the first time it is called."""

    name = "breaker"

    def act(self, episode: Episode) -> Action:
        def break_down(world: World, **arguments: Any) -> None:
            raise KeyError("a bug of the environment")

        kind = type(episode.world)
        episode.world.__class__ = type(kind.__name__, (kind,), {"take_back": break_down})
        return Oracle().act(episode)


SCRIPTS: list[Policy] = [Oracle(), Ablated(), Breaker()]


class Scripted(library.GRPOTrainer):  # type: ignore[misc]  # Any to mypy
    """A trainer whose model writes what the scripts say; everything else is TRL's."""

    def _generate_single_turn(self, prompt_ids: list[list[int]], *_: Any, **__: Any) -> tuple[list[list[int]], None]:
        if not hasattr(self, "turns"):
            self.starts = [e.episode.state_hash for e in self.environments]
            self.turns: list[list[list[int]]] = [[] for _ in self.environments]
            self.read = list(prompt_ids)
        made, rows = [], iter(self._rows(prompt_ids))
        for ids, row in zip(prompt_ids, rows, strict=True):
            turn = self._turn(SCRIPTS[row % len(SCRIPTS)], self.environments[row].episode)
            self.turns[row].append(turn)
            self.read[row] = ids + turn
            made.append(list(turn))
        return made, None

    def _rows(self, prompts: list[list[int]]) -> Iterator[int]:
        """The rollout that each prompt continues; TRL hands them over in order and leaves out the finished."""
        left = iter(range(len(self.read)))
        for ids in prompts:
            yield next(row for row in left if ids[: len(self.read[row])] == self.read[row])

    def _turn(self, script: Policy, episode: Episode | None) -> list[int]:
        if episode is None or episode.done:
            action: Action = Say("Done.")  # TRL's own loop asks on until a turn has no call
        else:
            action = script.act(episode)
            if isinstance(action, Say) and self.tools:
                action = Call("talk_to_user", {"text": action.text})
        eos: int = self.processing_class.eos_token_id
        return [*self.processing_class(text_of(action), add_special_tokens=False)["input_ids"], eos]

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        self.batch = super()._generate_and_score_completions(inputs)
        return self.batch


def trainer_of(kind: Any, folder: Path, dataset: Any, arguments: dict[str, Any], **config: Any) -> Any:
    tokenizer = trl.read_hermes(tiny_tokenizer())
    settings = {
        "max_steps": 1,
        "per_device_train_batch_size": 2 * len(SCRIPTS),
        "num_generations": len(SCRIPTS),
        "max_completion_length": 2000,
        "learning_rate": 1e-3,
        "gradient_checkpointing": False,
        "shuffle_dataset": False,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "disable_tqdm": True,
    }
    return kind(
        model=tiny_model(len(tokenizer)),
        processing_class=tokenizer,
        train_dataset=dataset,
        peft_config=LoraConfig(r=4, target_modules="all-linear"),
        args=library.GRPOConfig(output_dir=str(folder / "out"), **(settings | config)),
        **arguments,
    )


def paid(scenario: str, policy: Policy) -> float:
    score = play(policy, registry.start_episode(scenario)).score
    assert score is not None
    return reward(score)


def opened(attempt: TrlEnvironment) -> Episode:
    assert attempt.episode is not None
    return attempt.episode


def offered(attempt: type, names: Sequence[str]) -> set[str]:
    """Return the methods that TRL finds on the class."""
    public = {n for n in dir(attempt) if not n.startswith("_") and callable(getattr(attempt, n))}
    assert {"reset", "get_reward"} <= public
    return public - {"reset", "get_reward"} - set(names)


@pytest.mark.parametrize("mode", ["simple", "full"])
def test_a_step_of_grpo_in_mixed_environments(mode: str, user_folder: Path, tmp_path: Path) -> None:
    """Groups share a state, the scripts get the episode's reward, what broke is left out, the LoRA moves."""
    rows = trl.dataset([TOY, TWIN], n=2, levels=[LEVEL])
    arguments = trl.simple([TOY, TWIN], say=True) if mode == "simple" else trl.full([TOY, TWIN])
    trainer = trainer_of(Scripted, tmp_path, rows, arguments)
    schemas = list(registry.load_world(TOY).interface().tools)
    names = [t["function"]["name"] for t in schemas]
    found = {env: [t.__name__ for t in tools] for env, tools in trainer._env_tools.items()}
    if mode == "simple":
        assert found == dict.fromkeys([TOY, TWIN], sorted([*names, "talk_to_user"]))
        trl.exact_schemas(trainer)
        assert trainer._env_tools == {TOY: [*schemas, TALK], TWIN: [*schemas, TALK]}
    else:
        assert found == {TOY: [], TWIN: []} and trainer.tools == []
    trainer.train()

    assert [type(e).__name__ for e in trainer.environments] == [TOY] * 3 + [TWIN] * 3
    for group in (trainer.starts[:3], trainer.starts[3:]):
        assert len(set(group)) == 1
    assert len(set(trainer.starts)) == 2
    check_rewards(trainer, rows)
    for row in range(6):
        check_tokens(trainer, row, rows[row // 3]["prompt"])
    [logged] = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
    assert logged["grad_norm"] > 0
    moved = [p for name, p in trainer.model.named_parameters() if "lora_B" in name and p.abs().sum() > 0]
    assert moved


def check_rewards(trainer: Any, rows: Any) -> None:
    environments = trainer.environments
    for group, row in enumerate(rows):
        oracle, ablated, broken = environments[3 * group : 3 * group + 3]
        assert oracle.get_reward() == paid(row["scenario"], Oracle()) == 1.0
        assert ablated.get_reward() == paid(row["scenario"], Ablated()) < 1.0
        assert broken.get_reward() is None and broken.episode is None
        first, second, third = trainer.batch["advantages"][3 * group : 3 * group + 3].tolist()
        assert first == pytest.approx(-second) and first > 0.5 and third == 0.0


def check_tokens(trainer: Any, row: int, opening: list[Message]) -> None:
    """The mask is 1 on what the script wrote and nowhere else, and the conversation reads as the template has it."""
    tokenizer, batch, attempt = trainer.processing_class, trainer.batch, trainer.environments[row]
    alive = batch["completion_mask"][row].bool()
    ids, mask = batch["completion_ids"][row][alive].tolist(), batch["tool_mask"][row][alive].tolist()
    written = list(itertools.chain.from_iterable(trainer.turns[row]))
    assert [i for i, mine in zip(ids, mask, strict=True) if mine] == written
    prompt = tokenizer.decode(batch["prompt_ids"][row][batch["prompt_mask"][row].bool()])
    schemas = [json.loads(line) for line in prompt.partition("<tools>\n")[2].partition("\n</tools>")[0].splitlines()]
    assert schemas == list(type(attempt)._schemas)
    if attempt.episode is not None:
        others = tokenizer.decode([i for i, mine in zip(ids, mask, strict=True) if not mine])
        answers = [m["content"] for m in attempt.episode.messages[len(opening) :] if m["role"] != "assistant"]
        assert answers and all(answer in others for answer in answers)
        if not trainer.tools:
            talk = tokenizer.apply_chat_template(attempt.episode.messages, tools=schemas, tokenize=False)
            before, heard, after = talk.partition(prompt + tokenizer.decode(ids))
            assert heard and not before and "<|im_start|>assistant" not in after


def test_a_dataset_takes_turns_at_environments_and_opens_mixtures(user_folder: Path) -> None:
    rows = trl.dataset([TOY, TWIN], n=5, levels=[1, 2], offset=3, split="validate")
    first = registry.SPLITS["validate"][3]
    assert rows["scenario"] == [
        f"{TOY}/2/{first}",
        f"{TWIN}/2/{first}",
        f"{TOY}/1/{first + 1}",
        f"{TWIN}/1/{first + 1}",
        f"{TOY}/2/{first + 2}",
    ]
    assert rows["environment"] == [TOY, TWIN, TOY, TWIN, TOY]
    assert rows[1]["prompt"] == registry.start_episode(rows[1]["scenario"]).messages
    mixed = trl.dataset("toy_mixture", n=20)
    assert set(mixed["environment"]) == set(trl.full("toy_mixture")["environment_factory"]) == {TOY, TWIN}
    with pytest.raises(ConfigError, match="no environment is selected"):
        trl.dataset([])


@pytest.mark.parametrize("env", registry.list_environments())
def test_nothing_of_ours_is_offered_as_a_tool(env: str) -> None:
    names = list(registry.load_world(env).interface().kinds)
    assert offered(trl.tool_class(env), names) == set()
    assert offered(trl.tool_class(env, say=True), names) == {"talk_to_user"}
    assert offered(environment_class(env), []) == set()


@pytest.mark.parametrize("env", registry.list_environments())
def test_without_exact_schemas_trl_still_reads_names_and_descriptions(env: str) -> None:
    attempt = trl.tool_class(env)()
    for tool in registry.load_world(env).interface().tools:
        raw, read = tool["function"], get_json_schema(getattr(attempt, tool["function"]["name"]))["function"]
        known, seen = raw["parameters"].get("properties", {}), read["parameters"]["properties"]
        assert read["name"] == raw["name"] and list(seen) == list(known)
        assert set(read["parameters"].get("required", [])) == set(raw["parameters"].get("required", []))
        assert all(seen[k].get("type", s.get("type")) == s.get("type", seen[k].get("type")) for k, s in known.items())


def test_the_tools_of_a_world_must_not_have_names_that_the_trainer_needs(
    user_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interface = registry.load_world(TOY).interface()
    tool = {"type": "function", "function": {"name": "get_reward", "parameters": {"type": "object"}}}
    changed = interface.model_copy(update={"tools": (*interface.tools, tool)})
    monkeypatch.setattr("trace_gym.adapters.trl.environment.interface_of", lambda world: changed)
    with pytest.raises(ConfigError, match=f"simple mode does not support some tool names of {TOY}: found get_reward"):
        trl.tool_class(TOY)


def test_simple_mode_warns_if_calls_fall_short(user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, consent = f"{TOY} success 0.00, conduct 1.00", "tau2_tool_precision success 1.00, conduct 0.00"
    with pytest.warns(UserWarning, match=f"{answer}, reward 0.25; {consent}, reward 0.80. Use full mode"):
        trl.simple([TOY, "tau2_tool_precision"])
    with pytest.warns(UserWarning, match=f"alone: {consent}, reward 1.00"):
        trl.simple("tau2_tool_precision", weights=SPARSE_WEIGHTS)
    trl.simple([TOY, "tau2_tool_precision"], say=True)
    world = registry.load_world(TOY)
    goals = world.verify
    monkeypatch.setattr(world, "verify", lambda *state: itertools.islice(goals(*state), 1))  # no answer required
    trl.simple(TOY)


def test_an_error_of_an_argument_names_the_tool(user_folder: Path) -> None:
    with pytest.raises(TypeError, match=r"^talk_to_user\(\) got an unexpected keyword argument 'message'"):
        vars(trl.tool_class(TOY, say=True))["talk_to_user"](TrlEnvironment(), message="Hello")


def test_reward_is_none_only_when_the_environment_broke(user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario, attempt = f"{TOY}/0/7", environment_class(TOY)()
    attempt.reset(scenario=scenario)
    assert attempt.get_reward() == 0.0  # idle
    for weights, worth in ((DEFAULT_WEIGHTS, 0.25), (SPARSE_WEIGHTS, 0.0)):
        half = environment_class(TOY, weights)()
        half.reset(scenario=scenario)
        for step in itertools.takewhile(lambda s: isinstance(s, Call), plan(opened(half), "oracle")):
            half._take(step)
        assert half.get_reward() == worth
    world = registry.load_world(TOY)
    with monkeypatch.context() as patch:
        patch.setattr(world, "verify", lambda *_: 1 / 0)
        attempt.reset(scenario=scenario)
        assert attempt.get_reward() is None
    with monkeypatch.context() as patch:
        patch.setattr(world, "generate", lambda *_: 1 / 0)
        tools = trl.tool_class(TOY)()
        tools.reset(scenario=scenario)
        assert tools.get_reward() is None
        assert "environment failed" in getattr(tools, "search")(words="")  # noqa: B009  # made at run time
    attempt.reset(scenario=scenario)  # the same slot serves the next rollout
    play(Oracle(), opened(attempt))
    assert attempt.get_reward() == 1.0


def test_a_row_must_fit_its_class_and_its_scenario(user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt, row = environment_class(TOY)(), trl.dataset(TOY, n=1)[0]
    with pytest.raises(ConfigError, match="contains no scenario id. Create the dataset"):
        attempt.reset()
    with pytest.raises(ConfigError, match=f"found the scenario {TWIN}/0/1, expected a scenario of"):
        attempt.reset(scenario=f"{TWIN}/0/1")
    with pytest.raises(ConfigError, match="Create the dataset again"):
        attempt.reset(**row | {"prompt": [*row["prompt"][:-1], {"role": "user", "content": "Hello"}]})
    attempt.reset(**row)
    world = registry.load_world(TOY)
    generate = world.generate
    monkeypatch.setattr(world, "generate", lambda rng, level: generate(rng, (level + 1) % 2))
    with pytest.raises(EnvBug, match="different states"):
        environment_class(TOY)  # another class has no memory of the first
        attempt.reset(scenario=row["scenario"])


def test_another_trl_is_refused_with_the_line_that_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ("1.17.0", "1.160.0", "2.0"):
        monkeypatch.setattr(library, "__version__", other)
        with pytest.raises(ConfigError, match=rf"found trl {other}, expected 1.16, .* Run pip install 'trl==1.16.\*'"):
            trl.exact_schemas(SimpleNamespace())
        with pytest.raises(ConfigError, match="this version of TRL does not support full mode"):
            RolloutFunction()([], SimpleNamespace())


@pytest.mark.parametrize("missing", ["trl", "datasets"])
def test_a_missing_extra_says_how_to_get_it(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=f"{missing} is missing; pip install 'trace-gym\\[trl\\]'"):
        trl.dataset("tau2_precondition", n=1)
        trl.exact_schemas(SimpleNamespace())


def test_trl_reads_calls_by_the_template_that_is_made_for_it() -> None:
    from trl.chat_template_utils import parse_response

    tokenizer = tiny_tokenizer()
    assert trl.read_hermes(tokenizer) is tokenizer
    prompt = tokenizer("<|im_start|>assistant\n")["input_ids"]
    call = Call("book", {"passengers": [{"name": "a<b", "age": 3}], "cabin": None})
    for before in ("", "<think>\nwell\n</think>\n\n"):
        message = parse_response(
            tokenizer, tokenizer(before + text_of(call) + "<|im_end|>")["input_ids"], prefix=prompt
        )
        [made] = message["tool_calls"]
        assert made["function"] == {"name": "book", "arguments": call.arguments} and not message["content"]
    for text in ("Hello.", "<tool_call>{", "<tool_call>[1]</tool_call>"):
        message = parse_response(tokenizer, tokenizer(text + "<|im_end|>")["input_ids"], prefix=prompt)
        assert message == {"role": "assistant", "content": text}
    tokenizer.chat_template = "{{ messages[0].content }}"
    tokenizer.response_template = None
    with pytest.raises(ConfigError, match="does not support add_generation_prompt"):
        trl.read_hermes(tokenizer)


def test_a_sampled_conversation_keeps_to_its_budgets(user_folder: Path, tmp_path: Path) -> None:
    """The model's own `generate`, through the trainer; a random model never ends a turn by itself for long."""
    rows = trl.dataset(TOY, n=1)
    trainer = trainer_of(library.GRPOTrainer, tmp_path, rows, trl.full(TOY), max_completion_length=300)
    trainer.environments = [environment_class(TOY)() for _ in range(3)]
    for attempt in trainer.environments:
        attempt.reset(**rows[0])
    prompts = [rows[0]["prompt"]] * 3
    made = RolloutFunction(turn_tokens=8)(prompts, trainer)
    assert made["logprobs"] is None and trainer.generation_config.max_new_tokens == 300
    for ids, mask, attempt in zip(made["completion_ids"], made["env_mask"], trainer.environments, strict=True):
        turns = [len(list(run)) for mine, run in itertools.groupby(mask) if mine]
        assert len(ids) == len(mask) <= 300 and max(turns) <= 8
        assert attempt.episode.turns in (len(turns), len(turns) - 1) and len(turns) > 2
    with pytest.raises(ConfigError, match="does not support the argument 'tools' of GRPOTrainer"):
        trainer.tools = [print]
        RolloutFunction()(prompts, trainer)
    with pytest.raises(ConfigError, match="tokens, expected fewer than 10"):
        trainer.tools, trainer.model.config.max_position_embeddings = [], 10
        RolloutFunction()(prompts, trainer)


@pytest.fixture
def chat() -> Chat:
    return Chat(tiny_tokenizer())


def conversation(chat: Chat, room: int, attempt: TrlEnvironment | None = None) -> TokenConversation:
    if attempt is None:
        attempt = environment_class(TOY)()
        attempt.reset(scenario=f"{TOY}/0/7")
    return TokenConversation(attempt, chat, [1], room, ends={chat.eos, 0})


def test_a_turn_without_room_is_cut_and_not_taken(user_folder: Path, chat: Chat) -> None:
    turn = [*chat.tokenizer("Which one?")["input_ids"], chat.eos]
    short = conversation(chat, len(turn) - 1)
    short.take(turn)
    assert short.over and short.ids == turn[:-1] and opened(short.environment).turns == 0
    exact = conversation(chat, len(turn))
    exact.take(turn, [-0.5] * len(turn))
    assert exact.over and exact.ids == turn and opened(exact.environment).turns == 1
    assert exact.mask == [1] * len(turn) and exact.logprobs == [-0.5] * len(turn)
    assert exact.environment.get_reward() == 0.0


def test_a_turn_that_ends_otherwise_is_closed_as_the_template_closes_it(user_folder: Path, chat: Chat) -> None:
    words = list(chat.tokenizer("Which one?")["input_ids"])
    for turn in ([*words, chat.eos], [*words, 0], words):  # its end, another end of the model's, or a cut
        talk = conversation(chat, 1000)
        talk.take(turn)
        assert opened(talk.environment).messages[-2]["content"] == "Which one?"
        added = list(zip(talk.ids, talk.mask, strict=True))[len(turn) :]
        assert all(mine == 0 for _, mine in added)
        assert (talk.ids[len(turn)] == chat.eos) is (turn[-1] != chat.eos)
        assert str(chat.tokenizer.decode(talk.ids)).endswith(
            "Which copy do you lend me?<|im_end|>\n<|im_start|>assistant\n"
        )


def test_an_attempt_that_broke_at_its_reset_has_a_token_that_is_not_trained_on(chat: Chat) -> None:
    talk = conversation(chat, 10, TrlEnvironment())
    assert talk.over and talk.ids == [chat.eos] and talk.mask == [0]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("mode", ["simple", "full"])
def test_the_example_runs_as_the_docs_print_it(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, simple, _ = blocks("docs/guides/trl.md", "python")
    path = ROOT / "examples" / f"trl_{mode}.py"
    assert path.read_text() == {"full": full, "simple": simple}[mode]
    assert runs("docs/guides/trl.md") == []
    monkeypatch.chdir(tmp_path)
    trainer = runpy.run_path(str(path))["trainer"]
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert len(logged) == trainer.state.global_step == 2
    assert all(f"rewards/{env}/mean" in logged[0] for env in trainer.environment_factories)


@pytest.mark.filterwarnings("default")
def test_the_snippet_of_the_readme_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = [block for block in blocks("README.md", "python") if "GRPOTrainer" in block]
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["trainer"].state.global_step == 1


@pytest.mark.parametrize("mode", ["simple", "full"])
def test_score_is_there_when_reward_functions_run(mode: str, user_folder: Path, tmp_path: Path) -> None:
    seen: list[tuple[float | None, float | None]] = []

    def progress(environments: list[TrlEnvironment], **_: Any) -> list[float | None]:
        """A reward function as docs/guides/trl.md describes it; TRL runs it before the environments' own."""
        made = []
        for attempt in environments:
            score = attempt.episode.score if attempt.episode else None
            made.append(None if attempt.episode is None or score is None else score.progress)
            seen.append((made[-1], attempt.get_reward()))
        return made

    rows = trl.dataset([TOY], n=2, levels=[LEVEL])
    tools = {"environment_factory": {TOY: trl.tool_class(TOY)}}  # the last word is not heard in simple mode
    names: dict[str, Any] = {}
    exec(blocks("docs/guides/trl.md", "python")[-1], names)
    arguments = (tools if mode == "simple" else trl.full([TOY])) | {"reward_funcs": [progress, names["conduct"]]}
    trainer = trainer_of(Scripted, tmp_path, rows, arguments, reward_weights=[0.0, 0.0])
    trainer.train()
    logged = trainer.state.log_history[0]
    assert logged["reward"] == logged[f"rewards/{TOY}/mean"] > 0 and logged["rewards/conduct/mean"] == 1.0
    assert [progress for progress, _ in seen[:3]] == [0.5 if mode == "simple" else 1.0, 0.0, None]
    assert [(progress is None, paid is None) for progress, paid in seen] == [
        (False, False),
        (False, False),
        (True,) * 2,
    ] * 2


def test_reading_the_score_ends_the_attempt(user_folder: Path) -> None:
    attempt = trl.tool_class(TOY)()
    attempt.reset(scenario=f"{TOY}/{LEVEL}/0")
    episode = opened(attempt)
    assert not episode.done
    assert episode.score is not None
    assert episode.done
    assert attempt.get_reward() == 0.0


def test_score_of_a_broken_verifier_is_an_error_and_the_reward_none(
    user_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verify(*_: Any) -> Any:
        raise KeyError("a bug of the environment")

    attempt = trl.tool_class(TOY)()
    attempt.reset(scenario=f"{TOY}/{LEVEL}/0")
    monkeypatch.setattr(registry.load_world(TOY), "verify", verify)
    with pytest.raises(EnvBug, match="a bug of the environment"):
        assert opened(attempt).score

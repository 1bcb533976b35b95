"""A real vLLM server with the toy model: the same scores and tokens as in process, its prefix cache, and its death.

The environment variable VLLM_PYTHON names the Python interpreter of an environment with vLLM, which cannot be in the
same environment as all other libraries. ``.ci/vllm`` installs such an environment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread, Timer
from typing import Any

import pytest

pytest.importorskip("peft", reason="training needs the lab extra")

import openai
import torch
from peft import LoraConfig, get_peft_model

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.models import ModelSettings, load_policy
from trace_gym.models.loading import load_weights
from trace_gym.models.server import ModelServer
from trace_gym.models.server_settings import ServerSettings
from trace_gym.policies.chat import Chat
from trace_gym.policies.hf import HFPolicy
from trace_gym.policies.vllm import VLLMPolicy
from trace_gym.rollouts import rollout
from trace_gym.sandbox.process_monitor import PARENT, scan_descendants
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.torch_grpo import Trained, train
from trace_gym.trajectories import TokenRollout
from trace_gym.types import Scenario

PYTHON = os.environ.get("VLLM_PYTHON") or (sys.executable if find_spec("vllm") else "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PYTHON, reason="vLLM is not installed; set VLLM_PYTHON to the Python of an environment with it"
    ),
]

VARIABLES = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
FLAGS = ("--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--enable-prompt-tokens-details")
"""Flags for the chat endpoint, and for token counts that contain the cached tokens."""
TOLERANCE = 1e-4
"""Largest accepted difference of two log-probabilities, both computed in float32."""
CACHE_BLOCK = 128
"""Tokens per block of vLLM's prefix cache on a CPU. Only complete blocks are reused."""
CONFIG = GRPOConfig(groups=4, samples=4, iterations=3, levels={0: 1.0})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """A server that trace_gym starts for all tests of this module."""
    model = ModelSettings(engine="vllm", server=ServerSettings(environment=VARIABLES, arguments=FLAGS))
    with ModelServer(model, log=tmp_path_factory.mktemp("vllm") / "vllm.log", lora_rank=8) as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def in_process() -> HFPolicy:
    made = load_policy(ModelSettings())
    assert isinstance(made, HFPolicy)
    return made


@dataclass(frozen=True)
class Exchange:
    """A request for a completion, and the answer of the server."""

    request: dict[str, Any]
    answer: dict[str, Any]


@pytest.fixture
def exchanges(monkeypatch: pytest.MonkeyPatch) -> list[Exchange]:
    """All completions of the test, in the order of the answers."""
    made: list[Exchange] = []

    def record(request: Any, response: Any) -> None:
        if request.url.path.endswith("/completions"):
            made.append(Exchange(json.loads(request.content), json.loads(response.read())))

    after_each_answer(monkeypatch, record)
    return made


def after_each_answer(monkeypatch: pytest.MonkeyPatch, act: Callable[[Any, Any], None]) -> None:
    """Call a function with each request to the server that succeeds, and its response."""
    client = openai.DefaultHttpxClient.__bases__[0]  # of httpx or, in later versions of openai, of its successor
    send: Any = client.send

    def observed(self: Any, request: Any, **options: Any) -> Any:
        response = send(self, request, **options)
        if response.status_code == 200:
            act(request, response)
        return response

    monkeypatch.setattr(client, "send", observed)


def tokens_in_tokens_out(server: ModelServer) -> ModelSettings:
    return server.start()


def chat_endpoint(server: ModelServer) -> ModelSettings:
    """The same server as an OpenAI-compatible endpoint, with the limits of the toy model."""
    uri = server.start().endpoint
    assert isinstance(uri, str)
    tokens, turn = ModelSettings().limits
    return ModelSettings(name=uri, max_tokens=tokens, max_turn_tokens=turn)


def tasks(count: int, env: str = "tau2_precondition") -> list[Scenario]:
    return registry.scenarios(env, "test", count, levels=[0])


def largest_difference(policy: HFPolicy, rollouts: Sequence[TokenRollout], temperature: float) -> float:
    """Return the largest difference between the log-probabilities of the rollouts and those of the model in process."""
    found = 0.0
    for r in rollouts:
        with torch.no_grad():
            logits = policy.model(torch.tensor([r.ids])).logits[0].float() / temperature
        logps = logits.log_softmax(-1)
        places = [n for n, sampled in enumerate(r.mask) if sampled]
        found = max([found, *(abs(float(logps[n - 1, r.ids[n]]) - r.logprobs[n]) for n in places)])
    return found


@pytest.mark.parametrize("settings", [tokens_in_tokens_out, chat_endpoint])
def test_greedy_rollouts_have_the_same_scores_as_in_process(
    settings: Callable[[ModelServer], ModelSettings], server: ModelServer, in_process: HFPolicy
) -> None:
    scenarios = [s for env in ("tau2_precondition", "tau2_airline_desk") for s in tasks(8, env)]
    expected = rollout(in_process, scenarios, temperature=0.0, progress=False)
    player = load_policy(settings(server), temperature=0.0)
    found = rollout(player, scenarios, temperature=0.0, progress=False)
    assert [r.score for r in found] == [r.score for r in expected]
    assert [r.calls for r in found] == [r.calls for r in expected]
    assert len({r.reward for r in found}) > 1, "a constant score would show nothing"


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_sampled_tokens_have_the_probabilities_of_the_model_in_process(
    temperature: float, server: ModelServer, in_process: HFPolicy
) -> None:
    player = load_policy(server.start())
    assert isinstance(player, VLLMPolicy)
    episodes = [registry.start_episode(s) for s in tasks(8)]
    found = player.rollout(episodes, temperature=temperature, generator=torch.Generator().manual_seed(1))
    difference = largest_difference(in_process, found, temperature)
    print(f"\n{sum(map(sum, (r.mask for r in found)))} tokens, largest difference {difference:.1e}")
    assert difference < TOLERANCE
    assert largest_difference(in_process, found, temperature * 1.1) > 100 * TOLERANCE, "the check finds a difference"


def test_base_model_has_its_own_probabilities_next_to_adapters(
    server: ModelServer, in_process: HFPolicy, tmp_path: Path
) -> None:
    """More adapters than slots have been used, and the requests of one adapter run at the same time."""
    noise = [random_adapter(tmp_path / f"noise{n}", seed=n) for n in range(4)]
    for folder in noise:
        rollout(load_policy(server.start(), folder), tasks(1), temperature=0.0, progress=False)
    base, other = load_policy(server.start()), load_policy(server.start(), noise[0])
    assert isinstance(base, VLLMPolicy)
    stop = Event()

    def keep_busy() -> None:
        while not stop.is_set():
            rollout(other, tasks(8), temperature=1.0, progress=False)

    thread = Thread(target=keep_busy)
    thread.start()
    try:
        episodes = [registry.start_episode(s) for s in tasks(8)]
        found = base.rollout(episodes, temperature=1.0, generator=torch.Generator().manual_seed(1))
    finally:
        stop.set()
        thread.join()
    assert largest_difference(in_process, found, 1.0) < TOLERANCE


def random_adapter(folder: Path, seed: int) -> Path:
    """Write an adapter that changes every probability."""
    torch.manual_seed(seed)
    model, _ = load_weights(ModelSettings())
    config = LoraConfig(r=8, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM")
    get_peft_model(model, config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("settings", [tokens_in_tokens_out, chat_endpoint])
def test_later_turns_reuse_the_cached_tokens_of_earlier_turns(
    settings: Callable[[ModelServer], ModelSettings], server: ModelServer, exchanges: list[Exchange]
) -> None:
    """The first message is repeated, so that the first prompt fills several blocks of the cache."""

    def opened(scenario: Scenario) -> Episode:
        made = registry.start_episode(scenario)
        made.messages[1]["content"] = " ".join([made.messages[1]["content"]] * 30)
        return made

    player = load_policy(settings(server), temperature=0.0)
    [record] = rollout(player, tasks(1), temperature=0.0, progress=False, open_episode=opened)
    turns = [e.answer["usage"] for e in exchanges if e.request["max_tokens"] > 1]
    assert len(turns) == sum(m["role"] == "assistant" for m in record.messages) > 1
    print("\n", [(usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"]) for usage in turns])
    for before, usage in pairwise(turns):
        reused = before["prompt_tokens"] // CACHE_BLOCK * CACHE_BLOCK
        assert usage["prompt_tokens_details"]["cached_tokens"] >= reused > 0


@pytest.fixture(scope="module")
def undisturbed(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trained, int]:
    """A training run whose server does not fail, and the number of its requests that succeeded."""
    answers: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        after_each_answer(patch, lambda request, _: answers.append(request.url.path))
        out = tmp_path_factory.mktemp("real") / "run"
        trained = train(CONFIG, env="tau2_precondition", model=server.start(), out_dir=out, progress=False)
    return trained, len(answers)


def test_training_samples_from_the_adapter_of_the_trainer(
    server: ModelServer, undisturbed: tuple[Trained, int]
) -> None:
    trained, _ = undisturbed
    assert [line["rollouts"] for line in trained.metrics] == [16, 32, 48]
    assert any(line["steps"] for line in trained.metrics[:-1]), "the server gets an adapter that was trained"
    assert all((line["logp_difference"] or 0.0) < TOLERANCE for line in trained.metrics)
    player, local = load_policy(server.start(), trained.path), load_policy(ModelSettings(), trained.path)
    found, expected = (rollout(p, tasks(8), temperature=0.0, progress=False) for p in (player, local))
    assert [r.score for r in found] == [r.score for r in expected]


def test_training_survives_a_kill_of_the_server(
    server: ModelServer, undisturbed: tuple[Trained, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A random process of the server is killed at a random moment of the run."""
    model, random, killed, counting = server.start(), Random(), list[int](), Lock()
    calm, requests = undisturbed
    moment, delay, answers = random.randint(1, round(requests * 0.9)), random.uniform(0, 0.1), iter(range(10**6))
    leader = server.pid
    assert leader is not None

    def kill() -> None:
        processes = scan_descendants(leader)
        [front] = [pid for pid, fields in processes.items() if fields[PARENT] == leader]
        workers = [pid for pid in processes if pid != front and not is_tracker(pid)]
        killed.append(random.choice([front, *workers]))
        print(f"\nkilling {killed} of {front} and {workers} {delay:.2f} s after answer {moment} of {requests}")
        os.kill(killed[0], signal.SIGKILL)

    def count(request: Any, response: Any) -> None:
        with counting:
            if next(answers) == moment:
                Timer(delay, kill).start()

    after_each_answer(monkeypatch, count)
    counted = record_rollouts(monkeypatch)
    found = train(CONFIG, env="tau2_precondition", model=model, out_dir=tmp_path / "run", progress=False)
    assert len(killed) == 1 and server.pid not in (leader, None), "the server was restarted"
    assert [line["rollouts"] for line in found.metrics] == [line["rollouts"] for line in calm.metrics]
    assert all((line["logp_difference"] or 0.0) < TOLERANCE for line in found.metrics), "the adapter was loaded again"
    assert len(counted) == found.rollouts
    chat = Chat(load_tokenizer())
    for r in counted:
        again = replayed(r, chat)
        assert again.done and not r.overflow, "the turns that the model sampled end the episode, not the failure"
        assert again.score == r.episode.score
    for run in (calm, found):
        print([{k: line[k] for k in ("rollouts", "reward", "logp_difference", "seconds")} for line in run.metrics])


def is_tracker(pid: int) -> bool:
    """Return whether a process is Python's resource tracker, which does not take part in the answers."""
    return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def record_rollouts(monkeypatch: pytest.MonkeyPatch) -> list[TokenRollout]:
    """Return a list to which all rollouts of vLLM are added."""
    made: list[TokenRollout] = []
    sample = VLLMPolicy.rollout

    def recorded(self: VLLMPolicy, *args: Any, **options: Any) -> list[TokenRollout]:
        made.extend(new := sample(self, *args, **options))
        return new

    monkeypatch.setattr(VLLMPolicy, "rollout", recorded)
    return made


def load_tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(ModelSettings().folder)


def replayed(played: TokenRollout, chat: Chat) -> Episode:
    """Return a new episode in which the sampled turns are repeated."""
    again = registry.start_episode(played.scenario, style=chat.style)
    turn: list[int] = []
    for token, sampled in [*zip(played.ids, played.mask, strict=True), (0, False)]:
        if sampled:
            turn.append(token)
        elif turn:
            again.step(chat.texts([turn])[0])
            turn = []
    return again

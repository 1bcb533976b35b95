"""Environments through skyrl-gym, and the data sets and files of a run of SkyRL.

SkyRL's generator plays them in `test_skyrl_generator`; every environment goes through `test_contract`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from conftest import TOY
from snippets import blocks

pytest.importorskip("skyrl_gym", reason="skyrl-gym is not installed: pip install 'trace-gym[skyrl-gym]'")

import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

from trace_gym import registry
from trace_gym.adapters import skyrl
from trace_gym.adapters.skyrl import TraceTextEnv, opening_of, register_all, write_dataset
from trace_gym.chat_formats import FORMATS
from trace_gym.errors import ConfigError, EnvBug, EnvNotFound, MissingExtra, ScenarioError
from trace_gym.registration import VARIABLE
from trace_gym.types import Call, Scenario
from trace_gym.validation import validate

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "skyrl_gym_episode.py"
LOANS, MIXTURE = "trace/library-loans-v0", "trace/toy-mixture-v0"


@pytest.fixture(autouse=True)
def registered(user_folder: Path) -> list[str]:
    return register_all()


def make(scenario: str = f"{TOY}/0/4", **row: Any) -> TraceTextEnv:
    env = skyrl_gym.make(
        registry.gym_id(scenario.partition("/")[0]), env_config={}, extras={"scenario": scenario, **row}
    )
    assert isinstance(env, TraceTextEnv)
    return env


def written(env: TraceTextEnv) -> list[str]:
    """The oracle's turns as text."""
    return [FORMATS["hermes"].render(s) if isinstance(s, Call) else s.text for s in env.episode.start.oracle()]


def test_every_environment_is_registered_once(registered: list[str]) -> None:
    names = [*registry.list_environments(), *registry.list_mixtures()]
    assert registered == sorted(registry.gym_id(name) for name in names)
    before = dict(skyrl_gym.registry)
    assert register_all() == registered
    assert skyrl_gym.registry == before
    assert {i for i in skyrl_gym.registry if i.startswith("trace/")} == {*registered}
    assert "gsm8k" in skyrl_gym.registry


def test_environments_of_a_folder_that_is_gone_are_gone() -> None:
    del os.environ[VARIABLE]
    assert LOANS not in register_all()
    assert LOANS not in skyrl_gym.registry


def test_the_reward_comes_with_the_end_and_the_score_with_it() -> None:
    env = make()
    env.init([])
    *first, last = written(env)
    for turn in first:
        step = env.step(turn)
        assert (step["reward"], step["done"], step["metadata"]) == (0.0, False, {})
    step = env.step(last)
    assert (step["reward"], step["done"], step["metadata"]["success"]) == (1.0, True, True)
    assert step["metadata"]["score"]["progress"] == 1
    again = env.step("Is there anything else?")
    assert (again["reward"], again["done"]) == (0.0, True)
    assert env.turns == len(first) + 1


@pytest.mark.parametrize(("weights", "expected"), [("default", 0.25), ("sparse", 0.0)])
def test_half_the_work_is_paid_by_default_and_not_by_sparse(weights: str, expected: float) -> None:
    env = make(weights=weights)
    for turn in written(env)[:-1]:
        env.step(turn)
    assert env.step("Goodbye.")["reward"] == expected  # lent, and the reader is not told which copy


def test_the_answers_are_messages_of_the_tools_and_the_user() -> None:
    env = make()
    [answer] = env.step(FORMATS["hermes"].render(Call("search", {"words": "no such"})))["observations"]
    assert (answer["role"], answer["name"], answer["content"]) == ("tool", "search", "[]")
    assert env.step("One moment.")["observations"] == [{"role": "user", "content": "Which copy do you lend me?"}]


@pytest.mark.parametrize(("given", "turns"), [(3, 3), (100, 12), (None, 12)])
def test_the_lower_limit_of_turns_ends_the_attempt(given: int | None, turns: int) -> None:
    env = make(**({} if given is None else {"max_turns": given}))
    done = [env.step("Let me think.")["done"] for _ in range(turns)]
    assert done == [False] * (turns - 1) + [True]
    assert env.episode.truncated


def test_one_turn_is_refused_as_it_is_what_skyrl_gives_by_default() -> None:
    with pytest.raises(ConfigError, match="Set generator.max_turns=12"):
        make(max_turns=1)


def test_metrics_are_those_of_the_score_and_skyrl_can_sum_them_up() -> None:
    env, idle = make(), make()
    for turn in written(env):
        env.step(turn)
    keys = [f"{TOY}/{key}" for key in ("success", "progress", "wellformed", "conduct", "broken", "turns")]
    assert env.get_metrics() == dict(zip(keys, (1, 1, 1, 1, 0, env.turns), strict=True))
    assert idle.get_metrics() == {**dict.fromkeys(keys, 0), f"{TOY}/conduct": 1}
    means = aggregate_for_environment(LOANS, [env.get_metrics(), idle.get_metrics()])
    assert (means[f"{TOY}/success"], means[f"{TOY}/turns"]) == (0.5, env.turns / 2)


def test_a_mixture_plays_its_parts() -> None:
    scenarios = registry.scenarios("toy_mixture", n=20)
    parts = {make(str(s)).episode.scenario.env for s in scenarios}
    assert parts == {TOY, "twin_loans"}


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ({"seed": 3}, ConfigError, "contains no scenario id: found the keys seed"),
        ({"scenario": "nonsense"}, ScenarioError, "is not a valid scenario id"),
        ({"scenario": f"{TOY}/9/0"}, ScenarioError, "has levels"),
        ({"scenario": "twin_loans/0/0"}, EnvNotFound, "Use the env_class trace/twin-loans-v0"),
        (
            {"scenario": f"{TOY}/0/0", "weights": "heavy"},
            ConfigError,
            "unknown value of weights: found 'heavy', expected one of default",
        ),
    ],
)
def test_a_row_that_is_wrong_is_refused(row: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        skyrl_gym.make(LOANS, extras=row)


def test_a_row_of_another_version_is_refused() -> None:
    env, prompt = make(), opening_of(Scenario.parse(f"{TOY}/0/4"))
    assert env.init(prompt) == (prompt, {"scenario": f"{TOY}/0/4"})
    assert env.init([]) == (prompt, {"scenario": f"{TOY}/0/4"})
    prompt[0]["content"] = "Another policy."  # the caller's own words to the model are the caller's business
    assert env.init(prompt)[0] == prompt
    prompt[1]["content"] = "Hi, card zed."
    with pytest.raises(ConfigError, match="Write the dataset again"):
        env.init(prompt)


def test_a_fault_of_the_environment_is_no_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    env = make()

    def broken(*_: Any) -> None:
        raise KeyError("c1")

    monkeypatch.setattr(type(env.episode.world), "reply", broken)
    with pytest.raises(EnvBug, match="KeyError"):
        env.step("Which card?")


@pytest.mark.parametrize("tools", ["message", "template"])
def test_the_schemas_stand_in_the_system_message_unless_the_template_writes_them(tools: Any) -> None:
    [system, user] = opening_of(Scenario.parse(f"{TOY}/1/4"), tools)
    episode = registry.start_episode(f"{TOY}/1/4")
    assert user == episode.messages[1]
    assert system["content"].startswith(episode.messages[0]["content"])
    assert ("<tools>" in system["content"]) == (tools == "message")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_data_set_holds_what_skyrl_and_the_environment_read(tmp_path: Path, ending: str) -> None:
    scenarios = [*registry.scenarios(TOY, n=3), *registry.scenarios("toy_mixture", n=2)]
    path = tmp_path / "new" / f"rows.{ending}"
    assert write_dataset(path, scenarios, weights="sparse") == 5
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    if ending == "parquet":
        rows = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed").read_table(path).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["scenario"] for row in rows] == [str(s) for s in scenarios]
    assert [row["env_class"] for row in rows] == [LOANS] * 3 + [MIXTURE] * 2
    assert {row["data_source"] for row in rows} == {TOY, "toy_mixture"}
    for row in rows:
        prompt, env_class = row.pop("prompt"), row.pop("env_class")
        env = skyrl_gym.make(env_class, extras=row)
        assert env.init(prompt)[0] == prompt
        assert env.weights.progress == 0


def test_a_data_set_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = registry.scenarios(TOY, n=1)
    for path, given, options in [
        ("a.csv", scenarios, {}),
        ("a.jsonl", [], {}),
        ("a.jsonl", scenarios, {"weights": "x"}),
    ]:
        with pytest.raises(ConfigError):
            write_dataset(tmp_path / path, given, **options)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="pip install pyarrow"):
        write_dataset(tmp_path / "a.parquet", scenarios)
    assert not list(tmp_path.glob("a.*"))


def test_without_the_package_the_line_that_mends_it_is_named() -> None:
    code = "import sys; sys.modules['skyrl_gym'] = None; import trace_gym.adapters.skyrl"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stderr.strip().endswith("skyrl_gym is missing; pip install 'trace-gym[skyrl-gym]'")


def test_the_validator_accepts_it_as_anybodys_environment(tmp_path: Path) -> None:
    write_dataset(tmp_path / "rows.jsonl", registry.scenarios(TOY, n=6))
    address = f"skyrl:trace_gym.adapters.skyrl:{LOANS}@{tmp_path / 'rows.jsonl'}"
    asked = ("TG101", "TG105", "TG301", "TG402")
    report = validate(address, profile="quick", only=asked, progress=False)
    assert {f.code for f in report.findings} >= {*asked}
    assert {f.verdict for f in report.findings} == {"passed"}


def test_the_files_of_a_run_say_what_skyrl_needs() -> None:
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", "skyrl"), undefined=jinja2.StrictUndefined
    )
    values = {"name": "loans", "model": "Qwen/Qwen3-4B", "gpus": 2, "max_turns": 12, "max_prompt_length": 8192}
    values |= {"envs": [TOY], "trace_gym": " @ file:///trace-gym"}
    files = {name.removesuffix(".jinja"): env.get_template(name).render(values) for name in env.list_templates()}
    assert files.keys() == {"README.md", "config.yaml", "pyproject.toml", "train.py"}
    project = tomllib.loads(files["pyproject.toml"])
    assert "trace-gym[skyrl-gym] @ file:///trace-gym" in project["project"]["dependencies"]
    config = yaml.safe_load(files["config.yaml"])
    assert len(config) == sum(line[:1].isalpha() for line in files["config.yaml"].splitlines())  # no key twice
    assert config["generator.max_turns"] == 12
    assert config["trainer.policy.model.path"] == "Qwen/Qwen3-4B"
    compile(files["train.py"], "train.py", "exec")
    assert "2 NVIDIA GPUs" in files["README.md"]


def test_the_example_runs_as_the_docs_print_it() -> None:
    [code] = blocks("docs/guides/skyrl.md", "python")
    assert EXAMPLE.read_text().partition('"""\n\n')[2] == code
    run = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, cwd=ROOT, env=_path())
    assert run.returncode == 0, run.stderr
    assert "reward: 1.0" in run.stdout
    assert "64 rows in" in run.stdout


def test_the_snippet_of_the_overview_plays() -> None:
    [code] = [block for block in blocks("docs/guides/index.md", "python") if "skyrl_gym" in block]
    names: dict[str, Any] = {}
    exec(compile(code, "index.md", "exec"), names)
    assert names["answer"]["done"] is False and names["answer"]["observations"]


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_module_registers_when_it_is_imported() -> None:
    code = f"import trace_gym.adapters.skyrl, skyrl_gym; print('{LOANS}' in skyrl_gym.registry)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=_path())
    assert run.stdout.strip() == "True", run.stderr
    assert skyrl.__name__ == "trace_gym.adapters.skyrl"

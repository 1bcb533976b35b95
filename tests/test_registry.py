"""Finding, loading and addressing environments, in a user's own folder out of tree."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
from collections import Counter
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import gymnasium
import pytest
from conftest import PASSED, TOY

import trace_gym
from trace_gym import modules, registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, DuplicateEnv, EnvBug, EnvNotFound, ReadError, ScenarioError, TamperedEnv
from trace_gym.policies.scripted import Oracle
from trace_gym.registration import VARIABLE
from trace_gym.rollouts import rollout
from trace_gym.sandbox import describe
from trace_gym.types import Finding, Origin, Report, Scenario, Spec
from trace_gym.validation import PROPERTIES
from trace_gym.world import World

GYM_ID = "trace/library-loans-v0"


def test_public_names_are_sorted_and_exist() -> None:
    assert trace_gym.__all__ == sorted(trace_gym.__all__)
    assert all(getattr(trace_gym, name) for name in trace_gym.__all__)


def test_import_is_light() -> None:
    """Neither pydantic nor jsonschema, let alone torch, comes with the import; gymnasium's ids do."""
    code = (
        "import sys, trace_gym, gymnasium; "
        "heavy = {'torch', 'transformers', 'pydantic', 'jsonschema', 'openai', 'hypothesis'} & {*sys.modules}; "
        "own = [m for m in sys.modules if m.startswith('trace_gym.generated_envs.')]; "
        "print(sorted(heavy), own, 'trace/tau2-mixture-v0' in gymnasium.registry)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["[]", "[]", "True"]


def test_a_folder_is_found_listed_and_registered(user_folder: Path) -> None:
    assert {TOY, "twin_loans"} <= {*registry.list_environments()}
    assert "toy_mixture" in registry.list_mixtures()
    assert registry.gym_id(TOY) == GYM_ID
    assert {GYM_ID, "trace/toy-mixture-v0"} <= gymnasium.registry.keys()
    assert registry.name_of(GYM_ID) == registry.name_of(TOY) == registry.name_of(f"trace_gym:{GYM_ID}") == TOY
    assert registry.module_path(TOY) == user_folder / f"{TOY}.py"
    world = registry.load_world(TOY)
    assert (world.id, world.__module__) == (TOY, f"trace_gym.generated_envs.{TOY}")
    assert registry.load_world(GYM_ID) is world


def test_an_environment_of_a_folder_is_imported_like_one_that_ships(user_folder: Path) -> None:
    """As a pickle does that arrives before the environment is loaded; loading it then makes no second copy."""
    name = f"trace_gym.generated_envs.{TOY}"
    sys.modules.pop(name, None)
    modules._worlds.pop(TOY, None)
    imported = import_module(name)
    assert imported.__file__ == str(user_folder / f"{TOY}.py")
    assert registry.load_world(TOY) is imported.LibraryLoans


def test_adding_a_folder_twice_changes_nothing(user_folder: Path) -> None:
    before = os.environ[VARIABLE]
    assert TOY in registry.add_folder(user_folder / ".." / user_folder.name)
    assert os.environ[VARIABLE] == before


def test_a_folder_that_goes_takes_its_ids_along(user_folder: Path) -> None:
    del os.environ[VARIABLE]
    registry.refresh()
    assert TOY not in registry.list_environments()
    assert GYM_ID not in gymnasium.registry


def test_admit_states_what_the_module_is(user_folder: Path) -> None:
    card = registry.manifest(TOY)
    assert (card.id, card.levels, card.author, card.capability) == (TOY, 3, "hand", "resolve_before_write")
    assert card.fingerprint == registry.fingerprint(registry.load_world(TOY))
    assert sorted(p.name for p in user_folder.iterdir()) == [
        f"{TOY}.json",
        f"{TOY}.py",
        "toy_mixture.json",
        "twin_loans.json",
        "twin_loans.py",
    ]


def test_admit_again_keeps_the_version(user_folder: Path) -> None:
    path = user_folder / f"{TOY}.json"
    path.write_text(path.read_text().replace('"version": 0', '"version": 4'))
    registry.refresh()
    assert registry.gym_id(TOY) == "trace/library-loans-v4"
    assert GYM_ID not in gymnasium.registry
    assert registry.admit(TOY, PASSED, author="hand", describe=describe).version == 4
    with pytest.raises(EnvNotFound, match="library-loans-v4"):
        registry.name_of(GYM_ID)


def test_admit_again_keeps_the_origin_of_an_unchanged_module(user_folder: Path) -> None:
    spec = Spec(id=TOY, capability="c", target="t", title="Loans", rationale="", tools=(), levels=("a",), blueprint="b")
    first = registry.admit(TOY, PASSED, author="me", spec=spec, template_sha256="ab", describe=describe)
    assert first.title == "Loans"
    assert registry.admit(TOY, PASSED, author="hand", describe=describe) == first
    with (user_folder / f"{TOY}.py").open("a") as module:
        module.write("# edited\n")
    edited = registry.admit(TOY, PASSED, author="hand", describe=describe)
    assert (edited.author, edited.spec, edited.template_sha256) == ("hand", None, "")


def test_an_edited_hand_written_module_keeps_its_spec(user_folder: Path) -> None:
    spec = Spec(id=TOY, capability="c", target="t", title="Loans", rationale="", tools=(), levels=("a",))
    registry.admit(TOY, PASSED, author="hand", spec=spec, describe=describe)
    with (user_folder / f"{TOY}.py").open("a") as module:
        module.write("# edited\n")
    assert registry.admit(TOY, PASSED, author="hand", describe=describe).spec == spec


def test_an_edited_module_of_a_language_model_keeps_its_origin(user_folder: Path) -> None:
    spec = Spec(id=TOY, capability="c", target="t", title="Loans", rationale="", tools=(), levels=("a",), blueprint="b")
    origin = Origin(model="m", rounds=1, requests=2, prompt_tokens=0, completion_tokens=0)
    first = registry.admit(TOY, PASSED, author="llm:m", spec=spec, origin=origin, describe=describe)
    for n in range(2):
        with (user_folder / f"{TOY}.py").open("a") as module:
            module.write(f"# edit {n}\n")
        edited = registry.admit(TOY, PASSED, author="hand", describe=describe)
        assert (edited.author, edited.spec, edited.spec_sha256) == ("llm:m", spec, spec.sha256)
        assert edited.origin == origin.model_copy(update={"module_sha256": first.module_sha256})


def test_a_fingerprint_sees_a_generator_that_drifts(user_folder: Path) -> None:
    module = user_folder / f"{TOY}.py"
    before = registry.fingerprint(registry.load_world(TOY))
    module.write_text(module.read_text().replace("k=4", "k=5"))
    assert registry.fingerprint(registry.world_at(module)) != before


def test_an_edited_module_is_refused_with_both_hashes(user_folder: Path) -> None:
    module = user_folder / f"{TOY}.py"
    admitted = registry.manifest(TOY).module_sha256
    registry.load_world(TOY)
    module.write_text(module.read_text() + "\n# edited\n")
    with pytest.raises(TamperedEnv, match=f"trace-gym validate {TOY} --admit") as refused:
        registry.load_world(TOY)
    assert admitted in str(refused.value)
    found = registry.admit(TOY, PASSED, author="hand", describe=describe).module_sha256
    assert found in str(refused.value)
    assert registry.load_world(TOY)


def test_a_new_version_of_a_module_is_what_loads(user_folder: Path) -> None:
    """Also within one second and at the same length, where a bytecode cache would not notice."""
    module = user_folder / f"{TOY}.py"
    registry.load_world(TOY)
    module.write_text(module.read_text().replace("max_turns = 12", "max_turns = 13"))
    registry.admit(TOY, PASSED, author="hand", describe=describe)
    assert registry.load_world(TOY).max_turns == 13
    assert pickle.loads(pickle.dumps(registry.load_world(TOY))) is registry.load_world(TOY)


def test_what_did_not_pass_is_refused(user_folder: Path) -> None:
    finding = Finding(code="V05", property="oracle succeeds", verdict="failed", message="it does not")
    registry.admit(TOY, Report(passed=False, findings=(finding,), scenarios=3), author="hand", describe=describe)
    with pytest.raises(TamperedEnv, match="V05 oracle succeeds.*trace-gym validate"):
        registry.load_world(TOY)


def test_an_unknown_name_lists_near_matches(user_folder: Path) -> None:
    with pytest.raises(EnvNotFound, match=f"did you mean {TOY}"):
        registry.load_world("libary_loan")
    with pytest.raises(EnvNotFound, match="no environment is called"):
        registry.load_world("trace/nothing-like-it-v0")
    with pytest.raises(EnvNotFound):
        registry.load_world("../etc/passwd")


def test_a_module_without_a_manifest_says_how_to_admit_it(user_folder: Path) -> None:
    (user_folder / f"{TOY}.json").unlink()
    registry.refresh()
    with pytest.raises(EnvNotFound, match=f"has no manifest.*trace-gym validate {TOY} --admit"):
        registry.load_world(TOY)
    assert registry.module_path(TOY).is_file()
    assert registry.admit(TOY, PASSED, author="hand", describe=describe).id == TOY
    assert registry.load_world(TOY).id == TOY


def test_two_files_of_one_id_are_refused_naming_both(user_folder: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    shutil.copytree(user_folder, second)
    with pytest.raises(DuplicateEnv) as refused:
        registry.add_folder(second)
    assert str(user_folder / f"{TOY}.py") in str(refused.value)
    assert str(second / f"{TOY}.py") in str(refused.value)
    assert str(second) not in os.environ[VARIABLE]
    assert registry.load_world(TOY)  # what was there before still works
    os.environ[VARIABLE] += os.pathsep + str(second)
    registry.refresh()
    with pytest.raises(DuplicateEnv):
        registry.load_world(TOY)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": 3}', '{"id": "library_loans", "version": -1}'])
def test_a_broken_manifest_is_named_and_breaks_nothing_else(user_folder: Path, content: str) -> None:
    (user_folder / f"{TOY}.json").write_text(content)
    registry.refresh()
    with pytest.raises(ReadError, match=f"{TOY}.json"):
        registry.load_world(TOY)
    assert registry.load_world("twin_loans")


def test_a_card_of_another_environment_is_refused(user_folder: Path) -> None:
    shutil.copy(user_folder / "twin_loans.json", user_folder / f"{TOY}.json")
    with pytest.raises(ReadError, match="found 'twin_loans', expected 'library_loans'"):
        registry.load_world(TOY)


@pytest.mark.parametrize("source", ["import nothing_of_the_kind", "x = (", "x = 1", "raise SystemError('no')"])
def test_a_module_that_cannot_load_is_a_bug_of_its_own(tmp_path: Path, source: str) -> None:
    (tmp_path / "broken.py").write_text(source)
    with pytest.raises(EnvBug, match="broken.py cannot be loaded"):
        registry.world_at(tmp_path / "broken.py")
    assert "trace_gym.generated_envs.broken" not in sys.modules


def test_missing_files_and_folders_are_read_errors(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="is not a folder"):
        registry.add_folder(tmp_path / "nowhere")
    with pytest.raises(ReadError, match="cannot read .*nowhere.py"):
        registry.admit(tmp_path / "nowhere.py", PASSED, author="hand", describe=describe)


def test_levels_must_count_from_zero(user_folder: Path) -> None:
    module = user_folder / f"{TOY}.py"
    module.write_text(module.read_text().replace("range(3)", "range(1, 4)"))
    with pytest.raises(ConfigError, match=r"range\(1, 4\)"):
        registry.admit(TOY, PASSED, author="hand", describe=describe)


def test_scenarios_take_turns_at_levels_and_tile_a_split(user_folder: Path) -> None:
    both = registry.scenarios(TOY, "validate", 10)
    assert both == registry.scenarios(TOY, "validate", 4) + registry.scenarios(TOY, "validate", 6, offset=4)
    assert [s.level for s in both] == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    assert {registry.split_of(s) for s in both} == {"validate"}
    assert str(registry.scenarios(GYM_ID, n=2, levels=[2])[1]) == f"{TOY}/2/1"


def test_splits_are_disjoint_and_bounded(user_folder: Path) -> None:
    ends = sorted((seeds.start, seeds.stop) for seeds in registry.SPLITS.values())
    assert all(left[1] == right[0] for left, right in pairwise(ends))
    with pytest.raises(ScenarioError, match="does not belong to a split"):
        registry.split_of(Scenario(env=TOY, level=0, seed=10**9))
    with pytest.raises(ConfigError, match="unknown split: found 'tests'"):
        registry.scenarios(TOY, "tests")
    with pytest.raises(ConfigError, match="has 1000000 seeds"):
        registry.scenarios(TOY, "test", n=2, offset=999_999)
    with pytest.raises(ScenarioError, match="levels 0 to 2"):
        registry.scenarios(TOY, levels=[3])
    with pytest.raises(ScenarioError, match="found no level"):
        registry.scenarios(TOY, levels=[])


def test_new_environments_go_to_the_last_folder(user_folder: Path) -> None:
    assert registry.home() == user_folder
    del os.environ[VARIABLE]
    assert registry.home() == Path(__file__).parents[1] / "generated_envs"


def test_an_installed_package_is_no_home(clean_registry: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("trace_gym.registration._PACKAGED", tmp_path / "site" / "generated_envs")
    with pytest.raises(ConfigError, match="--out or in the environment variable TRACE_GYM_ENVS"):
        registry.home()


def test_a_mixture_resolves_by_weight_and_always_alike(user_folder: Path) -> None:
    asked = registry.scenarios("toy_mixture", "train", 400)
    parts = [registry.part_of(s) for s in asked]
    assert parts == [registry.part_of(s) for s in asked]
    assert [(p.level, p.seed) for p in parts] == [(s.level, s.seed) for s in asked]
    drawn = [
        {registry.part_of(Scenario(env="toy_mixture", level=n, seed=seed)).env for n in range(3)} for seed in range(20)
    ]
    assert any(len(parts) > 1 for parts in drawn)  # another level is another draw
    share = Counter(p.env for p in parts)
    assert 270 < share[TOY] < 330  # three of four; the binomial's standard deviation is 9
    episode = registry.start_episode(asked[0])
    assert episode.scenario == parts[0]
    assert episode.state_hash == registry.start_episode(parts[0]).state_hash


def test_a_mixture_is_no_environment(user_folder: Path) -> None:
    with pytest.raises(EnvNotFound, match="is a mixture of"):
        registry.load_world("toy_mixture")
    with pytest.raises(EnvNotFound, match="not a mixture"):
        registry.mixture(TOY)
    with pytest.raises(ScenarioError, match="levels 0 to 2"):
        registry.start_episode("toy_mixture/3/0")


@pytest.mark.parametrize("parts", [{}, {TOY: 0}, {TOY: -1}, {TOY: "many"}, {TOY: float("nan")}])
def test_a_mixture_of_nothing_is_refused(user_folder: Path, parts: dict[str, object]) -> None:
    (user_folder / "toy_mixture.json").write_text(json.dumps({"id": "toy_mixture", "mixture": parts}))
    registry.refresh()
    with pytest.raises(ReadError, match=r"toy_mixture\.json"):
        registry.mixture("toy_mixture")


def test_a_mixture_of_unknown_parts_names_them(user_folder: Path) -> None:
    (user_folder / "toy_mixture.json").write_text(json.dumps({"id": "toy_mixture", "mixture": {"absent": 1}}))
    with pytest.raises(EnvNotFound, match="absent"):
        registry.start_episode("toy_mixture/0/0")


def test_the_shipped_mixture_can_be_read() -> None:
    assert len(registry.mixture("tau2_mixture").mixture) == 4


def _play(sent: Episode) -> tuple[str, str, type[World]]:
    """In a spawned process: go on with an episode that came by pickle, beside a new one."""
    for step in list(sent.start.oracle())[sent.turns :]:
        sent.step(step)
    again = registry.start_episode(sent.scenario)
    assert type(again.world) is type(sent.world)
    return sent.state_hash, again.state_hash, type(sent.world)


def test_a_spawned_worker_finds_the_folder_and_goes_on(user_folder: Path) -> None:
    episode = registry.start_episode(f"{TOY}/1/7")
    start, steps = episode.state_hash, list(episode.start.oracle())
    episode.step(steps[0])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        end, fresh, world = pool.apply(_play, (episode,))
    assert (fresh, world) == (start, type(episode.world))
    for step in steps[1:]:
        episode.step(step)
    assert end == episode.state_hash


SHIPPED = sorted(p.stem for p in (Path(__file__).parents[1] / "generated_envs").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_admitted_and_generates_what_it_did(name: str) -> None:
    card = registry.manifest(name)
    assert registry.fingerprint(registry.load_world(name)) == card.fingerprint
    assert card.report.passed and {f.code for f in card.report.findings} == PROPERTIES.keys()


def test_the_parts_of_what_ships_exist() -> None:
    for mixture in registry.list_mixtures():
        assert registry.level_count(mixture) > 0


def test_rollouts_look_up_an_environment_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    lookup = registry.environment
    monkeypatch.setattr(registry, "environment", lambda name: looked_up.append(name) or lookup(name))
    made = rollout(Oracle(), registry.scenarios("tau2_precondition", n=5), progress=False)
    assert [t.success for t in made] == [True] * 5
    assert looked_up == ["tau2_precondition"]

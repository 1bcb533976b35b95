"""A fourth target: one package outside trace_gym that defines a target, a reader of results and an environment."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from conftest import PASSED
from recorded_author import PARTS, PLAN, Parrot, block
from snippets import shell

from trace_gym import domains, registry
from trace_gym.diagnosis.reference import compare_with_reference
from trace_gym.diagnosis.rules import RULES
from trace_gym.errors import ConfigError, DuplicateEnv
from trace_gym.policies.scripted import Oracle
from trace_gym.rollouts import play
from trace_gym.route.options import description_of
from trace_gym.sandbox import describe
from trace_gym.sandbox.linter import lint
from trace_gym.synthesis import ValidationConfig
from trace_gym.synthesis.synthesize_many import SynthesisRequest, write_all
from trace_gym.target_packages import TARGETS_VARIABLE
from trace_gym.targets import catalogue
from trace_gym.targets.results import read_results
from trace_gym.types import Call, Capability, Manifest, Scenario
from trace_gym.validation import validate

NAME, TARGET, ENV = "lending_library", "lending_city", "lending_loans"
SOURCE = Path(__file__).parent / "target_package" / NAME
CAPABILITY = Capability(
    name="resolve_before_write",
    description="Take back late books first.",
    coverage=0.3,
    er_failed=None,
    er_passed=None,
    gap=None,
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the registered package, whose environment is admitted."""
    folder = shutil.copytree(SOURCE, tmp_path_factory.mktemp("packages") / NAME)
    assert catalogue.add_package(str(folder)) == [TARGET]
    registry.admit(folder / "environments" / f"{ENV}.py", PASSED, author="hand", describe=describe)
    yield folder
    del os.environ[TARGETS_VARIABLE]
    registry.refresh()
    for name in [n for n in sys.modules if n.partition(".")[0] == NAME]:
        del sys.modules[name]


def test_environments_of_the_package_are_registered(package: Path) -> None:
    assert registry.list_environments(target=TARGET) == [ENV]
    assert registry.manifest(ENV).target == TARGET
    env: Any = gymnasium.make("trace/lending-loans-v0")
    env.reset(seed=3)
    scenario = Scenario(env=ENV, level=2, seed=3)
    assert play(Oracle(), registry.start_episode(scenario)).score.success


def test_other_processes_find_the_package(package: Path, tmp_path: Path) -> None:
    said = shell(
        f"trace-gym list\ntrace-gym rollout {ENV} --policy oracle -n 4 --out a.jsonl\ntrace-gym diagnose a.jsonl",
        tmp_path,
        **{TARGETS_VARIABLE: str(package)},
    )
    assert "trace/lending-loans-v0" in said
    assert {json.loads(line)["success"] for line in (tmp_path / "a.jsonl").read_text().splitlines()} == {True}


def test_modules_that_are_not_admitted_run_in_the_sandbox(package: Path, tmp_path: Path) -> None:
    module = tmp_path / f"{ENV}.py"
    shutil.copy(package / "environments" / f"{ENV}.py", module)
    report = validate(module, profile="quick", only=["TG001", "TG102", "TG106", "TG201", "TG401"])
    assert report.passed, report.findings


def test_environments_import_only_the_modules_that_the_target_offers(package: Path) -> None:
    text = (package / "environments" / f"{ENV}.py").read_text()
    assert lint(text) == []
    first, *_ = lint(text.replace("from lending_library.desk import", "from lending_library.results import"))
    assert "lending_library.desk" in first.message


def test_results_are_read_and_labeled_with_the_roles_of_the_target(package: Path, tmp_path: Path) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "lend", "arguments": '{"copy": "c1", "card": "bo"}'}}
    messages = [
        {"role": "user", "content": "Card ada, please lend me c1."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "lent c1 to bo"},
    ]
    expected = [["lend", {"copy": "c1", "card": "ada"}], ["take_back", {"copy": "c2"}]]
    log = {"agent": "some-agent", "visits": [{"served": False, "messages": messages, "expected": expected}]}
    (tmp_path / "visits.json").write_text(json.dumps(log))
    for place in (tmp_path / "visits.json", tmp_path):
        [visit] = read_results(place)
        assert (visit.model, visit.success, visit.gold and visit.gold[0]) == (
            "some-agent",
            False,
            Call("lend", {"copy": "c1", "card": "ada"}),
        )
    seen = compare_with_reference(visit)
    assert seen is not None and seen.roles == catalogue.target(TARGET).roles
    labels = {name: rule(seen) for name, rule in RULES.items()}
    assert labels["structured_data_reasoning"] == "LACKING"  # the card is a selector of this target
    assert labels["multi_step_completion"] == "LACKING"


def test_domains_and_descriptions_are_those_of_the_target(package: Path) -> None:
    assert "city" in domains.domains()
    assert domains.in_domain(ENV, "city") == ENV
    assert description_of(registry.manifest(ENV)).startswith("Take back the late books")


def test_language_models_write_environments_for_the_target(package: Path, tmp_path: Path, clean_registry: None) -> None:
    registry.add_folder(tmp_path)
    text = (package / "environments" / f"{ENV}.py").read_text().replace("LendingLoans", "LendingResolveBeforeWrite")
    lines = [x for x in text.splitlines() if not x.strip().startswith(("id =", "capability =", "levels ="))]
    plan = PLAN | {"tools": ["search", "lend", "take_back"]}
    parrot = Parrot([json.dumps(plan), block("\n".join(lines))])
    validation = ValidationConfig("quick", budget=300, workers=1, only=PARTS)
    done = write_all(SynthesisRequest([CAPABILITY], TARGET, parrot, tmp_path, validation), 1, print)
    card = done[CAPABILITY.name]
    assert isinstance(card, Manifest), card
    assert (card.id, card.target) == ("lending_resolve_before_write", TARGET)
    asked = "\n".join(str(message) for request in parrot.asked for message in request.messages)
    assert "class LendingDesk(World)" in asked and "from lending_library.desk import" in asked
    assert "reservation" not in asked.partition("class LendingDesk")[2].partition("```")[0]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (None, "cannot be found"),
        ("import no_such_module", "cannot be imported: ModuleNotFoundError"),
        ("TARGETS = ['lending']", "TARGETS is not valid: found .'lending'"),
        (
            "from trace_gym.targets.catalogue import TARGETS as all\nTARGETS = tuple(all.values())",
            "a target with this name already exists|refers to modules in another package",
        ),
    ],
)
def test_packages_that_are_not_valid_are_not_registered(
    code: str | None, problem: str, tmp_path: Path, clean_registry: None
) -> None:
    folder = tmp_path / "broken_library"
    if code is not None:
        folder.mkdir()
        (folder / "__init__.py").write_text(code)
    before = os.environ.get(TARGETS_VARIABLE, "")
    sys.modules.pop("broken_library", None)
    with pytest.raises(ConfigError, match=problem):
        catalogue.add_package(str(folder))
    assert os.environ.get(TARGETS_VARIABLE, "") == before
    assert "tau2_airline" in catalogue.registered()


def test_a_package_whose_environment_has_a_taken_name_is_not_registered(
    tmp_path: Path, user_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(SOURCE, tmp_path / "other_library")
    for file in ("library_loans.py", "library_loans.json"):
        shutil.copy(user_folder / file, folder / "environments")
    with pytest.raises(DuplicateEnv, match="library_loans"):
        catalogue.add_package(str(folder))
    assert registry.manifest("library_loans").id == "library_loans"
    assert importlib.util.find_spec("other_library") is None

"""A target of the user's own: three files become a folder, a base world, and an environment on it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from parcel_depot import DATA, EPISODES, POLICY, begun, run
from recorded_author import PARTS, PLAN, Parrot, block
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, ReadError, TamperedEnv
from trace_gym.policies.scripted import Oracle
from trace_gym.registration import VARIABLE
from trace_gym.rollouts import play
from trace_gym.sandbox.linter import lint
from trace_gym.synthesis import ValidationConfig, base_world, slots
from trace_gym.synthesis.admission import CANDIDATES
from trace_gym.synthesis.sandbox_inputs import require_comparisons, sandbox_inputs
from trace_gym.synthesis.synthesize_many import SynthesisRequest, write_all
from trace_gym.targets import catalogue
from trace_gym.targets.user import bases, folder
from trace_gym.targets.user.check import check
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.types import Capability, Finding, Manifest, Report
from trace_gym.validation import ValidationInputs, validate

BASE, ENVIRONMENT = (DATA / "base.py").read_text(), (DATA / "environment.py").read_text()
HOSTILE = BASE.replace("return dict(self.parcel(parcel_id))", "return vars(self.__class__)")
LYING = BASE.replace("DAILY * max(0, days - FREE_DAYS)", "DAILY * days")
ENV = "parcel_depot_precondition_verification"
CAPABILITY = Capability(
    name="precondition_verification",
    description="Look before you hand over.",
    coverage=0.3,
    er_failed=None,
    er_passed=None,
    gap=None,
)


@dataclass
class Made:
    """Result of one run from three files to an environment."""

    home: TargetFolder
    parrot: Parrot
    said: list[str]
    card: Manifest


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Three versions of the base world (hostile, lying, good), then the environment."""
    for name in [n for n in sys.modules if n.endswith("parcel_depot_base")]:  # another test's
        del sys.modules[name]
    home, before = begun(tmp_path_factory.mktemp("targets") / "parcel_depot"), os.environ.get(VARIABLE)
    registry.add_folder(home.path)
    parrot, said = Parrot([*map(block, (HOSTILE, LYING, BASE)), json.dumps(PLAN), block(ENVIRONMENT)]), list[str]()
    validation = ValidationConfig("quick", budget=300, workers=1, only=PARTS)
    try:
        done = write_all(SynthesisRequest([CAPABILITY], home.name, parrot, home.path, validation), 1, said.append)
    finally:
        os.environ.pop(VARIABLE)
        os.environ |= {VARIABLE: before} if before else {}
        registry.refresh()
    card = done[CAPABILITY.name]
    assert isinstance(card, Manifest), f"{card}: {said}"
    return Made(home, parrot, said, card)


@pytest.fixture
def own(made: Made, tmp_path: Path, clean_registry: None) -> TargetFolder:
    """A copy of the finished target, which is searched."""
    place = shutil.copytree(made.home.path, tmp_path / "parcel_depot")
    registry.add_folder(place)
    return folder.read(place)


@pytest.fixture
def fresh(tmp_path: Path, clean_registry: None) -> TargetFolder:
    """A target without a base world, which is searched."""
    home = begun(tmp_path / "parcel_depot")
    registry.add_folder(home.path)
    return home


# From three files to a folder


# What is missing or wrong


def notes(home: TargetFolder) -> dict[str, str]:
    """Return the problems that the check reports, each with its fix."""
    return {note.message: note.fix for note in check(folder.read(home.path)) if note.level != "fine"}


def test_check_tells_what_is_open(fresh: TargetFolder) -> None:
    code, told = run("target", "check", fresh.path)
    assert code == 0 and "3 failed and 7 successful" in told and "5 kinds are guessed" in told
    assert f"trace-gym synthesize --target {fresh.path}" in told and "wrong" not in told
    settings = fresh.path / "target.yaml"
    settings.write_text(settings.read_text().replace("?\n", "\n"))
    assert [message for message in notes(fresh)] == ["there is no base world yet"]


@pytest.mark.parametrize(
    ("name", "old", "new", "message", "fix"),
    [
        ("tools.json", "find_parcels", "find parcels", "'find parcels' holds white space", "renames"),
        ("tools.json", "find_parcels", "x" * 65, "has 65 characters, expected at most 64", "renames"),
        ("tools.json", '"extra_days": {', '"parcel-id": {}, "extra_days": {', "both 'parcel_id' in Python", "renames"),
        ("tools.json", '"type": "integer"', '"type": "whole"', "is not valid under any", "correct the schema"),
        ("tools.json", '"name": "get_parcel"', '"name": "hand_over"', "2 tools called hand_over", "keep one"),
        ("tools.json", '"name": "get_parcel"', '"name": "get_box"', "call get_parcel (", "add the tools"),
        ("tools.json", '"name": "get_parcel"', '"name": "get_box"', "never called in the episodes: get_box", "record"),
        ("tools.json", '"extra_days": {', '"days": {', "unknown argument 'extra_days'", "correct tools.json"),
        ("target.yaml", "get_parcel: read?", "get_box: read?", "has kinds of get_box", "delete the line"),
        ("target.yaml", "get_parcel: read?", "get_parcel: reads", "has the kind 'reads'; expected", "get_parcel: read"),
        ("policy.md", POLICY.read_text(), "\n", "policy.md is empty", "write down"),
        ("trajectories.jsonl", '"success":false', '"success":true', "0 failed and 10 successful", "by hand"),
        ("trajectories.jsonl", '{"id"', '{"ids"', "line 1 is not a valid trajectory", ""),
    ],
)  # fmt: skip
def test_check_tells_what_is_wrong(name: str, old: str, new: str, message: str, fix: str, fresh: TargetFolder) -> None:
    place = fresh.path / name
    assert old in place.read_text()
    place.write_text(place.read_text().replace(old, new))
    found = {s: m for s, m in notes(fresh).items() if message in s}
    assert len(found) == 1 and fix in next(iter(found.values())), notes(fresh)


def test_a_folder_that_is_no_target_says_how_to_make_one(tmp_path: Path, fresh: TargetFolder) -> None:
    code, told = run("target", "check", tmp_path)
    assert code and "trace-gym target init" in told
    (fresh.path / "target.yaml").write_text("name: Depot\n")
    with pytest.raises(ReadError, match="target.yaml is not valid: name: String should match"):
        folder.read(fresh.path)
    with pytest.raises(ConfigError, match="no target 'depot'.*TRACE_GYM_ENVS.*built-in targets are tau2_airline"):
        catalogue.target("depot")


# The base world and its environment


@pytest.mark.slow
def test_a_base_world_is_written_mended_and_admitted(made: Made) -> None:
    purposes = [request.purpose for request in made.parrot.asked]
    name = "parcel_depot_base"
    assert purposes == [f"write {name}", f"repair 1 {name}", f"repair 2 {name}", f"plan {ENV}", f"write {ENV}"]
    verdicts = [line.partition(": ")[2] for line in made.said if "version" in line]
    assert (
        verdicts[0].startswith("not run: attribute, builtin, dunder. First error: line ")
        and verdicts[1] == "fails TG413"
    )
    assert [verdict.split()[0] for verdict in verdicts[2:]] == ["passed", "passed"]
    assert made.parrot.loaded == [False, False, False, True, True]  # nothing but the sandbox ran it before
    card = bases.card_of(made.home)
    assert card is not None and card.report.passed and card.author == "llm:parrot" and card.target == "parcel_depot"
    assert {f.code for f in card.report.findings} == {*base_world.CODES} and card.origin and card.origin.rounds == 3
    metrics = next(f.metrics for f in card.report.findings if f.code == "TG413")
    assert (metrics["calls_hand_over"], metrics["computable_hand_over"], metrics["values_storage_fee"]) == (8, 6, 1)
    asked = str(made.parrot.asked[2].messages[-1]["content"])
    assert "### TG413" in asked and "storage_fee: fee differs in its value" in asked and "recorded {" in asked
    assert (made.home.path / "base" / CANDIDATES / name / "round-1" / "diagnostics.md").is_file()


@pytest.mark.slow
def test_the_author_reads_the_target_and_not_all_of_its_episodes(made: Made) -> None:
    asked = str(made.parrot.asked[0].messages[-1]["content"])
    assert (
        made.home.policy in asked
        and "class TargetWorld(ScriptedUser)" in asked
        and "class ScriptedUser(QuestionAnswering)" in asked
        and "class UserAnswers(World)" in asked
        and 'get_parcel {"parcel_id": "P9042"}' in asked
    )
    assert "Error: unknown parcel P9042" in asked and all(f"- {code} " in asked for code in base_world.CODES)
    assert "P1101" in EPISODES.read_text() and "P1101" not in asked
    planned, written = (str(r.messages[-1]["content"]) for r in made.parrot.asked[3:])
    assert "write `hand_over(parcel_id: string, paid: number)`" in planned
    assert "class ParcelDepotBase(TargetWorld)" in written and "import DAILY, FREE_DAYS, ParcelDepotBase" in written


def test_the_environment_stands_on_the_base_world(made: Made, own: TargetFolder) -> None:
    card = registry.manifest(ENV)
    assert card == made.card and card.target == "parcel_depot" and card.report.passed
    assert card.base_sha256 == bases.card_of(own).module_sha256  # type: ignore[union-attr]
    replayed = next(f for f in card.report.findings if f.code == "TG413")
    assert replayed.verdict == "passed" and replayed.metrics["computable_hand_over"] == 6
    done = [play(Oracle(), registry.start_episode(f"{ENV}/{level}/5")) for level in range(3)]
    assert all(e.score and e.score.success for e in done)
    assert done[0].messages[0]["content"] == own.interface.system_prompt
    world = registry.load_world(ENV)
    assert catalogue.target("parcel_depot").world in world.__mro__
    assert sys.modules[bases.module_of(own)].__file__ == str(own.base_module)
    code, told = run("target", "check", own.path)
    assert code == 0 and "admitted, by llm:parrot" in told and "hand_over: 6 of 8 recorded calls compared, 100%" in told


def test_an_admitted_base_world_is_not_written_again(own: TargetFolder) -> None:
    assert base_world.write_base(own, Parrot([])) == bases.card_of(own)
    done = CliRunner().invoke(
        app, ["synthesize", "--target", str(own.path), "--author", "llm", "--llm", f"files:{own.path / 'desk'}"]
    )
    assert done.exit_code == 0 and "parcel_depot_base, by llm:parrot, is the base world" in done.output


def test_another_base_world_is_refused(own: TargetFolder) -> None:
    text = own.base_module.read_text()
    own.base_module.write_text(text.replace("FREE_DAYS = 7", "FREE_DAYS = 9"))
    with pytest.raises(TamperedEnv, match=f"target check {own.path} --admit"):
        registry.load_world(ENV)
    with pytest.raises(TamperedEnv, match="its manifest expects"):
        base_world.write_base(own, Parrot([]))
    assert any("has sha256" in message for message in notes(own))
    card = bases.card_of(own)
    assert card is not None
    other = card.model_copy(update={"module_sha256": registry.sha256(own.base_module.read_bytes())})  # as if admitted
    own.base_module.with_suffix(".json").write_text(other.model_dump_json())
    with pytest.raises(TamperedEnv, match="was validated on a base world with sha256"):
        registry.load_world(ENV)


def test_a_base_world_is_refused_when_the_tools_have_changed(own: TargetFolder) -> None:
    place = own.path / "tools.json"
    place.write_text(place.read_text().replace('"damaged"', '"broken"'))
    with pytest.raises(TamperedEnv, match="the tools of parcel_depot have changed"):
        registry.load_world(ENV)


def test_more_episodes_are_to_be_compared_again(own: TargetFolder) -> None:
    place = own.path / "trajectories.jsonl"
    place.write_text(place.read_text().partition("\n")[0] + "\n")
    assert "target check" in next(fix for message, fix in notes(own).items() if "has changed since" in message)


def test_an_environment_needs_its_target(own: TargetFolder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "envs"
    elsewhere.mkdir()
    for suffix in (".py", ".json"):
        shutil.move(own.path / f"{ENV}{suffix}", elsewhere)
    os.environ[VARIABLE] = str(elsewhere)
    registry.refresh()
    with pytest.raises(
        ConfigError, match="Add its folder, which contains target.yaml, to the environment variable TRACE_GYM_ENVS"
    ):
        registry.load_world(ENV)
    registry.add_folder(own.path)
    assert registry.load_world(ENV).id == ENV


def test_a_base_world_of_ones_own_is_left_alone_until_it_is_checked(fresh: TargetFolder) -> None:
    fresh.base_module.parent.mkdir()
    fresh.base_module.write_text(BASE)
    with pytest.raises(TamperedEnv, match=r"no admitted base world.*target check .* --admit"):
        base_world.write_base(fresh, Parrot([]))
    code, told = run("target", "check", fresh.path)
    assert code == 1 and "no admitted base world" in told
    fresh.base_module.write_text(HOSTILE)
    code, told = run("target", "check", fresh.path, "--admit")
    assert code == 1 and "before it was run" in told and "__class__" in told


def test_nothing_is_asked_of_a_model_while_the_files_are_wrong(fresh: TargetFolder) -> None:
    (fresh.path / "policy.md").write_text("")
    with pytest.raises(ConfigError, match="policy.md is empty"):
        base_world.write_base(folder.read(fresh.path), Parrot([]))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("def storage_fee", "def fees", "lacks the method storage_fee"),
        ("def parcel(self", "def as_recorded(self", "defines as_recorded, which must be inherited"),
        ("def knows(self, call, shown)", "def knows(self, call)", "knows has the parameters self, call; expected"),
        ("from typing import Any, Self", "from trace_gym.targets.user.folder import find", "imports find"),
        ("from typing import Any, Self", "from trace_gym.targets.user.world import _replays", "imports _replays"),
    ],
)
def test_a_base_world_has_its_tools_and_no_more_than_it_is_offered(
    old: str, new: str, fault: str, fresh: TargetFolder
) -> None:
    plain = BASE.replace("call: Call, shown: Sequence[tuple[Call, Any]]) -> bool", "call, shown) -> bool")
    assert old in plain
    spec, form = base_world.base_spec(fresh), slots.base_contract(list(fresh.kinds))
    with pytest.raises(slots.InvalidModuleError, match=fault):
        slots.sort_into_slots(plain.replace(old, new), spec, catalogue.foundation(fresh), form)


@pytest.mark.parametrize(
    "line",
    [
        "from trace_gym.targets.user.folder import find",
        "from trace_gym.targets.user.replays import find",
        "from trace_gym.targets.user.world import _replays",
        "from trace_gym.targets.user import bases",
        "from trace_gym.targets.tau2.airline import AirlineDesk",
    ],
)
def test_the_gate_offers_a_base_world_its_parent_alone(line: str, fresh: TargetFolder) -> None:
    imports = sandbox_inputs(base_world.base_spec(fresh)).imports
    assert not lint(BASE, target_imports=imports)
    assert [f.rule for f in lint(f"{BASE}\n{line}\n", target_imports=imports)] == ["import"]


def test_the_gate_offers_an_environment_its_base_world(own: TargetFolder) -> None:
    spec = registry.manifest(ENV).spec
    assert spec is not None
    imports = sandbox_inputs(spec).imports
    assert not lint(ENVIRONMENT, target_imports=imports)
    text = ENVIRONMENT.replace("import ParcelDepotBase", "import ParcelDepotBase, TargetWorld, _replays")
    assert "does not export _replays" in lint(text, target_imports=imports)[0].message


# What replay proves


@pytest.mark.parametrize(
    ("metrics", "verdict", "fault"),
    [
        ({}, "skipped", "no recorded call was compared"),
        (
            {"get_parcel": 9, "storage_fee": 8, "hand_over": 7},
            "passed",
            "tool find_parcels: `knows` is true for none of 3",
        ),
        (
            dict.fromkeys(("find_parcels", "get_parcel", "storage_fee", "hand_over", "send_back"), 1),
            "passed",
            "`knows` is true for 5 of",
        ),
    ],
)
def test_base_world_that_can_replay_few_calls_fails(
    metrics: dict[str, int], verdict: str, fault: str, fresh: TargetFolder
) -> None:
    told = {f"computable_{tool}": float(count) for tool, count in metrics.items()}
    finding = Finding(code="TG413", property="replay-fidelity", verdict=verdict, message="so", metrics=told)  # type: ignore[arg-type]
    report = require_comparisons(Report(passed=True, findings=(finding,), scenarios=1), fresh)
    assert not report.passed and report.findings[0].verdict == "failed" and fault in report.findings[0].message


def test_fields_that_no_replay_can_repeat_are_exempt(own: TargetFolder) -> None:
    def alike(said: str) -> bool:
        settings = own.path / "target.yaml"
        settings.write_text(settings.read_text().replace("not_compared: {}", f"not_compared: {said}"))
        given = ValidationInputs(recordings=(str(own.path / "trajectories.jsonl"),))
        report = validate(world, profile="quick", only=("TG413",), given=given, progress=False)
        settings.write_text(settings.read_text().replace(f"not_compared: {said}", "not_compared: {}"))
        return report.passed

    lies = own.base_module.read_text().replace("days - FREE_DAYS", "days")
    place = own.path / "parcel_depot_base.py"
    place.write_text(lies)
    world = registry.world_at(place)
    assert not alike("{}") and alike("{storage_fee: [fee]}") and alike('{storage_fee: ["*"]}')


def test_write_prompt_states_what_the_tools_of_the_base_world_refuse(made: Made) -> None:
    prompt = str(made.parrot.asked[-1].messages[1]["content"])
    tools = prompt.partition("## Behavior of the tools")[2].partition("\n## ")[0]
    assert "- write `hand_over(parcel_id: string, paid: number)`" in tools
    refusal = "  - refused if self.parcel(parcel_id)['status'] != 'waiting': \"parcel {parcel_id} is no longer here\"\n"
    assert refusal in tools and "def hand_over" not in tools  # its code is among the target's modules
    assert "def hand_over" in prompt and '"What is the reason?": `' in prompt
    assert "The inherited method is: `World.needs`" in prompt

"""Optional settings of a custom target: roles of arguments, its domain, and descriptions of capabilities."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from trace_gym import domains, registry
from trace_gym.diagnosis.reference import compare_with_reference
from trace_gym.diagnosis.rules import RULES
from trace_gym.errors import ReadError
from trace_gym.targets import catalogue
from trace_gym.targets.user.check import check
from trace_gym.targets.user.folder import SETTINGS, read
from trace_gym.targets.user.start import init
from trace_gym.types import Call, Trajectory

DATA = Path(__file__).parent / "data" / "parcel_depot"
KINDS = {"find_parcels": "read", "get_parcel": "read", "hand_over": "write", "send_back": "write"}


@pytest.fixture
def depot(tmp_path: Path, clean_registry: None) -> Path:
    """The folder of a custom target, which is searched."""
    files = {"tools": DATA / "tools.json", "policy": DATA / "policy.md"}
    home = init(tmp_path / "parcel_depot", trajectories=[DATA / "episodes.jsonl"], **files)
    registry.add_folder(home.path)
    return home.path


def declare(depot: Path, **settings: object) -> None:
    """Add settings to the target."""
    file = depot / SETTINGS
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | settings))


def labels(gold: Call, made: Call) -> dict[str, str]:
    """Labels of an episode with one write call."""
    function = {"name": made.tool, "arguments": json.dumps(made.arguments)}
    call = {"id": "a", "type": "function", "function": function}
    messages = ({"role": "assistant", "content": None, "tool_calls": [call]},)
    seen = compare_with_reference(
        Trajectory(id="0", task="0", messages=messages, success=False, gold=(gold,), tools=KINDS)
    )
    assert seen is not None
    return {name: rule(seen) for name, rule in RULES.items()}


def test_roles_decide_which_capability_a_wrong_argument_lacks(depot: Path) -> None:
    gold, made = (Call("hand_over", {"parcel_id": "P1", "paid": paid}) for paid in (2, 3))
    declare(depot, entities=["parcel_id"])
    assert (labels(gold, made)["tool_precision"], labels(gold, made)["structured_data_reasoning"]) == ("LACKING", "NA")
    declare(depot, entities=["parcel_id"], selectors=["paid"])
    found = labels(gold, made)
    assert (found["tool_precision"], found["structured_data_reasoning"]) == ("NA", "LACKING")


def test_routine_writes_need_no_verification(depot: Path) -> None:
    call = Call("send_back", {"parcel_id": "P1"})
    declare(depot, entities=["parcel_id"])
    assert labels(call, call)["precondition_verification"] == "PRESENT"
    declare(depot, entities=["parcel_id"], routine=["send_back"])
    assert labels(call, call)["precondition_verification"] == "NA"


def test_domain_and_descriptions_are_those_of_the_folder(depot: Path) -> None:
    declare(depot, benchmark="depots", domain="harbor", capabilities={"care": "Handle parcels with care."})
    assert "harbor" in domains.domains()
    [target] = [t for t in catalogue.all_targets() if t.name == "parcel_depot"]
    assert (target.benchmark, target.descriptions) == ("depots", {"care": "Handle parcels with care."})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"entities": ["parcel"]}, "entities is not valid: found parcel"),
        ({"selectors": ["recipient_name"]}, "selectors is not valid"),
        ({"creates": ["get_parcel"]}, "creates is not valid: found get_parcel, expected a tool with the kind write"),
        ({"routine": ["fly"]}, "routine is not valid"),
    ],
)
def test_roles_of_unknown_names_are_wrong(depot: Path, settings: dict[str, list[str]], problem: str) -> None:
    declare(depot, **settings)
    wrong = [note.message for note in check(read(depot)) if note.level == "wrong"]
    assert any(problem in text for text in wrong), wrong


def test_a_benchmark_without_a_domain_is_refused(depot: Path) -> None:
    declare(depot, benchmark="depots")
    with pytest.raises(ReadError, match="benchmark and domain must be given together"):
        read(depot)

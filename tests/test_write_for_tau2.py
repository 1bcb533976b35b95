"""The page about environments for tau2: its module passes validation, and the members that it lists exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from snippets import ROOT, blocks, python, shell

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.modules import world_at
from trace_gym.sandbox.linter import lint
from trace_gym.targets.catalogue import TARGETS
from trace_gym.targets.tau2 import airline, policy, records, retail, retail_items
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.types import Call, Say, Scenario
from trace_gym.validation import validate

PAGE = "docs/guides/write_for_tau2.md"
MODULE, POLICY, REFUSALS = blocks(PAGE, "python")
(QUICK,) = blocks(PAGE, "bash")
TEXT = (ROOT / PAGE).read_text()


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """The module of the page in the folder `my_envs`."""
    path = tmp_path / "my_envs" / "tau2_compensation.py"
    path.parent.mkdir()
    path.write_text(MODULE)
    return path


@pytest.fixture
def episode(module: Path) -> Callable[[bool], Episode]:
    """A function that starts an episode in which a certificate is due or not due."""
    world = world_at(module)

    def start(due: bool) -> Episode:
        scenarios = (Scenario(env=world.id, level=1, seed=seed) for seed in range(100))
        episodes = (Episode(world, scenario) for scenario in scenarios)
        return next(e for e in episodes if bool(desk_of(e).certificate_due()) == due)

    return start


def desk_of(episode: Episode) -> AirlineDesk:
    """Return the start state of an episode."""
    assert isinstance(episode.start, AirlineDesk)
    return episode.start


@pytest.mark.slow
def test_module_passes_every_property(module: Path) -> None:
    report = validate(module, profile="quick", skip=["TG102"], engine="here", progress=False)
    assert [(f.code, f.message) for f in report.findings if f.verdict in ("failed", "unfinished")] == []


@pytest.mark.slow
def test_printed_command_validates_the_module_in_the_sandbox(module: Path) -> None:
    assert shell(QUICK, module.parents[1]).startswith("passed on ")


def test_module_obeys_the_rules_for_untrusted_modules_and_is_not_shipped() -> None:
    assert list(lint(MODULE)) == []
    assert len(MODULE.splitlines()) <= 100 and "tau2_compensation" not in registry.list_environments()


def test_printed_code_prints_the_policy_and_recognizes_refusals(tmp_path: Path) -> None:
    printed = python(f"{POLICY}\n{REFUSALS}", tmp_path)
    assert "## Certificates" in printed and "send_certificate ['user_id', 'amount']" in printed


def test_due_certificate_may_be_offered_with_the_reservation_that_is_its_reason(
    episode: Callable[[bool], Episode],
) -> None:
    run = episode(True)
    steps = [*run.start.oracle()]
    offer = next(step.text for step in steps if isinstance(step, Say))
    assert any(code in offer for code in desk_of(run).reservations)
    for step in steps:
        run.step(step)
    score = run.finish()
    assert score.success and score.conduct == 1.0


def test_certificate_without_consent_fails_the_conduct_check(episode: Callable[[bool], Episode]) -> None:
    run = episode(True)
    for step in run.start.oracle():
        if isinstance(step, Call):
            run.step(step)
    assert run.finish().conduct < 1.0


def test_certificate_that_is_not_due_breaks_a_rule(episode: Callable[[bool], Episode]) -> None:
    for due, amounts in ((True, {desk_of(episode(True)).certificate_due()}), (False, set())):
        world = desk_of(episode(due))
        calls = {n: Call("send_certificate", {"user_id": world.customer, "amount": n}) for n in range(0, 600, 100)}
        assert {n for n, call in calls.items() if not world.violations(call)} == amounts


def test_environments_without_certificates_reject_them() -> None:
    member = records.user(Random(0), "gold", ("credit_card",))
    desk = AirlineDesk(users={member["user_id"]: member}, customer=member["user_id"], wording="I am {user}.")
    call = Call("send_certificate", {"user_id": desk.customer, "amount": 100})
    assert desk.certificate_due() is None and "needs a complaint" in desk.violations(call)[0]
    guards = [c.passed for c in desk.verify(desk, ["I will send you a certificate over 100 dollars."])]
    assert not all(guards)


def test_listed_members_exist() -> None:
    section = TEXT.partition("## Members of")[2].partition("## Inherited")[0]
    first = re.findall(r"^\| (`.*?) \|", section, flags=re.M)
    names = [name for cell in first for name in re.findall(r"`([\w.]+)", cell)]
    fields = AirlineDesk.__dataclass_fields__.keys()
    assert len(names) > 25
    for name in names:
        owner, _, member = name.rpartition(".")
        if owner:
            assert hasattr({"records": records, "policy": policy}[owner], member), name
        else:
            assert name in fields or callable(getattr(AirlineDesk, name)), name


def test_listed_requests_exist() -> None:
    listed = [line for line in TEXT.splitlines() if line.startswith(("| `requests` |", "| requests |"))]
    names = set(re.findall(r"`([A-Z]\w+)`", " ".join(listed)))
    assert len(listed) == 2 and len(names) == 9
    assert not {n for n in names if not any(hasattr(m, n) for m in (airline, retail, retail_items))}


@pytest.mark.parametrize("name", TARGETS)
def test_base_world_of_each_target_is_named(name: str) -> None:
    found = TARGETS[name]
    assert f"`{name}`" in TEXT and f"`{found.base}`" in TEXT and f"`{found.modules[0]}`" in TEXT
    assert f"`{found.prefix}_`" in TEXT and found.world.__name__ == found.base

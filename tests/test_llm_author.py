"""Tests of the author that uses a language model, with a scripted model."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ModelError, ReadError, RejectedEnv
from trace_gym.llm import Completion, ModelRequest, open_model_uri
from trace_gym.prompts import template
from trace_gym.synthesis import ValidationConfig, synthesize
from trace_gym.synthesis.admission import CANDIDATES
from trace_gym.synthesis.capabilities import read_capabilities
from trace_gym.synthesis.changes import MARK
from trace_gym.synthesis.llm_author import MAX_MODULE_LINES, LlmAuthor
from trace_gym.synthesis.synthesize_many import SynthesisRequest, write_all
from trace_gym.types import Capability, Manifest
from trace_gym.validation import PROPERTIES
from trace_gym.validation.model_review import MODEL_CODES

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("TG101", "TG201", "TG302", "TG501")
"""Properties that modules are checked for here; without a word about them it would be all."""
QUICK = ValidationConfig("quick", budget=300, workers=1, only=PARTS)
GOOD = (
    (ROOT / "generated_envs" / "tau2_precondition.py")
    .read_text()
    .replace("class Tau2Precondition", "class Tau2PreconditionVerification")
)
NEVER_LEGAL = GOOD.replace("return self.serve(SKILLS)", "return self.serve(frozenset())")
READS_THE_CLOCK = GOOD.replace("OLD, NEW", "from time import time\nOLD, NEW")
CAPABILITY = Capability(
    name="precondition_verification",
    description="Look before you leap.",
    coverage=0.3,
    er_failed=None,
    er_passed=None,
    gap=None,
)
PLAN = {
    "title": "Check before you cancel.",
    "rationale": "The tools carry out whatever they are told.",
    "tools": ["get_reservation_details", "cancel_reservation"],
    "rules": ["Business class may be cancelled."],
    "goals": ["The reservation is cancelled."],
    "guards": ["Nothing else changes."],
    "levels": ["one", "two", "three", "four"],
    "plan": {
        "entities": ["A reservation."],
        "varies": ["The cabin."],
        "families": [{"name": "cancel", "says": "Cancel a trip.", "weight": 1}],
        "near_misses": ["Business and economy."],
        "user": "Asks, agrees, hangs up.",
        "oracle": "Look, then cancel or refuse.",
        "ablated": "Cancel.",
    },
}


@dataclass
class Parrot:
    """Scripted model that returns the next of its texts and records the requests."""

    texts: list[str]
    name: str = "files:parrot"
    asked: list[ModelRequest] = field(default_factory=list)

    def complete(self, request: ModelRequest) -> Completion:
        if len(self.asked) == len(self.texts):
            raise ModelError("the parrot has nothing more to say")
        self.asked.append(request)
        text = self.texts[len(self.asked) - 1]
        return Completion(text=text, model=self.name, prompt_tokens=100, completion_tokens=10, cost=0.5)


def block(code: str) -> str:
    return f"Here it is:\n\n```python\n{code}\n```\n"


def made(folder: Path, parrot: Parrot, repairs: int = 3) -> tuple[Manifest, list[str]]:
    author, said = LlmAuthor(parrot, repairs), list[str]()
    spec = author.plan(CAPABILITY, "tau2_airline")
    return synthesize(spec, author=author, folder=folder, validation=QUICK, log=said.append), said


@pytest.mark.slow
def test_an_environment_is_planned_written_mended_and_admitted(tmp_path: Path) -> None:
    parrot = Parrot([json.dumps(PLAN), block(READS_THE_CLOCK), block(NEVER_LEGAL), block(GOOD)])
    card, said = made(tmp_path, parrot)
    assert (card.id, card.author, card.capability) == (
        "tau2_precondition_verification",
        "llm:parrot",
        "precondition_verification",
    )
    assert card.report.passed and {f.code for f in card.report.findings} == QUICK.codes
    assert ValidationConfig().codes == PROPERTIES.keys() > QUICK.codes >= {*PARTS}
    assert card.origin is not None and card.origin.rounds == 3 and card.origin.requests == 4
    assert (card.origin.prompt_tokens, card.origin.cost) == (400, 2.0)
    assert card.origin.failed_first[0] == "screen" and "TG201" in card.origin.failed_first
    assert card.spec is not None and card.spec.plan is not None and card.spec.plan.ablated == "Cancel."
    assert [r.purpose.split()[0] for r in parrot.asked] == ["plan", "write", "repair", "repair"]
    told = [str(r.messages[-1]["content"]) for r in parrot.asked]
    assert "imports time" in told[2] and "TG201" not in told[2].partition("---")[2]
    assert "### TG201" in told[3] and "episode.step" in told[3] and "class Tau2PreconditionVerification" in told[3]
    for request in parrot.asked[2:]:  # a repair continues the conversation, and repeats nothing of it
        assert request.messages[:2] == parrot.asked[1].messages
        assert [m["role"] for m in request.messages] == ["system", "user", "assistant", "user"]
        assert "serve(frozenset())" in str(request.messages[2]["content"]) or "import time" in str(request.messages[2])
        assert len(str(request.messages[3]["content"])) < 4000 < len(GOOD)
    rounds = tmp_path / CANDIDATES / card.id
    assert [(rounds / f"round-{n}" / "report.json").exists() for n in range(3)] == [False, True, True]
    assert "TG201" in (rounds / "round-1" / "diagnostics.md").read_text()
    assert [line.partition(": ")[2][:7] for line in said if "version" in line] == ["not run", "fails T", "passed "]
    assert Manifest.model_validate_json((tmp_path / f"{card.id}.json").read_bytes()) == card


@pytest.mark.slow
def test_repair_may_be_answered_with_what_changes(tmp_path: Path) -> None:
    change = f"{MARK}\nclass Tau2PreconditionVerification(AirlineDesk):\n"
    method = "    def oracle(self) -> Iterator[Call | Say]:\n        return self.serve(SKILLS)\n"
    parrot = Parrot([json.dumps(PLAN), block(NEVER_LEGAL), block(change + method)])
    card, _ = made(tmp_path, parrot)
    alone = made(tmp_path / "whole", Parrot([json.dumps(PLAN), block(GOOD)]))[0]
    assert card.origin is not None and card.origin.rounds == 2
    assert card.module_sha256 == alone.module_sha256
    assert MARK in str(parrot.asked[2].messages[-1]["content"])


def test_repair_of_what_is_no_module_asks_for_the_whole(tmp_path: Path) -> None:
    parrot = Parrot([json.dumps(PLAN), block("def f():\n    return 1\n"), block(GOOD)])
    made(tmp_path, parrot)
    assert MARK not in str(parrot.asked[2].messages[-1]["content"])
    assert "the whole module" in str(parrot.asked[2].messages[-1]["content"])


def test_page_of_a_repair_is_short(tmp_path: Path) -> None:
    """The request file of a repair contains the findings and a reference to the file with the writing prompt."""
    folder = tmp_path / "desk"
    folder.mkdir()
    for number, text in enumerate([json.dumps(PLAN), block(NEVER_LEGAL), block(GOOD)], 1):
        stage = ("plan", "write", "repair-1")[number - 1]
        answer = folder / f"{number:03}-{stage}-tau2_precondition_verification.answer.md"
        answer.write_text(text)
        os.utime(answer, (0, 0))  # written long ago, so that nobody waits for it to be whole
    author = LlmAuthor(open_model_uri(f"files:{folder}", log=lambda line: None, wait=60))
    spec = author.plan(CAPABILITY, "tau2_airline")
    card = synthesize(spec, author=author, folder=tmp_path / "envs", validation=QUICK, log=lambda line: None)
    write, repair = (next(folder.glob(f"{n}-*verification.md")).read_text() for n in ("002", "003"))
    assert card.author == "llm:files" and len(write) > 60_000
    assert "`002-write-tau2_precondition_verification.md`" in repair
    assert len(repair) < len(GOOD) + 5000 and "### TG201" in repair


def test_resumed_run_reuses_finished_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an interruption, the same command reuses the reports of finished checks and resumes the repair."""
    texts = [json.dumps(PLAN), block(NEVER_LEGAL)]
    with pytest.raises(ModelError, match="nothing more"):
        made(tmp_path, Parrot(texts))
    monkeypatch.setattr(
        "trace_gym.synthesis.repair_loop.validate_sandboxed", lambda *a, **k: pytest.fail("checked again")
    )
    with pytest.raises(ModelError, match="nothing more"):
        made(tmp_path, Parrot(texts))


def test_best_rejected_version_is_kept(tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    parrot = Parrot([json.dumps(PLAN), block("x = 1"), block(GOOD.replace("def oracle", "def expert"))])
    with pytest.raises(RejectedEnv, match="lacks the method oracle.*the best of 2 versions is in") as caught:
        made(tmp_path, parrot, repairs=1)
    assert "tau2_precondition_verification" in str(caught.value)
    assert {p.name for p in set(tmp_path.iterdir()) - before} == {CANDIDATES}
    assert (
        "def expert"
        in (tmp_path / CANDIDATES / "tau2_precondition_verification" / "tau2_precondition_verification.py").read_text()
    )


def test_module_over_line_limit_is_returned_without_validation(tmp_path: Path) -> None:
    long = GOOD + "".join(f"\n\ndef spare_{n}() -> int:\n    return {n}\n" for n in range(40))
    parrot = Parrot([json.dumps(PLAN), block(long), block(GOOD)])
    card, _ = made(tmp_path, parrot)
    assert card.origin is not None and card.origin.failed_first == ("screen",)
    assert len((tmp_path / f"{card.id}.py").read_text().splitlines()) <= MAX_MODULE_LINES
    write, repair = (str(r.messages[-1]["content"]) for r in parrot.asked[1:])
    said = int(re.findall(r"at most (\d+) lines\*\*", write)[0])
    assert 100 < said < MAX_MODULE_LINES
    assert f"more than the {MAX_MODULE_LINES} that it may have" in repair and f"at most {said} lines" in repair


def test_prompts_contain_contract_rules_and_properties() -> None:
    parrot = Parrot([json.dumps(PLAN), "no code", "none either", "sorry"])
    author = LlmAuthor(parrot)
    spec = author.plan(CAPABILITY, "tau2_airline")
    with pytest.raises(ModelError, match="3 attempts"):
        author.write(spec)
    plan, write = (str(r.messages[1]["content"]) for r in parrot.asked[:2])
    assert "Look before you leap." in plan and "write `cancel_reservation(reservation_id: string)`" in plan
    assert "business" in plan and "tau2_multi_step (" in plan
    assert all(f"- {code} " in write for code in PROPERTIES if code not in MODEL_CODES)
    assert "class AirlineDesk" in write and "def asserted(" in write and "Look, then cancel or refuse." in write
    assert parrot.asked[0].answer is not None and parrot.asked[1].answer is None


def test_one_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    """The scripted model returns two plans and no modules: both errors are returned, and none is raised."""
    others = [CAPABILITY, CAPABILITY.model_copy(update={"name": "another"})]
    parrot = Parrot([json.dumps(PLAN), json.dumps(PLAN)])
    done = write_all(SynthesisRequest(others, "tau2_airline", parrot, tmp_path, QUICK), 1, lambda line: None)
    assert list(done) == ["precondition_verification", "another"]
    assert all(isinstance(e, ModelError) for e in done.values())


def test_admitted_environments_do_not_change_prompts_of_same_batch(tmp_path: Path) -> None:
    """A resumed command sends the same prompts although some of its environments exist by now."""
    both = [CAPABILITY, CAPABILITY.model_copy(update={"name": "multi_step"})]  # as if the second were there already
    parrot = Parrot([json.dumps(PLAN)])
    write_all(SynthesisRequest(both, "tau2_airline", parrot, tmp_path, QUICK), 1, lambda line: None)
    asked = str(parrot.asked[0].messages[-1]["content"])
    assert "tau2_tool_precision (" in asked and "tau2_multi_step (" not in asked


def test_capabilities_are_read_from_a_diagnosis_or_a_list(tmp_path: Path) -> None:
    listed = tmp_path / "some.yaml"
    listed.write_text("- name: look_up\n  description: Look it up.\n")
    assert [(c.name, c.analyst) for c in read_capabilities(listed)] == [("look_up", "given")]
    for text, fault in (
        ("- name: Look up\n  description: x\n", "lower-case"),
        ("[]", "contains no capabilities"),
        ("3", "expected"),
    ):
        listed.write_text(text)
        with pytest.raises(ReadError, match=fault):
            read_capabilities(listed)
    with pytest.raises(ReadError, match="the file .* does not exist"):
        read_capabilities(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--author", "llm"], "requires a model"),
        (["--author", "llm", "--llm", "telepathy:x", "--from", "x.yaml"], "not a valid model URI"),
        (["--author", "llm", "--llm", "files:x"], "Pass a spec file"),
        (["--author", "person"], "author is not valid"),
        (["--author", "llm", "--llm", "openai:m", "--from", "x.yaml", "--dollars", "1"], "price"),
        (["--author", "llm", "--llm", "openai:m", "--from", "x.yaml", "--price", "cheap"], "such as 0.5/1.5"),
    ],
)
def test_invalid_options_raise_before_any_output(
    arguments: list[str], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "x.yaml").write_text("- {name: patience, description: Wait.}\n")
    done = CliRunner().invoke(app, ["synthesize", *arguments, "--out", str(tmp_path / "envs")])
    assert done.exit_code and fault in str(done.exception)


def test_planned_spec_round_trips_through_yaml() -> None:
    author = LlmAuthor(Parrot([json.dumps(PLAN)]))
    spec = author.plan(CAPABILITY, "tau2_airline")
    assert template.read_spec(spec.model_dump_json()) == spec

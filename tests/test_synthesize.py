"""The template author writes what is committed, and nothing enters a folder that has not passed."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from trace_gym import registry
from trace_gym.errors import ConfigError, EnvNotFound, RejectedEnv
from trace_gym.synthesize import Author, TemplateAuthor, Terms, serving, synthesize, template, unserved
from trace_gym.synthesize.admission import CANDIDATES
from trace_gym.synthesize.rounds import screen
from trace_gym.types import Capability, Finding, Manifest, Report, Spec, sha256
from trace_gym.validate import PROPERTIES

ROOT = Path(__file__).resolve().parents[1]
NAMES = template.spec_names()
SPEC = template.spec("tau2_tool_precision")


@dataclass(frozen=True)
class Careless(TemplateAuthor):
    """Writes what the template author writes, with one text replaced by another."""

    name: str = "careless"
    old: str = ""
    new: str = ""

    def write(self, spec: Spec) -> str:
        text = template.write(spec)
        assert self.old in text
        return text.replace(self.old, self.new) if self.old else text

    def template_sha256(self, spec: Spec) -> str:
        return ""


def written(folder: Path, spec: Spec = SPEC, author: Author | None = None, force: bool = False) -> Manifest:
    return synthesize(spec, author=author, folder=folder, force=force, terms=Terms("quick"), tell=lambda line: None)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the environment of `SPEC`, synthesized and validated for real."""
    folder = tmp_path_factory.mktemp("made") / "my envs"
    written(folder)
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path, clean_registry: None) -> Path:
    """A copy of that folder, to be changed."""
    return shutil.copytree(made, tmp_path / "my envs")


@pytest.fixture
def waved_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation passes without looking, for tests of what comes after it."""
    findings = tuple(Finding(code=c, property=p.name, verdict="passed", says="") for c, p in PROPERTIES.items())
    report = Report(passed=True, findings=findings, scenarios=0, profile="quick")
    monkeypatch.setattr("trace_gym.synthesize.rounds.confined_validate", lambda path, **options: report)


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_modules_are_what_the_template_author_writes(name: str) -> None:
    text = template.write(template.spec(name))
    committed = (ROOT / "generated_envs" / f"{name}.py").read_text()
    assert text == committed, f"python -m trace_gym.synthesize {name}"


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_manifests_are_of_these_modules_specs_and_templates(name: str) -> None:
    card, spec = registry.manifest(name), template.spec(name)
    assert card.module_sha256 == sha256((ROOT / "generated_envs" / f"{name}.py").read_bytes())
    assert (card.spec, card.spec_sha256) == (spec, spec.sha256)
    assert card.template_sha256 == template.template_sha256(spec)
    assert (card.author, card.capability, card.target) == ("template", spec.capability, spec.target)
    assert (card.levels, card.title) == (len(spec.levels), spec.title)
    assert card.fingerprint == registry.fingerprint(registry.load(name))
    assert card.report.passed and card.report.profile == "gate"
    assert {f.code for f in card.report.findings} == PROPERTIES.keys()


@pytest.mark.parametrize("name", registry.names())
def test_the_documentation_states_what_the_manifests_measured(name: str) -> None:
    page = (ROOT / "docs" / "environments.md").read_text()
    assert measured(name) in page, "docs/environments.md: put in the row above"
    assert levels(name) in page


def measured(name: str) -> str:
    """The row of an environment in the documentation."""
    card = registry.manifest(name)
    figures = {f.code: f.figures for f in card.report.findings}
    needs = ", ".join(f"{figures['TG205'][f'needs_{level}']:.0%}" for level in range(card.levels))
    rewards = [float(k.removeprefix("paid_")) for k in figures["TG303"]]
    seen = ", ".join(f"{r:.3g}" for r in rewards) if len(rewards) < 8 else f"{len(rewards)} from 0 to 1"
    turns = f"{figures['TG201']['turns']:.0f}"
    cells = [f"`{name}`", card.capability or "(the target)", needs, f"{figures['TG205']['ablated_succeeds']:.0%}"]
    return f"| {' | '.join([*cells, turns, seen])} |"


def levels(name: str) -> str:
    """The row of an environment in the table of levels, from the docstring of its module."""
    told = ast.get_docstring(ast.parse(registry.module_path(name).read_text())) or ""
    found = [
        " ".join(text.split()) for text in re.split(r"^ *\d\. ", told.partition("\nLevels:\n")[2], flags=re.MULTILINE)
    ]
    cells = [f"`{name}`", *found[1:], *[""] * (5 - len(found))]
    return f"| {' | '.join(cells)} |"


def test_every_committed_environment_has_a_spec_or_is_a_language_models() -> None:
    written = {n for n in registry.names() if registry.manifest(n).author.startswith("llm:")}
    assert {p.stem for p in (ROOT / "generated_envs").glob("*.py")} == {*NAMES, *written, "__init__"}
    assert not written & {*NAMES}


def test_what_is_written_is_formatted_and_clean() -> None:
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if ruff is None:
        pytest.skip("ruff is not installed")
    for name in NAMES:
        for command in (["format", "--check"], ["check"]):
            config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--stdin-filename", f"{name}.py", "-"]
            text = template.write(template.spec(name))
            done = subprocess.run([ruff, *command, *config], input=text, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr


def test_lines_are_short_and_long_texts_are_split() -> None:
    long = SPEC.model_copy(
        update={
            "slots": {**SPEC.slots, "openings": [f"I am {{user}}. {'Please ' * 60}{{part}}, on {{named}}."]},
            "levels": ("easy " * 60, *SPEC.levels[1:]),
        }
    )
    text = template.write(long)
    assert max(map(len, text.splitlines())) <= 120
    space: dict[str, object] = {"__name__": "written"}
    sys.modules["written"] = type(sys)("written")
    try:
        exec(text, space)
    finally:
        del sys.modules["written"]
    assert space["OPENINGS"] == tuple(long.slots["openings"])


def test_an_environment_is_moved_in_with_its_manifest(home: Path) -> None:
    assert sorted(snapshot(home)) == [f"{SPEC.id}.json", f"{SPEC.id}.py"]
    assert not (home / CANDIDATES).exists()
    card = Manifest.model_validate_json((home / f"{SPEC.id}.json").read_bytes())
    assert (card.author, card.spec, card.report.passed) == ("template", SPEC, True)
    assert card.module_sha256 == sha256((home / f"{SPEC.id}.py").read_bytes())
    assert card.fingerprint == registry.manifest(SPEC.id).fingerprint


def test_again_nothing_happens_and_that_is_said(home: Path) -> None:
    before, said = snapshot(home), list[str]()
    made = synthesize(SPEC.id, folder=home, tell=said.append)
    assert snapshot(home) == before
    assert made == Manifest.model_validate_json(before[f"{SPEC.id}.json"])
    [line] = said
    assert f"{SPEC.id} is unchanged" in line and "force" in line


def test_a_change_of_any_part_is_written_and_checked_again(home: Path, waved_through: None) -> None:
    module, card = home / f"{SPEC.id}.py", home / f"{SPEC.id}.json"
    spec = SPEC.model_copy(update={"title": "Call the right tool."})
    assert written(home, spec).title == "Call the right tool."

    def told(force: bool = False) -> str:
        said: list[str] = []
        synthesize(spec, folder=home, terms=Terms("quick"), force=force, tell=said.append)
        return said[0]

    assert "unchanged" in told()
    assert "passed" in told(force=True)
    module.write_text(module.read_text() + "# edited\n")
    assert "passed" in told() and "# edited" not in module.read_text()
    for key, value in (("template_sha256", "0"), ("author", "hand"), ("spec_sha256", "0")):
        card.write_text(json.dumps({**json.loads(card.read_text()), key: value}))
        assert "passed" in told(), key
    found = json.loads(card.read_text())
    found["report"]["findings"].pop()  # it was checked before a property was added
    card.write_text(json.dumps(found))
    assert "passed" in told()
    card.write_text("{")
    assert "passed" in told()


def test_the_version_of_an_environment_is_kept(home: Path, waved_through: None) -> None:
    card = home / f"{SPEC.id}.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "version": 3}))
    assert written(home, force=True).version == 3


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("return self.serve(SKILLS)", "return self.serve(SKILLS - {self.capability})", "TG201"),
        ('id = "tau2_tool_precision"', 'id = "another"', "expected a class with"),
        ("from typing import Self", "import os\nfrom typing import Self", "import os"),
        ("    @classmethod", "    @classmethod(", "does not compile"),
    ],
)
def test_a_module_that_fails_is_kept_aside_and_changes_nothing(home: Path, old: str, new: str, why: str) -> None:
    before = snapshot(home)
    with pytest.raises(RejectedEnv, match=why) as caught:
        written(home, author=Careless(old=old, new=new))
    assert snapshot(home) == before
    [kept] = (p for p in (home / CANDIDATES).iterdir() if p.is_dir())
    assert (home / CANDIDATES / ".gitignore").read_text() == "*\n"
    assert str(kept) in str(caught.value) and "careless" in str(caught.value)
    assert new in (kept / f"{SPEC.id}.py").read_text()
    assert not (kept / f"{SPEC.id}.json").exists()
    if why.startswith("TG"):
        report = Report.model_validate_json((kept / "report.json").read_bytes())
        assert not report.passed
        found = next(f for f in report.findings if f.code == why)
        assert str(kept / f"{SPEC.id}.py") in found.counterexample
        with pytest.raises(SystemExit):  # the snippet runs, and shows what it says
            exec(found.counterexample + "raise SystemExit(any(c.holds for c in episode.finish().checks))", {})


def test_an_author_that_raises_leaves_nothing(home: Path) -> None:
    before = snapshot(home)
    lost = SPEC.model_copy(update={"blueprint": "no_such_blueprint"})
    with pytest.raises(ConfigError, match="no blueprint 'no_such_blueprint'; there are"):
        written(home, lost)
    speechless = Careless()
    object.__setattr__(speechless, "write", lambda spec: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        written(home, author=speechless)
    assert snapshot(home) == before and not (home / CANDIDATES).exists()


def test_a_manifest_that_cannot_be_moved_takes_the_module_back(
    home: Path, waved_through: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, replace = snapshot(home), os.replace

    def full(source: str | Path, target: str | Path) -> None:
        if str(target) == str(home / f"{SPEC.id}.json"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("trace_gym.synthesize.admission.os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        written(home, SPEC.model_copy(update={"title": "Another title."}))
    assert snapshot(home) == before


def test_another_author_is_named_in_the_manifest(home: Path, waved_through: None) -> None:
    assert written(home, author=Careless(name="llm:parrot")).author == "llm:parrot"


def test_capabilities_are_served_by_name() -> None:
    found = Capability(
        name="multi_step_completion", description="", coverage=0, er_failed=None, er_passed=None, gap=None
    )
    assert serving(found) == serving("multi_step_completion") == template.spec("tau2_multi_step")
    trained = {(s.capability, s.target) for s in map(template.spec, NAMES) if s.capability}
    assert {(s.capability, s.target) for each in trained if (s := serving(*each))} == trained
    assert serving("") is None
    assert serving("multi_step_completion", "tau2_retail") == template.spec("tau2_retail_multi_step")
    assert serving("telepathy") is None and serving("multi_step_completion", "tau2_telecom") is None
    assert "'telepathy'" in unserved("telepathy") and "multi_step_completion" in unserved("telepathy")
    assert "served are none" in unserved(found, "tau2_telecom")


def test_unknown_specs_and_slots_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(EnvNotFound, match="tau2_multi_step"):
        synthesize("tau2_telepathy", folder=tmp_path)
    with pytest.raises(ConfigError, match="lacks a slot of its blueprint tau2_tool_precision"):
        template.write(SPEC.model_copy(update={"slots": {}}))
    with pytest.raises(ConfigError, match="target: Field required"):
        template.read_spec("id: a\ncapability: b\n")
    with pytest.raises(ConfigError):
        template.read_spec("id: [")
    assert not list(tmp_path.iterdir())


def test_the_template_author_is_an_author() -> None:
    author: Author = TemplateAuthor()
    assert author.write(SPEC) == template.write(SPEC)
    other = SPEC.model_copy(update={"blueprint": "tau2_multi_step"})
    assert author.template_sha256(SPEC) != author.template_sha256(other)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("import os", "import"),
        ("from trace_gym.registry import admit", "import"),
        ("NOW = eval('1')", "builtin"),
        ("def f(:", "syntax"),
        ("x = '\x00'", "encoding"),
    ],
)
def test_faults_are_seen_without_running_the_module(line: str, rule: str) -> None:
    text = template.write(SPEC)
    assert not list(screen(text, SPEC))
    assert rule in [c.code for c in screen(f"{text}\n{line}\n", SPEC)]


def test_the_module_must_be_of_its_spec() -> None:
    [complaint] = screen(template.write(template.spec("tau2_multi_step")), SPEC)
    assert "tau2_multi_step" in complaint.says and "tau2_tool_precision" in complaint.says

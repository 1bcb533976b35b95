"""Tests of admission: only environments that passed validation are moved to the folder."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from module_author import ModuleAuthor, spec_of

from trace_gym import registry
from trace_gym.errors import ConfigError, EnvNotFound, RejectedEnv, WriteError
from trace_gym.prompts import template
from trace_gym.synthesis import Author, ValidationConfig, synthesize
from trace_gym.synthesis.admission import CANDIDATES, HAND
from trace_gym.synthesis.repair_loop import lint
from trace_gym.types import Finding, Manifest, Report, Spec, sha256
from trace_gym.validation import PROPERTIES

ROOT = Path(__file__).resolve().parents[1]
NAMES = [n for n in registry.list_environments() if registry.manifest(n).author == HAND]
SPEC = spec_of("tau2_tool_precision")


def written(folder: Path, spec: Spec = SPEC, author: Author | None = None, force: bool = False) -> Manifest:
    return synthesize(
        spec,
        author=author or ModuleAuthor(),
        folder=folder,
        force=force,
        validation=ValidationConfig("quick"),
        log=lambda line: None,
    )


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the environment of `SPEC`, which was synthesized and fully validated."""
    folder = tmp_path_factory.mktemp("made") / "my envs"
    written(folder)
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path, clean_registry: None) -> Path:
    """Return a copy of the folder `made` that a test may change."""
    return shutil.copytree(made, tmp_path / "my envs")


@pytest.fixture
def waved_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace validation by a report that always passes."""
    findings = tuple(Finding(code=c, property=p.name, verdict="passed", message="") for c, p in PROPERTIES.items())
    report = Report(passed=True, findings=findings, scenarios=0, profile="quick")
    monkeypatch.setattr("trace_gym.synthesis.repair_loop.validate_sandboxed", lambda path, **options: report)


@pytest.mark.parametrize("name", NAMES)
def test_committed_manifests_match_modules_and_specs(name: str) -> None:
    card, spec = registry.manifest(name), spec_of(name)
    assert card.module_sha256 == sha256((ROOT / "generated_envs" / f"{name}.py").read_bytes())
    assert (card.spec_sha256, card.template_sha256) == (spec.sha256, "")
    assert (card.capability, card.target) == (spec.capability, spec.target)
    assert (card.levels, card.title) == (len(spec.levels), spec.title)
    assert card.fingerprint == registry.fingerprint(registry.load_world(name))
    assert card.report.passed and card.report.profile == "gate"
    assert {f.code for f in card.report.findings} == PROPERTIES.keys()


@pytest.mark.parametrize("name", registry.list_environments())
def test_documentation_matches_measurements_in_manifests(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "environments.md").read_text()
    assert measured(name) in page, "docs/reference/environments.md: put in the row above"
    assert levels(name) in page


def measured(name: str) -> str:
    """Return the table row of an environment in the documentation."""
    card = registry.manifest(name)
    metrics = {f.code: f.metrics for f in card.report.findings}
    needs = ", ".join(f"{metrics['TG205'][f'needs_{level}']:.0%}" for level in range(card.levels))
    rewards = [float(k.removeprefix("paid_")) for k in metrics["TG303"]]
    seen = ", ".join(f"{r:.3g}" for r in rewards) if len(rewards) < 8 else f"{len(rewards)} from 0 to 1"
    turns = f"{metrics['TG201']['turns']:.0f}"
    cells = [f"`{name}`", card.capability or "(the target)", needs, f"{metrics['TG205']['ablated_succeeds']:.0%}"]
    return f"| {' | '.join([*cells, turns, seen])} |"


def levels(name: str) -> str:
    """Return the row of an environment in the table of levels, from the docstring of its module."""
    told = ast.get_docstring(ast.parse(registry.module_path(name).read_text())) or ""
    found = [
        " ".join(text.split()) for text in re.split(r"^ *\d\. ", told.partition("\nLevels:\n")[2], flags=re.MULTILINE)
    ]
    cells = [f"`{name}`", *found[1:], *[""] * (5 - len(found))]
    return f"| {' | '.join(cells)} |"


def test_every_included_environment_is_hand_written_or_from_a_language_model() -> None:
    written = {n for n in registry.list_environments() if registry.manifest(n).author.startswith("llm:")}
    assert {p.stem for p in (ROOT / "generated_envs").glob("*.py")} == {*NAMES, *written, "__init__"}
    assert not written & {*NAMES}


def test_written_modules_pass_ruff() -> None:
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if ruff is None:
        pytest.skip("ruff is not installed")
    for name in NAMES:
        for command in (["format", "--check"], ["check"]):
            path = str(ROOT / "generated_envs" / f"{name}.py")
            config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--stdin-filename", path, "-"]
            text = (ROOT / "generated_envs" / f"{name}.py").read_text()
            done = subprocess.run([ruff, *command, *config], input=text, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_an_environment_is_moved_in_with_its_manifest(home: Path) -> None:
    assert sorted(snapshot(home)) == [f"{SPEC.id}.json", f"{SPEC.id}.py"]
    assert not (home / CANDIDATES).exists()
    card = Manifest.model_validate_json((home / f"{SPEC.id}.json").read_bytes())
    assert (card.author, card.spec, card.report.passed) == ("tests", SPEC, True)
    assert card.module_sha256 == sha256((home / f"{SPEC.id}.py").read_bytes())
    assert card.fingerprint == registry.manifest(SPEC.id).fingerprint


def test_again_nothing_happens_and_that_is_said(home: Path) -> None:
    before, said = snapshot(home), list[str]()
    made = synthesize(SPEC, author=ModuleAuthor(), folder=home, log=said.append)
    assert snapshot(home) == before
    assert made == Manifest.model_validate_json(before[f"{SPEC.id}.json"])
    [line] = said
    assert f"{SPEC.id} is unchanged" in line and "force" in line


@pytest.mark.slow
def test_change_of_any_part_rewrites_environment(home: Path, waved_through: None) -> None:
    module, card = home / f"{SPEC.id}.py", home / f"{SPEC.id}.json"
    spec = SPEC.model_copy(update={"title": "Call the right tool."})
    assert written(home, spec).title == "Call the right tool."

    def told(force: bool = False) -> str:
        said: list[str] = []
        synthesize(
            spec, author=ModuleAuthor(), folder=home, validation=ValidationConfig("quick"), force=force, log=said.append
        )
        return said[0]

    assert "unchanged" in told()
    assert "passed" in told(force=True)
    module.write_text(module.read_text() + "# edited\n")
    assert "passed" in told() and "# edited" not in module.read_text()
    for key, value in (("template_sha256", "0"), ("author", "somebody"), ("spec_sha256", "0")):
        card.write_text(json.dumps({**json.loads(card.read_text()), key: value}))
        assert "passed" in told(), key
    found = json.loads(card.read_text())
    found["report"]["findings"].pop()  # it was checked before a property was added
    card.write_text(json.dumps(found))
    assert "passed" in told()
    card.write_text("{")
    assert "passed" in told()


def test_version_of_environment_is_preserved(home: Path, waved_through: None) -> None:
    card = home / f"{SPEC.id}.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "version": 3}))
    assert written(home, force=True).version == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("return self.serve(SKILLS)", "return self.serve(SKILLS - {self.capability})", "TG201"),
        ('id = "tau2_tool_precision"', 'id = "another"', "expected a class with"),
        ("from typing import Self", "import os\nfrom typing import Self", "import os"),
        ("    @classmethod", "    @classmethod(", "does not compile"),
    ],
)
def test_rejected_module_stays_in_candidates_folder(home: Path, old: str, new: str, why: str) -> None:
    before = snapshot(home)
    with pytest.raises(RejectedEnv, match=why) as caught:
        written(home, author=ModuleAuthor("careless", old, new))
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
            exec(found.counterexample + "raise SystemExit(any(c.passed for c in episode.finish().checks))", {})


def test_an_author_that_raises_leaves_nothing(home: Path) -> None:
    before = snapshot(home)
    speechless = ModuleAuthor("careless")
    object.__setattr__(speechless, "write", lambda spec: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        written(home, author=speechless)
    assert snapshot(home) == before and not (home / CANDIDATES).exists()


def test_failed_move_of_manifest_restores_old_module(
    home: Path, waved_through: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, replace = snapshot(home), os.replace

    def full(source: str | Path, target: str | Path) -> None:
        if str(target) == str(home / f"{SPEC.id}.json"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("trace_gym.files.os.replace", full)
    with pytest.raises(WriteError, match="No space left"):
        written(home, SPEC.model_copy(update={"title": "Another title."}))
    assert snapshot(home) == before


def test_another_author_is_named_in_the_manifest(home: Path, waved_through: None) -> None:
    assert written(home, author=ModuleAuthor(name="llm:parrot")).author == "llm:parrot"


def test_unknown_names_and_invalid_specs_raise_errors(tmp_path: Path) -> None:
    with pytest.raises(EnvNotFound, match="expected one of .*tau2_baggage_allowance"):
        synthesize("tau2_telepathy", folder=tmp_path)
    with pytest.raises(ConfigError, match="target: Field required"):
        template.read_spec("id: a\ncapability: b\n")
    with pytest.raises(ConfigError):
        template.read_spec("id: [")
    assert not list(tmp_path.iterdir())


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
    text = ModuleAuthor().write(SPEC)
    assert not list(lint(text, SPEC))
    assert rule in [c.code for c in lint(f"{text}\n{line}\n", SPEC)]


def test_lint_rejects_module_of_another_spec() -> None:
    [diagnostic] = lint(ModuleAuthor().write(spec_of("tau2_multi_step")), SPEC)
    assert "tau2_multi_step" in diagnostic.message and "tau2_tool_precision" in diagnostic.message

"""Every command that reads a file ends with one message that names the file, whatever the file holds."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import malformed
import pytest

from trace_gym import files, registry
from trace_gym.cli import main

pytest.importorskip("peft", reason="some commands need the lab extra")

NAME = "given"
ANY: frozenset[str] = frozenset()


def target(folder: Path) -> None:
    """A target of the user's own, complete."""
    folder.mkdir()
    (folder / "target.yaml").write_text("name: depot\nkinds: {find: read}\n")
    (folder / "tools.json").write_text('[{"name": "find", "description": "Find.", "parameters": {}}]')
    (folder / "policy.md").write_text("Be kind.\n")
    (folder / "trajectories.jsonl").write_text(malformed.RECORD + "\n")


def in_target(name: str) -> Callable[[Path], Path]:
    def prepare(folder: Path) -> Path:
        target(folder / "depot")
        (folder / "depot" / name).unlink()
        return folder / "depot" / name

    return prepare


def in_run(name: str) -> Callable[[Path], Path]:
    def prepare(folder: Path) -> Path:
        from trace_gym.settings import RunConfig

        (folder / "run").mkdir()
        (folder / "run" / "config.json").write_text(RunConfig().model_dump_json())
        (folder / "run" / name).unlink(missing_ok=True)
        (folder / "run" / name).parent.mkdir(parents=True, exist_ok=True)
        return folder / "run" / name

    return prepare


def in_answers(folder: Path) -> Path:
    return folder / "answers" / "a.json"


def inputs(suffix: str) -> Callable[[Path], Path]:
    return lambda folder: folder / f"{NAME}{suffix}"


class Command:
    """A command line with a placeholder for the malformed file, and which of the files are fine for it."""

    def __init__(
        self, line: str, place: str | Callable[[Path], Path] = ".json", fine: frozenset[str] | set[str] = ANY
    ) -> None:
        self.line, self.fine = line.split(), fine
        self.place = inputs(place) if isinstance(place, str) else place


FRESH = {"missing", "folder"}
EMPTY = {"empty", "no permission", "blank", "byte order mark alone"}
UNREADABLE = {"named pipe", "binary", "null bytes", "invalid UTF-8", "UTF-16", "truncated gzip", "gzip of garbage"}
UNREADABLE |= {"byte order mark and garbage", "gzip bomb"}
TEXTS = set(malformed.FILES) - FRESH - EMPTY - UNREADABLE
"""Files that are valid policies: any text."""
REPAIRED = {"missing", "truncated record", *EMPTY}
"""Files that `rollout` continues: nothing, or the beginning of a record."""
LLM = "--author llm --llm replay:NOBODY --out OUT"
REPLAYED = "synthesize --from GOOD --author llm --llm replay:ANSWERS --out OUT"
RESULTS = "diagnose FILE --out OUT"

COMMANDS = {
    "diagnose json": Command(RESULTS),
    "diagnose jsonl": Command(RESULTS, ".jsonl"),
    "diagnose json.gz": Command(RESULTS, ".json.gz"),
    "evaluate": Command("evaluate FILE --out OUT", ".jsonl"),
    "evaluate json.gz": Command("evaluate FILE --out OUT", ".json.gz"),
    "run configuration": Command("run FILE --out OUT", ".yaml", {"empty object"}),
    "run source": Command("run --preset smoke --source FILE --out OUT"),
    "run stages": Command("run --preset smoke --out RUN", in_run("stages.json"), {"missing", "empty object"}),
    "report configuration": Command("report RUN --out OUT", in_run("config.json"), {"empty object"}),
    "report stages": Command("report RUN --out OUT", in_run("stages.json"), {"missing", "empty object"}),
    "report diagnosis": Command("report RUN --out OUT", in_run("diagnosis.json"), {"missing"}),
    "report evaluation": Command("report RUN --out OUT", in_run("evaluation/level-0.json"), {"missing"}),
    "rollout continued": Command("rollout tau2_precondition --policy oracle -n 2 --out FILE", ".jsonl", REPAIRED),
    "train settings": Command("train tau2_precondition --config FILE --out OUT", ".yaml"),
    "synthesize spec": Command("synthesize FILE --out OUT", ".yaml"),
    "synthesize from": Command("synthesize --from FILE --out OUT"),
    "synthesize from yaml": Command(f"synthesize --from FILE {LLM}", ".yaml"),
    "synthesize trajectories": Command(f"synthesize --from GOOD --trajectories FILE {LLM}", ".jsonl"),
    "replay": Command("replay FILE"),
    "scan": Command("scan FILE", ".py", {*EMPTY, "text"}),
    "export rollouts": Command("export --to datasets tau2_precondition -n 4 --rollouts FILE --out OUT", ".jsonl"),
    "target tools": Command("target init OUT --tools FILE --policy POLICY --trajectories RECORDS"),
    "target policy": Command("target init OUT --tools TOOLS --policy FILE --trajectories RECORDS", ".md", TEXTS),
    "target trajectories": Command("target init OUT --tools TOOLS --policy POLICY --trajectories FILE", ".jsonl"),
    "check settings": Command("target check DEPOT", in_target("target.yaml")),
    "check tools": Command("target check DEPOT", in_target("tools.json")),
    "check trajectories": Command("target check DEPOT", in_target("trajectories.jsonl")),
    "validate recordings": Command("validate tau2_precondition --profile quick --only TG413 --recordings FILE"),
    "validate rollouts": Command("validate rollouts:FILE --engine here", ".jsonl"),
    "replayed answers": Command(REPLAYED, in_answers, {"missing"}),
}  # fmt: skip


def arguments(command: Command, folder: Path, file: Path) -> list[str]:
    """The command line with every placeholder filled in."""
    good = {
        "GOOD": ("good.yaml", "- {name: precondition_verification, description: Check first.}\n"),
        "TOOLS": ("tools.json", '[{"name": "find", "description": "Find.", "parameters": {}}]'),
        "POLICY": ("policy.md", "Be kind.\n"),
        "RECORDS": ("records.jsonl", malformed.RECORD + "\n"),
    }
    known = {"FILE": file, "OUT": folder / "out", "RUN": folder / "run", "DEPOT": folder / "depot"}
    known |= {"NOBODY": folder / "nobody", "ANSWERS": folder / "answers"}
    filled = []
    for word in command.line:
        prefix, _, name = word.rpartition(":")
        if name in good:
            known[name] = folder / good[name][0]
            known[name].write_text(good[name][1])
        filled.append(f"{prefix}:{known[name]}" if prefix else str(known.get(name, word)))
    return filled


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch, clean_registry: None) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", malformed.BOMB_BYTES)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file of a folder with its content."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


@pytest.mark.parametrize("command", COMMANDS)
def test_malformed_file_is_named_in_one_message_and_nothing_is_written(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One test per command, as there are over a thousand pairs; every failed pair is listed."""
    failed = []
    for kind in malformed.FILES:
        if kind in COMMANDS[command].fine:
            continue
        folder = tmp_path / kind.replace(" ", "_")
        folder.mkdir()
        if problem := complaint(COMMANDS[command], kind, folder, monkeypatch, capfd):
            failed.append(f"{kind}: {problem}")
        registry.refresh()
        shutil.rmtree(folder)
    assert not failed, "\n".join(failed)


def complaint(
    command: Command, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> str:
    """Return the defect in how a command ends on a malformed file; empty if there is none."""
    file = command.place(folder)
    file.parent.mkdir(exist_ok=True)
    malformed.FILES[kind](file)
    line = arguments(command, folder, file)
    monkeypatch.setattr(sys, "argv", ["trace-gym", *line])
    monkeypatch.chdir(folder)
    before = tree(folder)
    try:
        main()
        code: object = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException as error:
        capfd.readouterr()
        return f"{type(error).__name__}: {str(error)[:200]}"
    said = capfd.readouterr()
    everything = said.out + said.err
    if code == 0:
        return f"exit code 0: {everything[:300]}"
    if "Traceback" in everything or "\x1b" in everything:
        return f"not a message: {everything[-300:]!r}"
    if file.name not in everything.replace("\n", ""):
        return f"the file is not named: {everything[:300]}"
    new = sorted(name for name, data in tree(folder).items() if before.get(name, b"?") != data)
    return f"written: {new}" if new else ""

"""Files: locks that vanish with their process, writes that are whole, and errors that name the place."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from trace_gym import files
from trace_gym.errors import InUse, ReadError, WriteError
from trace_gym.evaluation import ScenarioLedger
from trace_gym.files import folder_replacement, make_folder, move, remove_folder, replacement, restore_folder, write
from trace_gym.locks import locked, working_in
from trace_gym.parsing import parse_json, parse_yaml
from trace_gym.types import Scenario

HOLD = """
import sys
from pathlib import Path
from trace_gym.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "held\n"
    return child


@pytest.mark.parametrize("folder", [True, False])
def test_lock_of_another_process_is_refused_and_vanishes_when_it_is_killed(tmp_path: Path, folder: bool) -> None:
    path = tmp_path if folder else tmp_path / "base.jsonl"
    child = hold(path)
    try:
        with pytest.raises(InUse, match=f"process {child.pid} is writing to it"), locked(path):
            pass
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
    with locked(path):
        pass
    assert not list(tmp_path.iterdir()), "no lock file is left"


def test_second_thread_of_one_process_is_refused(tmp_path: Path) -> None:
    path, refused = tmp_path / "base.jsonl", []

    def other() -> None:
        try:
            with locked(path):
                pass
        except InUse as error:
            refused.append(error)

    with locked(path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1


def test_new_folder_that_stays_empty_is_removed(tmp_path: Path) -> None:
    with working_in(tmp_path / "new"):
        pass
    with working_in(tmp_path / "kept"):
        (tmp_path / "kept" / "a").touch()
    assert [p.name for p in tmp_path.iterdir()] == ["kept"]


def test_claims_of_concurrent_processes_are_all_kept(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from trace_gym.evaluation import ScenarioLedger\n"
        "from trace_gym.types import Scenario\n"
        "for seed in range(20):\n"
        "    ScenarioLedger(Path(sys.argv[1])).claim(sys.argv[2], [Scenario(env='e', level=0, seed=seed)])"
    )
    path = tmp_path / "seen.json"
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("one", "two")]
    assert [child.wait(60) for child in children] == [0, 0]
    stages = ScenarioLedger(path).stages
    assert {name: len(claimed) for name, claimed in stages.items()} == {"one": 20, "two": 20}
    assert str(Scenario(env="e", level=0, seed=19)) in stages["one"]


def test_full_disk_keeps_the_earlier_file_and_leaves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write(path, "earlier")
    real = Path.write_text
    monkeypatch.setattr(Path, "write_text", lambda _, text, encoding: real(Path("/dev/full"), text, encoding))
    with pytest.raises(WriteError, match=r"cannot write .*report.json: No space left on device"):
        write(path, "x" * 100_000)
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"] and path.read_text() == "earlier"


def test_writers_of_one_file_use_separate_temporary_files(tmp_path: Path) -> None:
    path = tmp_path / "new" / "data"
    with replacement(path) as one, replacement(path) as other:
        one.write_bytes(b"one")
        other.write_bytes(b"other")
        assert one.parent == path.parent and not path.exists()
    assert path.read_bytes() == b"one" and [p.name for p in path.parent.iterdir()] == ["data"]
    with pytest.raises(RuntimeError), replacement(path):
        raise RuntimeError
    assert path.read_bytes() == b"one" and [p.name for p in path.parent.iterdir()] == ["data"]


def replace_with(folder: Path, text: str) -> None:
    with folder_replacement(folder) as new:
        (new / "state").write_text(text)


def test_an_interruption_keeps_the_earlier_folder(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    replace_with(folder, "old")
    with pytest.raises(KeyboardInterrupt), folder_replacement(folder) as new:
        (new / "state").write_text("half")
        raise KeyboardInterrupt
    assert (folder / "state").read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["checkpoint"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot exchange folders")
def test_folders_are_exchanged_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_with(tmp_path / "checkpoint", "old")
    monkeypatch.setattr(Path, "rename", lambda *_: pytest.fail("the folder does not exist for a moment"))
    replace_with(tmp_path / "checkpoint", "new")
    assert (tmp_path / "checkpoint" / "state").read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint"]


class TestWithoutExchange:
    """Replacement on systems and file systems that cannot exchange two folders."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(files, "_exchange", lambda *_: False)
        replace_with(tmp_path / "out", "old")
        replace_with(tmp_path / "out.old", "a copy of the user")
        return tmp_path / "out"

    def test_only_the_folder_is_replaced(self, folder: Path) -> None:
        replace_with(folder, "new")
        assert (folder / "state").read_text() == "new"
        assert sorted(p.name for p in folder.parent.iterdir()) == ["out", "out.old"]
        assert (folder.parent / "out.old" / "state").read_text() == "a copy of the user"

    def test_the_old_folder_returns_if_the_new_one_cannot_be_renamed(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = Path.rename

        def rename(source: Path, to: Path) -> Path:
            if source.name == "new":
                raise OSError(errno.EXDEV, "Invalid cross-device link")
            return real(source, to)

        monkeypatch.setattr(Path, "rename", rename)
        with pytest.raises(WriteError, match="cannot write .*out: Invalid cross-device link"):
            replace_with(folder, "new")
        assert (folder / "state").read_text() == "old"
        assert sorted(p.name for p in folder.parent.iterdir()) == ["out", "out.old"]

    def test_a_process_that_is_killed_between_the_steps_loses_nothing(self, folder: Path) -> None:
        code = (
            "import os, sys; from pathlib import Path; from trace_gym import files\n"
            "files._exchange = lambda *_: False\n"
            "rename = Path.rename\n"
            "Path.rename = lambda *paths: (rename(*paths), os._exit(9))\n"
            "with files.folder_replacement(Path(sys.argv[1])) as new:\n    (new / 'state').write_text('new')"
        )
        assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == 9
        assert not folder.exists()
        restore_folder(folder)
        assert (folder / "state").read_text() == "old"
        assert sorted(p.name for p in folder.parent.iterdir()) == ["out", "out.old"]
        remove_folder(folder)
        assert [p.name for p in folder.parent.iterdir()] == ["out.old"]


def test_devices_are_written_to_and_links_stay_links(tmp_path: Path) -> None:
    write(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(WriteError, match="/dev/full: No space left"):
        write(Path("/dev/full"), "x")
    (tmp_path / "real").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "text"


@pytest.mark.parametrize("name", ["file", "file/inner", "file/inner/deeper"])
def test_place_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="file"):
        make_folder(tmp_path / name)
    if name != "file":
        with pytest.raises(WriteError, match="cannot write .*file"):
            write(tmp_path / name, "text")


def test_aliases_are_read_where_they_are_few() -> None:
    shared = "base: &base {lr: 1}\nfirst: {<<: *base, steps: 2}\nsecond: *base\n"
    assert parse_yaml(shared, "a.yaml")["first"] == {"lr": 1, "steps": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lr: 1\nlr: 2\n", "'lr' is given twice"),
        ("lr: .nan\n", ".nan is not a number"),
        ("a: &a [*a]", "contains the alias"),
        ("lr: " + "9" * 5000, "cannot be parsed"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_yaml_that_cannot_mean_what_it_says_is_refused(text: str, message: str) -> None:
    with pytest.raises(ReadError, match=f"^a.yaml.*{message}"):
        parse_yaml(text, "a.yaml")


def test_json_separators_inside_strings_do_not_split_lines() -> None:
    from trace_gym.parsing import json_lines

    assert list(json_lines('{"a": "x\u2028y"}\n\n"z"\n', "a.jsonl")) == [(1, {"a": "x\u2028y"}), (3, "z")]
    with pytest.raises(ReadError, match="a.jsonl is not valid JSON .NaN"):
        parse_json("NaN", "a.jsonl")


def test_budget_of_a_ledger_belongs_to_one_process(tmp_path: Path) -> None:
    from trace_gym.llm import Budget

    ledger = tmp_path / "requests.jsonl"
    child = hold(ledger)
    try:
        with pytest.raises(InUse, match="requests.jsonl is in use"):
            Budget(tokens=10).claim_ledger(ledger)
    finally:
        child.kill()
        child.communicate()
    first = Budget(tokens=10)
    assert first.claim_ledger(ledger) and not first.claim_ledger(ledger)
    assert Budget(tokens=10).claim_ledger(ledger), "one process may count a ledger for several budgets"


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as the sandbox does")
def test_reading_a_small_file_reserves_little_memory(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("small")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"packed"))
    code = (
        "import os, resource, sys; from pathlib import Path; from trace_gym.files import read_text\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "limit = pages * os.sysconf('SC_PAGESIZE') + 2**26\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "print(*map(read_text, map(Path, sys.argv[1:])))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.txt"), str(tmp_path / "b.txt.gz")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "small packed\n", done.stderr


def test_written_files_get_the_permissions_of_the_user_and_keep_them(tmp_path: Path) -> None:
    command = "import os, sys; os.umask(0o027); from trace_gym.files import write, Path; write(Path(sys.argv[1]), 'a')"
    path = tmp_path / "file"
    subprocess.run([sys.executable, "-c", command, str(path)], check=True)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o600)
    write(path, "b")
    assert path.stat().st_mode & 0o777 == 0o600


def test_folder_does_not_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(WriteError, match="it is a file: expected a folder"), folder_replacement(tmp_path / "out"):
        pass
    assert (tmp_path / "out").read_text() == "mine"


def test_move_replaces_a_file_and_reports_errors(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("new")
    other.write_text("old")
    move(one, other)
    assert other.read_text() == "new" and not one.exists()
    with pytest.raises(WriteError, match="cannot write .*other.* No such file"):
        move(one, other)
    assert other.read_text() == "new"

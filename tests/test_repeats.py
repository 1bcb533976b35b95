"""Tests that snippets of determinism checks show the difference, and that messages contain no terminal styles."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from trace_gym.targets.user.mcp import opened
from trace_gym.types import Call
from trace_gym.validation import validate
from trace_gym.validation.repeat_snippets import for_each, in_processes

pytestmark = pytest.mark.slow

TOY = Path(__file__).parent / "user_folder" / "library_loans.py"
SUMS = """
import gymnasium
from gymnasium.spaces import Text

COUNT = [0]


class Sums(gymnasium.Env):
    observation_space, action_space = Text(10_000), Text(10_000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        {draw}
        return f"Add {{self.a}} and {{self.b}}.", {{}}

    def step(self, action):
        return {observation}, float(action == str(self.a + self.b)), True, False, {{}}


gymnasium.register("my/sums-v0", entry_point="sums:Sums")
"""
SEEDED = "self.a, self.b = (int(x) for x in self.np_random.integers(1000, 9999, 2))"
COUNTED = f"{SEEDED}; COUNT[0] += 1; self.a += COUNT[0]"
HASHED = f"{SEEDED}; self.a += hash('a') % 1000"


def run(snippet: str, folder: Path) -> list[str]:
    """Return the lines that a snippet prints, run in a folder."""
    done = subprocess.run([sys.executable, "-c", snippet], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def counterexample(target: str | Path, code: str) -> str:
    (found,) = [f for f in validate(target, profile="quick", only=[code]).findings if f.code == code]
    assert found.verdict == "failed", found.message
    return found.counterexample


@pytest.fixture
def sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for the module `sums`, which the tests write and import."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sums", raising=False)
    return tmp_path / "sums.py"


def test_snippet_shows_that_a_seed_is_another_problem_again(sums: Path) -> None:
    sums.write_text(SUMS.format(draw=COUNTED, observation="''"))
    shown = run(counterexample("gym:sums:my/sums-v0", "TG101"), sums.parent)
    prompts = [line for line in shown if line.startswith("Add")]
    assert len(prompts) == 3 and prompts[0] != prompts[2]


def test_snippet_shows_that_a_process_has_another_problem(sums: Path) -> None:
    sums.write_text(SUMS.format(draw=HASHED, observation="''"))
    shown = run(counterexample("gym:sums:my/sums-v0", "TG102"), sums.parent)
    prompts = [line for line in shown if line.startswith("Add")]
    assert len(prompts) == 2 and prompts[0] != prompts[1]


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("TG101", "rng.shuffle(shelf); cls.count = getattr(cls, 'count', 0) + 1; title = TITLES[cls.count % 4]"),
        ("TG102", "shelf = [c for _, c in sorted((hash(c.title), n, c) for n, c in enumerate(shelf))]"),
    ],
)
def test_snippet_of_a_world_shows_that_a_scenario_differs(code: str, change: str, tmp_path: Path) -> None:
    change = change.replace("for _, c in sorted", "for _, _, c in sorted")
    path = tmp_path / TOY.name
    path.write_text(TOY.read_text().replace("rng.shuffle(shelf)", change))
    shown = run(counterexample(path, code), tmp_path)
    assert len(shown) in (2, 3) and shown[0] != shown[-1]


def test_warning_of_gymnasium_is_quoted_without_its_colors(sums: Path) -> None:
    sums.write_text(SUMS.format(draw=SEEDED, observation="5"))
    findings = validate("gym:sums:my/sums-v0", profile="quick", only=["TG901"]).findings
    message = next(f.message for f in findings if f.code == "TG901")
    assert "\x1b" not in message and "[33m" not in message and "[0m" not in message and "observation" in message


def test_code_with_quotes_and_backslashes_survives_in_processes(tmp_path: Path) -> None:
    code = "import os\n\nprint('a\\\\b', \"'''\", os.environ['TZ'])\n"
    assert run(in_processes(code, [{"TZ": "x"}, {"TZ": "y"}]), tmp_path) == ["a\\b ''' x", "a\\b ''' y"]


def test_for_each_repeats_the_body_only(tmp_path: Path) -> None:
    code = "import os\n\nprint(7, end=' ')\nprint(os.sep)\n"
    assert run(for_each(code, "seed", [7, 8, 7]), tmp_path) == ["7 /", "8 /", "7 /"]


NOISY_SERVER = """
from mcp.server.fastmcp import FastMCP

app = FastMCP("noisy")


@app.tool()
def find(key: str) -> str:
    print("looking for", key, flush=True)
    return f"found {key}"


print("starting the server", flush=True)
app.run()
"""


def test_server_that_logs_to_stdout_causes_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("mcp")
    (tmp_path / "server.py").write_text(NOISY_SERVER)
    caplog.set_level(logging.INFO)
    with opened(f"{sys.executable} {tmp_path / 'server.py'}") as server:
        assert [tool["name"] for tool in server.tools()] == ["find"]
        assert server.call(Call("find", {"key": "a"})) == "found a"
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1 and not warnings[0].exc_info
    message = warnings[0].getMessage()
    assert "found 'starting the server'" in message and "Let it write logs to stderr" in message

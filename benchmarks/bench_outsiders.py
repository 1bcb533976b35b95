"""Measure how many bugs by outside authors `trace-gym validate` detects.

    python benchmarks/bench_outsiders.py [--half development|unseen|all] [--only TG2,TG7] [--out results.jsonl]
    python benchmarks/bench_outsiders.py [--half all] --groups results.jsonl

The bugs are in ``benchmarks/outsiders/``. Each one is applied to a copy of its environment, which is validated in the
sandbox. A bug is detected if at least one property fails. Results are appended to a file, and a second run with the
same file skips the bugs that the file contains. With ``--groups``, the script only prints the detection rate of each
group of bugs for a file of results, which may also come from ``bench_review.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym.sandbox import check
from trace_gym.statistics import wilson

FOLDER = Path(__file__).parent / "outsiders"
HALVES = ("development", "unseen")
GROUPS = {
    "shortcut": "A position, a relation between records, or a constant decision gives the correct action.",
    "leak": "The words of the user or the answer of a tool reveal the correct action or the next step.",
    "wrong text or answer": "The text of the request or an answer of the user contradicts the expected outcome.",
    "hidden information": "The correct action depends on information that the agent cannot obtain.",
    "right outcome rejected": "The text is clear, but the expected outcome or the verifier rejects a correct agent.",
    "levels and randomness": "Cases or start states that a level needs never occur, rarely occur, or never vary.",
    "wrong outcome rewarded": "The verifier accepts a wrong value, a false report, or no report.",
    "unchecked side effect": "The verifier ignores an additional action or a part of the request.",
}
"""Groups of bugs, with the criterion for each of them."""


@dataclass(frozen=True)
class Bug:
    """One bug, given as text replacements in the module of an environment."""

    author: str
    env: str
    title: str
    what: str
    kind: str
    group: str
    edits: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """SHA-256 digest of the environment, the title and the new texts."""
        return hashlib.sha256("\n".join([self.env, self.title, *(new for _, new in self.edits)]).encode()).hexdigest()

    @property
    def half(self) -> str:
        return HALVES[bytes.fromhex(self.key)[0] % 2]

    def source(self) -> str:
        """Return the source of the environment's module with the bug inserted.

        Raises:
            ValueError: The module has changed, so that an edit cannot be applied.
        """
        text = registry.module_path(self.env).read_text(encoding="utf-8")
        for old, new in self.edits:
            if text.count(old) != 1:
                raise ValueError(f"{self.env}, {self.title}: the text occurs {text.count(old)} times: {old[:80]!r}")
            text = text.replace(old, new)
        return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=[*HALVES, "all"], default="development")
    parser.add_argument("--author", help="name of one file, without .json")
    parser.add_argument("--env", help="environment of the bugs")
    parser.add_argument("--only", help="codes or prefixes of codes, separated by commas")
    parser.add_argument("--profile", choices=["quick", "gate"], default="gate")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--missed", type=Path, help="results of an earlier run: validate only the bugs that it missed")
    parser.add_argument("--groups", type=Path, metavar="FILE", help="print the table of groups for a file of results")
    parser.add_argument("--out", type=Path, default=Path("outsiders.jsonl"))
    options = parser.parse_args()
    bugs = [b for b in load_bugs() if options.half in ("all", b.half)]
    bugs = [b for b in bugs if options.author in (None, b.author) and options.env in (None, b.env)]
    if options.groups:
        print(group_table(bugs, {r["key"]: detected(r) for r in read(options.groups)}))
        return
    if options.missed:
        missed = {r["key"] for r in read(options.missed) if not r["failed"]}
        bugs = [b for b in bugs if b.key in missed]
    only = options.only.split(",") if options.only else None
    run(bugs, partial(detect, only=only, profile=options.profile), options.out, options.workers)
    summarize(bugs, {r["key"]: r for r in read(options.out)})


def load_bugs() -> list[Bug]:
    """Return all bugs except those that, in the judgment of a second reader, do not change the behavior."""
    excluded = {row["key"] for row in json.loads((FOLDER / "equivalent.json").read_text(encoding="utf-8"))}
    found = []
    for path in sorted(FOLDER.glob("author*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            edits = tuple((e["old"], e["new"]) for e in row["edits"])
            found.append(
                Bug(path.stem, row["env"], row["title"], row["what"], row["class"], row.get("group", ""), edits)
            )
    return [bug for bug in found if bug.key not in excluded]


def detect(bug: Bug, only: list[str] | None, profile: str) -> dict[str, Any]:
    """Validate an environment with a bug and return the failed properties with their messages."""
    begun = time.monotonic()
    row = {"key": bug.key, "author": bug.author, "env": bug.env, "title": bug.title, "kind": bug.kind}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{bug.env}.py"
        path.write_text(bug.source(), encoding="utf-8")
        report = check(path, profile=profile, only=only, confirm=False)
    failed = {f.code: f.message for f in report.findings if f.verdict == "failed"}
    return {**row, "failed": failed, "seconds": round(time.monotonic() - begun, 1)}


def run(bugs: list[Bug], work: Any, out: Path, workers: int) -> None:
    """Validate the bugs that are not in the file of results, and append their results."""
    done = {r["key"] for r in read(out)}
    todo = [b for b in bugs if b.key not in done]
    with ProcessPoolExecutor(workers) as pool, out.open("a", encoding="utf-8") as file:
        jobs = {pool.submit(work, bug): bug for bug in todo}
        for n, job in enumerate(as_completed(jobs), 1):
            try:
                row = job.result()
            except ValueError as error:
                print(f"skipped: {error}")
                continue
            file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{n}/{len(todo)} {row['seconds']:6.1f} s {row['env']}: {row['title']}: {', '.join(row['failed'])}")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results in a file."""
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def detected(row: dict[str, Any]) -> bool:
    """Return whether a result of this script or of ``bench_review.py`` is a detection."""
    return bool(row["failed"]) if "failed" in row else bool(row["verdict"] == "failed")


def group_table(bugs: list[Bug], results: dict[str, bool]) -> str:
    """Return the Markdown table of the detection rate of each group of bugs in each half, with its 95% interval."""
    halves = [half for half in HALVES if any(b.half == half for b in bugs)]
    lines = [f"| {' | '.join(['Group', *(f'{half} half' for half in halves)])} |", "|---" * (1 + len(halves)) + "|"]
    for group in [*GROUPS, ""]:
        cells = [_rate([b for b in bugs if b.half == half and group in ("", b.group)], results) for half in halves]
        lines.append(f"| {' | '.join([group or 'all', *cells])} |")
    return "\n".join(lines)


def _rate(bugs: list[Bug], results: dict[str, bool]) -> str:
    found = [results[b.key] for b in bugs if b.key in results]
    span = wilson(sum(found), len(found))
    return f"{sum(found)} of {len(found)} ({span.low:.0%} to {span.high:.0%})" if span else "not measured"


def summarize(bugs: list[Bug], results: dict[str, dict[str, Any]]) -> None:
    """Print the detection rate with its 95% interval in total, by author and by group, and those of each property."""
    rows = [results[b.key] for b in bugs if b.key in results]
    for author in [*sorted({r["author"] for r in rows}), ""]:
        chosen = [r for r in rows if author in ("", r["author"])]
        caught = sum(bool(r["failed"]) for r in chosen)
        span = wilson(caught, len(chosen))
        rate = f"{caught / len(chosen):.1%} ({span.low:.1%} to {span.high:.1%})" if span else "no bugs"
        print(f"{author or 'all':10} detected {caught} of {len(chosen)}: {rate}")
    print(group_table(bugs, {key: detected(row) for key, row in results.items()}))
    codes = Counter(code for r in rows for code in r["failed"])
    alone = Counter(*[[next(iter(r["failed"])) for r in rows if len(r["failed"]) == 1]])
    for code, count in codes.most_common():
        print(f"{code}: {count} bugs, {alone[code]} detected by no other property")


if __name__ == "__main__":
    main()

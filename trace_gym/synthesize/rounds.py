"""The bounded loop of an author: write, check, mend; every version stays on disk, and the best one is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from trace_gym.errors import RejectedEnv
from trace_gym.files import write
from trace_gym.llm.quoting import fenced, inline
from trace_gym.sandbox import RULES, ConfinedWorld, confined_validate, scan
from trace_gym.synthesize.author import Author, identity_faults
from trace_gym.synthesize.calibrate import Calibration, by_experts, by_policy
from trace_gym.synthesize.complaints import Complaint, Stage, excerpt, lines_named, of_report
from trace_gym.synthesize.ground import ground_of
from trace_gym.synthesize.slots import Unwritable
from trace_gym.types import Report, Spec
from trace_gym.validate import Given
from trace_gym.validate.context import NOTHING
from trace_gym.validate.gate import chosen
from trace_gym.validate.loading import LOADS

GIVEN_ONLY = ("TG413", "TG703")
"""Properties that look at files which the user names: recorded episodes, and the tasks of a test."""
MUTATIONS = 5
"""How often a module that passed is made harder or easier for the policy that is to be trained."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Terms:
    """How thoroughly a candidate is checked, and for whom it is calibrated."""

    profile: str = "gate"
    budget: float | None = None
    """Seconds for all properties of one version; without a limit by default."""
    workers: int = 2
    only: tuple[str, ...] | None = None
    """Codes of the properties to check, or what they begin with; all by default."""
    given: Given = NOTHING
    policy: str = ""
    """Whose rewards should spread, as `trace_gym.validate.policies.resolve` reads it; by default an agent somewhere
    between the two experts."""

    @property
    def codes(self) -> set[str]:
        """The properties that are checked."""
        return set(chosen(self.only))


USUAL = Terms()


@dataclass(frozen=True)
class Candidate:
    """One version of a module, and what was found in it."""

    number: int
    text: str
    stage: Stage
    complaints: tuple[Complaint, ...]
    report: Report | None = None
    """None where it was not run."""

    @property
    def passed(self) -> bool:
        """Whether every property holds."""
        return self.report is not None and self.report.passed

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Smaller is better: run before not run, few complaints before many, late before early."""
        return self.report is None, len(self.complaints), -self.number

    @property
    def verdict(self) -> str:
        """What was found, in a line."""
        if self.report is not None and self.report.passed:
            return f"passed {len(self.report.findings)} properties on {self.report.scenarios} scenarios"
        codes = ", ".join(dict.fromkeys(c.code for c in self.complaints))
        return f"{'not run: ' if self.report is None else 'fails '}{codes}"


@dataclass(frozen=True)
class Desk:
    """All that writing one environment takes."""

    spec: Spec
    author: Author
    place: Path
    """Folder of the candidate: the version at hand as ``<id>.py``, and all of them under ``round-<n>``."""
    terms: Terms
    tell: Tell
    """Takes a line about each version."""

    @property
    def module(self) -> Path:
        """Where the version at hand lies."""
        return self.place / f"{self.spec.id}.py"


def rounds(desk: Desk) -> Iterator[Candidate]:
    """Write, check and mend until a version passes or the author may mend no more."""
    spec, author = desk.spec, desk.author
    best: Candidate | None = None
    for number in range(author.repairs + 1):
        if best is None:
            written = partial(author.write, spec)
        else:
            written = partial(author.revise, spec, best.text, best.stage, best.complaints, number)
        made = version(desk, written, number)
        if author.repairs:
            desk.tell(f"{spec.id}, version {number + 1} of at most {author.repairs + 1}: {made.verdict}")
        yield made
        if made.passed:
            return
        best = min((c for c in (best, made) if c), key=lambda c: c.rank)


def fitted(desk: Desk, passed: Candidate) -> tuple[Candidate, Calibration, int]:
    """Weigh the levels for the policy that is to be trained, and have the module mutated where no weights fit.

    Returns:
        The version whose rewards spread best, the weights of its levels, and how many mutations were written.
    """
    best, found = passed, calibration(desk, passed)
    name, count = desk.spec.id, 0
    while not found.fits and count < MUTATIONS:
        count += 1
        desk.tell(f"{name} is too {found.direction} for {desk.terms.policy}, {found.says}; mutation {count}")
        mutate = partial(desk.author.mutate, desk.spec, best.text, found.direction, found.says, count)
        made = version(desk, mutate, passed.number + count)
        desk.tell(f"{name}, mutation {count} of at most {MUTATIONS}: {made.verdict}")
        if made.passed and (now := calibration(desk, made)).distance < found.distance:
            best, found = made, now
    short = "" if found.fits else f"; the bands are not reached, and this is the best of {count + 1} versions"
    desk.tell(f"{name}: {found.says}{short}")
    return best, found, count


def calibration(desk: Desk, made: Candidate) -> Calibration:
    """The weights of the levels of a version that passed; its episodes run in the sandbox, the policy does not."""
    assert made.report is not None
    if not desk.terms.policy:
        return by_experts(made.report, len(desk.spec.levels))
    write(desk.module, made.text)
    ground = ground_of(desk.spec)
    with ConfinedWorld(desk.module, target_imports=ground.imports, lent=ground.lent) as world:
        return by_policy(world, desk.terms.policy)


def version(desk: Desk, written: Callable[[], str], number: int) -> Candidate:
    """Have one version written, check it, and keep it under ``round-<number>``."""
    made = _checked(desk, written, number)
    folder = desk.place / f"round-{number}"
    _forget(folder / "report.json", folder / desk.module.name, made.text)
    write(folder / desk.module.name, made.text)
    write(folder / "complaints.md", "".join(map(_told, made.complaints)) or "Nothing was found.\n")
    if made.report is not None:
        write(folder / "report.json", made.report.model_dump_json(indent=1) + "\n")
    return made


def _checked(desk: Desk, written: Callable[[], str], number: int) -> Candidate:
    try:
        text = written()
    except Unwritable as error:
        complaints = tuple(_screened(fault, error.text) for fault in error.faults)
        return Candidate(number, error.text, "screen", complaints)
    write(desk.module, text)
    if faults := tuple(screen(text, desk.spec)):
        return Candidate(number, text, "screen", faults)
    report = _known(desk, text, number) or examined(desk)
    complaints = tuple(of_report(report, text))
    if not report.passed and not complaints:
        late = [f.code for f in report.findings if f.verdict == "unfinished"]
        raise RejectedEnv(
            f"{desk.spec.id}: {len(late)} of {len(report.findings)} properties, from {late[0]} on, were not finished "
            f"within {desk.terms.budget:g} seconds, and nothing was wrong until then; run the same command with more "
            "--seconds"
        )
    return Candidate(number, text, "checks", complaints, report)


def screen(text: str, spec: Spec) -> Iterator[Complaint]:
    """What can be seen in a module without running it."""
    if faults := scan(text, target_imports=ground_of(spec).imports):
        yield from (
            Complaint(f.rule, f"line {f.line}: {f.says}", RULES[f.rule], "", excerpt(text, [f.line])) for f in faults
        )
    else:
        yield from (_screened(fault, text) for fault in identity_faults(text, spec))


def _screened(fault: str, text: str) -> Complaint:
    return Complaint("screen", fault, lines=excerpt(text, lines_named(fault)))


def examined(desk: Desk) -> Report:
    """Check the module at hand in the sandbox, whoever wrote it."""
    terms, ground = desk.terms, ground_of(desk.spec)
    report = confined_validate(
        desk.module,
        profile=terms.profile,
        only=terms.only,
        budget=terms.budget,
        engine="processes" if terms.workers > 1 else "here",
        workers=terms.workers,
        target_imports=ground.imports,
        lent=ground.lent,
        recordings=ground.recordings,
        confirm=not desk.author.trusted,
    )
    report = ground.judged(report)
    return _compared(desk, report) if report.passed and terms.given != NOTHING else report


def _compared(desk: Desk, report: Report) -> Report:
    """The report of a module that passed, with the properties that compare it with files of the user.

    It is another run, so that the files are lent to modules that passed everything else, and to no other.
    """
    ground = ground_of(desk.spec)
    told = confined_validate(
        desk.module,
        profile=desk.terms.profile,
        only=GIVEN_ONLY,
        given=desk.terms.given,
        target_imports=ground.imports,
        lent=ground.lent,
    )
    found = {f.code: f for f in told.findings}
    findings = tuple(found.get(f.code, f) if f.code in (*GIVEN_ONLY, LOADS) else f for f in report.findings)
    return report.model_copy(update={"findings": findings, "passed": report.passed and told.passed})


def _forget(report: Path, module: Path, text: str) -> None:
    """Remove the report of another text: killed before its own is there, this one would be taken to have that one."""
    if not module.is_file() or module.read_text() != text:
        report.unlink(missing_ok=True)


def _known(desk: Desk, text: str, number: int) -> Report | None:
    """What an interrupted run has found in the same version."""
    folder = desk.place / f"round-{number}"
    try:
        if (folder / desk.module.name).read_text() != text:
            return None
        known = Report.model_validate_json((folder / "report.json").read_bytes())
    except (OSError, ValidationError):
        return None
    whole = known.passed and {f.code for f in known.findings} == desk.terms.codes
    judged = whole or of_report(known, text)  # what was stopped before anything failed is tried again
    return known if known.profile == desk.terms.profile and judged else None


def _told(complaint: Complaint) -> str:
    blocks = "".join(f"\n{fenced(b, 'python')}\n" for b in (complaint.counterexample, complaint.lines) if b)
    return f"## {complaint.code} {inline(complaint.says)}\n\n{complaint.mend}\n{blocks}\n"

"""Registry of the checks of task files, and the context in which they run.

A task file contains the tasks of a benchmark with the calls that they expect. Codes have the prefix TF: TF0 loading,
TF1 expected calls, TF2 rewards, TF3 information.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from trace_gym.schemas import complaint_about
from trace_gym.targets.task_files import Task, TaskFile, TaskIssue
from trace_gym.types import Call, Finding
from trace_gym.validation.properties import describe_exception
from trace_gym.world import ToolError, World, call_tool


@dataclass(frozen=True, slots=True)
class TaskStep:
    """Effect of one expected call."""

    call: Call
    error: str = ""
    """Message of the tool if it refused the call."""
    violations: tuple[str, ...] = ()
    """Rules of the policy that the call breaks."""
    changed: bool = True
    """Whether the call changed the state that determines the reward. True for calls that only read."""


@dataclass(frozen=True, slots=True)
class TaskRun:
    """Run of calls on the database of a task."""

    steps: tuple[TaskStep, ...]
    before: World
    """World before the calls."""
    after: World
    """World after the calls."""

    @property
    def valid(self) -> bool:
        """Whether every call was executed and is allowed."""
        return not any(step.error or step.violations for step in self.steps)


@dataclass
class TaskFileContext:
    """Task file with the cached runs of the expected calls."""

    file: TaskFile
    _runs: dict[int, TaskRun] = field(default_factory=dict)

    def is_write(self, call: Call) -> bool:
        """Return whether a call uses a write tool."""
        return self.file.interface.kinds.get(call.tool) == "write"

    def run(self, task: Task) -> TaskRun:
        """Return the run of the expected calls of a task."""
        if id(task) not in self._runs:  # the id of the task may occur twice
            self._runs[id(task)] = self.run_calls(task, task.calls)
        return self._runs[id(task)]

    def run_calls(self, task: Task, calls: Sequence[Call]) -> TaskRun:
        """Run calls on a new copy of the database. Invalid calls are skipped.

        A second world is always one call behind the first, so comparing the two shows the effect of each call without
        copying the state.
        """
        world, behind = self.file.start(task, calls), self.file.start(task, calls)
        steps = []
        for call in calls:
            if complaint_about(call, self.file.interface):
                continue
            try:
                broken = tuple(self.file.violations(task, world, call)) if self.is_write(call) else ()
            except LookupError as missing:  # a record or an object in the arguments lacks a field
                steps.append(TaskStep(call, f"it cannot be checked: {describe_exception(missing)}"))
                continue
            error = _execute(world, call)
            changed = not self.is_write(call) or self.file.state(world) != self.file.state(behind)
            if changed and not error:
                _execute(behind, call)
            steps.append(TaskStep(call, error, broken, changed))
        return TaskRun(tuple(steps), self.file.start(task, ()), world)

    def is_no_op(self, run: TaskRun) -> bool:
        """Return whether the state after a run equals the state before it."""
        return bool(self.file.state(run.before) == self.file.state(run.after))


def _execute(world: World, call: Call) -> str:
    """Call a tool, and return the message of the tool if it refuses the call."""
    try:
        call_tool(world, call.tool, call.arguments)
    except ToolError as error:
        return str(error)
    except LookupError as missing:
        return f"a field is missing: {describe_exception(missing)}"
    return ""


TaskCheck = Callable[[TaskFileContext], Iterable[TaskIssue]]


@dataclass(frozen=True, slots=True)
class TaskProperty:
    """Property of a task file: the condition, its reason, the fix for a defect, and the function that checks it."""

    code: str
    name: str
    statement: str
    reason: str
    fix: str
    confidence: str
    """``certain`` if every issue is a defect. Otherwise an issue is a warning, with ``high``, ``medium`` or ``low``
    confidence that it is a defect."""
    check: TaskCheck

    def __call__(self, context: TaskFileContext) -> Finding:
        """Check the property and return a finding that lists every affected task."""
        try:
            issues = list(self.check(context))
        except Exception as error:
            return self._finding("failed", f"the check {describe_exception(error)}")
        count = len(context.file.tasks)
        if not issues:
            return self._finding(
                "passed", f"{count} tasks have no issue", {"tasks": count, "issues": 0, "concerned": 0}
            )
        concerned = len({issue.task for issue in issues})
        certain = self.confidence == "certain"
        head = f"{concerned} of {count} tasks" + ("" if certain else f" (confidence: {self.confidence})")
        metrics = {"tasks": float(count), "issues": float(len(issues)), "concerned": float(concerned)}
        return self._finding("failed" if certain else "warning", "\n".join([f"{head}:", *_lines(issues)]), metrics)

    def unfinished(self, budget: float | None) -> Finding:
        """Return the finding for a property that was not checked within the time limit."""
        return self._finding("unfinished", f"not started within {budget:g} seconds; increase the budget")

    def _finding(self, verdict: str, message: str, metrics: dict[str, float] | None = None) -> Finding:
        return Finding.model_validate(
            {
                "code": self.code,
                "property": self.name,
                "verdict": verdict,
                "message": message.encode(errors="backslashreplace").decode(),
                "metrics": metrics or {},
            }
        )


def _lines(issues: Sequence[TaskIssue]) -> Iterator[str]:
    """Yield one line per issue. Equal issues of several tasks share a line."""
    tasks: dict[tuple[str, str], list[str]] = {}
    for issue in issues:
        tasks.setdefault((issue.found, issue.expected), []).append(issue.task)
    for (found, expected), ids in tasks.items():
        yield f"task{'s' if len(ids) > 1 else ''} {', '.join(ids)}: found {found}; expected {expected}"


TASK_PROPERTIES: dict[str, TaskProperty] = {}
"""All properties of task files by code. Codes are never reused."""


def task_check(
    code: str, *, statement: str, reason: str, fix: str, confidence: str = "certain"
) -> Callable[[TaskCheck], TaskCheck]:
    """Register the decorated check under `code`. The name of the property is the function name with hyphens."""

    def register(check: TaskCheck) -> TaskCheck:
        name = check.__name__.replace("_", "-")
        TASK_PROPERTIES[code] = TaskProperty(code, name, statement, reason, fix, confidence, check)
        return check

    return register


def markdown() -> str:
    """Return the table of ``docs/guides/validate_others.md``."""
    rows = [
        f"| {p.code} | {p.statement} | {p.reason} | {p.fix} | {p.confidence} |\n"
        for _, p in sorted(TASK_PROPERTIES.items())
    ]
    return f"| Code | Statement | Reason | Fix | Confidence |\n|---|---|---|---|---|\n{''.join(rows)}"


def shown(call: Call, most: int = 160) -> str:
    """Return a call as a short text."""
    text = f"{call.tool}({', '.join(f'{k}={v!r}' for k, v in call.arguments.items())})"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def steps(context: TaskFileContext) -> Iterator[tuple[Task, TaskStep]]:
    """Yield every step of every task."""
    for task in context.file.tasks:
        yield from ((task, step) for step in context.run(task).steps)

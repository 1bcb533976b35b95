"""Properties of the expected calls of a task file, and of the reward that they determine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trace_gym.schemas import complaint_about
from trace_gym.targets.task_files import TaskIssue
from trace_gym.validation.task_files.registry import TaskFileContext, shown, steps, task_check


@task_check(
    "TF001",
    statement="Every task has a unique id, and every expected call names an existing tool with valid arguments.",
    reason="A task with an id that occurs twice is lost, and no agent can make a call that the tools reject.",
    fix="Rename the task, or correct the name or the arguments of the call.",
)
def tasks_are_valid(context: TaskFileContext) -> Iterator[TaskIssue]:
    for key, count in Counter(task.id for task in context.file.tasks).items():
        if count > 1:
            yield TaskIssue(key, f"{count} tasks with this id", "a unique id")
    for task in context.file.tasks:
        for call in task.calls:
            if complaint := complaint_about(call, context.file.interface):
                yield TaskIssue(task.id, shown(call), f"a valid call: {complaint}")


@task_check(
    "TF101",
    statement="The expected writes of every task run on the database without an error.",
    reason="A write that a tool refuses has no effect, so the expected final state is not the intended one.",
    fix="Correct the arguments of the call, or the record in the database.",
)
def expected_writes_run(context: TaskFileContext) -> Iterator[TaskIssue]:
    yield from _refused(context, writes=True)


@task_check(
    "TF102",
    statement="Every expected write is allowed by the policy, whatever the user agrees to.",
    reason="An agent that follows the policy does not make the call and fails the task.",
    fix="Remove or correct the call, or change the instructions so that the policy allows it.",
)
def expected_writes_are_allowed(context: TaskFileContext) -> Iterator[TaskIssue]:
    for task, step in steps(context):
        if step.violations:
            yield TaskIssue(
                task.id, f"{shown(step.call)}: {'; '.join(step.violations)}", "a call that the policy allows"
            )


@task_check(
    "TF103",
    statement="Every expected write changes the database, and none replaces something by itself.",
    reason="A write without an effect tests nothing, and an agent that does not make it may fail or pass by chance.",
    fix="Remove the call, or correct its arguments.",
)
def expected_writes_have_an_effect(context: TaskFileContext) -> Iterator[TaskIssue]:
    for task, step in steps(context):
        if not step.changed and not step.error:
            yield TaskIssue(task.id, f"{shown(step.call)} without an effect", "a write that changes the database")
        for same in context.file.unchanged(context.run(task).before, step.call):
            yield TaskIssue(task.id, f"{step.call.tool}: {same}", "a replacement by something else")


@task_check(
    "TF104",
    statement="The other expected calls of every task run without an error.",
    reason="A lookup that fails may have a wrong argument. It is intended if the user gives wrong data on purpose.",
    fix="Correct the arguments of the call, or keep it if the instructions contain the same wrong data on purpose.",
    confidence="low",
)
def expected_lookups_run(context: TaskFileContext) -> Iterator[TaskIssue]:
    yield from _refused(context, writes=False)


def _refused(context: TaskFileContext, writes: bool) -> Iterator[TaskIssue]:
    for task, step in steps(context):
        if step.error and context.is_write(step.call) == writes:
            yield TaskIssue(task.id, f"{shown(step.call)}, refused because {step.error}", "a call that succeeds")


@task_check(
    "TF201",
    statement="If a task expects writes, the final state differs from the initial one.",
    reason="Otherwise an agent that does nothing passes a task that requires work.",
    fix="Correct the expected writes, so that they do not cancel each other out or fail.",
)
def no_op_agent_fails(context: TaskFileContext) -> Iterator[TaskIssue]:
    for task in context.file.tasks:
        if any(map(context.is_write, task.calls)) and context.is_no_op(context.run(task)):
            yield TaskIssue(task.id, "expected writes that leave the database as it was", "another final state")


@task_check(
    "TF202",
    statement="Every task expects a write, or a text that the agent must communicate.",
    reason="If neither the database nor a text is compared, an agent that does nothing or refuses everything passes.",
    fix="Add a text to communicate, or score the task with another method, such as assertions that a model checks.",
    confidence="low",
)
def inaction_does_not_pass(context: TaskFileContext) -> Iterator[TaskIssue]:
    for task in context.file.tasks:
        if not any(map(context.is_write, task.calls)) and not task.communicated:
            yield TaskIssue(task.id, "no expected write and no text to communicate", "one of them")


@task_check(
    "TF203",
    statement="The instructions determine every choice in the expected writes.",
    reason="If another choice suits the user equally well, an agent that makes it is scored 0.",
    fix="State in the instructions what the user prefers.",
    confidence="medium",
)
def choices_are_determined(context: TaskFileContext) -> Iterator[TaskIssue]:
    for task in context.file.tasks:
        expected = context.run(task)
        if not expected.valid:
            continue
        for n, call in enumerate(task.calls):
            if not context.is_write(call):
                continue
            reasons = []
            for other in context.file.alternatives(task, expected.before, call):
                made = context.run_calls(task, [*task.calls[:n], other.call, *task.calls[n + 1 :]])
                if made.valid and context.file.state(made.after) != context.file.state(expected.after):
                    reasons.append(other.reason)
            if reasons:
                more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
                yield TaskIssue(task.id, f"{shown(call)}, although {reasons[0]}{more}", "a choice that is determined")


@task_check(
    "TF301",
    statement="The ids and names in a task fit the database: they exist and belong to the user of the task.",
    reason="An agent that verifies them must refuse the request or ask for data that the user does not have.",
    fix="Correct the id or the name in the instructions or in the expected calls, unless it is wrong on purpose.",
    confidence="low",
)
def references_are_consistent(context: TaskFileContext) -> Iterator[TaskIssue]:
    for task in context.file.tasks:
        yield from (TaskIssue(task.id, found, expected) for found, expected in context.file.reference_errors(task))

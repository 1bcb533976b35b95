"""Fixes for failed properties of native environments, third-party environments and task files."""

from __future__ import annotations

import re

from trace_gym.interpreter import NOT_INSTALLED
from trace_gym.types import Finding
from trace_gym.validation.properties import DIED, PROPERTIES
from trace_gym.validation.task_files.registry import TASK_PROPERTIES
from trace_gym.validation.third_party.remedies import remedy_for
from trace_gym.validation.third_party.uri import is_third_party

RAISED = "Run the snippet: the last line of its traceback contains the error, and the lines above contain the location."
"""Fix for an unexpected exception, in a property that does not test for exceptions."""
ENDS = "Remove the code that ends or crashes the process. An environment must raise an exception instead."
"""Fix for an environment that ended the process."""
INSTALL = (
    "Install trace_gym, for example with `pip install -e .` in a checkout. In the sandbox, a fresh process does not "
    "find packages that are only in a folder of PYTHONPATH."
)
"""Fix for a fresh process that cannot import trace_gym."""
_process_ended = re.compile(
    f"{DIED}|the sandbox (stopped the module: the process of the module|rejected the report: the process ended"
    "|stopped it: its process|does not believe its report: the process ended) "  # written by earlier versions
)
_raised_message = re.compile(r"(\S+/\d+/\d+: |seed \d+: )?(generate failed with|(turn \d+ |the \w+ )?raised) \w+:")


def remedy(finding: Finding, env: object = "") -> str:
    """Return the fix for a failed finding or a warning; an empty string for others or if no fix is known.

    Args:
        finding: Finding of a property.
        env: Name or URI of the environment. For the URI of a third-party environment, the fix refers to the methods of
            that environment.
    """
    if finding.code in TASK_PROPERTIES:
        return TASK_PROPERTIES[finding.code].fix if finding.verdict in ("failed", "warning") else ""
    known = PROPERTIES.get(finding.code)
    if known is None or finding.verdict != "failed":
        return ""
    if _process_ended.match(finding.message):
        return ENDS
    if finding.message.startswith(NOT_INSTALLED):
        return INSTALL
    if known.raising or not _raised_message.match(finding.message):
        return remedy_for(finding.code, str(env)) if is_third_party(env) else known.fix
    return RAISED if finding.counterexample else ""

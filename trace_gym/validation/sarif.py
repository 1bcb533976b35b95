"""Validation reports in the Static Analysis Results Interchange Format (SARIF), version 2.1.0.

Code hosts and editors display SARIF files as annotations of the source code. The file contains one rule for each
checked property, and one result for each failed property. A property that did not finish becomes a notification of the
run, because it is not a defect of the environment.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import trace_gym
from trace_gym.errors import TraceGymError
from trace_gym.parsing import parse_python
from trace_gym.types import Finding, Report
from trace_gym.validation.properties import PROPERTIES
from trace_gym.validation.remedies import remedy
from trace_gym.validation.source import file_behind
from trace_gym.validation.third_party.remedies import remedy_for
from trace_gym.validation.third_party.uri import is_third_party

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
"""URI of the schema, which SARIF files name in ``$schema``."""
Log = dict[str, Any]


def to_sarif(report: Report) -> Log:
    """Return the SARIF log of a report."""
    codes = [finding.code for finding in report.findings]
    failed = [f for f in report.findings if f.verdict == "failed"]
    unfinished = [f for f in report.findings if f.verdict == "unfinished"]
    run = {
        "tool": {
            "driver": {
                "name": "trace-gym",
                "version": trace_gym.__version__,
                "rules": [_rule(code, report.env) for code in codes],
            }
        },
        "automationDetails": {"id": f"trace-gym/{report.env}/"},
        "invocations": [
            {
                "executionSuccessful": not unfinished,
                "toolExecutionNotifications": [_notification(f) for f in unfinished],
            }
        ],
        "results": [_result(f, report.env, codes.index(f.code)) for f in failed],
        "columnKind": "unicodeCodePoints",
        "properties": {"environment": report.env, "scenarios": report.scenarios, "profile": report.profile},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def dump_sarif(report: Report) -> str:
    """Return the text of the SARIF file of a report."""
    return json.dumps(to_sarif(report), indent=1) + "\n"


def _rule(code: str, env: str) -> Log:
    """Return the rule of a property. The rule of a code from another release has no texts."""
    known = PROPERTIES.get(code)
    if known is None:
        return {"id": code}
    fix = (remedy_for(code, env) if is_third_party(env) else "") or known.fix
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in known.name.split("-")),
        "shortDescription": {"text": known.statement},
        "fullDescription": {"text": f"{known.statement} {known.reason}"},
        "help": {
            "text": f"{known.reason} How to fix a failure: {fix}",
            "markdown": f"{known.reason}\n\n**How to fix a failure.** {fix}",
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["reinforcement-learning", "environment"], "precision": "high"},
    }


def _notification(finding: Finding) -> Log:
    return {
        "level": "warning",
        "message": {"text": f"{finding.code} {finding.property}: {finding.message}"},
        "associatedRule": {"id": finding.code},
    }


def _result(finding: Finding, env: str, index: int) -> Log:
    fix = remedy(finding, env)
    fingerprint = hashlib.sha256(f"{env}\n{finding.code}".encode()).hexdigest()
    result: Log = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "kind": "fail",
        "level": "error",
        "message": {"text": "\n".join(filter(None, (finding.message, fix)))},
        "locations": [{"physicalLocation": _location(env, fix)}],
        "partialFingerprints": {"environmentAndProperty/v1": fingerprint},
    }
    if finding.counterexample:
        result["properties"] = {"counterexample": finding.counterexample}
    return result


def _location(env: str, fix: str) -> Log:
    """Return the location of the code that a fix names; the URI of the environment if its code is not known."""
    path = _module_file(env)
    if path is None:
        return {"artifactLocation": {"uri": quote(env, safe=":/?&=@#.,-_~")}}
    uri = quote(path.as_posix()) if not path.is_absolute() else path.as_uri()
    artifact = {"uri": uri} if path.is_absolute() else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    return {"artifactLocation": artifact, "region": {"startLine": _line(path, fix)}}


def _module_file(env: str) -> Path | None:
    """Return the module file of an environment; None if it is not known. The module is not executed."""
    try:
        if (path := file_behind(env)) is not None:
            return path
    except (TraceGymError, OSError):
        return None
    module = env.removeprefix("gym:").partition(":")[0]
    if is_third_party(env) and not env.startswith("gym:"):
        return None
    try:
        spec = find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    path = Path(spec.origin)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _line(path: Path, fix: str) -> int:
    """Return the line of the function that a fix names, such as ``generate``; 1 if it is not known.

    A name is used only if the module defines exactly one function of this name.
    """
    try:
        tree = parse_python(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return 1
    named = re.findall(r"`(\w+)`", fix)
    functions = list(_functions(tree))
    for name in named:
        lines = [line for found, line in functions if found == name]
        if len(lines) == 1:
            return lines[0]
    classes = [node.lineno for node in tree.body if isinstance(node, ast.ClassDef)]
    return classes[0] if len(classes) == 1 else 1


def _functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the name and the line of the methods of all classes at module level."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield part.name, part.lineno

"""Tests of the extraction of JSON and Python code from answers."""

from __future__ import annotations

import pytest

from trace_gym.errors import ModelError
from trace_gym.llm import code_in, json_in

MODULE = '"""A desk."""\n\nimport re\n\n\ndef f() -> int:\n    return 1\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{}", {}),
        ('The {answer} of [1] is {"a": {"b": [1, 2]}}, see [2].', {"a": {"b": [1, 2]}}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```json\r\n{"a": 1}\r\n```\r\n', {"a": 1}),
        ('```JSON\n{"a": 1}', {"a": 1}),  # the fence is not closed, but the object is
        ('~~~json\n{"a": 1}\n~~~', {"a": 1}),
        ('Use {"x": ..}:\n```json\n{"a": 1}\n```\nor {"b": ..', {"a": 1}),
        ('draft {"a": 1}, better {"a": 2}', {"a": 2}),
        ('```json\n{"a": 1}\n```\nbetter\n```json\n{"a": 2}\n```', {"a": 2}),
        ('```json\n{"a": ..}\n```\nfilled in\n```json\n{"a": 2}\n```', {"a": 2}),
        ('<think>maybe {"a": 0}</think>{"a": 1}', {"a": 1}),
        ('no opening {"a": 0}</think>{"a": 1}', {"a": 1}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"code": "```python\\nx = {1}\\n```"}', {"code": "```python\nx = {1}\n```"}),
    ],
)
def test_json_is_found(text: str, found: object) -> None:
    assert json_in(text) == found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not contain a JSON object"),
        ("No.", "not contain a JSON object: found 'No.'"),
        ('<think>{"a": 1}</think>', "not contain a JSON object"),
        ('[{"a": 1}, {"a": 2}]', "not contain a JSON object, only an array"),
        ('{"a": {"b": 1}, "c": [1,', "cut off"),
        ('{"a": {"b": 1}, "c": "x', "cut off"),
        ('```json\n{"a": {"b": 1}, "c": [\n```', "cut off"),
        ('```\n{"a": {"b": 1}, "c": [\n```', "cut off"),
        ('draft {"a": 1}, better {"a": 2, ', "cut off"),
        ('[{"a": 1}, {"b": ', "cut off"),
        ('{"a": {"b": 1},}', "malformed"),
        ('{"a": {"b": 1} "c": {"d": 2}}', "malformed.*line 1"),
        ("{'a': {\"b\": 1}}", "malformed"),
        ('{a: {"b": 1}}', "malformed"),
        ('{ // a comment\n "a": {"b": 1}}', "malformed"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "cannot be parsed|not contain a JSON"),
        ('{"a": ' * 100_000, "cannot be parsed|cut off"),
    ],
)
def test_no_part_of_a_broken_answer_is_taken(text: str, fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        json_in(text)


FENCED = f"```python\n{MODULE}```"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (MODULE, MODULE),
        (FENCED, MODULE),
        (f"Here it is:\n\n{FENCED}\n\nRun `f()`.", MODULE),
        (f"```py\n{MODULE}```\n\nUse it:\n\n```python\nf()\n```", MODULE),
        (f"```\n{MODULE}```", MODULE),
        (f"```text\nno\n```\n{FENCED}", MODULE),
        ("1. It is\n   ```python\n   x = 1\n   if x:\n       y = 2\n   ```", "x = 1\nif x:\n    y = 2\n"),
        ('```python\nT = """\n```json\n{}\n```\n"""\n```\ndone', 'T = """\n```json\n{}\n```\n"""\n'),
        ('T = """\n```\nx\n```\n"""', 'T = """\n```\nx\n```\n"""\n'),
        ("````python\nx = 1\n```\n````", "x = 1\n```\n"),  # it does not compile, which is for others to say
        ("```python\ndef f(:\n```\nand\n```text\nx\n```", "def f(:\n"),
        ("<think>\n```python\nx = 0\n```\n</think>\n```python\nx = 1\n```", "x = 1\n"),
        ("x = '\\d'", "x = '\\d'\n"),
    ],
)
def test_code_is_found(text: str, found: str) -> None:
    assert code_in(text) == found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not contain a Python code block"),
        ("Certainly", "not contain a Python code block: found 'Certainly'"),
        ("```text\nx = 1\n```", "not contain a Python code block"),
        ("```python\nx = 1\ndef f(", "cut off: it ends with .*def f"),
        ("```python\nx = 1\n```\nand the module\n```python\nimport re\n", "cut off"),
        ("```\nimport re\nx = ", "cut off"),
    ],
)
def test_code_that_is_not_there_or_cut_off_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        code_in(text)

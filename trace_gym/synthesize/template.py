"""The template author: fills the blueprints under ``templates/env/`` from a spec, without a model."""

from __future__ import annotations

import json
import re
import textwrap
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from jinja2 import meta
from pydantic import ValidationError

from trace_gym.errors import ConfigError, EnvNotFound, ReadError
from trace_gym.llm.quoting import Verbatim, fenced, inline, quoted
from trace_gym.parsing import first_fault, parse_yaml
from trace_gym.types import Spec, sha256

SKELETONS = (
    "module.py.jinja",
    "retail_module.py.jinja",
    "toolsandbox_module.py.jinja",
    "written.py.jinja",
    "base.py.jinja",
)
"""Templates that blueprints extend, or that modules of another author go into."""


def spec_names() -> list[str]:
    """The specs that ship with the project."""
    return sorted(f.name.removesuffix(".yaml") for f in _specs().iterdir() if f.name.endswith(".yaml"))


def spec(name: str) -> Spec:
    """The shipped spec of this name.

    Raises:
        EnvNotFound: There is none; the message lists those that exist.
    """
    if name not in spec_names():
        raise EnvNotFound(f"no spec {name!r} for the template author; there are {', '.join(spec_names())}")
    return read_spec((_specs() / f"{name}.yaml").read_text())


def read_spec(text: str, where: str = "the spec") -> Spec:
    """Validate the YAML or JSON text of a spec; `where` names it in errors.

    Raises:
        ConfigError: The text is not a spec; the message names the fields at fault.
    """
    try:
        return Spec.model_validate(parse_yaml(text, where))
    except ReadError as error:
        raise ConfigError(f"not a spec: {error}") from None
    except ValidationError as error:
        raise ConfigError(f"{where} is not a spec: {first_fault(error)}") from None


def write(spec: Spec) -> str:
    """The module text of a spec, formatted as the project's own code.

    Raises:
        ConfigError: The blueprint does not exist or misses a slot.
    """
    try:
        text = render(f"{spec.blueprint}.py.jinja", spec=spec)
    except jinja2.TemplateNotFound:
        raise _no_blueprint(spec) from None
    except jinja2.UndefinedError as error:
        raise ConfigError(f"spec {spec.id} lacks a slot of its blueprint {spec.blueprint}: {error}") from None
    text = re.sub(r"\n{4,}", "\n\n\n", text)
    # One blank line between members of a class, two between top-level definitions.
    text = re.sub(r"\n{3,}(    (?:def|@))", r"\n\n\1", text)
    text = re.sub(r"\n{2,}(def )", r"\n\n\n\1", text)
    return text.rstrip() + "\n"


def render(name: str, **values: Any) -> str:
    """Return the text of a template under ``templates/env/`` or ``templates/prompts/``.

    In a prompt each value is kept on one line by `inline`, unless the template passes it to the filter ``quoted`` or
    ``fenced``: what is put into prompts comes from logs, models, environments and targets.
    """
    return (_prompts() if name.endswith(".md.jinja") else _jinja()).get_template(name).render(**values)


def template_sha256(spec: Spec) -> str:
    """Hash over the blueprint and the skeletons that it extends, the outermost first.

    Raises:
        ConfigError: The blueprint does not exist.
    """
    loader = _jinja().loader
    assert loader is not None
    sources: list[str] = []
    name: str | None = f"{spec.blueprint}.py.jinja"
    try:
        while name:
            sources.insert(0, loader.get_source(_jinja(), name)[0])
            name = next(meta.find_referenced_templates(_jinja().parse(sources[0])), None)
    except jinja2.TemplateNotFound:
        raise _no_blueprint(spec) from None
    return sha256("".join(sources))


def _no_blueprint(spec: Spec) -> ConfigError:
    names = (t for t in _jinja().list_templates() if t.endswith(".py.jinja"))
    known = [n.removesuffix(".py.jinja") for n in names if n not in SKELETONS]
    return ConfigError(f"no blueprint {spec.blueprint!r}; there are {', '.join(known)}")


def camel(name: str) -> str:
    """``tau2_multi_step`` -> ``Tau2MultiStep``."""
    return "".join(w.capitalize() for w in name.split("_"))


def _specs() -> Any:
    return resources.files("trace_gym.templates") / "specs"


def _literal(value: Any) -> str:
    """A Python literal with double quotes."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _fill(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(" ".join(text.split()), width, subsequent_indent=indent)


def _entry(text: str, indent: int = 4, width: int = 120) -> str:
    """A string as one entry of a tuple, on several lines where one is too short for it."""
    if indent + len(_literal(text)) + 1 <= width:
        return _literal(text) + ","
    lines = textwrap.wrap(text, width - indent - 4, drop_whitespace=False)
    return f"\n{' ' * indent}".join(map(_literal, lines)) + ","


@cache
def _jinja() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", "env"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # it writes Python, not HTML
    )
    env.filters.update(camel=camel, literal=_literal, fill=_fill, entry=_entry)
    return env


@cache
def _prompts() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", "prompts"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # it writes Markdown; `finalize` escapes what Markdown needs
        finalize=_safe,
    )
    env.filters.update(camel=camel, quoted=quoted, fenced=fenced)
    return env


def _safe(value: Any) -> Any:
    """Return a value of a prompt as it is inserted."""
    return inline(value) if isinstance(value, str) and not isinstance(value, Verbatim) else value

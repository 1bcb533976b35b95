"""Templates of modules and prompts, and the parser of specs."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import Any

import jinja2
from pydantic import ValidationError

from trace_gym.errors import ConfigError, ReadError
from trace_gym.llm.quoting import Verbatim, fenced, inline, quoted
from trace_gym.parsing import first_fault, parse_yaml
from trace_gym.types import Spec


def read_spec(text: str, where: str = "the spec") -> Spec:
    """Parse and validate the YAML or JSON text of a spec.

    Args:
        text: YAML or JSON.
        where: Name of the spec in error messages, such as its path.

    Raises:
        ConfigError: The text is not a valid spec; the message names the first invalid field.
    """
    try:
        return Spec.model_validate(parse_yaml(text, where))
    except ReadError as error:
        raise ConfigError(f"invalid spec: {error}") from None
    except ValidationError as error:
        raise ConfigError(f"{where} is not a valid spec: {first_fault(error)}") from None


def render(name: str, **values: Any) -> str:
    """Return the text of a template under ``templates/env/`` or ``templates/prompts/``.

    Values in prompts come from logs, models, environments and targets, which may be hostile. Therefore `inline` keeps
    each value of a prompt on one line, unless the template passes the value to the filter ``quoted`` or ``fenced``.
    """
    return (_prompts() if name.endswith(".md.jinja") else _jinja()).get_template(name).render(**values)


def camel(name: str) -> str:
    """Convert a snake-case name to camel case, such as ``tau2_multi_step`` to ``Tau2MultiStep``."""
    return "".join(w.capitalize() for w in name.split("_"))


def _fill(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(" ".join(text.split()), width, subsequent_indent=indent)


@cache
def _jinja() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", "env"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # it writes Python, not HTML
    )
    env.filters.update(camel=camel, fill=_fill)
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
    """Return a value of a prompt on one line, unless a filter has already made it safe."""
    return inline(value) if isinstance(value, str) and not isinstance(value, Verbatim) else value

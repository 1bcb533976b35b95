"""Implementation of the options ``--reviewer``, ``--solver`` and ``--reader`` of `trace-gym validate`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trace_gym import terminal
from trace_gym.errors import ConfigError

if TYPE_CHECKING:
    from trace_gym.types import Report


@dataclass(frozen=True)
class ModelUris:
    """Model URIs in the options; empty for options that were not given."""

    reviewer: str
    solver: str
    reader: str

    def check(self, env: str, target: str | Path, tasks: bool, only: Sequence[str] | None, skip: Sequence[str]) -> None:
        """Raise an error, before the validation starts, if an option has no effect or cannot work.

        Raises:
            ConfigError: The environment has no module file, the property is not selected, or a model is not valid.
        """
        from trace_gym.llm import open_model_uri
        from trace_gym.validation.model_review import REVIEW, SOLVER
        from trace_gym.validation.selection import select_codes
        from trace_gym.validation.source import file_behind
        from trace_gym.validation.third_party import is_third_party

        for option, uri, code in (("--reviewer", self.reviewer, REVIEW), ("--solver", self.solver, SOLVER)):
            if not uri:
                continue
            if tasks or is_third_party(env) or file_behind(target) is None:
                raise ConfigError(f"{option} requires the module file of an environment: found {env}. Remove {option}")
            if code not in select_codes(only, skip):
                raise ConfigError(f"{option} has no effect, because {code} is not selected. Add --only {code}")
        if self.reader and not (self.reviewer or self.solver):
            raise ConfigError("--reader has no effect without --reviewer or --solver. Add one of them")
        for uri in filter(None, (self.reviewer, self.solver, self.reader)):
            open_model_uri(uri).close()


def add_findings_of_models(
    report: Report, target: str | Path, uris: ModelUris, levels: Collection[int] | None, seeds_per_level: int | None
) -> Report:
    """Return the report with the findings of the language models, if the environment passed the other properties."""
    from trace_gym.llm import Resolved, open_model_uri
    from trace_gym.review import Checkers, add_model_checks
    from trace_gym.validation.source import file_behind

    if not (uris.reviewer or uris.solver):
        return report
    path = file_behind(target)
    assert path is not None  # checked before the validation
    with ExitStack() as stack:

        def opened(uri: str) -> Resolved | None:
            if not uri:
                return None
            model = open_model_uri(uri)
            stack.callback(model.close)
            return model

        checkers = Checkers(opened(uris.reviewer), opened(uris.solver), opened(uris.reader))
        stack.enter_context(terminal.console(stderr=True).status(f"{path}: language models check the environment"))
        return add_model_checks(report, path, checkers, levels=levels, seeds_per_level=seeds_per_level)

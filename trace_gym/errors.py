"""Exceptions of trace_gym.

TraceGymError
 +-- ScenarioError      (ValueError)      a scenario id is not valid, or its level or seed does not exist
 +-- EnvNotFound        (KeyError)        no environment has this name
 +-- DuplicateEnv       (ValueError)      several files define the same environment name
 +-- TamperedEnv        (RuntimeError)    a module does not match its manifest, or did not pass validation
 +-- EnvBug             (RuntimeError)    an environment raised an exception other than ToolError
 +-- ReadError          (ValueError)      a file is missing, truncated, or not in the expected format
 +-- WriteError         (OSError)         a file or folder cannot be written
 +-- InUse              (RuntimeError)    another process is writing the file or folder
 +-- ConfigError        (ValueError)      a configuration value is missing or not valid
 +-- SplitError         (ValueError)      an earlier stage has already used the held-out tasks
 +-- MissingExtra       (ImportError)     an optional dependency is missing; the message contains the pip command
 +-- RejectedEnv        (RuntimeError)    a generated module did not pass validation
 +-- PolicyError        (RuntimeError)    a policy could not act, because its endpoint or model failed
 |    +-- Unavailable                     an endpoint did not answer a request after all retries
 |    |    +-- UserUnavailable            the language model that plays the user did not answer
 +-- ContextOverflow    (RuntimeError)    a conversation exceeds the context length of the agent's model
 +-- NoSignal           (RuntimeError)    all rewards are equal within each group, so GRPO has no gradient
 +-- ModelError         (RuntimeError)    a language model did not answer, or its answer is not usable
 |    +-- EmptyAnswer                     all answers of a language model were empty
 |    +-- NoUsableAnswer                  no answer of a language model had the requested format
 +-- BudgetSpent        (RuntimeError)    a request was not sent, because its cost could exceed the budget
 +-- SandboxError       (RuntimeError)    the supervisor process of the sandbox failed

Each class also inherits from a builtin exception, so ``except ValueError`` works. Each exception has one argument, the
message, so that it can be pickled. `trace_gym.world.ToolError` is not in this list: the agent receives it as the result
of a call, and it is never raised to the caller of this library.
"""

from collections.abc import Iterable


class TraceGymError(Exception):
    """Base class of the exceptions that trace_gym raises for expected errors."""

    def __str__(self) -> str:  # KeyError would print the repr of its message
        return str(self.args[0]) if self.args else ""


class ScenarioError(TraceGymError, ValueError):
    """A scenario id cannot be parsed, or its level or seed does not exist."""


class EnvNotFound(TraceGymError, KeyError):
    """No environment or mixture with this name is registered."""


class DuplicateEnv(TraceGymError, ValueError):
    """Several files define the same environment name."""


class TamperedEnv(TraceGymError, RuntimeError):
    """The content hash of a module differs from its manifest, or the module did not pass validation."""


class EnvBug(TraceGymError, RuntimeError):
    """A world raised an exception other than ToolError, which is a bug of the environment and not of the agent."""


class ReadError(TraceGymError, ValueError):
    """A file is missing, truncated, or not in the expected format."""


class WriteError(TraceGymError, OSError):
    """A file or folder cannot be written."""


class InUse(TraceGymError, RuntimeError):
    """Another process is writing the file or folder."""


class ConfigError(TraceGymError, ValueError):
    """A configuration value is missing or invalid."""


class SplitError(TraceGymError, ValueError):
    """An earlier stage has already used the held-out tasks."""


class MissingExtra(TraceGymError, ImportError):
    """An optional dependency is not installed."""


class RejectedEnv(TraceGymError, RuntimeError):
    """A generated module did not pass validation and was not admitted."""


class PolicyError(TraceGymError, RuntimeError):
    """A policy could not act, because its endpoint failed or its model returned probabilities that are not finite.

    This is an infrastructure failure, so the episode is not scored. It does not count as a failure of the agent.
    """


class Unavailable(PolicyError):
    """An endpoint did not answer a request after all retries, or a worker process was killed."""


class UserUnavailable(Unavailable):
    """The language model that plays the user did not answer. The episode ends and is not scored."""


class ContextOverflow(TraceGymError, RuntimeError):
    """A conversation exceeds the context length of the agent's model.

    This is a failure of the agent: the episode ends and its current state is scored.
    """


class NoSignal(TraceGymError, RuntimeError):
    """The rewards are equal within each group of rollouts, so GRPO has no gradient."""


class ModelError(TraceGymError, RuntimeError):
    """A language model did not answer after all retries, or its answers are not usable."""


class EmptyAnswer(ModelError):
    """All answers of a language model to a request were empty."""


class NoUsableAnswer(ModelError):
    """No answer of a language model to a request had the requested format."""


class BudgetSpent(TraceGymError, RuntimeError):
    """A request was not sent, because its cost could exceed the rest of the budget."""


class SandboxError(TraceGymError, RuntimeError):
    """The supervisor process of the sandbox did not start, or did not answer in time."""


def expect_choice(what: str, given: object, choices: Iterable[object]) -> None:
    """Check that a value is one of the supported choices.

    Args:
        what: Kind of the value in the error message, such as ``split``.
        given: The value.
        choices: All supported values.

    Raises:
        ConfigError: The value is not supported.
    """
    if given not in (known := list(choices)):
        raise ConfigError(f"unknown {what}: found {given!r}, expected one of {', '.join(map(str, known))}")

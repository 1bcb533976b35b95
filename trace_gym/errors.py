"""The exceptions of trace_gym.

TraceGymError
 +-- ScenarioError      (ValueError)      an address that does not parse, or a level that does not exist
 +-- EnvNotFound        (KeyError)        no environment of this name; lists those that exist
 +-- DuplicateEnv       (ValueError)      two files with one id; names both
 +-- TamperedEnv        (RuntimeError)    a module whose hash is not the one in its manifest
 +-- EnvBug             (RuntimeError)    a generated environment raised something other than ToolError
 +-- ReadError          (ValueError)      a file that is missing, truncated or of another format
 +-- WriteError         (OSError)         a file or folder that cannot be written
 +-- InUse              (RuntimeError)    a file or folder that another process is writing
 +-- ConfigError        (ValueError)      a configuration that does not validate
 +-- SplitError         (ValueError)      tasks that an earlier stage has already seen
 +-- MissingExtra       (ImportError)     an optional dependency; the message holds the pip line
 +-- RejectedEnv        (RuntimeError)    a module that an author wrote and that did not pass
 +-- PolicyError        (RuntimeError)    a policy could not act: an endpoint failed, or a model went wrong
 |    +-- Unavailable                     an endpoint did not answer, however often it was asked
 |    |    +-- UserUnavailable            the language model behind the user did not answer
 +-- ContextOverflow    (RuntimeError)    a conversation no longer fits into the context of the agent's model
 +-- NoSignal           (RuntimeError)    training has nothing to learn from
 +-- ModelError         (RuntimeError)    a language model did not answer, or its answer is of no use
 +-- BudgetSpent        (RuntimeError)    a request might cost more than is left of the budget; it was not sent
 +-- SandboxError       (RuntimeError)    the process that confines others did not answer

Each class also inherits the builtin that it refines, so ``except ValueError`` works, and each is
built from one message only, so that it pickles. ``ToolError`` is not here: it is part of a world
(`trace_gym.world`), meant for the agent and never for the caller.
"""


class TraceGymError(Exception):
    """Root of everything that trace_gym raises on purpose."""

    def __str__(self) -> str:  # KeyError would print the repr of its message
        return str(self.args[0]) if self.args else ""


class ScenarioError(TraceGymError, ValueError):
    """A scenario address that does not parse, or names a level that does not exist."""


class EnvNotFound(TraceGymError, KeyError):
    """No environment of this name is registered."""


class DuplicateEnv(TraceGymError, ValueError):
    """Two files claim one environment id."""


class TamperedEnv(TraceGymError, RuntimeError):
    """A module's content hash differs from the one in its manifest."""


class EnvBug(TraceGymError, RuntimeError):
    """A world raised something other than ToolError: a bug of the environment, not of the agent."""


class ReadError(TraceGymError, ValueError):
    """A file is missing, truncated, or not in the expected format."""


class WriteError(TraceGymError, OSError):
    """A file or folder cannot be written."""


class InUse(TraceGymError, RuntimeError):
    """Another process is writing the file or folder."""


class ConfigError(TraceGymError, ValueError):
    """A configuration value is missing or invalid."""


class SplitError(TraceGymError, ValueError):
    """Held-out tasks were already seen by an earlier stage."""


class MissingExtra(TraceGymError, ImportError):
    """An optional dependency is not installed."""


class RejectedEnv(TraceGymError, RuntimeError):
    """A module that an author wrote did not pass; it was not moved in."""


class PolicyError(TraceGymError, RuntimeError):
    """A policy could not act: the endpoint failed, or the model has no finite distribution.

    The fault is the infrastructure's, so the episode is not scored; it never counts as a zero.
    """


class Unavailable(PolicyError):
    """An endpoint did not answer a request, however often it was asked."""


class UserUnavailable(Unavailable):
    """The language model behind the user did not answer, so the conversation cannot continue and is not scored."""


class ContextOverflow(TraceGymError, RuntimeError):
    """A conversation no longer fits into the context of the agent's model.

    This is a failure of the agent: the episode ends where it is and is scored.
    """


class NoSignal(TraceGymError, RuntimeError):
    """No group of rollouts differs in reward, so GRPO has no gradient."""


class ModelError(TraceGymError, RuntimeError):
    """A language model did not answer within its attempts, or what it answered is of no use."""


class EmptyAnswer(ModelError):
    """A language model answered several times, and its answers contained no text."""


class NoUsableAnswer(ModelError):
    """A language model answered, and none of its answers had the form that was asked for."""


class BudgetSpent(TraceGymError, RuntimeError):
    """A request might cost more than is left of the budget; it was not sent."""


class SandboxError(TraceGymError, RuntimeError):
    """The process that confines others did not start, or did not answer in time."""

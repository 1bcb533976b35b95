"""From capabilities to environments: spec, write, validate, admit."""

from trace_gym.synthesize import template
from trace_gym.synthesize.author import Author, RejectedEnv, TemplateAuthor, serving, synthesize, unserved

__all__ = ["Author", "RejectedEnv", "TemplateAuthor", "serving", "synthesize", "template", "unserved"]

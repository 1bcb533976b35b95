"""From capabilities to environments: spec, write, validate, admit."""

from trace_gym.synthesize import template
from trace_gym.synthesize.author import Author, TemplateAuthor, serving, synthesize, unserved

__all__ = ["Author", "TemplateAuthor", "serving", "synthesize", "template", "unserved"]

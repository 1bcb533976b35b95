"""From capabilities to environments: spec, write, validate, admit."""

from trace_gym.synthesize import template
from trace_gym.synthesize.admission import synthesize
from trace_gym.synthesize.author import Author, TemplateAuthor, serving, unserved
from trace_gym.synthesize.rounds import Terms

__all__ = ["Author", "TemplateAuthor", "Terms", "serving", "synthesize", "template", "unserved"]

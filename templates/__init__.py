"""Jinja templates: `env/` writes environments, `prompts/` asks models, `report/` renders pages."""

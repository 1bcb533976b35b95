# `make demo` and `make test` require only Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# The documentation has a small environment of its own: it needs neither torch nor a library for training.
DOCS ?= .venv-docs
SITE ?= site
# One thread per process, because the tests and the demo start two processes.
export OMP_NUM_THREADS ?= 1
# Installation does not compile to byte code; the first process that imports a module writes its byte code.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow lint bench base docs clean

help:  ## List the make targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

install: $(INSTALLED)  ## Create .venv and install trace_gym in it

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "trace_gym needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	    "Choose another interpreter: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Installing trace_gym and its dependencies into $(VENV). The first installation takes a few minutes"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --no-compile --upgrade pip
	$(BIN)/python -m pip install -qq --no-compile -c constraints.txt -e '.[lab,dev]'
	@touch $@

demo: $(INSTALLED)  ## Run all stages with the built-in toy model (no GPU, API key or download)
	$(BIN)/trace-gym run --preset demo

test: $(INSTALLED)  ## Run the tests, except the slow ones
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow"

test-slow: $(INSTALLED)  ## Run the slow tests: complete runs, servers, and hostile code in the sandbox
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m slow

lint: $(INSTALLED)  ## Check style and format, as CI does
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(INSTALLED)  ## Measure the speed of episodes on this machine
	$(BIN)/python benchmarks/bench_episode.py
	$(BIN)/python benchmarks/bench_episode.py tau2_precondition

base: $(INSTALLED)  ## Retrain the built-in toy model
	$(BIN)/python -m trace_gym.lab.pretrain

docs: $(DOCS)/.installed  ## Build the documentation into site/; with SERVE=1, serve it on http://127.0.0.1:8000
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs $(if $(SERVE),serve,build --strict --site-dir $(SITE))

$(DOCS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install -qq --no-compile -c constraints.txt -e '.[docs]'
	@touch $@

clean:  ## Remove build outputs and caches; keep runs and .venv
	rm -rf build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

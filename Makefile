# `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Two processes with a thread each: threads that compete for few cores are slower than none.
export OMP_NUM_THREADS ?= 1
# What is installed has no byte code yet, which the first process that imports a module leaves for the others.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test lint bench base clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

install: $(INSTALLED)  ## Create .venv and install trace_gym in it

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "trace_gym needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	    "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Installing trace_gym and what it needs into $(VENV); the first time takes some minutes"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --no-compile --upgrade pip
	$(BIN)/python -m pip install -qq --no-compile -c constraints.txt -e '.[lab,dev]'
	@touch $@

demo: $(INSTALLED)  ## Run the whole loop with the embedded agent: no GPU, no key, no download
	$(BIN)/trace-gym run --preset demo

test: $(INSTALLED)  ## Run the tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

lint: $(INSTALLED)  ## Check style and format, as CI does
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(INSTALLED)  ## Measure how fast episodes are on this machine
	$(BIN)/python benchmarks/bench_episode.py
	$(BIN)/python benchmarks/bench_episode.py tau2_precondition

base: $(INSTALLED)  ## Train the embedded agent's base model anew
	$(BIN)/python -m trace_gym.lab.pretrain

clean:  ## Remove what builds leave behind; runs and .venv stay
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

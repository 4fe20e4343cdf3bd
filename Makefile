# Everything that one does with a checkout. Each target makes .venv and installs what it needs, once.
# `make PYTHON=python3.13 VENV=.venv313 test` runs another Python beside the first.

PYTHON ?= python3
VENV ?= .venv
MODELS ?= local
JOBS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
INPUTS := pyproject.toml constraints.txt

.PHONY: help demo table test quick check view bench measure test-packaging test-live readme schemas install clean

help: ## Show these targets.
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

demo: $(VENV)/installed-demo ## Record, replay, verify, explain and re-verify shop episodes (MODELS=scripted: without weights).
	$(BIN)/spectrace demo --models $(MODELS)

table: $(VENV)/installed-demo ## Five protocols, four shop tasks, two real models on this CPU, one table: up to 40 minutes.
	$(BIN)/spectrace run --db table.db --name table --env shop --task cancel-own,cancel-foreign,refund-small,voucher-late \
	  --protocol all --weak local:weak --strong local:strong -o max_steps=8
	$(BIN)/spectrace compare table --db table.db

test: $(VENV)/installed-all ## Run the slow tests, then the quick ones (real Postgres and a real browser among them).
	$(BIN)/pytest -m slow -n $(JOBS) --session-timeout=3600
	$(BIN)/pytest -n $(JOBS)

quick: $(VENV)/installed-all ## Run the quick tests alone: some minutes.
	$(BIN)/pytest -n $(JOBS)

check: $(VENV)/installed-all ## What CI runs: format, lint, types, layers, then `make test`.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

view: $(VENV)/installed-demo ## Open the viewer on spectrace.db (or SPECTRACE_DB) in a browser.
	$(BIN)/spectrace view

bench: $(VENV)/installed-all ## Measure beside other recorders: 15 minutes (QUICK=1: 3, without them; ONLY=replay: one table).
	$(BIN)/python -m tests.benchmarks $(if $(QUICK),--quick) $(foreach one,$(ONLY),--only $(one)) $(if $(ONLY),--update)

measure: $(VENV)/installed-all ## Measure shared prompts, planted errors and scored verdicts on real models: about an hour.
	PYTHONPATH=tests $(BIN)/python -m tests.live

test-live: $(VENV)/installed-all ## Start a real SGLang server on this CPU and run against it: minutes, 3 GB.
	$(BIN)/pytest -m live --timeout=1500 tests/live

test-packaging: $(VENV)/installed-all ## Build the wheel, install it elsewhere and drive it, on each Python found.
	$(BIN)/pytest -m packaging tests/packaging

readme: $(VENV)/installed-all ## Rewrite the README's generated section from the commands' own help.
	$(BIN)/python tests/readme.py

schemas: $(VENV)/installed-all ## Write the JSON Schema of every event type and version that has none yet.
	$(BIN)/python -m spectrace.store.schemas schemas/events

install: $(VENV)/installed-all ## Install everything that tests need.

clean: ## Remove what the targets made, .venv too. Databases stay.
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "spectrace needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.13 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# `all` holds all of `demo`, so installing it makes both stamps.
$(VENV)/installed-demo: $(INPUTS) | $(VENV)/pyvenv.cfg
	$(PIP) -e '.[local,viewer]'
	@touch $@

$(VENV)/installed-all: $(INPUTS) | $(VENV)/pyvenv.cfg
	$(PIP) -e '.[all,dev]'
	@touch $(VENV)/installed-demo $@

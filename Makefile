# Onceward's commands. `make help` lists them; each installs what it needs first (a second or less when nothing changed).
# Everything lives in this folder: .venv (development), .local (local cloud, state), infra/node_modules (CDK command line).

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
unexport PYTHONDONTWRITEBYTECODE # each of a command's many programs would compile the same libraries again

JOBS ?= 1
PORT ?= 4566
STAGE ?=
MINUTES ?=
ALL ?=
STORIES ?=
SEED ?=

PY := .venv/bin/python
UV := .ci/uv
CODE := bench functions infra tests
# Node is a Python package here; npm finds its own node first. The project's .npmrc is given as npm's global one, since
# npm would look for it beside infra/package.json only.
NPM := PATH="$(CURDIR)/.venv/bin:$$PATH" NPM_CONFIG_GLOBALCONFIG="$(CURDIR)/.npmrc" npm --prefix infra
COMPILE := $(UV) pip compile --quiet --upgrade --python-version 3.13 --generate-hashes --no-emit-index-url --no-header

.PHONY: help
help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

# --- set up ----------------------------------------------------------------------------------------------------------

DEV := .venv/.locked
PACKAGE := .venv/.package
CLOUD := .local/cloud-venv/.compiled
CDK := infra/node_modules/.locked

.PHONY: setup
setup: $(PACKAGE) $(CLOUD) $(CDK) ## Install all that the other commands need, from the locks

$(DEV): locks/dev.txt .python-version
	@echo "setup: Python packages for development, from locks/dev.txt"
	@[ -x $(PY) ] && $(PY) -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != open(".python-version").read().strip())' \
		|| $(UV) venv --quiet --clear --python "$$(.ci/python)" .venv
	@$(UV) pip sync --quiet --require-hashes --python $(PY) locks/dev.txt
	@touch $@

$(PACKAGE): $(DEV) pyproject.toml
	@$(UV) pip install --quiet --no-deps --python $(PY) --editable .
	@touch $@

# Compiled once: neither the cloud nor a function in it may write, so each start of one would compile boto3 again.
$(CLOUD): locks/local.txt .python-version $(DEV)
	@echo "setup: the local cloud's own environment, from locks/local.txt"
	@$(UV) venv --quiet --clear --python "$$(.ci/python)" .local/cloud-venv
	@$(UV) pip sync --quiet --require-hashes --compile-bytecode --python .local/cloud-venv/bin/python locks/local.txt
	@touch $@

$(CDK): infra/package-lock.json infra/package.json $(DEV)
	@echo "setup: the CDK command line, from infra/package-lock.json"
	@$(NPM) ci --silent
	@touch $@

.PHONY: locks
locks: $(DEV) ## Resolve the four locks anew from pyproject.toml and infra/package.json
	$(COMPILE) --universal --group dev --output-file locks/dev.txt
	$(COMPILE) --universal --group cloud --output-file locks/local.txt
	$(COMPILE) --python-platform aarch64-manylinux2014 --only-binary :all: --constraints locks/dev.txt --no-annotate \
		--group lambda --output-file locks/lambda.txt
	$(NPM) install --package-lock-only --silent

# --- check and test --------------------------------------------------------------------------------------------------

.PHONY: check
check: $(PACKAGE) ## Format, lint, types, layers and the shape of the tree; in seconds, the first time a minute
	@failed=; \
	.venv/bin/ruff format --check --quiet --output-format concise $(CODE) || { echo "check: run 'make fmt'"; failed=1; }; \
	.venv/bin/ruff check --quiet --output-format concise $(CODE) || failed=1; \
	$(PY) tests/support/tree.py || failed=1; \
	layers=$$(.venv/bin/lint-imports --no-logo --cache-dir .local/import-linter 2>&1) || { echo "$$layers"; failed=1; }; \
	.venv/bin/mypy --num-workers 2 || failed=1; \
	[ -z "$$failed" ]

.PHONY: fmt
fmt: $(PACKAGE) ## Format the code and apply the safe fixes
	@.venv/bin/ruff check --quiet --fix-only $(CODE)
	@.venv/bin/ruff format $(CODE)

.PHONY: test
# What fails in a second is told before a stack is deployed. The simulation's time is virtual: beside all of it, it takes
# what the others leave of the machine, which is most of it while the deployed stack waits for leases and processes. So
# the others are one process: a second one would read and start all that tests share once more, and end no sooner.
QUICK := tests/unit tests/contract tests/handlers tests/fuzz
DEPLOYED := tests/infra tests/scenarios
test: setup check ## All checks, then the tests, from unit to a stack deployed on the local cloud
	@mkdir -p .local; nice -n 19 .venv/bin/pytest --numprocesses 2 --dist worksteal tests/simulation \
		>.local/simulation.log 2>&1 & simulation=$$!; trap 'kill $$simulation 2>/dev/null' EXIT INT TERM; \
	.venv/bin/pytest $(QUICK) || exit; \
	.venv/bin/pytest $(DEPLOYED); ended=$$?; \
	wait $$simulation || ended=1; cat .local/simulation.log; exit $$ended

.PHONY: prove
prove: setup ## The proofs that take minutes; MINUTES=n: new seeds (SEED=n: from there); ALL=1, or STORIES="a b": every pair of their faults
ifneq ($(MINUTES),)
	@$(PY) -m tests.simulation.prove seeds $(MINUTES) $(SEED)
else ifneq ($(ALL)$(STORIES),)
	@$(PY) -m tests.simulation.prove pairs $(STORIES)
else
	@.venv/bin/pytest --numprocesses 2 --dist worksteal -m thorough tests/simulation $(QUICK)
	@.venv/bin/pytest --hypothesis-profile thorough tests/fuzz
	@.venv/bin/pytest -m "thorough or soak or last" tests/scenarios
endif

.PHONY: sbom
sbom: $(DEV) ## Write a bill of materials (CycloneDX) of each Python lock into .local/sbom; needs no network
	@$(PY) -m tests.support.supply_chain sbom

.PHONY: audit
audit: $(DEV) ## Ask an advisory feed what is known against the locked packages; says so when it cannot be reached
	@$(PY) -m tests.support.supply_chain audit

# --- run and deploy --------------------------------------------------------------------------------------------------

.PHONY: run
run: setup ## Run the whole thing here: cloud, deploy, a real document in, its analysis out (JOBS=n: n at once; PORT=n)
	@$(PY) -m onceward.local.run --port="$(PORT)" --jobs="$(JOBS)"

.PHONY: stop
stop: ## End all that `make run` started
	@[ -x $(PY) ] || { echo "stop: nothing is running"; exit 0; }; $(PY) -m onceward.local.stop

.PHONY: deploy
deploy: setup ## Deploy into your AWS account (STAGE=dev)
	@$(PY) -m onceward.local.aws deploy "$(STAGE)"

.PHONY: destroy
destroy: setup ## Remove a stage from your AWS account (STAGE=dev)
	@$(PY) -m onceward.local.aws destroy "$(STAGE)"

.PHONY: clean
clean: stop ## Remove all that these commands made in this folder
	@rm -rf .venv .local infra/node_modules infra/cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

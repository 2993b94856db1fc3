# `make help` lists the targets; each works from a fresh checkout and installs what it needs into .venv and .cache.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
CHAOS_EXAMPLES ?= 1000
PYTEST := $(BIN)/python -m pytest -q --dist worksteal
LABS ?= 2
SCENARIOS := $(filter-out real-node,$(patsubst molecule/%/molecule.yml,%,$(wildcard molecule/*/molecule.yml)))

# Another cluster is used only when it is named on the command line, never because the shell happens to point at one.
ifneq ($(filter command line,$(origin KUBECONFIG)),)
CLUSTER := --kubeconfig $(abspath $(KUBECONFIG))
endif
unexport KUBECONFIG

# ansible finds this repository as the collection starrocks.operator through the link that `deps` makes
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/.cache/collections
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
export ANSIBLE_HOME := $(CURDIR)/.cache/ansible

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{split($$1, t, ":"); printf "  make %-11s %s\n", t[1], $$2}'

.PHONY: deps
deps: .venv/.ready  ## set up the Python environment (.venv) from the lock file

.venv/.ready: requirements-dev.lock
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	mkdir -p .cache/collections/ansible_collections/starrocks
	ln -sfn ../../../.. .cache/collections/ansible_collections/starrocks/operator
	touch $@

.PHONY: lab
lab: deps  ## build the control plane from Go modules (once, about six minutes)
	$(BIN)/python -m lab.controlplane build

.PHONY: demo
demo: deps  ## a cluster that comes to life before your eyes (KUBECONFIG=… for a cluster of yours)
	$(BIN)/python -m lab.demo $(CLUSTER)

.PHONY: down
down: deps  ## stop what `make demo` started
	$(BIN)/python -m lab.demo --down

.PHONY: run
run: deps  ## run the operator from this checkout against a cluster: make run KUBECONFIG=…
	@test -n "$(CLUSTER)" || { echo "name the cluster on the command line: make run KUBECONFIG=path" >&2; exit 2; }
	KUBECONFIG=$(abspath $(KUBECONFIG)) POD_NAMESPACE=$${POD_NAMESPACE:-starrocks} $(BIN)/python -m watcher

.PHONY: adopt-check
adopt-check: deps  ## what would change if this operator took over the StarRocks there: make adopt-check KUBECONFIG=…
	@test -n "$(CLUSTER)" || { echo "name the cluster on the command line: make adopt-check KUBECONFIG=path" >&2; exit 2; }
	@$(BIN)/python -m watcher.adopt_check $(CLUSTER)

.PHONY: test
test: lint unit monitoring rehearsal cluster molecule e2e-short  ## every test (as root on Debian also on a real node)

.PHONY: unit
unit: deps  ## the pure tests: seconds
	$(PYTEST) tests/unit -n auto

.PHONY: monitoring
monitoring: deps  ## every alert, by Prometheus' own promtool (fetched if it is not there)
	$(BIN)/python -m lab.monitoring.promtool
	$(PYTEST) tests/monitoring

.PHONY: rehearsal
rehearsal: deps  ## scale-ins and rolls on a virtual clock, with trouble at every turn: four minutes
	$(PYTEST) tests/chaos -n auto

.PHONY: cluster
cluster: deps  ## the tests on the lab, on LABS=2 control planes side by side
	$(PYTEST) tests/cluster -n $(LABS) -m "not alone"
	$(PYTEST) tests/cluster -m alone

.PHONY: e2e
e2e: deps  ## the operator as a pod on a real node (root on Linux, else skipped; or KUBECONFIG=… for a cluster of yours)
	E2E_KUBECONFIG=$(and $(CLUSTER),$(abspath $(KUBECONFIG))) $(PYTEST) tests/e2e

.PHONY: e2e-short
e2e-short: deps  ## the first part of it: the node, installing, the sample, a scale-in taken back, all frontends restarted
	$(PYTEST) tests/e2e/test_node.py tests/e2e/test_operator.py

# All parts are run, whatever becomes of the others.
.PHONY: chaos
chaos: deps  ## trouble at every call of every scenario, ten minutes of anything in any order, ten of crashes on the lab
	@failed=; \
	for part in "-m lab.rehearsal.sweep" "-m pytest tests/chaos/test_random.py -q --hypothesis-show-statistics" "-m lab.crashes"; do \
		echo "== $$part"; \
		time CHAOS_EXAMPLES=$(CHAOS_EXAMPLES) $(BIN)/python $$part || failed="$$failed [$$part]"; \
	done; \
	if [ -n "$$failed" ]; then echo "chaos found something in$$failed" >&2; exit 1; fi

.PHONY: crashes
crashes: deps  ## ten minutes of crashes on the lab: the operator is killed at exact points of scale-ins
	$(BIN)/python -m lab.crashes

# A process for each: the workers of one `molecule test` never destroy what their scenarios made.
.PHONY: molecule
molecule: deps  ## the Molecule scenarios, as a user would try them, LABS=2 side by side
	@printf '%s\n' $(SCENARIOS) | PATH=$(CURDIR)/$(BIN):$$PATH xargs -P $(LABS) -I {} molecule test --scenario-name {}

.PHONY: lint
lint: deps  ## ruff, mypy --strict, import-linter, ansible-lint, yamllint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/yamllint --strict .
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/ansible-lint --offline --strict

.PHONY: bench
bench: deps  ## figures, printed and stored in build/bench.json
	$(BIN)/python -m lab.bench

.PHONY: crds
crds: deps  ## write crds/ anew from the typed model
	$(BIN)/python -m starrocks_operator.model.crd
	$(BIN)/python -m starrocks_operator.model.group_crd

.PHONY: bundle
bundle: deps  ## write deploy/ and bundle/ anew from their one source (install/, deploy/rbac.yaml, crds/)
	$(BIN)/python -m install

.PHONY: lock
lock: deps  ## renew the lock files (needs uv)
	uv pip compile -q --python-version 3.11 --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header pyproject.toml -o requirements.lock
	uv pip compile -q --python-version 3.11 --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra dev pyproject.toml -o requirements-dev.lock
	sed -n "/^setuptools==/,/sha256.*[^\\]$$/p" requirements-dev.lock > images/operator/build.lock

.PHONY: clean
clean:  ## remove what was built here (the control plane's cache stays)
	rm -rf .venv .cache .lab build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

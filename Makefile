# `make help` lists the targets; every target works from a fresh checkout.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: deps
deps: $(VENV)/.ready  ## set up the Python environment (.venv) from the lock file

$(VENV)/.ready: requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-dev.lock
	mkdir -p .cache/collections/ansible_collections/starrocks
	ln -sfn ../../../.. .cache/collections/ansible_collections/starrocks/operator
	touch $@

# make demo         cluster the digits that ship with scikit-learn
# make test         what a change must pass: check, docs, examples in docstrings, the test suite
# make check        lint, format, types, layers
# make docs         build the documentation into site/
# make coverage     the test suite again, with the floor for the share of lines it reaches
# make audit        known vulnerabilities of the versions that make venv installs
# make test-lowest  the test suite with the lowest versions of the dependencies, in .venv-lowest
# make venv         what they start with: .venv with the package in it
#
# The lowest torch comes with several gigabytes of CUDA on Linux. Another version can stand in:
#   make test-lowest TORCH=2.13.0

PYTHON ?= python3
BIN := .venv/bin
LOWEST := .venv-lowest
TORCH ?=
# Old versions are not to blame for what newer ones of their own dependencies deprecate.
NO_DEPRECATIONS := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning \
	-W ignore::FutureWarning

.PHONY: demo test check docs coverage audit test-lowest venv venv-test

demo: venv
	$(BIN)/infomeans demo

test: check docs
	$(BIN)/python -m pytest -n auto --dist worksteal

check: venv-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: .venv/.docs
	$(BIN)/mkdocs build --strict

coverage: venv-test
	$(BIN)/python -m pytest --cov --cov-report=term

audit: venv
	$(BIN)/python -m venv .venv-audit
	.venv-audit/bin/pip install --quiet pip-audit
	.venv-audit/bin/pip-audit --path $$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])') --skip-editable

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest $(NO_DEPRECATIONS) tests

venv: .venv/.installed

venv-test: .venv/.test

.venv/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

.venv/.test: .venv/.installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[test,lint]'
	touch $@

.venv/.docs: .venv/.installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

$(LOWEST)/.installed: pyproject.toml scripts/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(PYTHON) scripts/lowest.py $(if $(TORCH),torch=$(TORCH)) > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/pip install --quiet --constraint $(LOWEST)/constraints.txt --editable '.[test]'
	touch $@

# make demo   cluster the digits that ship with scikit-learn
# make test   lint, format, types, layers and the whole test suite
# make check  the same without the test suite
# make docs   build the documentation into site/
# make venv   what they all start with: .venv with the package in it

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check docs venv venv-test

demo: venv
	$(BIN)/infomeans demo

test: check
	$(BIN)/python -m pytest

check: venv-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: .venv/.docs
	$(BIN)/mkdocs build --strict

venv: .venv/.installed

venv-test: .venv/.test

.venv/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

.venv/.test: .venv/.installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

.venv/.docs: .venv/.installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

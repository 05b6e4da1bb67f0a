# make demo   run the demonstration; on a fresh machine this is the only command needed
# make test   every check; .ci/run is the same
# make pins   resolve the pinned requirements again, to the newest versions that pyproject.toml allows

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
BIN := .venv/bin

.PHONY: demo test pins

demo: .venv/.installed-runtime
	@$(BIN)/kip demo

# One pytest run, so that its summary covers everything, the outside conformance suites included.
test: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -n 2

.venv/.installed-%: requirements/%.txt requirements/uv.txt pyproject.toml
	@.ci/install $<
	@touch $@

PIN := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --custom-compile-command "make pins"

pins: .venv/.installed-dev
	$(PIN) pyproject.toml --group build --output-file requirements/runtime.txt
	$(PIN) pyproject.toml --group build --extra dev --output-file requirements/dev.txt
	$(PIN) - --output-file requirements/uv.txt <<< uv

# Everything a developer or CI runs. `make` alone lists the commands.
#
# Each command does its own set-up: a virtual environment in .venv, and the packages of
# requirements/*.txt, pinned by hash. `make lock` writes those files from pyproject.toml;
# --universal makes them fit every platform and Python, --no-emit-index-url keeps the address
# of a private mirror out of them.

PYTHON ?= python3
# Tests at the same time: three more than there are cores, since many of them wait for processes.
JOBS ?= $(shell expr $$(nproc 2>/dev/null || echo 1) + 3)

SHELL := /bin/sh
# Without bytecode each process of the tests rewrites and compiles all of them.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# uv installs within seconds what takes pip minutes, from the index that pip is told to use. Where there
# is no uv, or it knows no way to the packages that pip knows, pip does it.
INDEX = "$${PIP_INDEX_URL:-$$($(PIP) config get global.index-url 2>/dev/null)}"
install = UV_DEFAULT_INDEX=$(INDEX) $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes $(1) $(2) 2>/dev/null || \
	$(PIP) install -qq --require-hashes $(1)
PYTEST := $(BIN)/python -m pytest -p tests.forks --processes $(JOBS)
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header
BUILD_NEEDS := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])
WRITE_OPENAPI := from pathlib import Path; \
	from printworks.api.openapi import describe, encode; \
	from printworks.settings import SETTINGS; \
	from printworks.web.app import FAMILIES; \
	prefix = SETTINGS["header_prefix"].default; \
	[Path(f"docs/api/openapi-{each.prefix}.json").write_bytes( \
		encode(describe(each, header_prefix=prefix))) for each in FAMILIES]

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-bench serve test test-quick cluster-test test-full check check-style \
	check-types check-tests format bench openapi docs translations pictures release image lock

help: ## List the commands.
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /:/' | \
		while IFS=: read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: .venv/.runtime ## Install what the service needs; leaves .venv/bin/printworks.
	@:

setup-dev: .venv/.dev .programs ## Install what the tests and checks need, too.
	@:

setup-bench: .venv/.bench
	@:

serve: setup ## Start the service and show its address and a demo merchant.
	@$(BIN)/printworks serve

test: setup-dev check-style ## Run everything that CI runs: all checks, all tests, the floors of coverage.
	@$(MAKE) --no-print-directory -j2 check-types check-tests

test-quick: setup-dev ## Run the first case of each test but the slow ones, on one database, in two minutes.
	QUICK_TESTS=1 $(PYTEST) -m "not slow"

cluster-test: setup-dev ## Run the test of several machines behind a proxy, which is part of `make test`.
	$(PYTEST) tests/cluster

test-full: setup-dev ## Run all tests at their full size, on all databases and versions.
	FULL_TESTS=1 $(PYTEST)

check: check-style check-types ## Check format, lint, types and the direction of imports.

check-style: setup-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check

# Types take longest, and so run beside the tests; they speak up only if something is wrong, in one
# piece. make ends with an error if either fails, after both have ended.
check-types: setup-dev
	@said=$$($(BIN)/mypy 2>&1 && $(BIN)/lint-imports 2>&1) || { echo "$$said"; exit 1; }

check-tests: setup-dev
	$(PYTEST) -p tests.coverage

format: setup-dev ## Format the code and repair what can be repaired.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: setup-bench ## Measure against the budgets; options in ARGS, such as ARGS="--quick --only reading".
	$(BIN)/python -m bench.run $(ARGS)

openapi: setup ## Write docs/api/openapi-v*.json, and give the reference its guides.
	@$(BIN)/python -c '$(WRITE_OPENAPI)'
	cp docs/api/v3.0.md docs/api/callbacks.md docs/api/versions.md src/printworks/dashboard/reference/guides/

docs: setup ## Write docs/operate/settings.md.
	$(BIN)/python -m printworks.cli.reference > docs/operate/settings.md.new
	mv docs/operate/settings.md.new docs/operate/settings.md

translations: setup ## Collect the words of emails and recipient pages into their catalogues, and compile them.
	$(BIN)/python -m printworks.language.translating

pictures: setup-dev ## Render the screenshots in docs/pages.
	$(BIN)/python -m tests.browser.pictures
	$(BIN)/python -m tests.browser.owner_pictures

release: .artifacts ## Build all of a release in dist: wheel, source archive, bill of materials, checksums, image.
	@if [ "$$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null && command -v umoci >/dev/null; then \
		deploy/image/build.sh; \
	else \
		echo "No container image: that needs root, mmdebstrap and umoci, or Docker and the Dockerfile."; \
	fi

image: .artifacts ## Assemble the container image in dist/image without Docker; needs root, mmdebstrap and umoci.
	@deploy/image/build.sh

.PHONY: .artifacts
.artifacts: setup
	@$(BIN)/python -m release.build

lock: setup ## Write requirements/*.txt; add UPGRADE=--upgrade for newer releases.
	echo uv | $(COMPILE) $(UPGRADE) -o requirements/uv.txt -
	$(BIN)/python -c '$(BUILD_NEEDS)' | $(COMPILE) $(UPGRADE) -o requirements/build.txt -
	$(COMPILE) $(UPGRADE) -o requirements/runtime.txt pyproject.toml
	$(COMPILE) $(UPGRADE) -c requirements/runtime.txt --extra traces -o requirements/traces.txt \
		pyproject.toml
	$(COMPILE) $(UPGRADE) -c requirements/runtime.txt -c requirements/traces.txt --extra dev \
		-o requirements/dev.txt pyproject.toml
	$(COMPILE) $(UPGRADE) -c requirements/runtime.txt --extra bench -o requirements/bench.txt \
		pyproject.toml

.venv/.runtime: requirements/uv.txt requirements/build.txt requirements/runtime.txt pyproject.toml
	@$(MAKE) --no-print-directory .venv-usable
	@echo "Installing the packages of Printworks ..."
	@$(PIP) install -qq --require-hashes -r requirements/uv.txt 2>/dev/null || true
	@$(call install,-r requirements/build.txt -r requirements/runtime.txt,--compile-bytecode)
	@$(PIP) install -qq --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: .venv/.runtime requirements/dev.txt
	@echo "Installing the packages for tests and checks ..."
	@$(call install,-r requirements/dev.txt)
	@touch $@

# The tests of the pages drive a real browser, and that of a cluster a real proxy. Where they cannot
# be installed, the tests say so or do without.
.PHONY: .programs
.programs:
	@install() { \
		echo "Installing $$1 ..."; \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$1 >/dev/null; \
	}; \
	has_browser() { command -v chromium-headless-shell >/dev/null; }; \
	has_proxy() { command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; }; \
	if has_browser && has_proxy || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then exit 0; fi; \
	apt-get update -qq || true; \
	has_browser || install chromium-headless-shell || command -v chromium >/dev/null || install chromium || true; \
	has_proxy || install nginx-light || true

.venv/.bench: .venv/.runtime requirements/bench.txt
	@echo "Installing the packages for the benchmark ..."
	@$(call install,-r requirements/bench.txt)
	@touch $@

# An environment that is incomplete, or whose Python is gone, is made again.
.PHONY: .venv-usable
.venv-usable:
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
		$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
			echo "Printworks needs Python 3.11 or later; name one with: make PYTHON=/path/to/python3" >&2; \
			exit 1; }; \
		if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null && \
			[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing python3-venv ..."; \
			apt-get update -qq && \
				DEBIAN_FRONTEND=noninteractive apt-get install -qq -y python3-venv >/dev/null; \
		fi; \
		$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
			echo "Python's venv module is missing; on Debian: apt-get install python3-venv" >&2; \
			exit 1; }; \
		echo "Making a virtual environment in .venv ..."; \
		rm -rf .venv && $(PYTHON) -m venv .venv; }

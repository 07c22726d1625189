# All commands for development. `make help` lists them, and .ci/run calls them.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
INTEGRATIONS := $(CURDIR)/.venv-integrations
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# What is built says where in the sources it panicked; that is not to name the folders of the builder.
CARGO_HOME ?= $(HOME)/.cargo
REMAPPED := --remap-path-prefix=$(CURDIR)=/rankscope --remap-path-prefix=$(CARGO_HOME)=/cargo
MATURIN := VIRTUAL_ENV=$(VENV) PATH="$(BIN):$(PATH)" RUSTFLAGS="$(strip $(RUSTFLAGS) $(REMAPPED))" $(BIN)/maturin

# Each worker of pytest-xdist takes tests from another's queue when its own is empty, so that all end together.
JOBS ?= auto
PARALLEL = $(IN_MEMORY) $(BIN)/python -m pytest --numprocesses=$(JOBS) --dist=worksteal --durations=30
# Stores wait until a disk has what they write, and in memory nobody waits. It needs 4 GB.
IN_MEMORY := $(shell df --output=avail /dev/shm 2> /dev/null \
	| awk 'NR == 2 && $$1 > 4000000 {print "PYTEST_DEBUG_TEMPROOT=/dev/shm"}')

FUZZ_SECONDS ?= 60
# A call that takes longer than a minute is a finding, on slow machines, too.
FUZZ_LIMITS = -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=60
CARGO_FUZZ := 0.13.2
CARGO_MUTANTS := 27.1.0
FUZZ_TARGETS = $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
RUST_SOURCES := Cargo.toml $(wildcard Cargo.lock) $(shell find crates -name '*.rs' -o -name Cargo.toml)

# The tests that put good and bad input into the extension, but for those that measure memory.
BINDING := tests/inputs tests/invariance tests/evaluation/test_attribute.py tests/stats tests/files tests/tables \
	--ignore=tests/inputs/test_sizes.py --deselect=tests/inputs/test_processes.py::test_memory_does_not_grow_from_call_to_call \
	--timeout=600 -m ""
SANITIZED := $(CURDIR)/target/sanitized/python
SANITIZED_TARGET = $(shell rustc -vV 2> /dev/null | sed -n 's/^host: //p')
# What the interpreter still holds when it ends is no leak, and a failed allocation is an error of ours.
ASAN_OPTIONS := detect_leaks=0,allocator_may_return_null=1,quarantine_size_mb=32
# Rust links the runtime into programs only. That of gcc is preloaded, with the C++ runtime, whose exceptions
# it has to see before other modules bring theirs.
ASAN_RUNTIME = $(shell gcc -print-file-name=libasan.so) $(shell gcc -print-file-name=libstdc++.so.6)

# The environment of the caller must not affect what is built or tested here.
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH PYTHONDONTWRITEBYTECODE
export PYO3_PYTHON := $(BIN)/python

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installers at once would undo each other's work; cargo is parallel by itself.
.NOTPARALLEL:

.PHONY: help
help: ## List the targets
	@grep -E '^[a-z-]+:.* ## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.* ## (.*)/\1\t\2/' \
		| awk -F '\t' '{ printf "make %-14s %s\n", $$1, $$2 }'

.PHONY: demo
demo: $(VENV)/.built ## Build, simulate a bad release, detect it, and trace the cause
	$(BIN)/rankscope demo --once

.PHONY: develop
develop: $(VENV)/.built ## Create .venv with the pinned tools and the optimized package

.PHONY: environment
environment: develop $(VENV)/.docs $(VENV)/.services ## Install what continuous integration needs

.PHONY: test
test: develop ## Run the tests that need the package registries only, but those that are slow
	cargo test
	$(PARALLEL)

.PHONY: test-slow
test-slow: develop servers ## Run the slow tests, also those that need servers or a browser
	$(PARALLEL) -m "slow and not thorough"
	$(PARALLEL) -m slow --dist=loadfile --no-loadscope-reorder tests/services

.PHONY: servers
servers: $(VENV)/.services ## Install the browser and the servers that some tests need
	@command -v chromium > /dev/null || { apt-get update && apt-get install --yes chromium; } || { \
		echo "Expected the browser chromium, found none, and apt-get cannot install it here."; \
		echo "Hint: install chromium by other means, and put it into PATH"; \
		exit 1; }
	@command -v pg_ctl > /dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl > /dev/null 2>&1 \
		|| { apt-get update && apt-get install --yes postgresql; } || { \
		echo "Expected PostgreSQL, found none, and apt-get cannot install it here."; \
		echo "Hint: install PostgreSQL by other means, and put pg_ctl into PATH"; \
		exit 1; }
	@{ command -v promtool && command -v prometheus-alertmanager; } > /dev/null || { apt-get update && apt-get install --yes prometheus prometheus-alertmanager; } || { \
		echo "Expected Prometheus and its Alertmanager, found none, and apt-get cannot install it here."; \
		echo "Hint: install them by other means, and put prometheus, promtool and prometheus-alertmanager into PATH"; \
		exit 1; }
	@command -v systemd-analyze > /dev/null || { apt-get update && apt-get install --yes systemd; } || { \
		echo "Expected systemd-analyze, found none, and apt-get cannot install it here."; \
		echo "Hint: install systemd by other means, and put systemd-analyze into PATH"; \
		exit 1; }
	@{ command -v pdflatex && command -v pdftotext; } > /dev/null || { \
		apt-get update && apt-get install --yes texlive-latex-recommended poppler-utils; } || { \
		echo "Expected LaTeX and pdftotext, found none, and apt-get cannot install them here."; \
		echo "Hint: install texlive-latex-recommended and poppler-utils by other means"; \
		exit 1; }

.PHONY: test-services
test-services: develop servers ## Run the tests that need servers or a browser
	$(PARALLEL) --dist=loadfile --no-loadscope-reorder tests/services

.PHONY: test-integrations
test-integrations: develop $(INTEGRATIONS)/.installed ## Run the tests and pages of training libraries and trackers
	$(INTEGRATIONS)/bin/python -m pytest --numprocesses=$(JOBS) --dist=loadfile -m "slow or not thorough" tests/integrations tests/spark tests/inputs/test_kinds.py tests/inputs/test_documents.py python/rankscope/integrations

.PHONY: test-thorough
test-thorough: develop $(VENV)/.services $(SANITIZED) ## Run 25 times as many generated cases, then the binding with sanitizers
	HYPOTHESIS_PROFILE=thorough $(PARALLEL) -m "thorough or hypothesis" --timeout=3600
	HYPOTHESIS_PROFILE=thorough $(PARALLEL) tests/hostile/test_commands.py tests/services/test_contract.py
	$(BIN)/python -X dev -m pytest $(BINDING)
	LD_PRELOAD="$(ASAN_RUNTIME)" ASAN_OPTIONS=$(ASAN_OPTIONS) PYTHONMALLOC=malloc PYTHONPATH=$(SANITIZED) \
		$(BIN)/python -m pytest -p no:cacheprovider $(BINDING)

.PHONY: audit
audit: develop $(VENV)/.audit ## Check licenses and sources of crates, and advisories about all dependencies
	$(BIN)/python .ci/audit.py $(AUDIT)

.PHONY: format
format: develop ## Format the sources, and write the tables of the pages
	$(BIN)/python -m dev.tables
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt --all

.PHONY: lint
lint: develop ## Check format, style, import contracts and the stub of the extension
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/lint-imports
	$(BIN)/python -m dev.lines --check
	$(BIN)/stubtest --mypy-config-file tests/house/stubtest.ini --allowlist tests/house/stubtest.txt rankscope._core

.PHONY: types
types: develop $(VENV)/.docs ## Run mypy in strict mode
	$(BIN)/mypy

.PHONY: docs
docs: develop $(VENV)/.docs ## Build the documentation into site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

.PHONY: bench
bench: $(VENV)/.released ## Run the benchmark against other tools, and write a record
	$(BIN)/python -m dev.benchmarks

.PHONY: bench-small
bench-small: $(VENV)/.released ## Measure the speed and memory that rankscope keeps, as ratios beside other tools
	$(BIN)/python -m dev.benchmarks --small

.PHONY: simulate
simulate: develop ## Count wrong alerts, comparisons and estimates from clicks in simulations, and write records
	$(BIN)/python -m dev.simulate

.PHONY: simulate-short
simulate-short: develop ## Check alerts, comparisons and estimates from clicks in a few simulations
	$(BIN)/python -m dev.simulate --short

.PHONY: load
load: $(VENV)/.released ## Load a service for ten minutes, verify every value, and write a record
	$(BIN)/python -m dev.load

.PHONY: load-short
load-short: develop ## Load a service for 20 seconds, and verify every value
	$(BIN)/python -m dev.load --short

.PHONY: load-attacks
load-attacks: $(VENV)/.released ## Measure response times while the service is under attack
	$(BIN)/python -m dev.load.attacks

.PHONY: parity
parity: develop ## Run other libraries and keep their numbers (PEERS="lightgbm ranx" for some of them)
	$(BIN)/python -m dev.parity $(PEERS)

.PHONY: fuzz
fuzz: develop $(VENV)/.fuzz ## Fuzz every reader for FUZZ_SECONDS seconds (default: 60), with what that needs
	@cargo +nightly --version > /dev/null 2>&1 || rustup toolchain install nightly --profile minimal || { \
		echo "Expected a nightly toolchain, found none, and rustup cannot install it here."; \
		echo "Hint: connect to the network, then rustup toolchain install nightly"; \
		exit 1; }
	@test "$$(cargo fuzz --version 2> /dev/null)" = "cargo-fuzz $(CARGO_FUZZ)" \
		|| cargo install --locked cargo-fuzz@$(CARGO_FUZZ) || { \
		echo "Expected cargo-fuzz $(CARGO_FUZZ), found another or none, and cargo cannot install it here."; \
		echo "Hint: connect to the network, then cargo install --locked cargo-fuzz@$(CARGO_FUZZ)"; \
		exit 1; }
	set -e; for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target; \
		cargo +nightly fuzz run $$target fuzz/corpus/$$target fuzz/seeds/$$target -- $(FUZZ_LIMITS); done
	set -e; for target in $$($(BIN)/python -m dev.fuzz); do \
		mkdir -p fuzz/corpus/$$target fuzz/artifacts/$$target; \
		$(BIN)/python -m dev.fuzz $$target fuzz/corpus/$$target fuzz/seeds/$$target $(FUZZ_LIMITS) \
			-artifact_prefix=fuzz/artifacts/$$target/; done

.PHONY: nightly
nightly: develop ## Run what takes too long for every change, and write dev/nightly.json (TARGETS="fuzz audit" for some)
	$(BIN)/python -m dev.nightly $(TARGETS)

.PHONY: mutants
mutants: develop $(VENV)/.mutants ## Count how many of N changes made with SEED the tests of AREA (default: of all) notice
	@test "$$(cargo mutants --version 2> /dev/null)" = "cargo-mutants $(CARGO_MUTANTS)" \
		|| cargo install --locked cargo-mutants@$(CARGO_MUTANTS) || { \
		echo "Expected cargo-mutants $(CARGO_MUTANTS), found another or none, and cargo cannot install it here."; \
		echo "Hint: connect to the network, then cargo install --locked cargo-mutants@$(CARGO_MUTANTS)"; \
		exit 1; }
	$(BIN)/python -m dev.mutants $(addprefix --area=,$(AREA)) --n=$(or $(N),40) --seed=$(or $(SEED),1) --record

.PHONY: wheel
wheel: $(VENV)/.maturin ## Build the wheel and the source distribution into dist/
	$(MATURIN) build --release --sdist --out dist

.PHONY: clean
clean: ## Remove everything that other targets created
	rm -rf $(VENV) $(INTEGRATIONS) build dist site target fuzz/target dev/benchmarks/work dev/parity/work
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -f rankscope-demo.html python/rankscope/_core*.so python/rankscope/_core*.pyd
	find python tests dev docs -type d -name __pycache__ -prune -exec rm -rf {} +

# Stamps: a step runs again only if one of its inputs has changed. Most modules of these packages are never
# imported, and those that are get compiled then.

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Expected Python 3.11 or newer, found $$($(PYTHON) --version 2>&1)."; \
		echo "Hint: name another one, as in make PYTHON=python3.12"; \
		exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install pip==26.3
	@touch $@

$(VENV)/.maturin: $(VENV)/.created pyproject.toml
	$(PIP) install "$$(grep -oE 'maturin==[0-9.]+' pyproject.toml)"
	@touch $@

$(VENV)/.built: $(VENV)/.maturin $(VENV)/.dev $(RUST_SOURCES) Makefile
	rm -f $(VENV)/.released
	$(MATURIN) develop --profile develop --extras monitor,plot
	@touch $@

# What is measured is built as what is released, which takes longer.
$(VENV)/.released: $(VENV)/.maturin $(VENV)/.dev $(RUST_SOURCES) Makefile
	$(MATURIN) develop --release --extras monitor,plot
	@touch $(VENV)/.built $@

$(SANITIZED): $(RUST_SOURCES) Makefile $(shell find python -name '*.py')
	@cargo +nightly --version > /dev/null 2>&1 || { \
		echo "Expected a nightly toolchain, which AddressSanitizer needs, and found none."; \
		echo "Hint: rustup toolchain install nightly"; \
		exit 1; }
	@test -e "$(firstword $(ASAN_RUNTIME))" || { \
		echo "Expected gcc with the runtime of AddressSanitizer, libasan.so, and found none."; \
		echo "Hint: apt-get install gcc"; \
		exit 1; }
	RUSTFLAGS="-Zsanitizer=address -Cdebug-assertions=on -Coverflow-checks=on" \
		CFLAGS="-fsanitize=address" CARGO_PROFILE_RELEASE_LTO=off cargo +nightly build --release --package rankscope \
		--target $(SANITIZED_TARGET) --target-dir target/sanitized
	rm -rf $@ && mkdir -p $@
	cp -r python/rankscope $@/
	rm -f $@/rankscope/_core*
	cp target/sanitized/$(SANITIZED_TARGET)/release/librankscope.so $@/rankscope/_core.abi3.so

$(VENV)/.dev: $(VENV)/.created pyproject.toml
	$(PIP) install --no-compile --group dev
	@touch $@

# PyTorch and others are several gigabytes, and set versions of what the rest uses.
$(INTEGRATIONS)/.installed: $(VENV)/.created pyproject.toml
	$(PYTHON) -m venv --clear $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check pip==26.3
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --group integrations
	echo $(CURDIR)/python > $$($(INTEGRATIONS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/rankscope.pth
	@touch $@

$(VENV)/.services: $(VENV)/.created pyproject.toml
	$(PIP) install --no-compile --group services
	@touch $@

$(VENV)/.fuzz: $(VENV)/.created pyproject.toml
	$(PIP) install --group fuzz
	@touch $@

$(VENV)/.mutants: $(VENV)/.created pyproject.toml
	$(PIP) install --no-compile --group mutants
	@touch $@

$(VENV)/.audit: $(VENV)/.created pyproject.toml
	$(PIP) install --no-compile --group audit
	@touch $@

$(VENV)/.docs: $(VENV)/.created pyproject.toml
	$(PIP) install --no-compile --group docs
	@touch $@

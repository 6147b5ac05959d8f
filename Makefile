# `make` lists the targets. Everything installs into .venv and target, inside the clone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python lint bench bench-stripe fuzz fuzz-check oracle campaign faults soak digests docs pages wheel deb clean

PYTHON ?= python3
CARGO ?= cargo
BIN := .venv/bin
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := target/tools/bin/cargo-deny
CARGO_DEB_VERSION := 3.8.0
CARGO_DEB := target/tools/bin/cargo-deb

RUST_SOURCES := $(shell find crates -type f -not -path '*/tests/*') Cargo.toml Cargo.lock
EXAMPLE := cluster
CASES ?= 5000
FIRST ?= 1000000
RUNS ?= 100000
SEED ?= 0
SOAK ?= 6
BENCH ?=
TARGET ?= ends
FOR ?= 60

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/demo.stamp  ## load, route and prove a fabric, follow every flit; writes runs/demo
	$(BIN)/gingham run $(EXAMPLE) --output runs/demo --force

test: test-rust test-python  ## every test

test-rust:  ## the tests of the crates
	$(CARGO) test --workspace --locked

test-python: .venv/core.stamp  ## the tests of the package, with real programs where installed
	$(BIN)/pytest --numprocesses 4 --durations 20 --durations-min 5

lint: .venv/core.stamp $(CARGO_DENY)  ## formats, lints, types, walls, licences, spelling, long sentences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	$(CARGO_DENY) --locked check --hide-inclusion-graph --allow unused-wrapper bans licenses sources
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/typos
	$(BIN)/python -m tests.sentences
	$(BIN)/python -m tests.prose

bench: .venv/tools.stamp  ## speed of engine and oracle; BENCH="--quick ROW" for less, "--baseline" to record
	$(BIN)/python benches/bench.py $(BENCH)

bench-stripe: .venv/core.stamp  ## the striping daemon beside MPTCP and wireguard-go, as root; BENCH="--quick --rows ROW" for less
	$(BIN)/python benches/striping_daemon.py $(BENCH)

fuzz:  ## looks for FOR=n seconds for what the striping protocol cannot take; fuzz/README.md
	$(CARGO) +nightly fuzz run $(TARGET) -- -max_total_time=$(FOR) -max_len=1200

# What links them is the fuzzer's own, which is C++ and takes a minute: to check types nothing is linked.
fuzz-check:  ## types of the fuzzer's targets, by the stable compiler; tests run their corpora
	CUSTOM_LIBFUZZER_PATH=none/libfuzzer.a $(CARGO) check --quiet --manifest-path fuzz/Cargo.toml

oracle:  ## engine against oracle on CASES=n random scenarios, from FIRST=n on
	CASES=$(CASES) FIRST=$(FIRST) $(CARGO) test --package gingham-lab --locked --test differential -- --nocapture

campaign:  ## the striping protocol over RUNS=n random sets of bad channels, from seed FIRST=n on
	GINGHAM_CAMPAIGN_RUNS=$(RUNS) GINGHAM_CAMPAIGN_FIRST=$(FIRST) $(CARGO) test --package gingham-stripe --locked --test campaign -- --nocapture

faults:  ## whole ends of the daemon's pipe, two and a server's many, under faults in virtual time, RUNS=n runs from seed SEED=n on
	GINGHAM_FAULTS_RUNS=$(RUNS) GINGHAM_FAULTS_FIRST=$(SEED) $(CARGO) test --package gingham-stripe-udp --locked --test faults -- --nocapture

soak: .venv/core.stamp  ## two daemons for SOAK=6 minutes under faults drawn from SEED=n, as root; text, JSON and a picture in runs/soak
	$(BIN)/python benches/striping_soak.py --minutes $(SOAK) --seed $(SEED)

docs: .venv/core.stamp  ## the site, into target/site, and the reference of the crates, into target/doc
	$(BIN)/python docs/make_pages.py --site
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -j 2 -c docs -d target/site.cache . target/site
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --locked

pages: .venv/core.stamp  ## the generated pages that are in git, and the glossary
	$(BIN)/python docs/make_pages.py

digests: .venv/core.stamp  ## the digests that results are held against; tests/digests.py
	$(BIN)/python -m tests.digests

wheel: .venv/tools.stamp  ## wheels and sdists of gingham and gingham-studies, into target/dist; for another machine release/build-wheel
	release/build-wheel "$$(rustc --version --verbose | sed -n 's/^host: //p')" manylinux2014

deb: $(CARGO_DEB)  ## the striping daemon as a package of Debian's, into target/debian
	PATH="$(CURDIR)/target/tools/bin:$$PATH" crates/stripe/striped/dist/build-deb $(PROGRAM)

clean:  ## removes what make made
	rm -rf .venv target runs/demo runs/soak runs/bench-stripe python/gingham/_core*.so
	find python studies tests -type d -name __pycache__ -prune -exec rm -rf {} +
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis

# The interpreter with what `make demo` needs, and with all tools.
PIP_INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check
.venv/build.stamp: requirements-dev.txt
	@command -v $(CARGO) >/dev/null || { echo 'cargo is missing: install a Rust toolchain, for instance with rustup' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo '$(PYTHON) must be Python 3.11 or later; name another with make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
	  || { echo '$(PYTHON) cannot make environments: apt-get install python3-venv' >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) $$(sed '/^# Needed to build wheels/,$$d; /^#/d' requirements-dev.txt)
	@touch $@

.venv/tools.stamp: .venv/build.stamp
	$(PIP_INSTALL) --requirement requirements-dev.txt
	@touch $@

# The studies of papers, from their sources. Their requirements are those of the tools and the core.
.venv/studies.stamp: .venv/build.stamp studies/pyproject.toml
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable ./studies
	@touch $@

# The compiled core and the command .venv/bin/gingham: `demo` without checks, for users, and `core`
# optimised and with every check, for the tests. Each replaces the other; wheels have the release
# profile. The feature is one that tests of the crates take: with another set, cargo would build seven
# crates twice.
DEVELOP = PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/maturin develop --quiet --locked

.venv/demo.stamp: .venv/build.stamp pyproject.toml $(RUST_SOURCES) | .venv/studies.stamp
	$(DEVELOP) --profile demo
	@rm -f .venv/core.stamp && touch $@

.venv/core.stamp: .venv/tools.stamp pyproject.toml $(RUST_SOURCES) | .venv/studies.stamp
	$(DEVELOP) --features gingham-fairq/corruption
	@rm -f .venv/demo.stamp && touch $@

# Unoptimised: building these tools takes longer than running them.
$(CARGO_DEB):
	$(CARGO) install --quiet --locked --debug cargo-deb@$(CARGO_DEB_VERSION) --root target/tools

$(CARGO_DENY):
	$(CARGO) install --quiet --locked --debug cargo-deny@$(CARGO_DENY_VERSION) --root target/tools

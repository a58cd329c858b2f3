# `make run` opens Burin on the current folder, or on DIR. `make test` is the one gate; it names the
# tests that it skips, and fails on the first with BURIN_NO_SKIPS=1.
DIR ?= .
CARGO ?= cargo
SHELL := /bin/bash
# rustup does not always put itself on the PATH of a non-login shell.
export PATH := $(PATH):$(HOME)/.cargo/bin

# Clippy's driver is a compiler that also lints: one build serves the lints and the tests, where
# `cargo clippy` would check every dependency once more.
LINTED := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

# The implementations of macOS that also run on Linux (ARCHITECTURE.md, "Two systems"): their crates, built and tested
# with them. Cargo keeps crates of ours apart by the name of their compiler; outside crates serve both runs, because
# `workspace_hack` gives them the features that they have already. Of the attempts to escape, only the races touch them.
PORTABLE := PATH="$$PATH:$(CURDIR)/.ci" RUSTC_WORKSPACE_WRAPPER=portable-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
PORTABLE_CRATES := -p host -p worktree -p sandbox -p project -p index -p workspace_hack

# Fails in one of five runs with the polled process table, which only the portable run has.
POLLED := no_process_survives_a_drop_or_stop

# What `make test` does on Linux after the tests. The check for macOS counts as a test for each architecture; it is
# skipped by name where its root was not made.
define LINUX_CHECKS
echo "suite: portable"; \
echo "skipped: host::process::spawned::tests::$(POLLED): polling can miss a process that is starting a program"; \
$(PORTABLE) $(CARGO) test $(PORTABLE_CRATES) --no-fail-fast --lib --test leases -- --skip $(POLLED) || result=1; \
$(PORTABLE) $(CARGO) test $(PORTABLE_CRATES) --test escape -- races:: || result=1; \
echo "suite:"; \
for arch in aarch64 x86_64; do \
  if packaging/mac-check $$arch; then echo "test result: ok. 1 passed; 0 failed; 0 ignored"; \
  else echo "test result: FAILED. 0 passed; 1 failed; 0 ignored"; result=1; fi; \
done
endef

# The window with the toolkit's support for tests: `make test` then compiles no outside crate a second time.
WINDOW := --package burin --features test-support

.PHONY: run test fmt

run:
	@packaging/setup.sh run
	$(CARGO) build $(WINDOW)
	@$(CARGO) run --quiet $(WINDOW) -- "$(abspath $(DIR))"

test:
	@packaging/setup.sh test
	$(CARGO) fmt --all --check
	$(LINTED) $(CARGO) build --workspace --all-targets
	@set -o pipefail; { $(LINTED) $(CARGO) test --workspace --tests --no-fail-fast; result=$$?; \
	  if [ "$$(uname -s)" = Linux ]; then $(LINUX_CHECKS); fi; \
	  exit $$result; } 2>&1 | awk -f .ci/total.awk

fmt:
	$(CARGO) fmt --all

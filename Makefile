# `make run` opens Burin on the current folder, or on DIR. `make test` is the one gate.
DIR ?= .
CARGO ?= cargo
SHELL := /bin/bash
# rustup does not always put itself on the PATH of a non-login shell.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: run test fmt

run:
	@packaging/setup.sh run
	$(CARGO) build --package burin
	@$(CARGO) run --quiet --package burin -- "$(abspath $(DIR))"

test:
	@packaging/setup.sh test
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@set -o pipefail; $(CARGO) test --workspace --lib --bins --tests 2>&1 \
	  | awk '{ print; fflush() } \
	         /^test result:/ { passed += $$4; failed += $$6; skipped += $$8 } \
	         END { printf "total: %d passed, %d failed, %d skipped\n", passed, failed, skipped }'

fmt:
	$(CARGO) fmt --all

# Makefile: the ways in. What they do is in tools/ and in the Makefiles of the
# parts. PG_CONFIG=/path/to/pg_config chooses the PostgreSQL; the default is
# the newest installed.

ifneq ($(words $(CURDIR)),1)
$(error the path of this checkout has a space, with which make cannot work: "$(CURDIR)"; \
	move it to a folder without one)
endif

CHOOSE_POSTGRES = PG_CONFIG=$$(tools/find-pg-config) && export PG_CONFIG
SHELL_SCRIPTS = $(shell grep -lE '^\#(!/bin/(ba)?sh| shellcheck)' tools/* .ci/* clients/*/build)
PYTHON_TOOLS = tools/check-layers tools/who-writes
PYTHON_CLIENTS = $(wildcard clients/*/*.py)

# $(call write,FILE,COMMAND): the file stays as it is if the command fails
write = $(2) >$(1).new && mv $(1).new $(1) || { rm -f $(1).new; false; }

.DEFAULT_GOAL = help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo "PG_CONFIG=/path/to/pg_config chooses the PostgreSQL."

demo: ## install what is missing, measure, write report/index.html
	@tools/install-packages demo
	@tools/make-venv run
	@$(MAKE) build
	.venv/bin/tollfree demo

test: ## run every test but the walks, after installing what they need
	@tools/install-packages test
	@tools/make-venv dev
	@$(MAKE) lint build build-clang CLIENTS=--all
	@$(CHOOSE_POSTGRES) && tools/run-tests unit extension database browser

check: ## what a change needs first, in three minutes: lint, unit tests, one round on a server
	@tools/make-venv dev
	@$(MAKE) lint build
	@$(CHOOSE_POSTGRES) && tools/run-tests unit-lab round

test-walks: build ## run a part, another for each commit, of the walks
	@tools/make-venv dev
	@$(CHOOSE_POSTGRES) && tools/run-tests walks

test-packages: ## make the Debian packages and the image in a bare system, and test them there
	@tools/install-packages packages
	tools/test-packages

walks: build ## run and record all walks: comparisons with stock wrappers, faults at every message
	@tools/make-venv dev
	@$(CHOOSE_POSTGRES) && tools/run-tests walks-all && tools/soak 0.17

soak: ## work on servers and links that fail, for ten minutes, and check each minute
	@tools/soak 0.17

test-db: build ## run the tests that need a PostgreSQL server, but the walks
	@tools/make-venv dev
	@$(CHOOSE_POSTGRES) && tools/run-tests extension database

build: ## build the link, the common clients (CLIENTS=--all: all) and the private PostgreSQL
	@tools/make-venv run
	@$(CHOOSE_POSTGRES) && .venv/bin/python -m tollfree.stage && \
	.venv/bin/python -m tollfree.clients $(CLIENTS)

build-clang: ## compile the link and the clients with clang too, for its warnings
	@$(CHOOSE_POSTGRES) && \
	$(MAKE) -C link CC=clang BUILDDIR=$(CURDIR)/build/clang/link && \
	$(MAKE) -C clients/txprobe CC=clang BUILDDIR=$(CURDIR)/build/clang/clients \
		PG_CONFIG="$$PG_CONFIG" && \
	for client in $$(dirname $$(grep -l client.mk clients/*/Makefile)); do \
		$(MAKE) -C $$client CC=clang OUT=$(CURDIR)/build/clang/clients \
			PG_CONFIG="$$PG_CONFIG" || exit; \
	done

lint: ## check types, style, layout and the direction of dependencies
	@tools/make-venv dev
	cd lab && ../.venv/bin/ruff check . $(addprefix ../,$(PYTHON_TOOLS) $(PYTHON_CLIENTS))
	cd lab && ../.venv/bin/mypy
	cd lab && for tool in $(PYTHON_TOOLS); do ../.venv/bin/mypy ../$$tool || exit; done
	cd lab && MYPYPATH=../clients/python ../.venv/bin/mypy --ignore-missing-imports \
		$(addprefix ../,$(PYTHON_CLIENTS))
	tools/check-layers
	tools/who-writes --check
	@.venv/bin/python -m tollfree.stale
	tools/format --check
	@if command -v shellcheck >/dev/null; then \
		shellcheck --external-sources --source-path=SCRIPTDIR $(SHELL_SCRIPTS); \
	else \
		echo "shell scripts NOT CHECKED: there is no shellcheck; tools/install-packages test"; \
	fi

bench: build ## run every program in lab/benchmarks, and record what it prints
	@tools/make-venv dev
	@$(CHOOSE_POSTGRES) && for benchmark in lab/benchmarks/*.py; do \
		.venv/bin/python -m tollfree.benchmarks "$$(basename "$$benchmark" .py)" || exit; \
	done
	$(call write,docs/runs/benchmarks.md,.venv/bin/python -m tollfree.benchmarks)

docs: ## make again the documents that are made by commands
	@tools/make-venv dev
	$(call write,docs/reference/command-line.md,.venv/bin/python -m tollfree.reference)
	.venv/bin/python -m tollfree.manual
	$(call write,docs/runs/README.md,.venv/bin/python -m tollfree.stored)
	$(call write,docs/runs/benchmarks.md,.venv/bin/python -m tollfree.benchmarks)
	$(call write,docs/gains.svg,.venv/bin/python -m tollfree.gains)
	.venv/bin/python -m tollfree.results
	.venv/bin/python -m tollfree.summary

format: ## lay out the C and Python sources
	@tools/make-venv dev
	tools/format

clean: ## remove what was built and reported; not the lab's data
	rm -rf build report

.PHONY: help demo check test test-packages test-walks walks soak test-db build build-clang bench lint docs format clean

# The verbs of this repository. `make` alone lists them. Whatever needs more than a line is a Go program under tools/.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

# How many inputs `make fuzz` tries on each target.
FUZZ_INPUTS ?= 100000
# Which SQL Server `make test-mssql` and `make first-day` start, and for the first READ_COMMITTED_SNAPSHOT of its database.
SQLSERVER ?= 2022
ROW_VERSIONS ?= true
# Where `make explore` remembers how far it has come.
EXPLORED ?= .explored.json
# How long `make explore` goes on, as in 10m; without end if it is empty.
EXPLORE_FOR ?=
# Which benchmarks `make bench` runs.
BENCH ?= .
# The folders that hold a Go module with code of ours; docs/decisions/2026-11-29-modules.md says why each beside the
# first is one.
MODULES := . duroxidevet otel examples/telemetry provider/mssql/azuread cmd/duroxide-azuread tools/acceptance tools/sqlserver

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "%-18s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build every package, and the commands into bin/
	go build ./...
	go build -o bin/ ./cmd/...

.PHONY: generate
generate: ## Write gen/ from sql/ and sqlc.yaml, and the walker of the T-SQL tree
	go run ./tools/generate

.PHONY: verify-generated
verify-generated: ## Fail, naming each file, if generated code is not what generate would write
	go run ./tools/generate -verify

.PHONY: fmt
fmt: ## Format the Go code
	linter=$$(go tool -modfile=tools/pinned/go.mod -n golangci-lint); for dir in $(MODULES); do (cd $$dir && $$linter fmt); done

.PHONY: lint
lint: lint-sql ## Run the linters on the Go, on the T-SQL and on the workflows
	go tool -modfile=tools/pinned/go.mod actionlint
	linter=$$(go tool -modfile=tools/pinned/go.mod -n golangci-lint); for dir in $(MODULES); do (cd $$dir && $$linter run); done

.PHONY: lint-sql
lint-sql: ## Apply the rules of sqlc-gen-tsql to the T-SQL that sqlc.yaml names
	go run ./tsql/sqlc-gen-tsql vet -config sqlc.yaml

.PHONY: promises
promises: ## Run the tests of the README: those that docs/guarantees.md names
	go run ./tools/test

.PHONY: test
test: ## Run all tests in full; those that need a T-SQL server use tsqltest, or DUROXIDE_TEST_MSSQL
	go run ./tools/test -all

.PHONY: test-race
test-race: ## Run the tests under the race detector, in random order (needs a C compiler)
	RACE_TOOLKIT=1 .ci/test-race -shuffle=on -timeout=20m ./...

.PHONY: test-mssql
test-mssql: ## Run the tests that need a T-SQL server on DUROXIDE_TEST_MSSQL, or on SQL Server in Docker
	[[ -n $${DUROXIDE_TEST_MSSQL:-} ]] || start='go run -C tools/sqlserver . -dir ../.. -version $(SQLSERVER) -row-versions=$(ROW_VERSIONS)'; \
	DUROXIDE_TEST_MSSQL_REQUIRED=1 $${start:-} go test -timeout=90m \
	    ./cmd/duroxide/internal/server/... ./provider/mssql/... ./tsql/tsqltest/calibration

# Arguments of tools/firstday, such as -sizes 0,1000000.
FIRST_DAY ?=

.PHONY: first-day
first-day: ## Ask DUROXIDE_TEST_MSSQL, or SQL Server in Docker, about plans, locks, log and damage; the report is first-day/report.md
	[[ -n $${DUROXIDE_TEST_MSSQL:-} ]] || start='go run -C tools/sqlserver . -dir ../.. -version $(SQLSERVER)'; \
	$${start:-} go run ./tools/firstday $(FIRST_DAY)

.PHONY: test-tools
test-tools: ## Run the tests of the generator and the other tools, those in modules of their own included
	go test ./tools/... ./tsql/...
	go test -C duroxidevet -count=1 ./... # go test does not see that the library beside it has changed
	go test -C tools/acceptance ./sqlc-gen-tsql ./secondopinion
	go test -C tools/sqlserver ./...

.PHONY: fuzz
fuzz: ## Fuzz every fuzz target with FUZZ_INPUTS each
	go run ./tools/fuzz -inputs $(FUZZ_INPUTS)

.PHONY: mutants
mutants: ## Change one thing at a time in the T-SQL and see that rules, explorer or conformance kit notice (an hour; goes on where it was)
	go run ./tools/mutate

.PHONY: explore
explore: ## Explore the store's operations beside each other for EXPLORE_FOR or until interrupted, from where it stopped (in EXPLORED)
	go test -c -o bin/explore.test ./provider/mssql/internal/interleave
	DUROXIDE_EXPLORED=$(abspath $(EXPLORED)) DUROXIDE_EXPLORE_FOR=$(EXPLORE_FOR) bin/explore.test -test.timeout=0 -test.v -test.run='^TestExploreOn$$'

.PHONY: cover
cover: ## Measure how much of the code the tests reach, into coverage.html
	go test -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -n 1

.PHONY: bench
bench: ## Run the Go benchmarks whose names match BENCH (for whole workloads: duroxide bench)
	go test -run='^$$' -bench='$(BENCH)' -benchmem ./...

.PHONY: demo
demo: ## See orchestrations survive the death of their worker
	@echo 'The first time, Go compiles all packages, SQLite among them, and names each: up to a minute on two cores.'
	go run -v ./cmd/duroxide/demo

.PHONY: ci
ci: ## Do all that the continuous integration does
	.ci/run

.PHONY: clean
clean: ## Remove what make has built
	rm -rf bin coverage.out coverage.html

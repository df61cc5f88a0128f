# leasetop: `make run` shows it working, `make test` proves that it does.

# A clone may belong to somebody else than who builds it, which git, and so go's
# own stamp, refuses.
export GOFLAGS += -buildvcs=false
RELEASE := $(shell git describe --tags --always --dirty 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: build run test lint bench soak screenshots clean help

build: ## build bin/leasetop
	@go build -ldflags "-X main.release=$(RELEASE)" -o bin/leasetop .

run: build ## run the dashboard with its demonstration (ARGS="--fresh" starts over)
	@exec bin/leasetop $(ARGS)

# Those that take longest begin first.
longest := ./workers/scenario/stories ./queue ./ui ./queue/watch ./ui/e2e ./ui/command ./workers ./workers/scenario ./sql/local ./sql

# The race detector would sleep for a second at the end of each package. Lint vets.
test: ## run all tests, with the race detector, against a real PostgreSQL
	@echo "PostgreSQL: $$(go run ./sql/local/where)"
	GORACE=atexit_sleep_ms=50 go tool gotestsum --format pkgname --hide-summary=skipped -- -race -vet=off -timeout 20m $(longest) ./...

lint: ## vet, staticcheck, gofumpt, tidy go.mod, imports that point one way
	go vet ./...
	go tool staticcheck ./...
	@files=$$(go tool gofumpt -l .); if [ -n "$$files" ]; then echo "run go tool gofumpt -w on:"; echo "$$files"; exit 1; fi
	go mod tidy -diff
	go test -count=1 -run '^TestHouse' ./ui/command

bench: ## measure claims, feed and screens (LEASETOP_BENCH_FULL=1: on the full sizes)
	go test -run '^$$' -bench . -benchmem -timeout 60m ./...

minutes = 10
soak: build ## break things at random under load (minutes=30 seed=1 ARGS="-o json")
	@exec bin/leasetop scenario soak --minutes $(minutes) $(if $(seed),--seed $(seed)) $(ARGS)

screenshots: ## draw the README's pictures from the running program
	go run ./screenshots

clean: ## remove what was built
	rm -rf bin

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

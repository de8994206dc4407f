# make help lists what there is. VERSION=x.y.z builds a release.

VERSION     ?=
PREFIX      ?= $(HOME)/.local
FUZZTIME    ?= 30s
STATICCHECK ?= go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -checks all,-ST1003,-ST1016,-ST1020,-ST1021,-ST1022

SOURCES := cmd internal ui themes
LDFLAGS := -s -w $(if $(VERSION),-X main.release=$(VERSION))

# The race detector needs a C compiler. Without one the tests run all the same.
RACE := $(shell [ "$$(go env CGO_ENABLED)" = 1 ] && command -v "$$(go env CC)" >/dev/null 2>&1 && echo -race)

.DEFAULT_GOAL := build
.PHONY: build install demo test lint fmt bench fuzz pictures dist clean help

# Built and linted as a release is built: what was compiled for one serves the others.
build lint: export CGO_ENABLED = 0
build lint: export GOFLAGS += -trimpath

build: ## build bin/piwatch
	go build -buildvcs=auto -ldflags '$(LDFLAGS)' -o bin/piwatch ./cmd/piwatch

install: build ## copy it to PREFIX/bin (~/.local/bin)
	install -d '$(PREFIX)/bin'
	install -m 755 bin/piwatch '$(PREFIX)/bin/piwatch'

demo: build ## see piwatch without Pi, key or network
	bin/piwatch demo

# The tests run also when lint fails, and say their results last.
test: ## everything: lint, unit, golden frames, CLI scripts, the real Pi
	$(if $(RACE),,@echo '*** no C compiler: the tests run WITHOUT the race detector ***')
	@$(MAKE) --no-print-directory lint || lint=failed; \
	echo go test $(RACE) -vet=off -timeout 30m ./...; \
	go test $(RACE) -vet=off -timeout 30m ./... || tests=failed; \
	[ -z "$$lint" ] || echo '*** lint failed, see above ***'; \
	[ -z "$$lint$$tests" ]

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l $(SOURCES)); [ -z "$$unformatted" ] || { echo "not gofmt'ed (make fmt):"; echo "$$unformatted"; exit 1; }
	go vet ./...
	$(STATICCHECK) ./...

fmt: ## format the sources
	gofmt -w $(SOURCES)

bench: ## the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## fuzz what reads foreign text, FUZZTIME (30s) each
	@grep -ro --include='*_test.go' '^func Fuzz[A-Za-z]*' $(SOURCES) | sed 's|/[^/]*:func | |' | while read -r dir target; do \
		echo "$$dir $$target"; \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "./$$dir" || exit 1; \
	done

pictures: ## take the pictures of the README anew, in tmux
	PIWATCH_PICTURES='$(CURDIR)/testdata/pictures' go test -count=1 -run '^TestPictures$$' ./ui

dist: ## the archives of a release, VERSION=x.y.z, into dist/
	go run ./cmd/dist $(if $(VERSION),-version '$(VERSION)')

clean: ## remove what was built
	rm -rf bin dist

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

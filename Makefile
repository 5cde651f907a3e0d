# `make` or `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

# How long one package's tests and the whole suite may take.
PACKAGE_LIMIT ?= 20m
SUITE_LIMIT ?= 60m
TESTFLAGS ?=
VERSION ?= $(shell scripts/version.sh)

# A target for each application of field/: field-NAME.
FIELDS := $(addprefix field-,$(notdir $(patsubst %/install.sh,%,$(wildcard field/*/install.sh))))

# Every recipe that needs Go starts with this: the go that scripts/go.sh picks
# comes first in PATH, for programs that call go as well. The program, its tests and
# what checks them are compiled in one way, so that each package is compiled once; and
# compiler and linker collect garbage a quarter as often, which saves a seventh of their CPU.
WITH_GO = go=$$(scripts/go.sh) && export PATH="$$(dirname "$$go"):$$PATH" CGO_ENABLED="$${CGO_ENABLED:-0}" \
	GOFLAGS="$$("$$go" env GOFLAGS) -trimpath '-toolexec=env GOGC=400 GOMEMLIMIT=2GiB'" &&

.PHONY: help accelerator-check deps deps-test build static static-tools check test test-long test-times test-coverage test-steady race race-changed demo bench bench-hand bench-tuners bench-load bench-digest bench-bounds bench-effects bench-overhead bench-engines bench-hosts bench-verdict bench-web bench-mutants bench-indexes shots case-wiki case-idle case-api case-cards field field-plot $(FIELDS) faults tutorial lab-base fuzz clean static-all release

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what is missing (apt, as root): Go, nginx, MariaDB, PHP-FPM, …
	@scripts/deps.sh

build: deps ## build bin/kasoku, one static binary
	@$(WITH_GO) go build -ldflags '-X main.Version=$(VERSION)' -o bin/kasoku ./cmd/kasoku

static: ## formatting, go vet, this repository's own rules (internal/lint), changelog/unreleased
	@$(WITH_GO) scripts/static.sh format vet lint changelog

static-tools: ## staticcheck, dead functions, switches that forget a kind, functions that are hard to follow (tools.mod)
	@$(WITH_GO) scripts/static.sh staticcheck deadcode exhaustive complexity

static-all: ## static, and staticcheck, dead functions, switches that forget a kind, functions that are hard to follow (tools.mod)
	@$(WITH_GO) scripts/static.sh

check: static ## static, and the tests that are quick
	@$(WITH_GO) timeout --foreground $(SUITE_LIMIT) go test -short -timeout $(PACKAGE_LIMIT) $(TESTFLAGS) ./...

deps-test: ## install what tests need, too: Apache, HAProxy, pt-query-digest, …
	@scripts/deps.sh test

test: deps-test build ## every test, against real servers
	@$(WITH_GO) PACKAGE_LIMIT=$(PACKAGE_LIMIT) TESTFLAGS='$(TESTFLAGS)' timeout --foreground $(SUITE_LIMIT) scripts/test.sh

test-times: ## where the time of the last "make test" went: the slowest tests and packages
	@$(WITH_GO) go run ./bench/testtimes $(ARGS)

test-coverage: deps-test build ## which share of the statements of internal/ the tests run (PACKAGES="./cmd/kasoku ./internal/stat": theirs alone)
	@$(WITH_GO) PACKAGE_LIMIT=40m scripts/test-coverage.sh $(PACKAGES)

test-steady: deps-test build ## run tests again and again beside a busy CPU and disk (PACKAGES="./internal/stat ./lab" N=10); resumable
	@$(WITH_GO) scripts/test-steady.sh $(or $(N),10) $(PACKAGES)

race: deps-test build ## every test under the race detector (PACKAGES=./internal/load: only these)
	@$(WITH_GO) scripts/race.sh $(or $(PACKAGES),all)

race-changed: deps-test ## the quick tests of packages that changed, under the race detector (BASE=commit LIMIT=240 WHILE=PID)
	@$(WITH_GO) BASE='$(BASE)' LIMIT='$(LIMIT)' WHILE='$(WHILE)' scripts/race.sh changed

test-long: deps-test build ## every test, also those that kill Kasoku before every step of apt and systemd
	@$(WITH_GO) LONG=1 PACKAGE_LIMIT=40m TESTFLAGS='$(TESTFLAGS)' timeout --foreground 90m scripts/test.sh

demo: deps build ## tune the bank login from cases/login and say where the report is (BUDGET=6m30s)
	@scripts/demo.sh

bench: ## tell which benchmarks there are
	@echo "Benchmarks are targets of their own, named bench-…:"
	@grep -hoE '^bench-[a-z-]+:' $(MAKEFILE_LIST) | tr -d : | sed 's/^/  make /' || echo "  none yet"

bench-hand: deps build ## Kasoku's result on cases/login against one tuned by hand (bar: 0.90)
	@$(WITH_GO) scripts/case-hand.sh login

bench-tuners: deps build ## Kasoku on cases/login against mysqltuner, a random search and a person (60 min; bars 0.95 and 1; WITHOUT="relaxed hand")
	@$(WITH_GO) scripts/bench-tuners.sh

bench-load: deps build ## the load engine against wrk, ab, h2load, oha, … on one nginx, 1 if a bar is missed or undecided (ARGS="-only a,b"; K6=1)
	@$(WITH_GO) scripts/bench-load.sh $(ARGS)

bench-digest: deps build ## kasoku digest against alp, goaccess, pt-query-digest, slp, grep (ARGS="-rounds 3")
	@$(WITH_GO) scripts/bench-digest.sh $(ARGS)

bench-bounds: deps build ## bounds of findings against measured gains on cases/login (ARGS="-only 'a hot row'")
	@$(WITH_GO) scripts/bench-diagnosis.sh bounds $(ARGS)

bench-effects: deps-test build ## what each remedy brings to the small stack of its test (ONLY=TestNginx ARGS=-write; bar: each is measured)
	@$(WITH_GO) scripts/bench-effects.sh $(ARGS)

bench-overhead: deps build ## what the collectors of every run cost on cases/login (bar: 1 %)
	@$(WITH_GO) scripts/bench-diagnosis.sh overhead $(ARGS)

bench-engines: deps ## ways to move a load generator's bytes: net.Conn, epoll, io_uring (ARGS="-rounds 3")
	@$(WITH_GO) go run ./bench/engines $(ARGS)

bench-hosts: deps-test build ## the bank login tuned over SSH on one and two disposable hosts, and after a reboot (bar: 0.95)
	@scripts/bench-hosts.sh

bench-web: deps build ## the dashboard's pages on a store of 10,000 runs (bar: worst-ms below 200), and what five viewers and a slow one cost a run (bar: 0.5 %)
	@$(WITH_GO) go test -run '^$$' -bench . -benchtime 20x ./internal/web
	@$(WITH_GO) scripts/bench-diagnosis.sh viewers $(ARGS)

bench-mutants: deps-test ## small changes of change, experiment, stat, confedit and digest that their tests have to notice, as root (ARGS="-n 60 -only 3,17"; bar: 0.9)
	@$(WITH_GO) go run ./bench/mutants -known bench/mutants/results.json $(ARGS)

bench-indexes: deps build ## index advice on 300 drawn schemas against the best of up to 40 candidates, tried on a real MariaDB (ARGS="-seed 17 -n 1 -v"; bars: 95 % within 1.2, 0 worse); resumable
	@$(WITH_GO) go build -o bin/bench-indexes ./bench/indexes && nice -n 10 bin/bench-indexes $(ARGS)

accelerator-check: deps ## accelerator/ by random transactions of several processes on a real MariaDB, with and without it, and broken on purpose (ARGS="-n 300 -only mutants"; bars: no new anomaly, each mutant caught within a minute)
	@$(WITH_GO) go build -o bin/accelerator-check ./bench/accelerator && bin/accelerator-check $(ARGS)

shots: ## pictures of the dashboard's and the report's pages, into shots/ (needs Chromium)
	@$(WITH_GO) go test -count 1 ./internal/web ./internal/report -run Browser -args -shots $(CURDIR)/shots

bench-verdict: deps build ## how often verdicts are wrong, on recorded noise (PART=sim) and on the real bank login (PART=real), and a session's time (PART=time)
	@$(WITH_GO) scripts/bench-verdict.sh $(or $(PART),sim) $(ARGS)

case-wiki: deps-test build ## the whole wiki on four disposable hosts: tuned, checked, one host against four (BUDGET=30m SIZE=small ARGS="-keep"; 60 min, as root)
	@$(WITH_GO) go build -buildvcs=auto -o bin/case-wiki ./bench/wiki && bin/case-wiki -size $(or $(SIZE),full) -budget $(or $(BUDGET),30m) $(ARGS)

case-idle: deps build ## the idle game on this machine: as found, by Kasoku, by hand, with the ratio (IMPL=php|go|both BUDGET=12m SOURCE=1; bar 0.90)
	@$(WITH_GO) BUDGET=$(or $(BUDGET),12m) ROUNDS=$(or $(ROUNDS),6) scripts/case-hand.sh idle $(or $(IMPL),both)

case-api: deps build ## the game API on this machine: as found, by Kasoku, by hand, with the ratio (BUDGET=12m SOURCE=1; bar 0.90)
	@$(WITH_GO) BUDGET=$(or $(BUDGET),12m) ROUNDS=$(or $(ROUNDS),6) scripts/case-hand.sh api go

case-cards: deps-test build ## the card game on this machine: as found, by Kasoku, by hand, with the ratio (BUDGET=20m WINDOW=6s SOURCE=1; bar 0.90)
	@$(WITH_GO) BUDGET=$(or $(BUDGET),20m) ROUNDS=$(or $(ROUNDS),6) WINDOW=$(or $(WINDOW),6s) scripts/case-hand.sh cards php

field: deps-test build ## applications that nobody here has made, Kasoku against a person (make field-NAME: one; BUDGET=25m ARGS="-keep"; 45 min each, as root)
	@$(WITH_GO) go build -buildvcs=auto -o bin/field ./bench/field && bin/field -budget $(or $(BUDGET),25m) $(ARGS)

$(FIELDS): field-%: deps-test build
	@$(WITH_GO) go build -buildvcs=auto -o bin/field ./bench/field && bin/field -budget $(or $(BUDGET),25m) $(ARGS) $*

field-plot: deps ## docs/measured/field-steps.svg: predicted against measured of field/steps.csv
	@$(WITH_GO) go run ./bench/field -plot docs/measured/field-steps.svg

faults: deps-test build ## break a disposable host at every step of every kind of change (bar: 500 cases, none lost)
	@$(WITH_GO) scripts/faults.sh $(ARGS)

tutorial: deps-test ## do what docs/tutorial says on a disposable host and compare what is printed with what it shows (WRITE=1 stores it; 15 min, as root)
	@$(WITH_GO) KASOKU_TUTORIAL=1 WRITE='$(WRITE)' go test -count 1 -timeout 60m -v ./cmd/kasoku -run '^TestTutorial$$'

lab-base: deps-test build ## build the system that disposable hosts start from (docs/how-to/use-disposable-hosts.md), as root
	@bin/kasoku lab base

fuzz: ## fuzz every parser (TIME=60s each, or EXECS=10000000 of all together; IN=internal/confedit: the editors)
	@$(WITH_GO) scripts/fuzz.sh $(or $(TIME),$(EXECS),1000000) $(IN)

release: deps ## archives, Debian packages, checksums and SBOM for Linux on amd64 and arm64, into dist/ (CHECK=1: built twice and compared, as docs/contributing/release.md says)
	@$(WITH_GO) CHECK='$(CHECK)' scripts/release.sh $(ARCH)

clean: ## remove what make built
	rm -rf bin dist

# `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
JOBS ?= $(shell nproc)
bin := build/release/bin

.PHONY: help run build test test-quick test-long soak compare compare-metrics interop compile-cost docs format tidy clean deps deps-test

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

deps:
	@tools/install-deps.sh run
deps-test:
	@tools/install-deps.sh test

# Without the test libraries the product builds all the same.
tests := $(if $(and $(wildcard /usr/include/gtest/gtest.h),$(wildcard /usr/include/rapidcheck.h)),ON,OFF)

build: deps ## Build the libraries, the command and the examples into build/release
	@cmake --preset release -DSHOVE_BUILD_TESTS=$(tests) -DSHOVE_BUILD_TESTKIT=$(tests) >/dev/null
	@cmake --build build/release -j $(JOBS) --target shove_product

run: build ## Work the real data on SQLite; the picture is build/run/summary.svg
	@mkdir -p build/run
	@$(bin)/shove-main-job data/birdstrikes.csv build/run

test: deps-test ## All checks that CI runs
	@tools/test.sh all

test-quick: deps-test ## The unit tests, g++ release
	@tools/test.sh quick

test-long: deps-test ## Long fuzzing, soak and crash ledgers, the whole sanitizer matrix
	@tools/test.sh long

soak: deps-test ## Ten minutes of load: exact counts, order, flat memory (SHOVE_SOAK_S=SECONDS each)
	@tools/test.sh soak

compare: build ## Side by side with the peers (builds them: 5 to 35 minutes once; BACKEND=rabbitmq: on that broker)
	@python3 bench/compare.py $(if $(BACKEND),--only $(BACKEND))

compare-metrics: build ## What metrics cost: on beside off (no peers needed)
	@python3 bench/compare.py --only metrics

interop: build ## Exchanges messages with the Rust peer and others (BACKEND=rabbitmq)
	@python3 bench/interop $(if $(BACKEND),--backend $(BACKEND))

compile-cost: deps ## CPU seconds that the README's tour costs a user to compile
	@cmake --preset release >/dev/null
	@tools/compile-cost.sh

docs: deps-test ## The API reference, build/docs/html
	@tools/test.sh docs

format: deps-test ## Format all sources in place
	@git ls-files -co --exclude-standard -- '*.cpp' '*.hpp' | grep -v '^bench/peers/' | xargs clang-format-16 -i

tidy: deps-test ## clang-tidy, the short list, as errors
	@tools/tidy.sh

clean: ## Remove everything that was built
	@rm -rf build

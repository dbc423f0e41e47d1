# Everything here is a short name for CMake presets and the scripts folder.
# Each target first installs the packages it needs; see scripts/bootstrap.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

export FUZZ_SECONDS

.DEFAULT_GOAL := build
.PHONY: build demo test bench lint format asan tsan fuzz install clean help
.PHONY: bootstrap-core bootstrap-test bootstrap-lint bootstrap-fuzz bootstrap-bench

build: build/build.ninja ## Build the program (the default); it lands at build/bin/sonde
	cmake --build --preset release --target sonde sonde_docs sonde_python

demo: build ## Build, record a small training, and show what Sonde says about it
	cmake --build --preset release --target lenet
	scripts/demo

# The tools that only the tests need are installed while the compiler works.
test: bootstrap-core build/build.ninja ## Build everything and run all tests
	scripts/bootstrap test & packages=$$!; cmake --build --preset release && wait $$packages
	ctest --preset release -j $(JOBS)

bench: bootstrap-bench build/build.ninja ## Build and run the benchmarks
	cmake --preset bench
	cmake --build --preset bench

lint: bootstrap-lint build/build.ninja ## Check format, layers, shell syntax and, for changed files, clang-tidy
	scripts/lint

format: bootstrap-lint ## Rewrite all C++ files with clang-format
	scripts/format

asan: bootstrap-test build-asan/build.ninja ## Build and run all tests with AddressSanitizer and UBSan
	cmake --build --preset asan
	ctest --preset asan -j $(JOBS)

# ThreadSanitizer of g++ 12 cannot start on kernels with strong address randomisation, so it is turned off where allowed.
tsan: bootstrap-test build-tsan/build.ninja ## Build and run all tests with ThreadSanitizer
	cmake --build --preset tsan
	$$(setarch -R true 2>/dev/null && echo setarch -R) ctest --preset tsan -j $(JOBS)

fuzz: bootstrap-fuzz build-fuzz/build.ninja ## Fuzz each reader for FUZZ_SECONDS (30); FUZZ=name picks one
	cmake --build --preset fuzz
	scripts/fuzz $(FUZZ)

install: build ## Install below PREFIX (/usr/local); DESTDIR is honoured
	cmake --install build --prefix "$(PREFIX)"

clean: ## Remove all build folders
	rm -rf build build-asan build-tsan build-fuzz

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

bootstrap-core:
	@scripts/bootstrap core

bootstrap-test: bootstrap-core
	@scripts/bootstrap test

bootstrap-lint: bootstrap-core
	@scripts/bootstrap lint

bootstrap-fuzz: bootstrap-core
	@scripts/bootstrap fuzz

bootstrap-bench: bootstrap-core
	@scripts/bootstrap bench

build/build.ninja: CMakePresets.json | bootstrap-core
	cmake --preset release

build-asan/build.ninja: CMakePresets.json | bootstrap-core
	cmake --preset asan

build-tsan/build.ninja: CMakePresets.json | bootstrap-core
	cmake --preset tsan

build-fuzz/build.ninja: CMakePresets.json | bootstrap-fuzz
	cmake --preset fuzz

.PHONY: help demo test check check-all check-page check-inspector bench-start threads soak features bench fuzz docs build install uninstall dist clean

# Where `make install` puts the program; DESTDIR stands before it, for packages.
PREFIX = /usr/local
# The program must not look for libraries in folders of the build machine, or beside itself.
NO_RUNPATH = --disable-local-rpath -Xswiftc -no-toolchain-stdlib-rpath

# The installed program, which needs no Swift runtime. Give another one to install that.
PROGRAM = .build/static/release/signet

help:
	@echo "make demo    shows the main job step by step on this machine (installs what is missing)"
	@echo "make test    runs the tests, against real servers on this machine"
	@echo "make check   checks format, imports, pointers, style and documentation, and runs the tests that meet C under AddressSanitizer"
	@echo "make check-all runs make check, make test and the rest, which they leave out for speed: the other tests under AddressSanitizer, the modules behind package traits, the release build, a new package of README's lines"
	@echo "make check-inspector checks the page of SignetInspector in Debian's chromium, with 100,000 calls and with a running program"
	@echo "make check-page checks the pages of pins plan and self-check in Debian's chromium, which it installs, and writes pictures to .build/page"
	@echo "make threads runs all tests under ThreadSanitizer, then those with 10,000 calls at once"
	@echo "make soak    verifies each of 100,000 requests eight times at once with nonces in memory, a file and Redis; cancels 10,000 calls at once; makes 100,000 calls with faults in flat memory; makes 100,000 recorded calls in flat memory and 10,000 with secrets, of which nothing is kept; reads JSON streams of 100 MB and files of 95,000 pins; kills programs with a cache at 200 moments, with an outbox at 500, with a recorder at 100, and the tool at each system call (takes minutes)"
	@echo "make features runs the tests that carry ids of Documentation/features.md, prints the table and writes .build/features.json"
	@echo "make bench   measures each job and its floor, the least that it can cost; ONLY=\"NAME NAME\" runs some, PEERS=yes adds the rows that compare with async-http-client"
	@echo "make bench-start compares the start of the installed program with that of curl"
	@echo "make fuzz    feeds changed inputs to each parser of foreign bytes under libFuzzer, a minute each (SECONDS_EACH); ONLY=fuzz-NAME runs one"
	@echo "make docs    writes the site of the documentation to .build/docs"
	@echo "make build   builds the optimised signet program and prints its path"
	@echo "make install builds signet so that it needs no Swift runtime, and installs it with manual pages and completions below PREFIX ($(PREFIX))"
	@echo "make uninstall removes what make install has installed"
	@echo "make dist    writes a tar.gz, a Debian package and their SHA256SUMS into .build/dist"
	@echo "make clean   removes the build, but no keys and certificates"

demo:
	@Scripts/demo

test:
	@Scripts/test

soak:
	@Scripts/install-dependencies
	SIGNET_SOAK=1 Scripts/test-traits -c release --filter SignetRedisTests.SoakTests
# Two at a time: if all ran at once on two cores, some would exceed their time limits.
	SIGNET_SOAK=1 SIGNET_TEST_WIDTH=2 Scripts/run-tests --filter 'BodyAttackTests|PinConversionScaleTests|PythonTests|StormTests|FaultProxyTests|KilledStoreTests|KilledOutboxTests|noByteOfASecretIsKept|CrashToolTests|PipelinePropertyTests|aKillLeavesWholeCalls'
# Under AddressSanitizer: 10,000 cancelled calls must leak nothing.
	SIGNET_SOAK=1 Scripts/check-memory --filter endsEachCancelledCallOnce
# With optimised code: how soon each of 10,000 cancelled calls ends.
	Scripts/bench cancel-h1 --demand
	Scripts/bench cancel-h2 --demand
# One at a time, because they measure the memory of their process.
	SIGNET_SOAK=1 swift test --disable-xctest --no-parallel --filter 'ConcurrentCallsTests|aLongStreamIsReadInBoundedMemory'
	SIGNET_SOAK=1 swift test -c release -Xswiftc -enable-testing --scratch-path .build/soak --disable-xctest --no-parallel --filter 'SystemSoakTests|RecordingSoakTests'

features:
	@Scripts/features

check:
	@Scripts/check

check-all: check test
	@Scripts/check-all

check-page:
	@Scripts/check-page

check-inspector:
	@swift build --product look
	@Scripts/check-inspector --live .build/debug/look

threads:
	Scripts/check-threads
	SIGNET_SOAK=1 Scripts/check-threads --filter ConcurrentCallsTests

bench:
	@Scripts/install-dependencies
	@Scripts/bench $(if $(PEERS),--peers) $(ONLY)

bench-start: $(PROGRAM)
	@Scripts/bench-start "$(PROGRAM)"

fuzz:
	@Scripts/fuzz $(ONLY)

docs:
	@Scripts/documentation site

build:
	@Scripts/install-dependencies build
	swift build -c release --product signet
	@echo "$$(swift build -c release --show-bin-path)/signet"

# Not built again if no source is newer, so that `sudo make install` after `make dist` runs no compiler.
.build/static/release/signet: Package.swift $(shell find Sources -type f -not -name '*.md')
	@Scripts/install-dependencies build
	@[ "$$(id -u)" != 0 ] || echo "make: compiles as root; after make dist as another user, make install only copies"
	swift build -c release --product signet --static-swift-stdlib --scratch-path .build/static $(NO_RUNPATH)
	@touch $@

install: $(PROGRAM)
	@Scripts/install "$(PROGRAM)" "$(DESTDIR)$(PREFIX)"

uninstall:
	@Scripts/install --remove "$(DESTDIR)$(PREFIX)"

dist: $(PROGRAM)
	@Scripts/dist "$(PROGRAM)" .build/dist

clean:
	-@Examples/orders/host stop
	rm -rf .build .build-* Benchmarks/.build

.PHONY: help demo test soak check threads bench fuzz build clean

help:
	@echo "make demo    shows the main job step by step on this machine (installs what is missing)"
	@echo "make test    runs all tests, against real servers on this machine"
	@echo "make soak    verifies each of 100,000 requests eight times at once with nonces in memory, a file and Redis; cancels 10,000 calls at once; reads JSON streams of 100 MB (takes minutes)"
	@echo "make check   checks format, imports and the use of pointers, and runs all tests under AddressSanitizer"
	@echo "make threads runs all tests under ThreadSanitizer, then those with 10,000 calls at once"
	@echo "make bench   measures each job beside its floor, the least that it can cost"
	@echo "make fuzz    feeds changed inputs to each parser of foreign bytes under libFuzzer, a minute each (SECONDS_EACH); ONLY=fuzz-NAME runs one"
	@echo "make build   builds the optimised signet program and prints its path"
	@echo "make clean   removes what was built, but no keys and certificates"

demo:
	@Scripts/demo

test:
	@Scripts/install-dependencies
	@Scripts/python-peers >/dev/null
	@Scripts/python-peers mitmproxy >/dev/null
	Scripts/test-traits
# Some tests run the release build, to show what it must not do.
	swift build -c release --product signet
	@Scripts/run-tests

soak:
	@Scripts/install-dependencies
	SIGNET_SOAK=1 Scripts/test-traits Redis -c release --filter SoakTests
	SIGNET_SOAK=1 swift test --disable-xctest --filter 'CrowdTests|BodyAttackTests|PythonTests'
# Under AddressSanitizer: 10,000 cancelled calls must leak nothing.
	SIGNET_SOAK=1 LSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/leaks.supp':print_suppressions=0" \
		Scripts/run-tests --sanitize=address --scratch-path .build/asan --filter endsEachCallOnce
# With optimised code: how soon each of 10,000 cancelled calls ends.
	Scripts/bench cancel-h1 --demand
	Scripts/bench cancel-h2 --demand
# Alone, because it measures the memory of its process.
	SIGNET_SOAK=1 swift test --disable-xctest --no-parallel --filter aLongStreamIsReadInBoundedMemory

check:
	@Scripts/check

threads:
	Scripts/check-threads
	SIGNET_SOAK=1 Scripts/check-threads --filter CrowdTests

bench:
	@Scripts/install-dependencies
	@Scripts/bench $(ONLY)

fuzz:
	@Scripts/fuzz $(ONLY)

build:
	@Scripts/install-dependencies
	swift build -c release --product signet
	@echo "$$(swift build -c release --show-bin-path)/signet"

clean:
	-@Examples/orders/host stop
	rm -rf .build .build-* Benchmarks/.build

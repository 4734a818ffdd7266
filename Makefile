.PHONY: help demo test soak check threads bench fuzz build clean

help:
	@echo "make demo    the main job, step by step, on loopback (installs what is missing)"
	@echo "make test    all tests, against real servers on loopback"
	@echo "make soak    each of 100,000 requests eight times at once: memory, file, Redis; 10,000 calls cancelled at once; JSON streams of 100 MB (minutes)"
	@echo "make check   format, imports, the fence around pointers, all tests under AddressSanitizer"
	@echo "make threads all tests under ThreadSanitizer, then crowds of 10,000 calls"
	@echo "make bench   measures each job beside its floor"
	@echo "make fuzz    changed inputs to each parser of foreign bytes, a minute each (SECONDS_EACH), under libFuzzer; ONLY=fuzz-NAME"
	@echo "make build   the signet program, optimised; its path is printed"
	@echo "make clean   removes what was built; keys and certificates stay"

demo:
	@Scripts/demo

test:
	@Scripts/install-dependencies
	@Scripts/python-peers >/dev/null
	@Scripts/python-peers mitmproxy >/dev/null
	Scripts/test-traits
# Tests run it too, for what a release build must not do.
	swift build -c release --product signet
	@Scripts/run-tests

soak:
	@Scripts/install-dependencies
	SIGNET_SOAK=1 Scripts/test-traits Redis -c release --filter SoakTests
	SIGNET_SOAK=1 swift test --disable-xctest --filter 'CrowdTests|BodyAttackTests|PythonTests'
# That 10,000 calls which are cancelled leave nothing behind, under AddressSanitizer.
	SIGNET_SOAK=1 LSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/leaks.supp':print_suppressions=0" \
		Scripts/run-tests --sanitize=address --scratch-path .build/asan --filter endsEachCallOnce
# How soon each of 10,000 calls ends when it is cancelled, of optimised code.
	Scripts/bench cancel-h1 --demand
	Scripts/bench cancel-h2 --demand
# Alone, because it looks at the memory of its process.
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

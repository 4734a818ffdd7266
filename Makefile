.PHONY: help demo test check bench build clean

help:
	@echo "make demo    the main job, step by step, on loopback (installs what is missing)"
	@echo "make test    all tests, against real servers on loopback"
	@echo "make check   format, imports, the fence around pointers, all tests under AddressSanitizer"
	@echo "make bench   measures each job beside its floor"
	@echo "make build   the signet program, optimised; its path is printed"
	@echo "make clean   removes what was built; keys and certificates stay"

demo:
	@Scripts/demo

test:
	@Scripts/install-dependencies
	@Scripts/python-peers >/dev/null
	Scripts/test-traits
# Tests run it too, for what a release build must not do.
	swift build -c release --product signet
	swift test --disable-xctest

check:
	@Scripts/check

bench:
	@Scripts/install-dependencies
	@Scripts/bench $(ONLY)

build:
	@Scripts/install-dependencies
	swift build -c release --product signet
	@echo "$$(swift build -c release --show-bin-path)/signet"

clean:
	-@Examples/orders/host stop
	rm -rf .build .build-* Benchmarks/.build

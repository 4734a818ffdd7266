import Foundation
import TestSupport
import Testing

/// The memory that `signet call` needs for a large result: a small multiple of its bytes.
@Suite struct CallMemoryToolTests {
    private static let size = 24_000_000

    /// A server whose result, to each call of a request, is an array of many small values.
    private func server() async throws -> (server: ServerProcess, port: Int) {
        try await SocketServer.start(
            "many-values", ["\(Self.size)"])
    }

    /// AddressSanitizer keeps 256 MB of freed memory back unless it's told otherwise.
    private static let environment = [
        "ASAN_OPTIONS": (ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? "")
            + "quarantine_size_mb=1"
    ]

    /// The tool's exit code, its output's length, and the most bytes of memory that it had.
    private func run(_ arguments: [String]) async throws -> (exit: Int, count: Int, peak: Int) {
        let output = try await ChildProcess.run(
            "python3",
            [
                "-I", PythonPeer.script("peak"), SignetTool.url.path,
            ] + arguments, environment: Self.environment, timeout: 300)
        let numbers = output.text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 3, "\(output.text)\(output.stderr)")
        return (numbers[0], numbers[1], numbers[2])
    }

    @Test(arguments: ["jsonrpc-2.0", "rest"], [[], ["--json"]])
    func aResultOfManyValuesTakesAFewTimesItsSize(
        _ name: String, _ options: [String]
    ) async throws {
        let (server, port) = try await server()
        let outcome = try await run(
            ["call", "http://127.0.0.1:\(port)/", name == "rest" ? "GET" : "m", "--protocol", name]
                + options)
        #expect(outcome.exit == 0)
        #expect(outcome.count >= Self.size)
        #expect(outcome.peak < 12 * Self.size)
        try await server.stop()
    }

    @Test func aBatchOfManyValuesTakesAFewTimesItsSize() async throws {
        let (server, port) = try await server()
        let folder = try TemporaryDirectory()
        let file = try folder.write(#"[{"method":"a"},{"method":"b"}]"#, to: "batch")
        let outcome = try await run(["call", "http://127.0.0.1:\(port)/", "--batch", file])
        #expect(outcome.exit == 0)
        #expect(outcome.count >= 2 * Self.size)
        #expect(outcome.peak < 24 * Self.size)
        try await server.stop()
    }
}

import Foundation
import HTTPTypes
import SignetClient
import SignetTransport
import TestSupport
import Testing

@testable import SignetRecording

/// Recording with a limit takes no more memory after many calls than after some. `make soak` runs
/// it alone, with optimised code.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil))
struct RecordingSoakTests {
    /// An engine that keeps nothing.
    private struct PlainEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "plain", pinsPublicKeys: true, speaksHTTP2: false)

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            EngineResponse(
                response: HTTPResponse(
                    status: .ok, headerFields: [.contentType: "application/json"]),
                body: HTTPResponseBody(bytes: Array(#"{"token":"ZZZZZZ","item":"tea"}"#.utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    @Test(.timeLimit(.minutes(20))) func memoryStaysFlat() async throws {
        let system = try await startSystem(PlainEngine())
        var options = RecordingOptions.anywhere
        options.limits.calls = 1000
        let recorder = Recorder(options)
        try recorder.start(on: system)
        func run(_ numbers: Range<Int>) async throws {
            for number in numbers {
                _ = try await system.exchange(
                    "shop", method: .post,
                    target: "/orders/\(number)?access_token=secret-\(number % 5000)",
                    fields: [.contentType: "application/json"],
                    body: Array(#"{"password":"secret-\#(number % 5000)","n":\#(number)}"#.utf8))
            }
        }
        try await run(0..<40_000)
        let before = try ProcessUse.memory()
        try await run(40_000..<140_000)
        let growth = try ProcessUse.memory() - before
        print("100,000 recorded calls: memory grew by \(growth >> 10) KiB")
        #expect(growth < 8 << 20)
        let recording = try await recorder.recording()
        #expect(recording.calls.count == 1000 && recording.droppedCount == 139_000)
        await system.shutdown()
    }
}

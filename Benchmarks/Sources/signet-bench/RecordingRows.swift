import Foundation
import HTTPTypes
import SignetClient
import SignetPinning
import SignetRecording
import SignetStorage
import SignetTransport
import Synchronization

/// The processor time that recording adds to a call whose request and response are JSON of 1 KiB, of
/// which no two are equal, and that of reading a recorded call. The floor is the call without a
/// recorder.
enum RecordingRows {
    static let names = ["recording", "recording-read", "recording-disk"]

    private static let total = 2000

    /// Responds at once with another order each time.
    private final class OrderEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "orders", pinsPublicKeys: true, speaksHTTP2: false)
        private let count = Atomic(0)

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let number = count.add(1, ordering: .relaxed).newValue
            return EngineResponse(
                response: HTTPResponse(
                    status: .ok, headerFields: [.contentType: "application/json"]),
                body: HTTPResponseBody(bytes: order(number)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    static func rows() -> [Row] {
        [
            Row(
                name: "recording", unit: .microseconds, goal: .value(15),
                ours: { try await added { MemoryRecordingStore(limits: $0) } },
                floor: { try await time(recorder: nil) }),
            Row(
                name: "recording-read", unit: .microseconds, goal: .value(150),
                ours: readingTime, floor: { try await time(recorder: nil) }),
            Row(
                name: "recording-disk", unit: .microseconds, goal: .value(250),
                ours: {
                    let folder = FileManager.default.temporaryDirectory
                        .appending(path: "signet-bench-\(UUID().uuidString)").path
                    defer { try? FileManager.default.removeItem(atPath: folder) }
                    return try await added {
                        try DiskRecordingStore(in: DataFolder(folder), limits: $0)
                    }
                },
                floor: { try await time(recorder: nil) }),
        ]
    }

    private static func added(
        _ store: (RecordingLimits) throws -> any RecordingStore
    ) async throws -> Double {
        let options = options(calls: 100)
        let recorder = Recorder(options, into: try store(options.limits))
        let recorded = try await time(recorder: recorder)
        try require(try await recorder.recording().calls.count == 100, "wrong recording")
        return recorded - (try await time(recorder: nil))
    }

    private static func options(calls: Int) -> RecordingOptions {
        var options = RecordingOptions()
        options.recordsInProduction = true
        options.limits.calls = calls
        return options
    }

    /// Microseconds of reading one of many calls.
    private static func readingTime() async throws -> Double {
        let recorder = Recorder(options(calls: total))
        _ = try await time(recorder: recorder)
        return try await processorTime(callers: 1, total: 1) { _ in
            let recording = try await recorder.recording()
            try require(recording.calls.count == total, "wrong recording")
        } / Double(total)
    }

    /// Microseconds of a call, with those of the thread that writes to a disk.
    private static func time(recorder: Recorder?) async throws -> Double {
        var options = NetworkSystem.Options()
        options.engine = OrderEngine()
        options.logger.logLevel = .error
        let pin = try Pin(bytes: [UInt8](repeating: 1, count: 32))
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest)
            ],
            policy: PinPolicy(rules: [PinRule(host: "api.example.com", pins: [pin])]),
            options: options)
        try recorder?.start(on: system)
        let isOnDisk = recorder?.store is DiskRecordingStore
        let bodies = (0..<total).map(order)
        let time = try await processorTime(callers: 1, total: total) { number in
            let response = try await system.exchange(
                "a", method: .post, target: "/orders",
                fields: [.contentType: "application/json"], body: bodies[number])
            try require(response.body.count > 1000, "wrong response")
            // Everything is written then.
            if number == total - 1, isOnDisk { _ = try await recorder?.recording() }
        }
        await system.shutdown()
        return time
    }

    /// JSON of 1 KiB.
    private static func order(_ number: Int) -> [UInt8] {
        let items = (0..<16).map {
            #"{"item":"tea-\#(number)-\#($0)","quantity":\#($0),"price":"\#(number % 97).50","note":"none"}"#
        }
        return Array(#"{"id":\#(number),"items":[\#(items.joined(separator: ","))]}"#.utf8)
    }
}

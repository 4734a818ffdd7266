#if Storage
import Foundation
import HTTPTypes
import SignetClient
import SignetPinning
import SignetStorage
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// A large body is stored while the caller reads it, and neither reading it from the server nor
/// from the store holds it whole in memory.
@Suite struct LargeBodyTests {
    private static let size = 64 << 20

    /// Makes each piece of the body when it is read.
    private final class Origin: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "origin", pinsPublicKeys: true, speaksHTTP2: false)
        let count = Mutex(0)

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            count.withLock { $0 += 1 }
            let position = Mutex(0)
            let body = HTTPResponseBody { () async throws(TransportError) -> [UInt8]? in
                let start = position.withLock { position in
                    defer { position += 1 << 16 }
                    return position
                }
                guard start < size else { return nil }
                return [UInt8](repeating: UInt8(truncatingIfNeeded: start >> 16), count: 1 << 16)
            }
            return EngineResponse(
                response: HTTPResponse(
                    status: .ok,
                    headerFields: [.cacheControl: "max-age=600", .contentLength: "\(size)"]),
                body: body, httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    @Test func isStoredWhileItIsRead() async throws {
        let directory = try TemporaryDirectory()
        // A process of its own, because other tests use memory too.
        await #expect(processExitsWith: .success) {
            [folder = directory.path("cache") as String] in
            try await LargeBodyTests.read(through: folder)
        }
    }

    private static func read(through folder: String) async throws {
        let origin = Origin()
        var options = NetworkSystem.Options()
        options.engine = origin
        options.cacheStore = try DiskCacheStore(folder: folder, byteLimit: 1 << 30)
        options.callOptions.cache = .http
        options.callOptions.maximumResponseSize = size
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest)
            ], policy: PinPolicy(rules: [], unlisted: .allow), options: options)
        let before = try ProcessUse.memory()
        var (most, storedAtHalf) = (0, 0)
        for _ in 0..<2 {
            let response = try await system.stream("a", method: .get, target: "/large")
            var count = 0
            for try await chunk in response.body {
                try #require(chunk.first == UInt8(truncatingIfNeeded: count >> 16))
                count += chunk.count
                try #require(chunk.last == UInt8(truncatingIfNeeded: (count - 1) >> 16))
                if count == size / 2, storedAtHalf == 0 { storedAtHalf = try byteCount(of: folder) }
                most = max(most, try ProcessUse.memory())
            }
            #expect(count == size)
        }
        await system.shutdown()
        #expect(origin.count.withLock { $0 } == 1)
        #expect(storedAtHalf > size / 2 - (1 << 20))
        #expect(most - before < size / 4, "\((most - before) >> 20) MiB")
    }

    private static func byteCount(of folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
            let file = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return sum + (file[.size] as? Int ?? 0)
        }
    }
}
#endif

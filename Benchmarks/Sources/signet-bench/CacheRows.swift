import CFloor
import Foundation
import HTTPTypes
import SignetCache
import SignetClient
import SignetPinning
import SignetStorage
import SignetTransport

/// Processor time of calls that a cache serves or stores. `cache-lookup-N` looks for one of N entries
/// of the store in memory: the three must take about the same.
enum CacheRows {
    static let names =
        ["cache-memory", "cache-store", "cache-disk"] + sizes.map { "cache-lookup-\($0)" }

    private static let sizes = [1, 1000, 100_000]
    private static let total = 4000

    /// Responds at once with a body that may be kept for an hour.
    private struct FreshEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "fresh", pinsPublicKeys: true, speaksHTTP2: false)
        let body: [UInt8]
        let pin: Pin

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            EngineResponse(
                response: HTTPResponse(
                    status: .ok,
                    headerFields: [
                        .cacheControl: "max-age=3600", .contentLength: String(body.count),
                    ]), body: HTTPResponseBody(bytes: body),
                httpVersion: .init(major: 1, minor: 1),
                peerChain: [SeenCertificate(subject: "CN=bench", pin: pin)])
        }

        func shutdown() async {}
    }

    private static let folder = FileManager.default.temporaryDirectory
        .appending(path: "signet-bench-\(ProcessInfo.processInfo.processIdentifier)")

    static func rows() throws -> [Row] {
        atexit { try? FileManager.default.removeItem(at: CacheRows.folder) }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let disk = try DiskCacheStore(folder: folder.appending(path: "cache").path, memoryLimit: 0)
        try require(
            floor_row_prepare(folder.appending(path: "floor.db").path, 10 << 10) == 1,
            "no database for the floor")
        let memory = MemoryCacheStore(byteLimit: 64 << 20)
        return [
            Row(
                name: "cache-memory", unit: .microseconds, goal: .value(15),
                ours: { try await calls(1 << 10, store: memory) { _ in "/x" } },
                floor: { try await calls(1 << 10, store: nil) { _ in "/x" } }),
            Row(
                name: "cache-store", unit: .microseconds, goal: .ratio(3),
                ours: {
                    let store = MemoryCacheStore(byteLimit: 64 << 20)
                    return try await calls(1 << 10, store: store) { "/x/\($0)" }
                },
                floor: { try await calls(1 << 10, store: nil) { "/x/\($0)" } }),
            Row(
                name: "cache-disk", unit: .microseconds, goal: .value(150),
                ours: { try await calls(10 << 10, store: disk) { _ in "/x" } },
                floor: {
                    try seconds(1) {
                        try require(
                            floor_row_read(total) == total * (10 << 10), "wrong bytes of the floor")
                    } / Double(total) * 1e6
                }),
        ] + (try sizes.map(lookUp(among:)))
    }

    /// Microseconds of a call to one of the paths.
    private static func calls(
        _ size: Int, store: (any CacheStore)?, path: @escaping @Sendable (Int) -> String
    ) async throws -> Double {
        var options = NetworkSystem.Options()
        let pin = try Pin(bytes: [UInt8](repeating: 1, count: 32))
        options.engine = FreshEngine(body: [UInt8](repeating: 0x61, count: size), pin: pin)
        options.logger.logLevel = .error
        options.cacheStore = store
        if store != nil { options.callOptions.cache = .http }
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest)
            ],
            policy: PinPolicy(
                rules: [PinRule(host: "api.example.com", pins: [pin])]), options: options)
        @Sendable func call(_ number: Int) async throws {
            let response = try await system.exchange("a", method: .get, target: path(number))
            try require(response.body.count == size, "wrong response")
        }
        try await call(-1)
        let time = try await processorTime(callers: 1, total: total) { try await call($0) }
        await system.shutdown()
        return time
    }

    private static func lookUp(among count: Int) throws -> Row {
        func key(_ number: Int) throws -> CacheKey {
            let key = CacheKey(
                HTTPRequest(
                    method: .get, scheme: "https", authority: "a.example", path: "/\(number)"))
            guard let key else { throw WrongResult(what: "no key") }
            return key
        }
        func filled(_ count: Int) throws -> MemoryCacheStore {
            let store = MemoryCacheStore(byteLimit: 1 << 30)
            for number in 0..<count {
                let response = StoredResponse(
                    id: .init(key: try key(number), selected: []),
                    response: HTTPResponse(status: .ok), requestTime: 0, responseTime: 0, length: 8)
                _ = store.insert(.init(response, content: [UInt8](repeating: 0, count: 8)))
            }
            try require(store.count == count, "entries are missing")
            return store
        }
        let (store, single) = (try filled(count), try filled(1))
        let (wanted, only) = (try key(count / 2), try key(0))
        return Row(
            name: "cache-lookup-\(count)", unit: .nanoseconds, goal: .ratio(2),
            ours: {
                try seconds(1000) {
                    try require(store.entries(for: wanted).count == 1, "no entry")
                } * 1e9
            },
            floor: {
                try seconds(1000) {
                    try require(single.entries(for: only).count == 1, "no entry")
                } * 1e9
            })
    }
}

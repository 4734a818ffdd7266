import HTTPTypes
import SignetCache
import SignetJSON
import SignetPinning
import SignetTransport
import SignetVault
import Synchronization

@testable import SignetClient

/// An origin in memory that counts its requests and shows chosen keys.
final class CachedOrigin: HTTPEngine {
    struct Reply: Sendable {
        var status = 200
        var fields: HTTPFields = [:]
        var body = "0"
        var failure: TransportError?
        /// The error that ends the body.
        var cut: TransportError?
        var isMadeUp = false
    }

    let capabilities = EngineCapabilities(
        name: "origin", pinsPublicKeys: true, speaksHTTP2: false)
    private let state = Mutex((requests: [EngineRequest](), keys: [Pin]()))
    private let reply: @Sendable (EngineRequest, Int) async -> Reply

    /// - Parameter reply: The reply to a request, whose number counts from 1.
    init(_ reply: @escaping @Sendable (EngineRequest, Int) async -> Reply) { self.reply = reply }

    /// Replies with a counter that is fresh for a minute.
    static func counter(_ cacheControl: String = "max-age=60") -> CachedOrigin {
        CachedOrigin { _, number in
            Reply(fields: [.cacheControl: cacheControl, .eTag: "\"\(number)\""], body: "\(number)")
        }
    }

    var requests: [EngineRequest] { state.withLock { $0.requests } }
    var count: Int { requests.count }
    /// The keys of the chain that the origin shows.
    var keys: [Pin] {
        get { state.withLock { $0.keys } }
        set { state.withLock { $0.keys = newValue } }
    }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let (number, keys) = state.withLock { state in
            state.requests.append(request)
            return (state.requests.count, state.keys)
        }
        let reply = await reply(request, number)
        if let failure = reply.failure { throw failure }
        let bytes = Self.body(reply.body, to: request)
        let buffer = BodyBuffer(capacity: max(bytes.count, 1), drained: {}, abandoned: {})
        if !bytes.isEmpty { _ = buffer.offer(bytes) }
        buffer.finish(reply.cut)
        var response = EngineResponse(
            response: HTTPResponse(status: .init(code: reply.status), headerFields: reply.fields),
            body: HTTPResponseBody(buffer), httpVersion: .init(major: 1, minor: 1),
            peerChain: keys.map { SeenCertificate(subject: "CN=origin", pin: $0) })
        response.isMadeUp = reply.isMadeUp
        return response
    }

    /// The body, with the id of the call if it is a JSON-RPC response.
    private static func body(_ text: String, to request: EngineRequest) -> [UInt8] {
        guard case .object(var object)? = try? JSONValue(parsing: text), object["id"] != nil,
            let id = (try? JSONValue(parsing: request.body.bytes ?? []))?["id"]
        else { return Array(text.utf8) }
        object["id"] = id
        return JSONValue.object(object).serialized()
    }

    func shutdown() async {}
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let time = Mutex<Int64>(1_790_000_000)

    var now: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    var clock: SystemClock {
        var clock = SystemClock()
        clock.now = { self.now }
        clock.sleep = { _ in }
        return clock
    }
}

/// A system with a cache in memory in front of an origin.
struct CachedSystem {
    let system: NetworkSystem
    let store = MemoryCacheStore(byteLimit: 1 << 22)
    let clock = TestClock()

    init(
        _ origin: any HTTPEngine, _ policy: CachePolicy? = .http,
        payload: ServiceConfiguration.PayloadProtocol = .rest, pins: PinPolicy? = nil,
        changeOptions: (inout NetworkSystem.Options) -> Void = { _ in },
        changeService: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws {
        var options = NetworkSystem.Options()
        options.engine = origin
        options.cacheStore = store
        options.clock = clock.clock
        options.callOptions.cache = policy
        changeOptions(&options)
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: payload)
        changeService(&service)
        system = try await NetworkSystem.start(
            services: ["a": service, "b": service], policy: pins ?? .allowingAll(),
            options: options)
    }

    /// The result's text, and how the cache handled the call.
    func get(
        _ path: RESTPath = "/n", on service: ServiceName = "a",
        _ options: RequestOptions = RequestOptions()
    ) async throws -> (text: String, use: CacheUse?) {
        let trace = options.trace ?? CallTrace()
        var options = options
        options.trace = trace
        let response = try await system.send(.get(path, on: service), options: options)
        let text = response.result.map { String(decoding: $0.bytes, as: UTF8.self) }
        return (text ?? "", trace.record?.work.cache)
    }

    func text(
        _ path: RESTPath = "/n", on service: ServiceName = "a",
        _ change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> String {
        var options = RequestOptions()
        change(&options)
        return try await get(path, on: service, options).text
    }
}

/// A store in memory that counts how often responses are looked for.
final class CountingStore: CacheStore {
    private let store = MemoryCacheStore(byteLimit: 1 << 20)
    private let looks = Mutex(0)

    var lookCount: Int { looks.withLock { $0 } }
    var count: Int { store.count }
    var scopeKey: [UInt8] { store.scopeKey }

    func responses(for key: CacheKey) async -> [CacheEntry] {
        looks.withLock { $0 += 1 }
        return await store.responses(for: key)
    }

    func change(_ change: CacheChange) async -> Bool { await store.change(change) }
    func writer(for change: CacheChange) async -> (any CacheWriter)? {
        await store.writer(for: change)
    }
    func remove(_ selection: CacheSelection) async { store.remove(selection) }
    func trim(origin: String, to byteCount: Int) async {
        store.trim(origin: origin, to: byteCount)
    }
    func list() async -> [StoredResponse] { store.list() }
}

/// The credentials of a user.
struct UserToken: CredentialSource {
    let scope: String

    func credential(
        replacing old: Credential?, for call: CallIdentity
    ) async throws -> Credential { .bearer("token-of-\(scope)") }
}

extension Pin {
    /// A pin of 32 equal bytes.
    static func of(_ byte: UInt8) throws -> Pin {
        try Pin(bytes: [UInt8](repeating: byte, count: 32))
    }
}

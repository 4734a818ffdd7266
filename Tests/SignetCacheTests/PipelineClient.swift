import HTTPTypes
import SignetCache
import SignetPinning
import SignetTransport
import Synchronization

@testable import SignetClient

/// An origin without a network.
final class OriginEngine: HTTPEngine {
    let capabilities = EngineCapabilities(name: "origin", pinsPublicKeys: true, speaksHTTP2: false)
    private let reply: @Sendable (HTTPRequest) -> OriginReply?

    /// - Parameter reply: Returns nil if the connection is closed without a response.
    init(_ reply: @escaping @Sendable (HTTPRequest) -> OriginReply?) { self.reply = reply }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        guard let reply = reply(request.request) else {
            throw TransportError(.cutOff, "the connection was closed")
        }
        let buffer = BodyBuffer(capacity: max(reply.content.count, 1), drained: {}, abandoned: {})
        if !reply.content.isEmpty { _ = buffer.offer(reply.content) }
        buffer.finish(reply.isWhole ? nil : TransportError(.cutOff, "the content was cut"))
        var response = EngineResponse(
            response: reply.response, body: HTTPResponseBody(buffer),
            httpVersion: .init(major: 1, minor: 1))
        response.interim = reply.interim
        return response
    }

    func shutdown() async {}
}

/// A network system with a cache, in front of the suite's server.
final class PipelineClient: SuiteClient {
    private final class State: Sendable {
        let value = Mutex((server: SuiteServer([]), now: Int64(1_790_000_000)))
    }

    private let state = State()
    private let store: any CacheStore
    private let system: NetworkSystem

    init(_ store: any CacheStore, rules: PrivateCache = PrivateCache()) async throws {
        self.store = store
        let state = state
        var options = NetworkSystem.Options()
        options.engine = OriginEngine { request in
            state.value.withLock { state in
                let reply = state.server.reply(to: request, now: state.now)
                state.now += reply?.delay ?? 0
                return reply
            }
        }
        options.cacheStore = store
        options.cacheRules = rules
        options.clock.now = { state.value.withLock { $0.now } }
        options.callOptions.cache = .http
        var redirects = RedirectPolicy()
        redirects.maximum = 0
        options.callOptions.redirects = redirects
        var service = ServiceConfiguration(
            baseURL: "https://localhost:8000", payloadProtocol: .rest)
        service.attempts = 1
        system = try await NetworkSystem.start(
            services: ["suite": service], policy: PinPolicy(rules: [], unlisted: .allow),
            options: options)
    }

    /// The client with an empty cache.
    func emptied() async -> PipelineClient {
        await store.remove(.all)
        return self
    }

    func shutdown() async { await system.shutdown() }

    // MARK: SuiteClient

    var now: Int64 { state.value.withLock { $0.now } }

    func pass(seconds: Int64) { state.value.withLock { $0.now += seconds } }

    var server: SuiteServer {
        get { state.value.withLock { $0.server } }
        set { state.value.withLock { $0.server = newValue } }
    }

    func receive(_ request: HTTPRequest) async -> ClientReply {
        let reply: ClientReply
        do throws(ClientError) {
            let raw = try await system.exchange(
                "suite", method: request.method, target: request.path ?? "/",
                fields: request.headerFields)
            reply = ClientReply(
                response: HTTPResponse(status: .init(code: raw.status), headerFields: raw.fields),
                content: raw.body, interim: raw.interim)
        } catch {
            reply = ClientReply(response: HTTPResponse(status: .gatewayTimeout))
        }
        await system.pipeline.caches?.http.renewals.waitUntilIdle()
        return reply
    }
}

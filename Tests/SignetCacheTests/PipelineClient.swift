import HTTPTypes
import SignetCache
import SignetPinning
import SignetTransport
import Synchronization

@testable import SignetClient

/// A network system with a cache, in front of the suite's server.
final class PipelineClient: SuiteClient {
    /// The server, without a network.
    private final class Origin: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "suite", pinsPublicKeys: true, speaksHTTP2: false)
        let state = Mutex((server: SuiteServer([]), now: Int64(1_790_000_000)))

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let reply = state.withLock { state in
                let reply = state.server.reply(to: request.request, now: state.now)
                state.now += reply?.delay ?? 0
                return reply
            }
            guard let reply else { throw TransportError(.cutOff, "the connection was closed") }
            let buffer = BodyBuffer(
                capacity: max(reply.content.count, 1), drained: {}, abandoned: {})
            if !reply.content.isEmpty { _ = buffer.offer(reply.content) }
            buffer.finish(reply.isWhole ? nil : TransportError(.cutOff, "the content was cut"))
            return EngineResponse(
                response: reply.response, body: HTTPResponseBody(buffer),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private let origin = Origin()
    private let store: any CacheStore
    private let system: NetworkSystem

    init(_ store: any CacheStore) async throws {
        self.store = store
        let origin = origin
        var options = NetworkSystem.Options()
        options.engine = origin
        options.cacheStore = store
        options.clock.now = { origin.state.withLock { $0.now } }
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

    var now: Int64 {
        get { origin.state.withLock { $0.now } }
        set { origin.state.withLock { $0.now = newValue } }
    }

    var server: SuiteServer {
        get { origin.state.withLock { $0.server } }
        set { origin.state.withLock { $0.server = newValue } }
    }

    func receive(_ request: HTTPRequest) async -> ClientReply {
        let reply: ClientReply
        do throws(ClientError) {
            let raw = try await system.exchange(
                "suite", method: request.method, target: request.path ?? "/",
                fields: request.headerFields)
            reply = ClientReply(
                response: HTTPResponse(status: .init(code: raw.status), headerFields: raw.fields),
                content: raw.body)
        } catch {
            reply = ClientReply(response: HTTPResponse(status: .gatewayTimeout))
        }
        await system.pipeline.caches?.http.renewals.waitUntilIdle()
        return reply
    }
}

import HTTPTypes
import SignetCache

/// The reply of an origin to one request.
struct OriginReply {
    var response: HTTPResponse
    var content: [UInt8] = []
    var interim: [HTTPResponse] = []
    /// Whether the content ended as its framing says.
    var isWhole = true
    /// The seconds until the response arrives.
    var delay: Int64 = 0
}

/// The reply that a client gets.
struct ClientReply {
    var response: HTTPResponse
    var content: [UInt8] = []
    var interim: [HTTPResponse] = []

    var text: String { String(decoding: content, as: UTF8.self) }
}

/// A client with a cache, without a network: the origin is a function, the clock is a number.
final class SimulatedClient: SuiteClient {
    let cache: PrivateCache
    let store: MemoryCacheStore
    var now: Int64
    /// Returns nil if the connection is closed without a response.
    var origin: (HTTPRequest) -> OriginReply? = { _ in nil }
    /// The requests that reached the origin.
    private(set) var forwarded: [HTTPRequest] = []

    init(
        _ cache: PrivateCache = PrivateCache(), byteLimit: Int = 1 << 24, now: Int64 = 1_790_000_000
    ) {
        self.cache = cache
        self.store = MemoryCacheStore(byteLimit: byteLimit)
        self.now = now
    }

    /// The server of a case of the public suite.
    var server = SuiteServer([])

    func send(_ request: HTTPRequest, scope: String = "") -> ClientReply {
        let key = CacheKey(request, scope: scope)
        let entries = key.map { store.entries(for: $0) } ?? []
        let decision = cache.decide(request, key: key, stored: entries.map(\.response), at: now)
        switch decision {
        case .serve(let served, let revalidation):
            let reply = ClientReply(
                response: served.response, content: content(of: served, in: entries))
            if let revalidation { _ = run(revalidation, entries) }
            return reply
        case .validate(let exchange), .fetch(let exchange): return run(exchange, entries)
        case .unavailable(let response): return ClientReply(response: response)
        }
    }

    func pass(seconds: Int64) { now += seconds }

    func receive(_ request: HTTPRequest) async -> ClientReply {
        origin = { [unowned self] in server.reply(to: $0, now: now) }
        return send(request)
    }

    private func run(_ exchange: CacheExchange, _ entries: [MemoryCacheStore.Entry]) -> ClientReply
    {
        forwarded.append(exchange.request)
        guard let reply = origin(exchange.request) else {
            if let served = cache.fail(exchange, at: now) {
                return ClientReply(
                    response: served.response, content: content(of: served, in: entries))
            }
            return ClientReply(response: HTTPResponse(status: .gatewayTimeout))
        }
        now += reply.delay
        let outcome = cache.receive(reply.response, to: exchange, at: now)
        for change in outcome.changes {
            store.apply(change, received: reply.content, isWhole: reply.isWhole)
        }
        switch outcome.answer {
        case .received(let response):
            return ClientReply(response: response, content: reply.content, interim: reply.interim)
        case .stored(let served):
            return ClientReply(
                response: served.response, content: content(of: served, in: entries),
                interim: reply.interim)
        case .joined(let served, let receivedIsFirst):
            let stored = entries.first { $0.response.id == served.source }?.content ?? []
            let content = receivedIsFirst ? reply.content + stored : stored + reply.content
            return ClientReply(response: served.response, content: content, interim: reply.interim)
        case .again(let exchange): return run(exchange, entries)
        }
    }

    private func content(
        of served: ServedResponse, in entries: [MemoryCacheStore.Entry]
    ) -> [UInt8] {
        let stored = entries.first { $0.response.id == served.source }?.content ?? []
        return Array(stored[Int(served.content.lowerBound)..<Int(served.content.upperBound)])
    }
}

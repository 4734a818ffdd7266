public import HTTPTypes
import SignetBase
import SignetClient
public import SignetJSON
public import SignetTransport
import Synchronization

/// An engine without a network: it responds as a test says, and records what it was given.
///
/// The rest of the network system stays as it is: options, interceptors, adapters, signatures and
/// retries.
///
/// ```swift
/// import SignetClient
///
/// let services: [ServiceName: ServiceConfiguration] = [
///     "orders": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
/// ]
/// let stub = StubEngine()
/// stub.respond(to: .procedure("orders.create"), with: .result(["id": 7]))
/// let system = try await NetworkSystem.start(services: services, stub: stub)
/// let response = try await system.call(RPCCall("orders.create"), on: "orders")
/// precondition(response.result?.value["id"] == 7)
/// precondition(stub.requests.map(\.procedure) == ["orders.create"])
/// ```
///
/// A request that no stub matches fails with `invalid-request`, and the message names the request.
public final class StubEngine: HTTPEngine {
    private struct Stub: Sendable {
        let matcher: StubMatcher
        let response: @Sendable (RecordedRequest) async throws(TransportError) -> StubResponse
    }

    private struct State {
        var stubs: [Stub] = []
        var requests: [RecordedRequest] = []
        var isRunning = true
    }

    /// The engine's capabilities, which the initialiser sets.
    public let capabilities: EngineCapabilities
    private let state = Mutex(State())

    /// Creates an engine that responds to nothing yet.
    ///
    /// - Parameter pinsPublicKeys: Whether the engine claims to check pins. With `false`, calls to
    ///   pinned hosts end with `engine-cannot-pin`, as with every engine that can't.
    public init(pinsPublicKeys: Bool = true) {
        var capabilities = EngineCapabilities(
            name: "stub", pinsPublicKeys: pinsPublicKeys, speaksHTTP2: false,
            usesClientCertificates: true)
        capabilities.source = .mock
        self.capabilities = capabilities
    }

    /// Responds to matching requests with canned responses, in their order; the last one is
    /// repeated.
    ///
    /// Of several stubs that match a request, the one that was added last responds.
    public func respond(to matcher: StubMatcher = .any, with responses: StubResponse...) {
        respond(to: matcher, with: responses)
    }

    func respond(to matcher: StubMatcher, with responses: [StubResponse]) {
        let rest = Mutex(responses[...])
        respond(to: matcher) { _ throws(TransportError) in
            let response = rest.withLock { $0.count > 1 ? $0.popFirst() : $0.first }
            guard let response else {
                throw TransportError(.invalidRequest, "the stub has no responses")
            }
            return response
        }
    }

    /// Responds to matching requests with a computed response.
    ///
    /// ```swift
    /// let stub = StubEngine()
    /// stub.respond(to: .request(.get, path: "/echo")) { request in
    ///     .status(200, body: Array((request.request.path ?? "").utf8))
    /// }
    /// ```
    public func respond(
        to matcher: StubMatcher = .any,
        by response:
            @escaping @Sendable (RecordedRequest) async throws(TransportError) ->
            StubResponse
    ) {
        state.withLock { $0.stubs.append(Stub(matcher: matcher, response: response)) }
    }

    /// The requests that the engine was given, in their order. A JSON-RPC batch is one request for
    /// each of its calls.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Records a request and returns the response of its stub.
    ///
    /// - Throws: The stub's `TransportError`; `invalid-request` if no stub matches.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        guard state.withLock({ $0.isRunning }) else {
            throw TransportError(.notRunning, "the stub engine is shut down")
        }
        var reader = try request.body.makeReader()
        var body: [UInt8] = []
        while let chunk = try await reader.next() { body += chunk }
        var whole = RecordedRequest(request: request.request, body: body)
        whole.trailers = try await request.body.trailers()
        let calls = whole.json?.array ?? []
        guard calls.first?["method"]?.string != nil else {
            return try await response(to: whole).engineResponse(to: whole)
        }
        var responses: [JSONValue] = []
        for call in calls {
            let recorded = RecordedRequest(request: request.request, body: call.serialized())
            let response = try await response(to: recorded)
            guard call["id"] != nil else { continue }
            responses.append(try response.rpcResponse(to: recorded))
        }
        return StubResponse.engineResponse(
            status: responses.isEmpty ? 204 : 200, fields: [.contentType: "application/json"],
            body: responses.isEmpty ? [] : JSONValue.array(responses).serialized())
    }

    /// Refuses further requests with `not-running`.
    public func shutdown() async { state.withLock { $0.isRunning = false } }

    /// Whether there is a stub for a request, for a JSON-RPC batch one for each of its calls. A
    /// streamed body counts as empty.
    func responds(to request: EngineRequest) -> Bool {
        let body = request.body.bytes ?? []
        let calls = RecordedRequest(request: request.request, body: body).json?.array ?? []
        let isBatch = calls.first?["method"]?.string != nil
        let bodies = isBatch ? calls.map { $0.serialized() } : [body]
        let stubs = state.withLock { $0.stubs }
        return bodies.allSatisfy { body in
            let recorded = RecordedRequest(request: request.request, body: body)
            return stubs.contains { $0.matcher.matches(recorded) }
        }
    }

    private func response(
        to request: RecordedRequest
    ) async throws(TransportError) -> StubResponse {
        let stub = state.withLock { state in
            state.requests.append(request)
            return state.stubs.last { $0.matcher.matches(request) }
        }
        guard let stub else {
            throw TransportError(.invalidRequest, "no stub responds to \(request.description)")
        }
        return try await stub.response(request)
    }
}

/// A request that a stub engine was given.
///
/// ```swift
/// struct Order: Codable { var item: String }
///
/// func check(_ stub: StubEngine) throws {
///     let request = stub.requests[0]
///     precondition(request.path == "/orders" && request.query == ["dry-run": ["true"]])
///     let order = try request.decode(Order.self)
///     precondition(order.item == "tea")
/// }
/// ```
public struct RecordedRequest: Sendable, CustomStringConvertible {
    /// The method, URL and fields, with the signature.
    public let request: HTTPRequest
    /// The body as it was sent, which may be compressed.
    public let body: [UInt8]
    /// The fields that followed the body; nil if there were none. Those of a batch are left out.
    public internal(set) var trailers: HTTPFields?

    /// The name of the remote procedure; nil if the body isn't a JSON-RPC call.
    public var procedure: String? { json?["method"]?.string }
    /// The path without the query.
    public var path: String { String((request.path ?? "/").prefix { $0 != "?" }) }

    /// The values of each parameter of the query, decoded, in their order. Empty without a query.
    public var query: [String: [String]] {
        var values: [String: [String]] = [:]
        for pair in encodedQuery.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            values[Self.decoded(name), default: []]
                .append(Self.decoded(pair.dropFirst(name.count + 1)))
        }
        return values
    }

    /// Decodes the body, decompressed, as a type: `try stub.requests[0].decode(Order.self)`.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - conventions: The conventions of the service's JSON.
    /// - Throws: `JSONError` if the body isn't JSON of the type's form.
    public func decode<Value: Decodable>(
        _ type: Value.Type, conventions: JSONConventions = JSONConventions()
    ) throws(JSONError) -> Value {
        try StrictJSONDecoder(conventions: conventions).decode(type, from: original)
    }

    /// Returns the text of an encoded name or value; unchanged if its escapes are invalid.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let decoded = PercentCoding.decoded(bytes, plusIsSpace: true)
        return String(decoding: decoded ?? Array(bytes), as: UTF8.self)
    }

    /// The body as it was before its compression.
    private var original: [UInt8] {
        RequestCompression.original(of: body, sentWith: request.headerFields)
    }

    /// The body's JSON, decompressed.
    var json: JSONValue? { try? JSONValue(parsing: original) }

    /// The method and path, and the remote procedure if there is one.
    public var description: String {
        "\(request.method.rawValue) \(path)" + (procedure.map { " (\($0))" } ?? "")
    }
}

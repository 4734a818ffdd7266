import SignetJSON
import SignetRPC
import Synchronization
import TestSupport
import Testing

@testable import SignetRPCStreams

/// The examples of the specifications themselves, from the client's side and from the server's.
struct SpecificationExampleTests {
    struct Example: Decodable, Sendable, CustomTestStringConvertible {
        struct Call: Decodable, Sendable {
            let method: String
            let params: String?
            let id: String?
        }

        let version: String
        let name: String
        let sent: String
        let received: String?
        /// The calls of `sent`; none if no client could send it.
        let calls: [Call]
        let outcomes: [String]
        var testDescription: String { "\(version): \(name)" }

        var isBatch: Bool { sent.hasPrefix("[") }
        var rpcVersion: JSONRPCAdapter.Version { version == "1.0" ? .v1 : .v2 }
    }

    private static let all = Result {
        try VectorFile<Example>.load("specification-examples", in: .module)
    }

    @Test func allAreThere() throws {
        #expect(try Self.all.get().count == 21)
    }

    /// An adapter whose ids are the example's.
    private func adapter(_ example: Example) throws -> JSONRPCAdapter {
        let ids = try example.calls.compactMap { try $0.id.map { try JSONValue(parsing: $0) } }
        let rest = Mutex(ids)
        let next = { @Sendable in rest.withLock { $0.isEmpty ? .null : $0.removeFirst() } }
        return JSONRPCAdapter(
            version: example.rpcVersion,
            ids: ids.first?.string != nil
                ? RPCIDGenerator(strings: { next().string ?? "" })
                : RPCIDGenerator { next().number?.int64 ?? 0 })
    }

    private func calls(_ example: Example) throws -> [RPCCall] {
        try example.calls.map { call in
            RPCCall(
                RPCMethod(call.method),
                parameters: try call.params.map { try RPCParameters(parsing: bytes($0)) },
                isNotification: call.id == nil)
        }
    }

    @Test(arguments: try all.get())
    func fromTheClientsSide(_ example: Example) throws {
        let adapter = try adapter(example)
        var calls = try calls(example)
        let isSayable = !calls.isEmpty && !example.sent.contains("boo")
        if calls.isEmpty { calls = [RPCCall("any")] }
        let ids = JSONRPCAdapter.fromSeven(example.rpcVersion)
        let boxing = example.calls.isEmpty ? ids : adapter
        let raw = RawResponse(example.received ?? "")
        if example.isBatch {
            let request = try boxing.box(batch: calls)
            if isSayable {
                #expect(
                    try JSONValue(parsing: request.body) == JSONValue(parsing: bytes(example.sent)))
            }
            let response = try boxing.unboxBatch(raw, to: request)
            #expect(response.outcomes.map(name) == example.outcomes)
        } else {
            let request = try boxing.box(calls[0])
            if isSayable {
                #expect(
                    try JSONValue(parsing: request.body) == JSONValue(parsing: bytes(example.sent)))
            }
            let outcome: BatchResponse.Outcome
            do {
                let response = try boxing.unbox(raw, to: request)
                outcome = response.result.map(BatchResponse.Outcome.result) ?? .notified
            } catch {
                outcome = .failure(error)
            }
            #expect([name(outcome)] == example.outcomes)
        }
    }

    private func name(_ outcome: BatchResponse.Outcome) -> String {
        switch outcome {
        case .result(let result): text(result.bytes)
        case .failure(let error), .rejected(let error): error.server?.code.text ?? error.code.name
        case .unanswered: "unanswered"
        case .notified: "notified"
        }
    }

    @Test(arguments: try all.get())
    func fromTheServersSide(_ example: Example) async throws {
        let (connection, peer) = HostilePeer.pair(
            adapter: JSONRPCAdapter(version: example.rpcVersion), handler: Self.server)
        try await peer.send(example.sent)
        // The response to a later request comes later, which shows that there was no response.
        let version = example.rpcVersion == .v2 ? #""jsonrpc":"2.0","# : ""
        if let received = example.received {
            let found = try #require(try await peer.message())
            let wanted = try JSONValue(parsing: bytes(received))
            #expect(Self.sorted(found) == Self.sorted(wanted))
        }
        try await peer.send(#"{\#(version)"method":"echo","params":["end"],"id":"end"}"#)
        #expect(try await peer.message()?["id"] == "end")
        connection.close()
    }

    /// The responses of a batch may have any order.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        guard let responses = value.array else { return value }
        return .array(responses.sorted { "\($0["id"]?.text ?? "")" < "\($1["id"]?.text ?? "")" })
    }

    private static let server = RPCHandler(methods: [
        "subtract": { call, _ in
            let numbers = call.parameters?.json
            let minuend = numbers?["minuend"] ?? numbers?.array?.first
            let subtrahend = numbers?["subtrahend"] ?? numbers?.array?.last
            guard let minuend = minuend?.number?.int64, let subtrahend = subtrahend?.number?.int64
            else { throw RPCServerError(.invalidParameters) }
            return .number(JSONNumber(minuend - subtrahend))
        },
        "sum": { call, _ in
            let numbers = call.parameters?.json.array ?? []
            return .number(JSONNumber(numbers.compactMap(\.number?.int64).reduce(0, +)))
        },
        "get_data": { _, _ in ["hello", 5] },
        "echo": { call, _ in call.parameters?.json.array?.first ?? .null },
        "postMessage": { _, _ in 1 },
    ])
}

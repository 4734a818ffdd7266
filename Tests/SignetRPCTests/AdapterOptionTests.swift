import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// An adapter's options and limits, ids that are strings, and typed errors.
struct AdapterOptionTests {
    @Test func rule1StringIds() throws {
        let adapter = JSONRPCAdapter(ids: RPCIDGenerator(strings: { "7" }))
        let request = try adapter.box(RPCCall("a"))
        #expect(text(request.body) == #"{"jsonrpc":"2.0","method":"a","id":"7"}"#)
        let response = RawResponse(#"{"jsonrpc":"2.0","id":"7","result":1}"#)
        #expect(try adapter.unbox(response, to: request).result?.value == 1)
        for id in ["7", "\"07\"", "\"\"", "null"] {
            let response = RawResponse("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":1}")
            #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) }
        }
        let batch = #expect(throws: PayloadError.self) {
            try adapter.box(batch: [RPCCall("a"), RPCCall("b")])
        }
        #expect(batch?.code == .invalidCallID)
    }

    @Test(arguments: ["", String(repeating: "x", count: 129)])
    func rule1StringIdsOutOfRange(_ id: String) {
        let adapter = JSONRPCAdapter(ids: RPCIDGenerator(strings: { id }))
        let error = #expect(throws: PayloadError.self) { try adapter.box(RPCCall("a")) }
        #expect(error?.code == .invalidCallID)
    }

    @Test func rule1RandomIdsDiffer() throws {
        let ids = RPCIDGenerator.random()
        let texts = try (0..<100).map { _ in try ids.next().json.string ?? "" }
        #expect(Set(texts).count == 100)
        #expect(texts.allSatisfy { $0.utf8.count == 32 })
    }

    /// A limit of batches, whatever it is, neither ends the program nor touches a response to one
    /// call.
    @Test(arguments: [Int.min, -1, 0, 1, .max])
    func anyBatchLimit(_ limit: Int) throws {
        var adapter = JSONRPCAdapter.fromSeven()
        adapter.maximumBatchCount = limit
        let request = try adapter.box(RPCCall("a"))
        let response = try adapter.unbox(
            RawResponse(#"{"jsonrpc":"2.0","id":7,"result":1}"#), to: request)
        #expect(response.result?.value == 1)
        let batch = { try adapter.box(batch: [RPCCall("a"), RPCCall("b")]) }
        if limit < 2 {
            #expect(throws: PayloadError.self) { try batch() }
        } else {
            #expect(throws: Never.self) { try batch() }
        }
    }

    @Test func rule10BothMembersOnlyWhenAsked() throws {
        var adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        let failed = RawResponse(
            #"{"jsonrpc":"2.0","id":7,"result":[],"error":{"code":1,"message":"no"}}"#)
        let refused = #expect(throws: PayloadError.self) { try adapter.unbox(failed, to: request) }
        #expect(refused?.code == .malformedResponse)
        adapter.acceptsResultBesideError = true
        let error = #expect(throws: PayloadError.self) { try adapter.unbox(failed, to: request) }
        #expect(error?.code == .rpcError)
        for body in [
            #"{"jsonrpc":"2.0","id":7}"#, #"{"jsonrpc":"2.0","id":7,"error":null}"#,
            #"{"jsonrpc":"2.0","id":7,"result":1,"error":"no"}"#,
        ] {
            let error = #expect(throws: PayloadError.self) {
                try adapter.unbox(RawResponse(body), to: request)
            }
            #expect(error?.code == .malformedResponse)
        }
    }

    @Test func rule11DataIsTypedWhenAsked() throws {
        struct Reason: Decodable, Equatable { let why: String }
        let error = RPCServerError(
            code: JSONNumber(4), message: "no", data: ["why": "ZZZZZZCANARYZZZZZZ"])
        #expect(try error.decodeData(Reason.self) == Reason(why: "ZZZZZZCANARYZZZZZZ"))
        #expect(try RPCServerError(.internalError).decodeData(Reason.self) == nil)
        let mismatch = #expect(throws: JSONError.self) { try error.decodeData([Int].self) }
        #expect(mismatch.map { "\($0)".contains("CANARY") } == false)
    }

    /// JSON-RPC 2.0, section 5.1, and Language Server Protocol 3.17, ErrorCodes.
    @Test func rule12TheCodes() {
        let table: [Int64: String] = [
            -32700: "Parse error", -32600: "Invalid Request", -32601: "Method not found",
            -32602: "Invalid params", -32603: "Internal error", -32800: "Request cancelled",
        ]
        let codes = RPCServerError.Standard.allCases
        #expect(Dictionary(uniqueKeysWithValues: codes.map { ($0.rawValue, $0.message) }) == table)
        #expect(RPCServerError(.methodNotFound).kind == .methodNotFound)
    }

    @Test func rule20TheLimitOfDepth() throws {
        var adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(RPCCall("a"))
        let response = RawResponse(#"{"jsonrpc":"2.0","id":7,"result":[[1]]}"#)
        adapter.maximumDepth = 3
        _ = try adapter.unbox(response, to: request)
        adapter.maximumDepth = 2
        let error = #expect(throws: PayloadError.self) { try adapter.unbox(response, to: request) }
        #expect(error?.code == .malformedResponse)
    }

    @Test func rule20AFloodOfWarningsIsCounted() throws {
        let adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(batch: [RPCCall("a")])
        let body = "[" + Array(repeating: "0", count: 5_000).joined(separator: ",") + "]"
        let response = try adapter.unboxBatch(RawResponse(body), to: request)
        #expect(response.outcomes == [.unanswered])
        #expect(response.warnings.count == 101)
        #expect(response.warnings.last?.message == "there were 4900 further warnings")
    }
}

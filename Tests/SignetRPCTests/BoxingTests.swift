import HTTPTypes
import SignetJSON
import SignetRPC
import SignetServiceDescription
import TestSupport
import Testing

/// The requests that JSON-RPC calls become, and calls that are refused.
struct BoxingTests {
    @Test(.features("004-10")) func aCallIsAPostOfOneObject() throws {
        let adapter = JSONRPCAdapter.fromSeven()
        let request = try adapter.box(
            RPCCall(
                "orders.create",
                parameters: .object(["item": "tea", "exact": .number(JSONNumber(1))])))
        #expect(request.method == .post)
        #expect(request.query == nil)
        #expect(request.fields[.contentType] == "application/json")
        #expect(request.fields[.accept] == "application/json")
        #expect(
            text(request.body)
                == #"{"jsonrpc":"2.0","method":"orders.create","#
                + #""params":{"item":"tea","exact":1},"id":7}"#)
        #expect(request.expected == .init(ids: [.number(JSONNumber(7))]))
    }

    @Test func rule4ANotificationHasNoId() throws {
        let request = try JSONRPCAdapter.fromSeven().box(
            RPCCall("log", parameters: .array([1]), isNotification: true))
        #expect(text(request.body) == #"{"jsonrpc":"2.0","method":"log","params":[1]}"#)
        #expect(request.expected == .init(ids: [nil]))
    }

    @Test(arguments: [nil, RPCParameters.array([]), .object([:])])
    func rule13EmptyParametersAreLeftOut(_ parameters: RPCParameters?) throws {
        let request = try JSONRPCAdapter.fromSeven().box(RPCCall("a", parameters: parameters))
        #expect(text(request.body) == #"{"jsonrpc":"2.0","method":"a","id":7}"#)
    }

    @Test(arguments: [
        "null", "1", "\"a\"", "true", "", "{", "[1,]", #"{"a":1,"a":2}"#, "{} x", "\u{feff}{}",
        #"["\ud800"]"#, "[NaN]", "nul",
    ])
    func rule13RefusesInvalidParameters(_ params: String) {
        let error = #expect(throws: PayloadError.self) {
            try RPCParameters(parsing: bytes(params))
        }
        #expect(error?.code.name == "invalid-params")
    }

    @Test(.features("000-28")) func rule13ParametersOfTypes() throws {
        struct Named: Encodable { let a = 1 }
        #expect(try RPCParameters(encoding: Named()) == .object(["a": 1]))
        #expect(try RPCParameters(encoding: [1, 2]) == .array([1, 2]))
        #expect(throws: PayloadError.self) { try RPCParameters(encoding: 1) }
        #expect(throws: PayloadError.self) { try RPCParameters(encoding: "a") }
        #expect(throws: PayloadError.self) { try RPCParameters(encoding: Optional<Int>.none) }
        #expect(throws: PayloadError.self) { try RPCParameters(encoding: [Double.nan]) }
        #expect(throws: PayloadError.self) { try RPCParameters(JSONValue.null) }
        #expect(try RPCParameters(parsing: bytes("[1e400]")).json.text == "[1e400]")
    }

    @Test(arguments: ["rpc.discover", "rpc.", "rpc.x.y"])
    func rule14ReservedMethods(_ name: String) throws {
        var adapter = JSONRPCAdapter.fromSeven()
        for call in [RPCCall(RPCMethod(name)), RPCCall(RPCMethod(name), isNotification: true)] {
            let error = #expect(throws: PayloadError.self) { try adapter.box(call) }
            #expect(error?.code.name == "reserved-method")
        }
        adapter.allowsReservedMethods = true
        _ = try adapter.box(RPCCall(RPCMethod(name)))
    }

    /// Two Unicode forms of one name are two names, as they are two on the wire.
    @Test func rule14NamesAreBytes() throws {
        let (one, two): (RPCMethod, RPCMethod) = ("caf\u{e9}", "cafe\u{301}")
        #expect(one != two && one == "caf\u{e9}" && Set([one, two]).count == 2)
        let document =
            #"{"openrpc":"1.3.2","methods":[{"name":"\#(one.name)","params":[]}]}"#
        let description = try ServiceDescription(parsing: bytes(document))
        _ = try description.method(named: one.name)
        #expect(throws: PayloadError.self) { try description.method(named: two.name) }
    }

    @Test(arguments: ["rpc", "rpcx", "RPC.discover", "Rpc.", "xrpc.a", "", "é\n"])
    func rule14OtherMethods(_ name: String) throws {
        let request = try JSONRPCAdapter.fromSeven().box(RPCCall(RPCMethod(name)))
        #expect(try JSONValue(parsing: request.body)["method"] == .string(name))
    }

    @Test(arguments: [0, -1, Int64.min, 1 << 53, Int64.max])
    func rule1IdsOutOfRange(_ id: Int64) {
        let adapter = JSONRPCAdapter(ids: RPCIDGenerator { id })
        let error = #expect(throws: PayloadError.self) { try adapter.box(RPCCall("a")) }
        #expect(error?.code.name == "invalid-id")
    }

    @Test func rule1IdsCountAndBeginAgain() throws {
        let ids = RPCIDGenerator.counting(from: RPCIDGenerator.largest - 1)
        let texts = try (0..<3).map { _ in try ids.next().json.text }
        #expect(texts == ["9007199254740990", "9007199254740991", "1"])
        let adapter = JSONRPCAdapter()
        let copy = adapter
        #expect(try adapter.box(RPCCall("a")).body != copy.box(RPCCall("a")).body)
    }

    @Test func rule2IdsAreTypeAndBytes() throws {
        let one = RPCID.number(JSONNumber(1))
        #expect(one != .string("1"))
        #expect(one != .number(try #require(JSONNumber(text: "1.0"))))
        #expect(RPCID.string("\u{e9}") != .string("e\u{301}"))
        #expect(Set([one, .string("1"), .number(JSONNumber(1))]).count == 2)
    }

    @Test func rule17AdditionalMembers() throws {
        var adapter = JSONRPCAdapter.fromSeven()
        adapter.additionalMembers = ["auth": "x", "trace": [1]]
        let request = try adapter.box(RPCCall("a"))
        #expect(
            text(request.body)
                == #"{"jsonrpc":"2.0","method":"a","id":7,"auth":"x","trace":[1]}"#)
        for name in ["jsonrpc", "id", "method", "params"] {
            adapter.additionalMembers = ["x": 1, "\(name)": 1]
            let error = #expect(throws: PayloadError.self) { try adapter.box(RPCCall("a")) }
            #expect(error?.code.name == "reserved-member")
        }
        adapter.additionalMembers = ["ID": 1]
        _ = try adapter.box(RPCCall("a"))
    }

    @Test func version1() throws {
        let adapter = JSONRPCAdapter.fromSeven(.v1)
        #expect(
            text(try adapter.box(RPCCall("a", parameters: .array([1]))).body)
                == #"{"method":"a","params":[1],"id":7}"#)
        #expect(
            text(try adapter.box(RPCCall("a")).body) == #"{"method":"a","params":[],"id":8}"#)
        #expect(
            text(try adapter.box(RPCCall("a", isNotification: true)).body)
                == #"{"method":"a","params":[],"id":null}"#)
        let error = #expect(throws: PayloadError.self) {
            try adapter.box(RPCCall("a", parameters: .object(["x": 1])))
        }
        #expect(error?.code.name == "invalid-params")
        let batch = #expect(throws: PayloadError.self) { try adapter.box(batch: [RPCCall("a")]) }
        #expect(batch?.code.name == "unsupported-call")
    }
}

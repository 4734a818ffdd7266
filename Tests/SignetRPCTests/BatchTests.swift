import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Batches of JSON-RPC 2.0; the calls' ids are 7, 8 and 9, the third entry is a notification.
struct BatchTests {
    let adapter = JSONRPCAdapter.fromSeven()
    let calls = [
        RPCCall("a"), RPCCall("b", parameters: .array([1])), RPCCall("n", isNotification: true),
        RPCCall("c"),
    ]

    private func result(_ id: String, _ value: String = "1") -> String {
        "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(value)}"
    }

    private func failure(_ id: String) -> String {
        "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"error\":{\"code\":-32600,\"message\":\"no\"}}"
    }

    private func names(_ response: BatchResponse) -> [String] {
        response.outcomes.map { outcome in
            switch outcome {
            case .result(let result): text(result.bytes)
            case .failure(let error): error.code.name
            case .rejected: "rejected"
            case .unanswered: "unanswered"
            case .notified: "notified"
            }
        }
    }

    @Test func goesOutAsOneArray() throws {
        let request = try adapter.box(batch: calls)
        #expect(
            text(request.body)
                == #"[{"jsonrpc":"2.0","method":"a","id":7},"#
                + #"{"jsonrpc":"2.0","method":"b","params":[1],"id":8},"#
                + #"{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","method":"c","id":9}]"#)
        #expect(request.expected.isBatch)
        #expect(request.expected.ids.map { $0?.json } == [7, 8, nil, 9])
    }

    @Test func rule8ResponsesMayHaveAnyOrder() throws {
        let responses = [result("7", "\"a\""), result("8", "\"b\""), result("9", "null")]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let adapter = JSONRPCAdapter.fromSeven()
            let request = try adapter.box(batch: calls)
            let body = "[" + order.map { responses[$0] }.joined(separator: ",") + "]"
            let response = try adapter.unboxBatch(RawResponse(body), to: request)
            #expect(names(response) == ["\"a\"", "\"b\"", "notified", "null"])
            #expect(response.error == nil)
            #expect(response.warnings.isEmpty)
        }
    }

    @Test func rule5AnEmptyBatchIsNotSent() {
        let error = #expect(throws: PayloadError.self) { try adapter.box(batch: []) }
        #expect(error?.code.name == "empty-batch")
    }

    @Test func rule20TheLimitOfCalls() throws {
        let call = RPCCall("a")
        _ = try adapter.box(batch: Array(repeating: call, count: 100))
        let error = #expect(throws: PayloadError.self) {
            try adapter.box(batch: Array(repeating: call, count: 101))
        }
        #expect(error?.code.name == "batch-too-large")
    }

    @Test func rule20RefusesAResponseOverTheLimit() throws {
        var adapter = adapter
        let body = "[\(result("7"))]"
        adapter.maximumResponseSize = body.utf8.count
        let request = try adapter.box(batch: [RPCCall("a")])
        #expect(names(try adapter.unboxBatch(RawResponse(body), to: request)) == ["1"])
        let error = #expect(throws: PayloadError.self) {
            try adapter.unboxBatch(RawResponse(body + " "), to: request)
        }
        #expect(error?.code == .responseTooLarge)
    }

    static let many = "[1\(String(repeating: ",1", count: 80_000))]"

    /// Two bytes of such a response would need forty bytes of memory.
    @Test(arguments: [
        many, "{\((0..<80_000).map { "\"\($0)\":1" }.joined(separator: ","))}",
    ])
    func rule20AFloodOfValuesIsRefused(_ body: String) throws {
        let request = try adapter.box(batch: calls)
        let error = #expect(throws: PayloadError.self) {
            try adapter.unboxBatch(RawResponse(body), to: request)
        }
        #expect(error?.code == .malformedResponse)
        #expect(error?.message.contains("values and member names") == true)
        let call = try adapter.box(calls[0])
        let single = #expect(throws: PayloadError.self) {
            try adapter.unbox(RawResponse(body), to: call)
        }
        #expect(single?.code == .malformedResponse)
    }

    @Test func aResultHoldsAsManyValuesAsItLikes() throws {
        for body in [result("7", Self.many), "\n [\(result("7", Self.many))]"] {
            let request = try JSONRPCAdapter.fromSeven().box(batch: [calls[0]])
            #expect(names(try adapter.unboxBatch(RawResponse(body), to: request)) == [Self.many])
        }
        let call = try JSONRPCAdapter.fromSeven().box(calls[0])
        let response = try adapter.unbox(RawResponse(result("7", Self.many)), to: call)
        #expect(response.result?.bytes == bytes(Self.many))
    }

    @Test func rule9IdsAreUnique() {
        let adapter = JSONRPCAdapter(ids: RPCIDGenerator { 1 })
        let error = #expect(throws: PayloadError.self) { try adapter.box(batch: calls) }
        #expect(error?.code.name == "invalid-id")
    }

    @Test func oneBadCallStopsTheBatch() {
        let error = #expect(throws: PayloadError.self) {
            try adapter.box(batch: [RPCCall("a"), RPCCall("rpc.x")])
        }
        #expect(error?.code.name == "reserved-method")
    }

    @Test func rule5AnEmptyArrayLeavesAllUnanswered() throws {
        let request = try adapter.box(batch: calls)
        let response = try adapter.unboxBatch(RawResponse("[]"), to: request)
        #expect(names(response) == ["unanswered", "unanswered", "notified", "unanswered"])
        #expect(response.error?.code.name == "batch-incomplete")
    }

    @Test func rule6OneErrorObjectRejectsTheBatch() throws {
        for body in [failure("null"), "[" + failure("null") + "]"] {
            for status in [200, 400, 500] {
                let adapter = JSONRPCAdapter.fromSeven()
                let request = try adapter.box(batch: calls)
                let response = try adapter.unboxBatch(
                    RawResponse(body, status: status), to: request)
                #expect(names(response) == ["rejected", "rejected", "notified", "rejected"])
                #expect(response.error?.code.name == "rpc-error")
            }
        }
    }

    @Test func rule7AnErrorWithoutIdFailsOpenCallsOnly() throws {
        let request = try adapter.box(batch: calls)
        let body = "[" + [failure("null"), result("8")].joined(separator: ",") + "]"
        let response = try adapter.unboxBatch(RawResponse(body), to: request)
        #expect(names(response) == ["rejected", "1", "notified", "rejected"])
    }

    @Test func rule9TheFirstOfTwoResponsesWins() throws {
        let request = try adapter.box(batch: calls)
        let body =
            "["
            + [result("7", "1"), result("7", "2"), failure("8"), result("8"), result("9")]
            .joined(separator: ",") + "]"
        let response = try adapter.unboxBatch(RawResponse(body), to: request)
        #expect(names(response) == ["1", "rpc-error", "notified", "1"])
        #expect(response.warnings.map(\.code.name) == ["duplicate-reply", "duplicate-reply"])
        #expect(response.error?.code.name == "rpc-error")
    }

    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":70,"result":1}"#, "unknown-reply"),
        (#"{"jsonrpc":"2.0","id":"7","result":1}"#, "unknown-reply"),
        (#"{"jsonrpc":"2.0","id":7.0,"result":1}"#, "unknown-reply"),
        (#"{"jsonrpc":"2.0","result":1}"#, "malformed-response"),
        (#"{"jsonrpc":"2.0","id":null,"result":1}"#, "malformed-response"),
        (#"{"jsonrpc":"2.0","id":true,"result":1}"#, "malformed-response"),
        (#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#, "malformed-response"),
        ("1", "malformed-response"), ("null", "malformed-response"), ("[]", "malformed-response"),
    ])
    func responsesToNoCallAreWarnings(_ stray: String, _ warning: String) throws {
        let request = try adapter.box(batch: calls)
        let body = "[" + [stray, result("8"), result("9")].joined(separator: ",") + "]"
        let response = try adapter.unboxBatch(RawResponse(body), to: request)
        #expect(names(response) == ["unanswered", "1", "notified", "1"])
        #expect(response.warnings.map(\.code.name) == [warning])
        #expect(response.error?.code.name == "batch-incomplete")
    }

    @Test(arguments: [
        #"{"id":7,"result":1}"#, #"{"jsonrpc":"2.0","id":7}"#,
        #"{"jsonrpc":"2.0","id":7,"result":1,"error":{}}"#,
        #"{"jsonrpc":"2.0","id":7,"error":null}"#,
        #"{"jsonrpc":"2.0","id":7,"error":"no"}"#,
        #"{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":""}}"#,
    ])
    func aMalformedResponseFailsItsCall(_ malformed: String) throws {
        let request = try adapter.box(batch: calls)
        let body = "[" + [malformed, result("8"), result("9")].joined(separator: ",") + "]"
        let response = try adapter.unboxBatch(RawResponse(body), to: request)
        #expect(names(response) == ["malformed-response", "1", "notified", "1"])
        #expect(response.error?.code.name == "malformed-response")
    }

    @Test func theServersErrorIsThatOfTheWhole() throws {
        let request = try adapter.box(batch: calls)
        let malformed = #"{"jsonrpc":"2.0","id":7}"#
        for (responses, code) in [
            ([malformed, failure("8"), result("9")], "rpc-error"),
            ([failure("9"), result("8"), malformed], "rpc-error"),
            ([malformed, failure("null")], "rpc-error"),
            ([malformed, result("8"), result("9")], "malformed-response"),
            ([malformed, failure("8")], "batch-incomplete"),
        ] {
            let body = "[" + responses.joined(separator: ",") + "]"
            let response = try adapter.unboxBatch(RawResponse(body), to: request)
            #expect(response.error?.code.name == code)
            #expect((response.error?.server != nil) == (code == "rpc-error"))
        }
    }

    @Test(arguments: [
        ("", 200, "malformed-response"), ("<html>", 200, "malformed-response"),
        ("1", 200, "malformed-response"), ("{}", 200, "malformed-response"),
        ("[", 200, "malformed-response"), ("[1,]", 200, "malformed-response"),
        ("<html>", 500, "http-status"), ("", 401, "http-status"), ("1", 500, "http-status"),
        (#"{"message":"no"}"#, 403, "http-status"),
        (#"{"id":"req-1","error":"x"}"#, 503, "http-status"),
        (#"[{"id":"req-1","error":"x"},{"id":7,"result":1}]"#, 503, "http-status"),
        (#"{"jsonrpc":"2.0","id":"req-1"}"#, 503, "malformed-response"),
        (#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#, 200, "malformed-response"),
    ])
    func refusesInvalidResponses(_ body: String, _ status: Int, _ code: String) throws {
        let request = try adapter.box(batch: calls)
        let error = #expect(throws: PayloadError.self) {
            try adapter.unboxBatch(RawResponse(body, status: status), to: request)
        }
        #expect(error?.code.name == code)
    }

    @Test(arguments: [500, 502, 404, 302])
    func rule19AnArrayWithoutAResponseIsNoRPCBody(_ status: Int) throws {
        let request = try adapter.box(batch: calls)
        for body in ["[]", "[1]", "[{}]", "[null,\"no\",[]]", #"[{"message":"no"},{"id":7}]"#] {
            let error = #expect(throws: PayloadError.self) {
                try adapter.unboxBatch(RawResponse(body, status: status), to: request)
            }
            #expect(error?.code.name == "http-status", "\(body)")
            #expect(error?.status == status)
            #expect(error?.body == bytes(body))
        }
    }

    @Test func rule19AnArrayIsReadBeforeTheStatus() throws {
        let request = try adapter.box(batch: calls)
        let responses = [failure("9"), "1", result("7"), result("8", "2")]
        let whole = try adapter.unboxBatch(
            RawResponse("[" + responses.joined(separator: ",") + "]", status: 500), to: request)
        #expect(names(whole) == ["1", "2", "notified", "rpc-error"])
        #expect(whole.status == 500)
        for stray in [result("70"), #"{"jsonrpc":"2.0","id":true,"result":1}"#] {
            let none = try adapter.unboxBatch(
                RawResponse("[\(stray),1]", status: 500), to: request)
            #expect(names(none) == ["unanswered", "unanswered", "notified", "unanswered"])
            #expect(none.error?.code == .batchIncomplete)
        }
        // With a good status there is nothing else that the array could be.
        for body in ["[1]", "[{}]"] {
            let response = try adapter.unboxBatch(RawResponse(body), to: request)
            #expect(response.error?.code == .batchIncomplete)
        }
    }

    @Test func oneResponseObjectEndsItsCall() throws {
        let request = try adapter.box(batch: [RPCCall("a")])
        let response = try adapter.unboxBatch(RawResponse(result("7")), to: request)
        #expect(names(response) == ["1"])
    }

    @Test func rule4ABatchOfNotifications() throws {
        let request = try adapter.box(batch: [calls[2], calls[2]])
        for (body, status, warnings) in [("", 204, 0), ("", 200, 0), ("[]", 200, 1)] {
            let response = try adapter.unboxBatch(RawResponse(body, status: status), to: request)
            #expect(names(response) == ["notified", "notified"])
            #expect(response.warnings.count == warnings)
            #expect(response.error == nil)
        }
        let error = #expect(throws: PayloadError.self) {
            try adapter.unboxBatch(RawResponse("", status: 500), to: request)
        }
        #expect(error?.code.name == "http-status")
    }

    @Test func rule2StringifiedIdsOnlyWhenAsked() throws {
        var adapter = adapter
        adapter.acceptsStringifiedNumericIDs = true
        let request = try adapter.box(batch: calls)
        let body =
            "["
            + [result("\"7\""), result("8"), result("\"8\"", "2"), result("\"09\"")]
            .joined(separator: ",") + "]"
        let response = try adapter.unboxBatch(RawResponse(body), to: request)
        #expect(names(response) == ["1", "1", "notified", "unanswered"])
        #expect(
            response.warnings.map(\.code.name)
                == ["stringified-id", "unknown-reply", "unknown-reply"])
    }
}

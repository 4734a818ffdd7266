import SignetJSON
import SignetRPC
import Synchronization
import TestSupport
import Testing

@testable import SignetRPCStreams

/// Batches over a stream, from both sides.
struct StreamBatchTests {
    private static let three = [RPCCall("a"), RPCCall("b", parameters: .array([1])), RPCCall("c")]

    private func result(_ id: String, _ value: String = "1") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(value)}"#
    }

    private func failure(_ id: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32601,"message":"no"}}"#
    }

    private func names(_ outcomes: [BatchResponse.Outcome]) -> [String] {
        outcomes.map { outcome in
            switch outcome {
            case .result(let result): text(result.bytes)
            case .failure(let error): error.code.name
            case .rejected: "rejected"
            case .unanswered: "unanswered"
            case .notified: "notified"
            }
        }
    }

    private func outcomes(_ batch: () async throws -> [BatchResponse.Outcome]) async -> [String] {
        do {
            return names(try await batch())
        } catch let error as PayloadError {
            return ["throws \(error.code.name)"]
        } catch {
            return ["throws \(type(of: error))"]
        }
    }

    @Test(arguments: [RPCConnection.Options.languageServer, .modelContext])
    func responsesMayHaveAnyOrder(_ options: RPCConnection.Options) async throws {
        let (connection, peer) = HostilePeer.pair(options)
        let calls = Self.three + [RPCCall("n", parameters: .object(["x": 1]), isNotification: true)]
        async let found = outcomes { try await connection.batch(calls) }
        let message = try await peer.message()
        #expect(
            message?.text
                == #"[{"jsonrpc":"2.0","method":"a","id":7},{"jsonrpc":"2.0","method":"b","params":[1],"id":8},{"jsonrpc":"2.0","method":"c","id":9},{"jsonrpc":"2.0","method":"n","params":{"x":1}}]"#
        )
        try await peer.send("[\(result("9", "\"c\"")),\(failure("8")),\(result("7", "null"))]")
        #expect(await found == ["null", "rpc-error", "\"c\"", "notified"])
        connection.close()
    }

    /// The messages of the peer to a batch whose calls have the ids 7, 8 and 9, while a call with
    /// the id 10 is pending.
    @Test(
        arguments: [
            // One by one, as if they had been single calls.
            ([("9", 3), ("7", 1), ("8", 2)], ["1", "2", "3"], []),
            // The first of two counts.
            ([("[7", 1), ("7", 2), ("8", 3), ("9]", 4)], ["1", "3", "4"], ["duplicate-reply"]),
            // Calls that the array omits have no response.
            ([("[8]", 1)], ["unanswered", "1", "unanswered"], []),
            // A response to another call is for no call of the batch.
            (
                [("[7", 1), ("8", 2), ("11]", 3)], ["1", "2", "unanswered"],
                ["unknown-reply"]
            ),
            // An id in another spelling is not the response, and no other will come.
            (
                [("[\"7\"", 1), ("8.0", 2), ("9]", 3)],
                ["malformed-response", "malformed-response", "3"], []
            ),
        ] as [([(String, Int)], [String], [String])])
    func matchesById(
        _ responses: [(String, Int)], _ wanted: [String], _ warnings: [String]
    ) async throws {
        let notes = Notes()
        var options = RPCConnection.Options.languageServer
        options.onWarning = { notes.add($0.code.name) }
        let (connection, peer) = HostilePeer.pair(options)
        async let found = outcomes { try await connection.batch(Self.three) }
        _ = try await peer.message()
        async let other = outcome { try await connection.call("other") }
        _ = try await peer.message()
        var message = ""
        for (id, value) in responses {
            let plain = id.filter { $0 != "[" && $0 != "]" }
            message += (id.hasPrefix("[") ? "[" : "") + result(plain, "\(value)")
            message += id.hasSuffix("]") ? "]" : responses[0].0.hasPrefix("[") ? "," : "\n"
        }
        for line in message.split(separator: "\n") { try await peer.send(String(line)) }
        try await peer.send(result("10", "\"other\""))
        #expect(await found == wanted)
        #expect(await other == "\"other\"")
        #expect(notes.all == warnings)
        connection.close()
    }

    @Test func anErrorWithoutIdRejectsPendingCalls() async throws {
        let rejection =
            #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}"#
        for (response, wanted, other) in [
            (rejection, ["rejected", "rejected", "rejected"], "rpc-error"),
            ("[\(rejection)]", ["rejected", "rejected", "rejected"], "rpc-error"),
            // Among a batch's responses it is one of them, and no other call's.
            ("[\(result("8")),\(rejection)]", ["rejected", "1", "rejected"], "2"),
            ("[\(rejection),\(result("8"))]", ["rejected", "1", "rejected"], "2"),
        ] {
            let (connection, peer) = HostilePeer.pair()
            async let found = outcomes { try await connection.batch(Self.three) }
            _ = try await peer.message()
            async let single = outcome { try await connection.call("other") }
            _ = try await peer.message()
            try await peer.send(response)
            try await peer.send(result("10", "2"))
            #expect(await found == wanted)
            #expect(await single == other)
            connection.close()
        }
    }

    @Test func twoBatchesAreNotMixed() async throws {
        let (connection, peer) = HostilePeer.pair()
        async let one = outcomes { try await connection.batch(Self.three) }
        _ = try await peer.message()
        async let two = outcomes { try await connection.batch(Self.three) }
        _ = try await peer.message()
        try await peer.send("[\(result("11", "5")),\(result("10", "4"))]")
        #expect(await two == ["4", "5", "unanswered"])
        try await peer.send("[\(result("7")),\(result("8")),\(result("9"))]")
        #expect(await one == ["1", "1", "1"])
        connection.close()
    }

    @Test func aBatchEndsWithItsDeadline() async throws {
        let (connection, peer) = HostilePeer.pair()
        let timeouts = ["timeout", "timeout", "timeout"]
        for timeout in [Duration.milliseconds(20), .zero] {
            let found = await outcomes {
                try await connection.batch(Self.three, timeout: timeout)
            }
            #expect(found == timeouts)
        }
        try await connection.notify("after")
        var sent = 0
        var cancelled: [JSONValue?] = []
        while let message = try await peer.message(), message["method"] != "after" {
            sent += message.array?.count ?? 0
            if message["method"] == "$/cancelRequest" { cancelled.append(message["params"]?["id"]) }
        }
        // A batch that ended before it was written is never written; a written one is cancelled
        // call by call.
        #expect(sent == cancelled.count && Set(cancelled).count == sent)
        connection.close()
    }

    @Test func responsesBeforeTheDeadlineAreKept() async throws {
        let (connection, peer) = HostilePeer.pair()
        let responding = Task {
            if try await peer.message() != nil { try await peer.send(result("8", "2")) }
        }
        let found = await outcomes {
            try await connection.batch(Self.three, timeout: .seconds(1))
        }
        connection.close()
        try? await responding.value
        // On a machine that is very busy the time passes before the response is read.
        #expect([["timeout", "2", "timeout"], ["timeout", "timeout", "timeout"]].contains(found))
    }

    @Test func aCancelledBatchEndsAtOnce() async throws {
        let (connection, peer) = HostilePeer.pair()
        let task = Task { await outcomes { try await connection.batch(Self.three) } }
        _ = try await peer.message()
        task.cancel()
        #expect(await task.value == ["throws cancelled"])
        #expect(
            try await peer.members("method", count: 3)
                == Array(repeating: "$/cancelRequest", count: 3))
        // Late responses are ignored.
        try await peer.send("[\(result("7")),\(result("8"))]")
        async let next = outcome { try await connection.call("next") }
        #expect(try await peer.message()?["id"] == 10)
        try await peer.send(result("10"))
        #expect(await next == "1")
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return await outcomes { try await connection.batch(Self.three) }
        }
        early.cancel()
        #expect(await early.value == ["throws cancelled"])
        connection.close()
    }

    @Test func theEndOfTheConnectionEndsABatch() async throws {
        let (connection, peer) = HostilePeer.pair()
        async let found = outcomes { try await connection.batch(Self.three) }
        _ = try await peer.message()
        peer.close()
        #expect(await found == ["cut-off", "cut-off", "cut-off"])
        #expect(
            await outcomes { try await connection.batch(Self.three) } == ["throws cut-off"])
        #expect(
            await outcomes {
                try await connection.batch([RPCCall("n", isNotification: true)])
            } == ["throws cut-off"])
    }

    @Test func notificationsAloneWaitForNoResponse() async throws {
        let (connection, peer) = HostilePeer.pair()
        let calls = [RPCCall("a", isNotification: true), RPCCall("b", isNotification: true)]
        #expect(await outcomes { try await connection.batch(calls) } == ["notified", "notified"])
        #expect(try await peer.message()?.array?.count == 2)
        connection.close()
    }

    @Test func refusesBatchesOverTheLimits() async throws {
        var options = RPCConnection.Options.languageServer
        options.maximumOpenCalls = 4
        options.maximumMessageSize = 400
        let adapter = JSONRPCAdapter.fromSeven()
        let (connection, peer) = HostilePeer.pair(options, adapter: adapter)
        for (calls, code) in [
            ([], "empty-batch"), (Array(repeating: RPCCall("a"), count: 5), "too-many-calls"),
            ([RPCCall("rpc.x")], "reserved-method"),
            (Array(repeating: RPCCall("a"), count: 101), "batch-too-large"),
            (
                [RPCCall("a", parameters: .array([.string(String(repeating: "x", count: 400))]))],
                "message-too-large"
            ),
        ] {
            #expect(await outcomes { try await connection.batch(calls) } == ["throws \(code)"])
        }
        let (old, _) = HostilePeer.pair(adapter: JSONRPCAdapter(version: .v1))
        #expect(
            await outcomes { try await old.batch(Self.three) } == ["throws unsupported-call"])
        // Nothing has been sent, and all slots are free.
        async let found = outcomes { try await connection.batch(Self.three + [RPCCall("d")]) }
        let ids = try await peer.message()?.array?.compactMap { $0["id"]?.text } ?? []
        try await peer.send("[" + ids.map { result($0) }.joined(separator: ",") + "]")
        #expect(await found == ["1", "1", "1", "1"])
        connection.close()
        old.close()
    }

    @Test func idsThatComeTwiceAreRefused() async {
        let (connection, _) = HostilePeer.pair(adapter: JSONRPCAdapter(ids: RPCIDGenerator { 5 }))
        #expect(
            await outcomes { try await connection.batch(Self.three) } == ["throws invalid-id"])
        connection.close()
    }

    // MARK: From the other side

    private static let server = RPCHandler(
        request: { call, _ in
            if call.method == "fail" { throw RPCServerError(.invalidParameters) }
            if call.method == "long" { return .string(String(repeating: "x", count: 500)) }
            return call.parameters?.json ?? .null
        })

    /// Two connections of this package, each sending batches to the other.
    @Test(arguments: [RPCConnection.Options.languageServer, .modelContext])
    func bothSidesSendBatches(_ options: RPCConnection.Options) async throws {
        let (near, far) = MemoryStream.pair()
        let one = RPCConnection(near, options: options, handler: Self.server)
        let two = RPCConnection(far, options: options, handler: Self.server)
        await withTaskGroup { group in
            for connection in [one, two] {
                for number in Int64(0)..<20 {
                    group.addTask {
                        let calls = [
                            RPCCall("echo", parameters: .array([.number(JSONNumber(number))])),
                            RPCCall("note", isNotification: true), RPCCall("fail"),
                        ]
                        let found = await outcomes { try await connection.batch(calls) }
                        #expect(found == ["[\(number)]", "notified", "rpc-error"])
                    }
                }
            }
        }
        one.close()
        two.close()
    }

    @Test func aBatchGetsOneArrayOfResponses() async throws {
        let (connection, peer) = HostilePeer.pair(handler: Self.server)
        try await peer.send(
            #"[{"jsonrpc":"2.0","method":"echo","params":[1],"id":1},{"jsonrpc":"2.0","method":"n"},7,{"jsonrpc":"2.0","method":"fail","id":"1"},{"jsonrpc":"2.0","method":"echo","id":1}]"#
        )
        let responses = try await peer.message()?.array ?? []
        #expect(responses.count == 4)
        // An id isn't served twice, even if the first of the two requests already has its
        // response.
        let ids = responses.compactMap { $0["id"]?.text }.sorted()
        #expect(ids == ["\"1\"", "1", "null", "null"])
        let codes = responses.compactMap { $0["error"]?["code"]?.number?.int64 }.sorted()
        #expect(codes == [-32602, -32600, -32600].sorted())
        // Notifications alone have no response.
        try await peer.send(#"[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","method":"n"}]"#)
        try await peer.send(#"{"jsonrpc":"2.0","method":"echo","id":2}"#)
        #expect(try await peer.message()?["id"] == 2)
        connection.close()
    }

    @Test func aBatchOverTheLimitIsOneError() async throws {
        let (connection, peer) = HostilePeer.pair(handler: Self.server)
        let call = #"{"jsonrpc":"2.0","method":"echo","id":1}"#
        try await peer.send(
            "[" + Array(repeating: call, count: 101).joined(separator: ",") + "]")
        let response = try await peer.message()
        #expect(response?["error"]?["code"] == -32600 && response?["id"] == .null)
        connection.close()
    }

    @Test func aResponseOverTheLimitBecomesErrors() async throws {
        var options = RPCConnection.Options.languageServer
        options.maximumMessageSize = 400
        let (connection, peer) = HostilePeer.pair(options, handler: Self.server)
        try await peer.send(
            #"[{"jsonrpc":"2.0","method":"long","id":1},{"jsonrpc":"2.0","method":"echo","id":2}]"#
        )
        let responses = try await peer.message()?.array ?? []
        #expect(Set(responses.compactMap { $0["id"]?.text }) == ["1", "2"])
        #expect(responses.allSatisfy { $0["error"]?["code"] == -32603 })
        connection.close()
    }

    @Test func requestsAndResponsesInOneArray() async throws {
        let (connection, peer) = HostilePeer.pair(handler: Self.server)
        async let found = outcomes { try await connection.batch([RPCCall("a"), RPCCall("b")]) }
        _ = try await peer.message()
        try await peer.send(
            #"[{"jsonrpc":"2.0","method":"echo","id":7},\#(result("8")),\#(result("7", "3"))]"#)
        #expect(await found == ["3", "1"])
        #expect(try await peer.message()?.array?.map { $0["id"] } == [7])
        connection.close()
    }
}

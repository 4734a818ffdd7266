import SignetJSON
import SignetRPC
import Testing

@testable import SignetRPCStreams

/// The peer's own requests and notifications, as a handler serves them.
struct HandlerTests {
    private func request(_ method: String, _ id: String, _ params: String = "[]") -> String {
        #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":\#(id)}"#
    }

    @Test(arguments: ["window/showMessageRequest", "rpc.discover", "", "$/unknown"])
    func anUnservedMethodIsNotFound(_ method: String) async throws {
        for handler in [RPCHandler.none, RPCHandler(methods: ["other": { _, _ in 1 }])] {
            let (connection, peer) = HostilePeer.pair(handler: handler)
            try await peer.send(#"{"jsonrpc":"2.0","method":"\#(method)"}"#)
            try await peer.send(request(method, "\"x\""))
            let response = try await peer.message()
            #expect(response?["error"] == ["code": -32601, "message": "Method not found"])
            #expect(response?["id"] == "x")
            connection.close()
        }
    }

    @Test func respondsWithTheReceivedId() async throws {
        let handler = RPCHandler(request: { call, _ in call.parameters?.json ?? .null })
        let (connection, peer) = HostilePeer.pair(handler: handler)
        for id in ["1", "\"1\"", "1.0", "-0", "1e400", "\"\u{e9}\"", "\"\""] {
            try await peer.send(request("a", id, #"{"n":1e400}"#))
            let response = try await peer.message()
            #expect(response?["id"]?.text == id)
            #expect(response?["result"]?.text == #"{"n":1e400}"#)
            #expect(response?.object?.count == 3)
        }
        connection.close()
    }

    @Test(arguments: [
        #"{"jsonrpc":"1.0","method":"a","id":1}"#, #"{"method":"a","id":1}"#,
        #"{"jsonrpc":"2.0","method":1,"id":1}"#, #"{"jsonrpc":"2.0","method":null,"id":1}"#,
        #"{"jsonrpc":"2.0","method":"a","params":null,"id":1}"#,
        #"{"jsonrpc":"2.0","method":"a","params":1,"id":1}"#,
        #"{"jsonrpc":"2.0","method":"a","params":"x"}"#,
        #"{"jsonrpc":"2.0","method":"a","id":null}"#, #"{"jsonrpc":"2.0","method":"a","id":true}"#,
        #"{"jsonrpc":"2.0","method":"a","id":[]}"#, #"{"jsonrpc":"2.0","method":"a","id":{}}"#,
        "[]", "1", "\"a\"", "{}",
    ])
    func refusesInvalidRequests(_ message: String) async throws {
        let (connection, peer) = HostilePeer.pair(handler: RPCHandler(request: { _, _ in 1 }))
        try await peer.send(message)
        let response = try await peer.message()
        #expect(response?["error"] == ["code": -32600, "message": "Invalid Request"])
        #expect(response?["id"] == .null)
        connection.close()
    }

    @Test func otherErrorsAreSentWithoutTheirText() async throws {
        struct Secret: Error { let text = "ZZZZZZCANARYZZZZZZ" }
        let handler = RPCHandler(methods: [
            "own": { _, _ in
                throw RPCServerError(code: JSONNumber(4), message: "no", data: ["why": 1])
            },
            "other": { _, _ in throw Secret() },
        ])
        let (connection, peer) = HostilePeer.pair(handler: handler)
        try await peer.send(request("own", "1"))
        #expect(
            try await peer.message()?["error"]
                == ["code": 4, "message": "no", "data": ["why": 1]])
        try await peer.send(request("other", "2"))
        #expect(
            try await peer.message()?["error"]
                == ["code": -32603, "message": "Internal error"])
        connection.close()
    }

    @Test func notificationsComeInOrderBeforeRequests() async throws {
        let notes = Notes()
        let handler = RPCHandler(
            request: { call, _ in .array(notes.all.map(JSONValue.string)) },
            notification: { call, _ in
                await Task.yield()
                notes.add(call.method.name)
            })
        let (connection, peer) = HostilePeer.pair(handler: handler)
        let names = (0..<50).map { "n\($0)" }
        for name in names { try await peer.send(#"{"jsonrpc":"2.0","method":"\#(name)"}"#) }
        try await peer.send(request("a", "1"))
        #expect(try await peer.message()?["result"] == .array(names.map(JSONValue.string)))
        connection.close()
    }

    /// Only the names decide, and each kind has its own.
    @Test func eachNotificationHasItsFunction() async throws {
        let notes = Notes()
        let handler = RPCHandler(
            methods: ["all": { _, _ in .array(notes.all.map(JSONValue.string)) }],
            notifications: [
                "a": { _, _ in notes.add("a") },
                "b": { call, _ in notes.add(call.parameters?.json.text ?? "none") },
            ])
        let (connection, peer) = HostilePeer.pair(handler: handler)
        for notification in [
            #""a""#, #""b","params":[1]"#, #""c""#, #""all""#, #""A""#, #""b""#,
        ] {
            try await peer.send(#"{"jsonrpc":"2.0","method":\#(notification)}"#)
        }
        try await peer.send(request("a", "1"))
        #expect(try await peer.message()?["error"]?["code"] == -32601)
        try await peer.send(request("all", "2"))
        #expect(try await peer.message()?["result"] == ["a", "[1]", "none"])
        connection.close()
    }

    @Test func aHandlerCallsThePeerBack() async throws {
        let handler = RPCHandler(
            request: { call, peer in try await peer.call("back", as: JSONValue.self) },
            notification: { _, peer in try? await peer.notify("echo") })
        let (connection, peer) = HostilePeer.pair(handler: handler)
        try await peer.send(request("a", "7"))
        // The same id in the other direction is another call's.
        #expect(try await peer.message()?["id"] == 7)
        try await peer.send(#"{"jsonrpc":"2.0","id":7,"result":"yes"}"#)
        let response = try await peer.message()
        #expect(response?["result"] == "yes")
        #expect(response?["id"] == 7)
        try await peer.send(#"{"jsonrpc":"2.0","method":"n"}"#)
        #expect(try await peer.message()?["method"] == "echo")
        connection.close()
    }

    @Test(arguments: [
        (RPCConnection.Options.languageServer, "$/cancelRequest", #"{"id":1}"#, [-32800]),
        (.modelContext, "notifications/cancelled", #"{"requestId":1,"reason":"x"}"#, []),
    ])
    func thePeerCancelsItsRequest(
        _ options: RPCConnection.Options, _ method: String, _ params: String, _ codes: [Int64]
    ) async throws {
        let notes = Notes()
        let handler = RPCHandler(
            request: { call, _ in
                if call.method == "quick" { return 1 }
                do {
                    try await Task.sleep(for: .seconds(3_600))
                } catch {
                    notes.add("cancelled")
                    throw error
                }
                return 0
            }, notification: { call, _ in notes.add(call.method.name) })
        let (connection, peer) = HostilePeer.pair(options, handler: handler)
        try await peer.send(request("slow", "1"))
        for other in [#"{"id":"1"}"#, #"{"requestId":2}"#, "{}", "[1]"] {
            try await peer.send(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(other)}"#)
        }
        try await peer.send(request("quick", "2"))
        #expect(try await peer.message()?["id"] == 2)
        #expect(!notes.all.contains("cancelled"))
        try await peer.send(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params)}"#)
        for code in codes {
            let response = try await peer.message()
            #expect(response?["id"] == 1)
            #expect(response?["error"]?["code"]?.number?.int64 == code)
        }
        while !notes.all.contains("cancelled") { await Task.yield() }
        try await peer.send(request("quick", "3"))
        #expect(try await peer.message()?["id"] == 3)
        connection.close()
    }

    @Test func limits() async throws {
        var options = RPCConnection.Options()
        options.maximumServedRequests = 1
        let handler = RPCHandler(request: { _, _ in
            try await Task.sleep(for: .seconds(3_600))
            return 0
        })
        let (connection, peer) = HostilePeer.pair(options, handler: handler)
        try await peer.send(request("a", "1"))
        try await peer.send(request("b", "1"))
        let twice = try await peer.message()
        #expect(twice?["error"]?["code"] == -32600)
        #expect(twice?["id"] == .null)
        try await peer.send(request("b", "2"))
        let busy = try await peer.message()
        #expect(busy?["error"]?["code"] == -32000)
        #expect(busy?["id"] == 2)
        let batch = Array(repeating: request("a", "3"), count: 101).joined(separator: ",")
        try await peer.send("[" + batch + "]")
        #expect(try await peer.message()?["error"]?["code"] == -32600)
        connection.close()
    }

    /// If the peer ends, its requests are cancelled.
    @Test func theEndCancelsServedRequests() async throws {
        let notes = Notes()
        let handler = RPCHandler(
            request: { _, _ in
                notes.add("begun")
                defer { notes.add("ended") }
                try await Task.sleep(for: .seconds(3_600))
                return 0
            })
        let (connection, peer) = HostilePeer.pair(handler: handler)
        try await peer.send(request("a", "1"))
        while notes.all.isEmpty { await Task.yield() }
        peer.close()
        #expect(await connection.ended().code == .cutOff)
        while notes.all.count < 2 { await Task.yield() }
        #expect(notes.all == ["begun", "ended"])
    }
}

import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetRPCStreams

/// A hostile peer on a stream: no bytes make a call hang, end twice, or get the response of another
/// call.
struct StreamAttackTests {
    /// The bytes that the peer sends while the calls 7 and 8 wait, and their outcomes.
    ///
    /// Afterwards the peer responds to both calls correctly, if it still can.
    struct Attack: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        /// The bytes that the peer sends, in its frame.
        let messages: [String]
        let outcomes: [String]
        let warnings: [String]
        var testDescription: String { name }
    }

    @Test(arguments: try VectorFile<Attack>.load("stream-responses", in: .module))
    func endsEachCallOnce(_ attack: Attack) async throws {
        let warnings = Notes()
        var options = RPCConnection.Options()
        options.onWarning = { warnings.add($0.code.name) }
        let (connection, peer) = HostilePeer.pair(options)
        let first = Task { await outcome { try await connection.call("a") } }
        #expect(try await peer.message()?["id"] == 7)
        let second = Task { await outcome { try await connection.call("b") } }
        #expect(try await peer.message()?["id"] == 8)
        for message in attack.messages { try await peer.send(message) }
        try await peer.send(#"{"jsonrpc":"2.0","id":7,"result":"seven"}"#)
        try await peer.send(#"{"jsonrpc":"2.0","id":8,"result":"eight"}"#)
        #expect(await [first.value, second.value] == attack.outcomes)
        // The connection continues, and the next call gets its own response. The messages sent
        // before it are errors without an id.
        async let third = connection.call("c")
        while let message = try await peer.message(), message["method"] != "c" {
            let response = message.array?.first ?? message
            #expect(response["id"] == .null)
            #expect(response["error"]?["code"]?.number?.int64 ?? 0 < -32_000)
        }
        try await peer.send(#"{"jsonrpc":"2.0","id":9,"result":"nine"}"#)
        #expect(try await third.value == "nine")
        let late = attack.warnings.count
        #expect(Array(warnings.all.prefix(late)) == attack.warnings)
    }

    @Test func anIdAsAStringIsTakenWhenAsked() async throws {
        var adapter = JSONRPCAdapter.fromSeven()
        adapter.acceptsStringifiedNumericIDs = true
        let (connection, peer) = HostilePeer.pair(adapter: adapter)
        async let call = connection.call("a")
        _ = try await peer.message()
        try await peer.send(#"{"jsonrpc":"2.0","id":"7","result":1}"#)
        #expect(try await call.value == 1)
    }

    /// Invalid frames, each with the error that ends the connection.
    @Test(arguments: [
        "Content-Length: 2\n\n{}", "X-A: bb\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\nX-A: bb\n\r\n{}", "Content-Length: 2\r\n{}\r\n", "\r\n{}",
        "{}\r\n\r\n",
        "Content-Length: -2\r\n\r\n{}", "Content-Length: +2\r\n\r\n{}",
        "Content-Length: 2.0\r\n\r\n{}", "Content-Length: 0x2\r\n\r\n{}",
        "Content-Length: 2, 2\r\n\r\n{}", "Content-Length: two\r\n\r\n{}",
        "Content-Length: \r\n\r\n{}", "Content-Length\r\n\r\n{}", ": 2\r\n\r\n{}",
        "Content-Length : 2\r\n\r\n{}", " Content-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\ncontent-length: 3\r\n\r\n{}",
        "Content-Length: 1 2\r\n\r\n{}", "Content-Length: 9223372036854775808\r\n\r\n",
        "Content-Length: 18446744073709551618\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Type: application/json; charset=utf-16\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Type: a/b;charset=\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n\r\n{}",
        "Content-Length: 2\r\nX: \u{1}\r\n\r\n{}", "Content-Length: 2\r\nX: é\r\n\r\n{}",
        "Content-Length: 2\r\n folded\r\n\r\n{}", "Content-Length: 2\r\n\r\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "Starting the server ...\r\n",
        "<html>\r\n\r\n", "X: " + String(repeating: "x", count: 9_000),
        String(repeating: "X: y\r\n", count: 2_000),
    ])
    func bytesThatAreNoFrame(_ bytes: String) async throws {
        let (connection, peer) = HostilePeer.pair()
        let call = Task { await outcome { try await connection.call("a") } }
        _ = try await peer.message()
        try await peer.send(raw: bytes)
        #expect(await call.value == "malformed-frame")
        #expect(await connection.ended().code == .malformedFrame)
        #expect(try await peer.message() == nil)
    }

    @Test(arguments: [
        "Content-Length: 36\r\n\r\n", "content-length:36\r\n\r\n", "CONTENT-LENGTH:\t 036 \r\n\r\n",
        "Content-Length: 36\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        "Content-Type: application/vscode-jsonrpc;charset=utf8\r\nContent-Length: 36\r\n\r\n",
        "Content-Type: a/b; charset=\"UTF-8\"; x=y\r\nContent-Length: 36\r\n\r\n",
        "Content-Type: application/json\r\nX-Trace: 1\r\nContent-Length: 36\r\n\r\n",
    ])
    func headersThatAreTaken(_ header: String) async throws {
        let (connection, peer) = HostilePeer.pair()
        async let call = connection.call("a")
        _ = try await peer.message()
        // Byte by byte, as a slow peer sends.
        for byte in (header + #"{"jsonrpc":"2.0","id":7,"result":42}"#).unicodeScalars {
            try await peer.send(raw: String(byte))
        }
        #expect(try await call.value == 42)
    }

    /// Each value of such a message would take ten times its bytes.
    @Test func aFloodOfValuesIsNotTaken() async throws {
        let notes = Notes()
        var options = RPCConnection.Options()
        options.onWarning = { notes.add($0.message) }
        let (connection, peer) = HostilePeer.pair(options)
        let refused = Task { await outcome { try await connection.call("a") } }
        _ = try await peer.message()
        let many = "[1\(String(repeating: ",1", count: 80_000))]"
        try await peer.send(many)
        #expect(await refused.value == "malformed-response")
        #expect(try await peer.message()?["error"]?["code"] == -32600)
        #expect(notes.all.count == 1)
        #expect(notes.all.first?.contains("values and member names") == true)
        // A result holds as many as it likes.
        async let call = connection.call("b")
        _ = try await peer.message()
        try await peer.send(#"{"jsonrpc":"2.0","id":8,"result":\#(many)}"#)
        #expect(try await call.value.array?.count == 80_001)
    }

    @Test func linesInEveryCut() async throws {
        let (connection, peer) = HostilePeer.pair(.modelContext)
        async let one = connection.call("a")
        _ = try await peer.message()
        async let two = connection.call("b")
        _ = try await peer.message()
        let text =
            "\n\r\n" + #"{"jsonrpc":"2.0","id":8,"result":"two"}"# + "\r\n\n"
            + #"{"jsonrpc":"2.0","id":7,"result":"one"}"# + "\n"
        for byte in text.unicodeScalars { try await peer.send(raw: String(byte)) }
        #expect(try await one.value == "one")
        #expect(try await two.value == "two")
    }

    @Test(arguments: [RPCConnection.Options.languageServer, .modelContext])
    func aMessageOverTheLimitEndsTheConnection(_ options: RPCConnection.Options) async throws {
        var options = options
        options.maximumMessageSize = 50
        let (connection, peer) = HostilePeer.pair(options)
        let call = Task { await outcome { try await connection.call("a") } }
        _ = try await peer.message()
        try await peer.send(String(repeating: " ", count: 51))
        #expect(await call.value == "message-too-large")
    }

    /// This many messages that aren't JSON-RPC get a response.
    @Test(arguments: ["{", "1", "{}", "[]", "[1]", #"{"jsonrpc":"2.0","method":1}"#])
    func aFloodOfMalformedMessagesEndsTheConnection(_ message: String) async throws {
        var options = RPCConnection.Options.modelContext
        options.maximumMalformedMessages = 10
        let (connection, peer) = HostilePeer.pair(options)
        for _ in 0..<11 { try? await peer.send(message) }
        #expect(await connection.ended().code == .malformedResponse)
        #expect(await outcome { try await connection.call("a") } == "malformed-response")
    }

    /// JSON-RPC 1.0, section 2.1: a message that isn't a request or response ends the connection at
    /// once.
    @Test(arguments: [
        "{", "1", "{}", "[]", #"{"method":1}"#, #"{"method":"a","id":1}"#,
        #"{"method":"a","params":{},"id":1}"#, #"{"method":"a","params":[],"id":true}"#,
    ])
    func anInvalidMessageEndsAVersion1Connection(_ message: String) async throws {
        let (connection, peer) = HostilePeer.pair(adapter: JSONRPCAdapter(version: .v1))
        async let call = outcome { try await connection.call("a", timeout: .seconds(20)) }
        _ = try await peer.message()
        try await peer.send(message)
        #expect(await call == "malformed-response")
        #expect(
            await outcome { try await connection.call("b", timeout: .seconds(20)) }
                == "malformed-response")
        connection.close()
    }

    /// JSON-RPC 1.0, section 2.1: so does an invalid response, even one that names its call; of 2.0
    /// it ends that call alone.
    @Test(arguments: [
        #"{"id":7}"#, #"{"id":7,"result":1,"error":2}"#, #"{"id":7,"error":null}"#,
        #"{"jsonrpc":"1.0","id":7}"#,
    ])
    func anInvalidResponseEndsAConnectionOfVersion1(_ message: String) async throws {
        var adapter = JSONRPCAdapter.fromSeven(.v1)
        let (connection, peer) = HostilePeer.pair(adapter: adapter)
        async let call = outcome { try await connection.call("a", timeout: .seconds(20)) }
        _ = try await peer.message()
        async let other = outcome { try await connection.call("b", timeout: .seconds(20)) }
        _ = try await peer.message()
        try await peer.send(message)
        #expect(await [call, other] == ["malformed-response", "malformed-response"])
        // It has ended already; otherwise nothing else would end it.
        connection.close()
        #expect(await connection.ended().code == .malformedResponse)
        #expect(try await peer.message() == nil)

        adapter = .fromSeven()
        let (newer, newerPeer) = HostilePeer.pair(adapter: adapter)
        async let spoilt = outcome { try await newer.call("a", timeout: .seconds(20)) }
        _ = try await newerPeer.message()
        async let whole = outcome { try await newer.call("b", timeout: .seconds(20)) }
        _ = try await newerPeer.message()
        try await newerPeer.send(message)
        try await newerPeer.send(#"{"jsonrpc":"2.0","id":8,"result":"eight"}"#)
        #expect(await [spoilt, whole] == ["malformed-response", "\"eight\""])
        newer.close()
    }

    /// An error and an unknown id are valid responses: the connection of version 1.0 continues.
    @Test func aValidResponseEndsNoConnectionOfVersion1() async throws {
        let adapter = JSONRPCAdapter.fromSeven(.v1)
        let (connection, peer) = HostilePeer.pair(adapter: adapter)
        async let call = outcome { try await connection.call("a", timeout: .seconds(20)) }
        _ = try await peer.message()
        try await peer.send(#"{"id":70,"result":1,"error":null}"#)
        try await peer.send(#"{"id":7,"result":null,"error":"no"}"#)
        #expect(await call == "rpc-error")
        async let next = outcome { try await connection.call("b", timeout: .seconds(20)) }
        _ = try await peer.message()
        try await peer.send(#"{"id":8,"result":"eight","error":null}"#)
        #expect(await next == "\"eight\"")
        connection.close()
    }

    /// The peer floods with requests and reads no response: reading from it stops, and memory
    /// doesn't grow.
    @Test func readingStopsIfTheFloodReadsNoResponse() async throws {
        var options = RPCConnection.Options.modelContext
        options.maximumQueuedSize = 1_000
        let (connection, peer) = HostilePeer.pair(options, capacity: 256)
        let sent = Notes()
        let flood = Task {
            for id in 1...10_000 {
                try await peer.send(#"{"jsonrpc":"2.0","method":"x","id":\#(id)}"#)
                sent.add("")
            }
        }
        var count = -1
        while count != sent.all.count {
            count = sent.all.count
            for _ in 0..<5_000 { await Task.yield() }
        }
        #expect(count < 5_000)
        connection.close()
        await #expect(throws: MemoryStream.Broken.self) { try await flood.value }
    }

    @Test func responsesToNoCallUseNoMemory() async throws {
        let (connection, peer) = HostilePeer.pair()
        async let call = connection.call("a")
        _ = try await peer.message()
        for id in 100..<2_100 {
            try await peer.send(#"{"jsonrpc":"2.0","id":\#(id),"result":0}"#)
        }
        try await peer.send(#"{"jsonrpc":"2.0","id":7,"result":1}"#)
        #expect(try await call.value == 1)
    }
}

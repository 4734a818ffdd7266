import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetRPCStreams

/// Calls over a stream of bytes: both directions, cancellation, deadlines and the end.
struct ConnectionTests {
    private func response(_ id: some CustomStringConvertible, _ result: String) -> String {
        "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}"
    }

    @Test(arguments: [RPCConnection.Options.languageServer, .modelContext])
    func responsesMayComeInAnyOrder(_ options: RPCConnection.Options) async throws {
        let (connection, peer) = HostilePeer.pair(options)
        async let one = connection.call("a", parameters: .array([1]))
        async let two = connection.call("b", parameters: .object(["x": "y\n"]))
        async let three = connection.call("c")
        var ids: [String: String] = [:]
        for _ in 0..<3 {
            let message = try #require(try await peer.message())
            #expect(message["jsonrpc"] == "2.0")
            ids[try #require(message["method"]?.string)] = message["id"]?.text
        }
        for name in ["c", "a", "b"] {
            try await peer.send(response(try #require(ids[name]), "\"\(name)\""))
        }
        #expect(try await one.value == "a")
        #expect(try await two.value == "b")
        #expect(try await three.decode(String.self) == "c")
    }

    /// The constant's type says what the result is decoded as.
    @Test func aCallInfersItsType() async throws {
        let (connection, peer) = HostilePeer.pair()
        for result in ["3", "\"three\""] {
            let steps = Task { () async throws -> Int in try await connection.call("steps") }
            let id = try #require(try await peer.message()?["id"]?.text)
            try await peer.send(response(id, result))
            if result == "3" {
                #expect(try await steps.value == 3)
            } else {
                let error = await #expect(throws: PayloadError.self) { try await steps.value }
                #expect(error?.code == .malformedResponse)
            }
        }
        connection.close()
    }

    @Test(.features("002-26")) func aThousandCallsGetTheirOwnResponses() async throws {
        let (connection, peer) = HostilePeer.pair()
        let count = 1_000
        let echo = Task {
            var held: [JSONValue] = []
            for _ in 0..<count {
                held.append(try #require(try await peer.message()))
                if held.count == 50 {
                    var random = SplitMix(seed: 11)
                    for call in held.shuffled(using: &random) {
                        try await peer.send(
                            response(call["id"]?.text ?? "", call["params"]?.text ?? ""))
                    }
                    held = []
                }
            }
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                group.addTask {
                    let result = try await connection.call(
                        "echo", parameters: .array([.number(.init(number))]))
                    return result.value == [.number(.init(number))]
                }
            }
            for try await isOwn in group { #expect(isOwn) }
        }
        try await echo.value
    }

    @Test func stringIds() async throws {
        let (connection, peer) = HostilePeer.pair(adapter: JSONRPCAdapter(ids: .random()))
        async let result = connection.call("a")
        let id = try #require(try await peer.message()?["id"])
        #expect(id.string?.utf8.count == 32)
        try await peer.send(response(id.text, "1"))
        #expect(try await result.value == 1)
    }

    // MARK: Cancellation and deadlines

    @Test(arguments: [
        (RPCConnection.Options.languageServer, "$/cancelRequest", #"{"id":7}"#),
        (.modelContext, "notifications/cancelled", #"{"requestId":7}"#),
    ])
    func aCancelledCallEndsAtOnce(
        _ options: RPCConnection.Options, _ method: String, _ params: String
    ) async throws {
        let warnings = Notes()
        var options = options
        options.onWarning = { warnings.add($0.code.name) }
        let (connection, peer) = HostilePeer.pair(options)
        let call = Task { await outcome { try await connection.call("slow") } }
        #expect(try await peer.message()?["id"] == 7)
        call.cancel()
        #expect(await call.value == "cancelled")
        let cancellation = try #require(try await peer.message())
        #expect(cancellation["method"] == .string(method))
        #expect(cancellation["params"]?.text == params)
        #expect(cancellation["id"] == nil)
        async let next = connection.call("next")
        #expect(try await peer.message()?["id"] == 8)
        try await peer.send(response(7, "\"late\""))
        try await peer.send(response(8, "\"own\""))
        #expect(try await next.value == "own")
        #expect(warnings.all.isEmpty)
    }

    @Test func usesTheChosenCancellation() async throws {
        var options = RPCConnection.Options.modelContext
        let (connection, peer) = HostilePeer.pair(options)
        let call = Task { await outcome { try await connection.call("initialize") } }
        _ = try await peer.message()
        call.cancel()
        #expect(await call.value == "cancelled")
        try await connection.notify("after")
        #expect(try await peer.message()?["method"] == "after")

        options.cancellation = .none
        let (silent, listener) = HostilePeer.pair(options)
        let slow = Task { await outcome { try await silent.call("slow") } }
        _ = try await listener.message()
        slow.cancel()
        #expect(await slow.value == "cancelled")
        try await silent.notify("after")
        #expect(try await listener.message()?["method"] == "after")
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        let (connection, peer) = HostilePeer.pair()
        let call = Task {
            // Waits for its own cancellation.
            while !Task.isCancelled { await Task.yield() }
            return await outcome { try await connection.call("a") }
        }
        call.cancel()
        #expect(await call.value == "cancelled")
        try await connection.notify("after")
        #expect(try await peer.message()?["method"] == "after")
    }

    /// The peer reads no byte, so no call is known to have been sent; cancelled calls leave the
    /// queue.
    @Test func cancelledCallsLeaveTheQueue() async throws {
        let (connection, peer) = HostilePeer.pair(capacity: 1)
        let first = Task { await outcome { try await connection.call("first") } }
        try await peer.readSome()  // the call is being written
        let crowd = (0..<100).map { _ in
            Task { await outcome { try await connection.call("queued") } }
        }
        for _ in 0..<1_000 { await Task.yield() }
        for call in crowd { call.cancel() }
        for call in crowd { #expect(await call.value == "cancelled") }
        #expect(try await peer.message()?["method"] == "first")
        try await peer.send(response(7, "1"))
        #expect(await first.value == "1")
        async let note: Void = connection.notify("last")
        #expect(try await peer.message()?["method"] == "last")
        try await note
    }

    @Test func aCallWithoutResponseEndsAtItsDeadline() async throws {
        let (connection, peer) = HostilePeer.pair()
        async let call = outcome {
            try await connection.call("slow", timeout: .milliseconds(20))
        }
        #expect(await call == "timeout")
        #expect(
            await outcome { try await connection.call("slow", timeout: .zero) } == "timeout")
        try await connection.notify("after")
        var methods: [String?] = []
        while methods.last != "after" {
            methods.append(try await peer.message()?["method"]?.string)
        }
        // A call that ended before it was written is never written; a written one is cancelled at
        // the peer.
        #expect(
            methods.count { $0 == "slow" } == methods.count { $0 == "$/cancelRequest" })
    }

    // MARK: The end

    @Test func thePeersEndEndsEachCallOnce() async throws {
        let (connection, peer) = HostilePeer.pair()
        let calls = (0..<50).map { _ in
            Task { await outcome { try await connection.call("a") } }
        }
        for _ in 0..<50 { _ = try await peer.message() }
        try await peer.send(raw: "Content-Length: 10\r\n\r\n{")
        peer.close()
        for call in calls { #expect(await call.value == "cut-off") }
        #expect(await connection.ended().message == "the peer ended the stream within a message")
        #expect(await outcome { try await connection.call("b") } == "cut-off")
        await #expect(throws: PayloadError.self) { try await connection.notify("b") }
    }

    @Test func closingEndsEachCallOnceAndTheStream() async throws {
        let (connection, peer) = HostilePeer.pair()
        let call = Task { await outcome { try await connection.call("a") } }
        _ = try await peer.message()
        connection.close()
        connection.close()
        #expect(await call.value == "connection-closed")
        #expect(await connection.ended().code == .connectionClosed)
        #expect(try await peer.message() == nil)
    }

    @Test func theLastReferenceClosesTheStream() async throws {
        let (near, far) = MemoryStream.pair()
        var connection: RPCConnection? = RPCConnection(near)
        let peer = connection?.peer
        connection = nil
        #expect(try await far.read(atMost: 1).isEmpty)
        await #expect(throws: PayloadError.self) { try await peer?.notify("a") }
    }

    @Test func eachErrorHasACode() async throws {
        let (connection, peer) = HostilePeer.pair()
        let responding = Task {
            let id = try await peer.message()?["id"]?.number?.text ?? ""
            try await peer.send(#"{"jsonrpc":"2.0","id":\#(id),"result":"many"}"#)
        }
        // This compiles because nothing else can be thrown.
        do throws(PayloadError) {
            let _: Int = try await connection.call("count")
            Issue.record("another type was taken")
        } catch {
            #expect(error.code == .malformedResponse)
            #expect(error.message.contains("expected") && !error.message.contains("many"))
        }
        try await responding.value
        connection.close()
        do throws(PayloadError) {
            try await connection.notify("late")
            Issue.record("a closed connection took a notification")
        } catch {
            #expect(error.code == .connectionClosed)
        }
    }

    @Test func aNotificationWaitsUntilThePeerReadsIt() async throws {
        let (connection, peer) = HostilePeer.pair(capacity: 16)
        let note = Task { try await connection.notify("a") }
        let held = Task { try await connection.notify("held") }
        // Neither ends before the peer reads; one of the two is cancelled without a response.
        held.cancel()
        let error = await #expect(throws: PayloadError.self) { try await held.value }
        #expect(error?.code == .cancelled)
        while try await peer.message()?["method"] != "a" {}
        try await note.value
        connection.close()
    }

    @Test func anUnreadNotificationEndsAtItsTimeout() async throws {
        var options = RPCConnection.Options()
        options.timeout = .milliseconds(20)
        let (connection, _) = HostilePeer.pair(options, capacity: 4)
        let error = await #expect(throws: PayloadError.self) { try await connection.notify("a") }
        #expect(error?.code == .timeout)
        connection.close()
    }

    @Test func limits() async throws {
        var options = RPCConnection.Options()
        options.maximumOpenCalls = 1
        options.maximumMessageSize = 100
        let (connection, peer) = HostilePeer.pair(options)
        let text = JSONValue.string(String(repeating: "x", count: 100))
        #expect(
            await outcome { try await connection.call("a", parameters: .array([text])) }
                == "message-too-large")
        let call = Task { await outcome { try await connection.call("a") } }
        _ = try await peer.message()
        #expect(await outcome { try await connection.call("b") } == "too-many-calls")
        #expect(await outcome { try await connection.call("rpc.b") } == "reserved-method")
        try await peer.send(raw: "Content-Length: 101\r\n\r\n")
        #expect(await call.value == "message-too-large")
    }

    @Test func idsThatComeTwiceAreRefused() async throws {
        let (connection, peer) = HostilePeer.pair(
            adapter: JSONRPCAdapter(ids: RPCIDGenerator { 1 }))
        let call = Task { await outcome { try await connection.call("a") } }
        _ = try await peer.message()
        #expect(await outcome { try await connection.call("b") } == "invalid-id")
        try await peer.send(response(1, "5"))
        #expect(await call.value == "5")
        #expect(await outcome { try await connection.call("b") } == "invalid-id")
    }
}

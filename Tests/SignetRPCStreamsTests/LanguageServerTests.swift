import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetRPCStreams

/// python-lsp-jsonrpc at the other end of a child's standard input and output.
struct LanguageServerTests {
    private func started(_ handler: RPCHandler = .none) async throws -> (RPCConnection, ChildStream)
    {
        let child = try ChildStream(
            await PythonPeer.path,
            arguments: ["-I", "-W", "ignore", PythonPeer.script("language-server")])
        var options = RPCConnection.Options.languageServer
        options.timeout = .seconds(600)  // a busy machine starts Python slowly
        return (RPCConnection(child, options: options, handler: handler), child)
    }

    @Test func callsAndErrors() async throws {
        let (connection, child) = try await started()
        let values: JSONObject = ["text": "é😀\u{0}\n", "big": 9_007_199_254_740_993, "list": [nil]]
        #expect(
            try await connection.call("echo", parameters: .object(values)).value == .object(values))
        #expect(try await connection.call("null").value == nil)
        #expect(await outcome { try await connection.call("missing") } == "rpc-error")
        do throws(PayloadError) {
            _ = try await connection.call("fail")
            Issue.record("the call has a result")
        } catch {
            #expect(error.server?.data != nil)
            #expect(!"\(error)".contains("traceback"))
        }
        // It refuses parameters by position.
        #expect(
            await outcome { try await connection.call("echo", parameters: .array([1])) }
                == "rpc-error")
        connection.close()
        _ = await child.ended()
    }

    @Test func manyAtOnce() async throws {
        let (connection, child) = try await started()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                let members: JSONObject = [
                    "number": .number(JSONNumber(number)),
                    "text": .string(String(repeating: "é", count: number * 10)),
                ]
                group.addTask {
                    try await connection.call("echo", parameters: .object(members)).value
                        == .object(members)
                }
            }
            for try await isOwn in group { #expect(isOwn) }
        }
        connection.close()
        _ = await child.ended()
    }

    @Test func theServerSendsRequestsAndNotifications() async throws {
        let notes = Notes()
        let handler = RPCHandler(
            methods: [
                "double": { call, _ in
                    let number = call.parameters?.json.array?.first?.number?.int64 ?? 0
                    return .number(JSONNumber(2 * number))
                }
            ], notification: { call, _ in notes.add(call.parameters?.json.text ?? "") })
        let (connection, child) = try await started(handler)
        #expect(try await connection.call("ask", parameters: .object(["number": 21])).value == 42)
        try await connection.notify("told", parameters: .object(["text": "é"]))
        // The response to a request that follows the notification arrives after it.
        #expect(try await connection.call("null").value == nil)
        #expect(try await eventually { notes.all == [#"{"text":"é"}"#] })
        connection.close()
        _ = await child.ended()
    }

    @Test func aCancelledCallEndsAtOnce() async throws {
        let (connection, child) = try await started()
        let slow = Task { await outcome { try await connection.call("slow") } }
        #expect(try await connection.call("null").value == nil)
        slow.cancel()
        #expect(await slow.value == "cancelled")
        #expect(
            await outcome { try await connection.call("slow", timeout: .milliseconds(50)) }
                == "timeout")
        #expect(try await connection.call("open").value == nil)
        #expect(try await connection.call("echo", parameters: .object(["a": 1])).value == ["a": 1])
        connection.close()
        _ = await child.ended()
    }

    @Test func itsDeathEndsEachCallOnce() async throws {
        let (connection, child) = try await started()
        let calls = (0..<3).map { _ in
            Task { await outcome { try await connection.call("slow", timeout: .seconds(600)) } }
        }
        #expect(try await connection.call("null").value == nil)
        let killed = try await ChildProcess.run("kill", ["-KILL", "\(child.processIdentifier)"])
        #expect(killed.exit == 0)
        for call in calls { #expect(await call.value == "cut-off") }
        #expect(await connection.ended().code == .cutOff)
        #expect(await child.ended() == 137)
    }
}

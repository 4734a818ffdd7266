import SignetClient
import SignetJSON
import TestSupport
import Testing

/// Servers that are not ours, over HTTP: jsonrpcserver and pjrpc.
struct PythonServerTests {
    /// A server of each kind with the methods `echo`, `add`, `null` and `fail`.
    enum Kind: String, CaseIterable, Sendable { case jsonrpcserver, pjrpc }

    private static let scripts: [Kind: String] = [
        .jsonrpcserver: """
        import sys, jsonrpcserver
        from jsonrpcserver import method, Success, Error
        @method
        def echo(text): return Success(text)
        @method
        def add(a, b): return Success(a + b)
        @method
        def null(): return Success(None)
        @method
        def fail(): return Error(4, 'no', {'why': 'é'})
        jsonrpcserver.serve('127.0.0.1', int(sys.argv[1]))
        """,
        .pjrpc: """
        import sys, http.server, pjrpc.server
        methods = pjrpc.server.MethodRegistry()
        @methods.add()
        def echo(text): return text
        @methods.add()
        def add(a, b): return a + b
        @methods.add()
        def null(): return None
        @methods.add()
        def fail():
            raise pjrpc.server.exceptions.JsonRpcError(4, 'no', data={'why': 'é'})
        dispatcher = pjrpc.server.Dispatcher()
        dispatcher.add_methods(methods) if hasattr(dispatcher, 'add_methods') else None
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers['Content-Length'])).decode()
                answer = dispatcher.dispatch(text, None)
                body = answer[0].encode() if answer else b''
                self.send_response(200)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
        """,
    ]

    @Test(arguments: Kind.allCases)
    func answersAsTheyMean(_ kind: Kind) async throws {
        let port = freePort()
        let server = try await PythonPeer.serve(try #require(Self.scripts[kind]), on: port)
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "http://127.0.0.1:\(port)/", payloadProtocol: .jsonRPC2,
                    timeout: .seconds(120))
            ], policy: nil)

        let text = JSONValue.string("é😀\u{0}\n")
        let echoed = try await system.call("a", RPCCall("echo", .array([text])))
        #expect(echoed.result?.value == text)
        let named = try await system.call(
            "a", RPCCall("add", .object(["b": 1, "a": 9_007_199_254_740_992])))
        #expect(named.result?.value == 9_007_199_254_740_993)
        #expect(try await system.call("a", RPCCall("null")).result?.value == .null)
        let note = try await system.call("a", RPCCall("null", isNotification: true))
        #expect(note.result == nil)
        #expect(note.warnings.isEmpty)

        for (call, code) in [
            (RPCCall("missing"), -32601), (RPCCall("add", .array([1])), -32602),
            (RPCCall("fail"), 4),
        ] as [(RPCCall, Int64)] {
            do throws(ClientError) {
                _ = try await system.call("a", call)
                Issue.record("\(call.method) has a result")
            } catch {
                #expect(error.code.name == "rpc-error")
                #expect(error.serverError?.code.int64 == code)
            }
        }

        let batch = try await system.batch(
            "a",
            [
                RPCCall("add", .array([1, 2])), RPCCall("null", isNotification: true),
                RPCCall("fail"), RPCCall("echo", .object(["text": "x"])),
            ])
        #expect(batch.warnings.isEmpty)
        guard case .result(let sum) = batch.outcomes[0], case .notified = batch.outcomes[1],
            case .failure(let failure) = batch.outcomes[2],
            case .result(let echo) = batch.outcomes[3]
        else {
            Issue.record("\(batch.outcomes)")
            return
        }
        #expect(sum.value == 3)
        #expect(try failure.server?.decodeData([String: String].self) == ["why": "é"])
        #expect(echo.value == "x")
        await system.shutdown()
        try await server.stop()
    }
}

import SignetClient
import TestSupport
import Testing

/// Calls as values, for which no type is needed.
@Suite struct SimpleCallTests {
    private struct Order: Codable, Equatable {
        var item: String
    }

    @Test(.features("004-16")) func aLineReadsAndALineWrites() async throws {
        let engine = RecordingEngine(responses: [
            .init(body: #"[{"item":"tea"}]"#), .init(body: #"{"item":"rum"}"#),
        ])
        let system = try await Pipeline.system(engine)
        let id = "7/8"
        let orders: [Order] = try await system.send(
            .get("/orders/\(id)", on: "a", query: ["limit": 2]))
        let order: Order = try await system.send(
            .post("/orders", on: "a", body: Order(item: "rum")))
        await system.shutdown()
        #expect(orders == [Order(item: "tea")] && order == Order(item: "rum"))
        let (read, write) = (engine.requests[0], engine.requests[1])
        #expect(read.request.method == .get && read.request.path == "/v1/orders/7%2F8?limit=2")
        #expect(read.bytes.isEmpty && read.request.headerFields[.contentType] == nil)
        #expect(write.request.method == .post && write.request.path == "/v1/orders")
        #expect(write.bytes == Array(#"{"item":"rum"}"#.utf8))
        #expect(write.request.headerFields[.contentType] == "application/json")
    }

    @Test(
        arguments: [
            (.get("/x", on: "a", query: ["n": 1]), "GET", "/v1/x?n=1", ""),
            (.head("/x", on: "a"), "HEAD", "/v1/x", ""),
            (.delete("/x/\(7)", on: "a"), "DELETE", "/v1/x/7", ""),
            (.post("/token", on: "a"), "POST", "/v1/token", ""),
            (.put("/x", on: "a"), "PUT", "/v1/x", ""),
            (.patch("/x", on: "a", query: ["n": 1]), "PATCH", "/v1/x?n=1", ""),
            (.put("/x", on: "a", body: ["n": 1]), "PUT", "/v1/x", #"{"n":1}"#),
            (.patch("/x", on: "a", body: ["n": 1]), "PATCH", "/v1/x", #"{"n":1}"#),
        ] as [(RESTCall, String, String, String)])
    func sendsEachMethod(
        _ call: RESTCall, method: String, path: String, body: String
    ) async throws {
        let engine = RecordingEngine(responses: [.init(body: "")])
        let system = try await Pipeline.system(engine)
        try await system.send(call, as: .nothing)
        await system.shutdown()
        let sent = engine.requests[0]
        #expect(sent.request.method.rawValue == method && sent.request.path == path)
        #expect(sent.bytes == Array(body.utf8))
        let type = sent.request.headerFields[.contentType]
        #expect(type == (body.isEmpty ? nil : "application/json"))
    }

    @Test func exchangeNeedsNoBody() async throws {
        let engine = RecordingEngine(responses: [.init(body: "a")])
        let system = try await Pipeline.system(engine)
        let response = try await system.exchange("a", method: .get, target: "/x")
        await system.shutdown()
        #expect(response.body == Array("a".utf8) && engine.requests[0].bytes.isEmpty)
    }

    @Test(.features("004-06")) func anyRequestIsACall() async throws {
        let engine = RecordingEngine(responses: [.init(body: "")])
        let system = try await Pipeline.system(engine)
        let form = RESTRequest(.patch, "/orders/7", body: try .form(["item": "tea"]))
        var call = RESTCall(form, on: "a")
        call.callOptions.fields[.acceptLanguage] = "en"
        try await system.send(call, as: .nothing)
        await system.shutdown()
        let sent = engine.requests[0]
        #expect(sent.request.method == .patch && sent.bytes == Array("item=tea".utf8))
        #expect(sent.request.headerFields[.acceptLanguage] == "en")
    }

    @Test func refusesInvalidRequests() async throws {
        let engine = RecordingEngine()
        let system = try await Pipeline.system(engine)
        let endless = await system.response(to: .post("/x", on: "a", body: [Double.nan]))
        #expect(endless.identity?.method == "POST")
        for (call, code) in [
            (.post("/x", on: "a", body: [Double.nan]), "invalid-params"),
            (.get("/orders/\("")", on: "a"), "invalid-path"),
            (.get("orders", on: "a"), "invalid-path"),
            (.delete("/orders?all", on: "a"), "invalid-path"),
            (.put("/x", on: "a", body: [Double.infinity]), "invalid-params"),
            (.get("/orders", on: "b"), "unknown-service"),
        ] as [(RESTCall, String)] {
            let error = await #expect(throws: ClientError.self) { try await system.send(call) }
            #expect(error?.code.name == code)
        }
        await system.shutdown()
        let rpc = try await Pipeline.system(engine, payload: .jsonRPC2)
        let error = await #expect(throws: ClientError.self) {
            try await rpc.send(.get("/x", on: "a"))
        }
        #expect(error?.code == .unsupportedCall && engine.count == 0)
        await rpc.shutdown()
    }
}

/// The kinds of errors that a program distinguishes.
@Suite struct ErrorKindTests {
    private func error(
        _ response: RecordingEngine.Response, payload: ServiceConfiguration.PayloadProtocol = .rest,
        _ call: RPCCall = RPCCall("GET")
    ) async throws -> ClientError? {
        let system = try await Pipeline.system(
            RecordingEngine(responses: [response]), payload: payload)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(call, on: "a")
        }
        await system.shutdown()
        return error
    }

    @Test(.features("000-22"), arguments: [401, 403])
    func authorisationDiffersFromOtherRefusals(_ status: Int) async throws {
        let refused = try await error(.init(status: status, body: "no"))
        #expect(refused?.isUnauthorized == true && refused?.kind == .refused)
        let body = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#
        let rpc = try await error(
            .init(status: status, body: body), payload: .jsonRPC2, RPCCall("m"))
        #expect(rpc?.isUnauthorized == true && rpc?.code == .rpcError)
    }

    @Test(.features("000-22")) func theOtherKindsAreNotAuthorisation() async throws {
        let network = try await error(.init(failure: TransportError(.tls, "down")))
        #expect(network?.kind == .noResponse)
        let processing = try await error(.init(status: 200, body: "{"))
        #expect(processing?.kind == .malformed)
        let parameters = try await error(
            .init(), RPCCall("GET", parameters: .object(["a": ["b": 1]])))
        #expect(parameters?.kind == .local && parameters?.code == .invalidParameters)
        let missing = try await error(.init(status: 404, body: "no"))
        #expect(missing?.kind == .refused)
        let system = try await Pipeline.system(RecordingEngine())
        await system.shutdown()
        let stopped = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("GET"), on: "a")
        }
        #expect(stopped?.kind == .local && stopped?.code == .notRunning)
        for error in [network, processing, parameters, missing, stopped] {
            #expect(error?.isUnauthorized == false)
        }
    }
}

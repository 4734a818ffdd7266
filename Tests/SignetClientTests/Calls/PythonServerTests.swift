import SignetClient
import SignetJSON
import TestSupport
import Testing

/// Calls to other implementations over HTTP: jsonrpcserver and pjrpc, and jsonrpclib-pelix for
/// version 1.0.
struct PythonServerTests {
    /// A server of each kind with the methods `echo`, `add`, `null` and `fail`.
    enum Kind: String, CaseIterable, Sendable { case jsonrpcserver, pjrpc }

    @Test(arguments: Kind.allCases)
    func convertsTheServersResponses(_ kind: Kind) async throws {
        let (server, port) = try await PythonPeer.serve(kind.rawValue)
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "http://127.0.0.1:\(port)/", payloadProtocol: .jsonRPC2,
                    timeout: .seconds(120))
            ], policy: .allowingAll())

        let text = JSONValue.string("é😀\u{0}\n")
        let echoed = try await system.call(RPCCall("echo", parameters: .array([text])), on: "a")
        #expect(echoed.result?.value == text)
        let named = try await system.call(
            RPCCall("add", parameters: .object(["b": 1, "a": 9_007_199_254_740_992])), on: "a")
        #expect(named.result?.value == 9_007_199_254_740_993)
        #expect(try await system.call(RPCCall("null"), on: "a").result?.value == .null)
        let note = try await system.call(RPCCall("null", isNotification: true), on: "a")
        #expect(note.result == nil)
        #expect(note.warnings.isEmpty)

        for (call, code) in [
            (RPCCall("missing"), -32601), (RPCCall("add", parameters: .array([1])), -32602),
            (RPCCall("fail"), 4),
        ] as [(RPCCall, Int64)] {
            do throws(ClientError) {
                _ = try await system.call(call, on: "a")
                Issue.record("\(call.method) has a result")
            } catch {
                #expect(error.code.name == "rpc-error")
                #expect(error.serverError?.code.int64 == code)
            }
        }

        let batch = try await system.batch(
            [
                RPCCall("add", parameters: .array([1, 2])), RPCCall("null", isNotification: true),
                RPCCall("fail"), RPCCall("echo", parameters: .object(["text": "x"])),
            ], on: "a")
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

    @Test func aServerOfVersion1RespondsToVersion1() async throws {
        let (server, port) = try await PythonPeer.serve("jsonrpclib")
        func service(
            _ version: ServiceConfiguration.PayloadProtocol
        ) -> ServiceConfiguration {
            ServiceConfiguration(
                baseURL: "http://127.0.0.1:\(port)/", payloadProtocol: version,
                timeout: .seconds(120))
        }
        let system = try await NetworkSystem.start(
            services: ["one": service(.jsonRPC1), "two": service(.jsonRPC2)], policy: .allowingAll()
        )
        let values: [JSONValue] = ["é😀\n", 1.5, .null, ["a": []]]
        let echoed = try await system.call(RPCCall("echo", parameters: .array(values)), on: "one")
        #expect(echoed.result?.value == .array(values))
        #expect(echoed.warnings.isEmpty)
        let sum = try await system.call(
            RPCCall("add", parameters: .array([9_007_199_254_740_992, 1])), on: "one")
        #expect(sum.result?.value == 9_007_199_254_740_993)
        #expect(try await system.call(RPCCall("null"), on: "one").result?.value == .null)
        let note = try await system.call(RPCCall("null", isNotification: true), on: "one")
        #expect(note.result == nil && note.warnings.isEmpty)
        for (call, code) in [
            (RPCCall("missing"), -32601), (RPCCall("add", parameters: .array([1])), -32602),
        ] as [(RPCCall, Int64)] {
            let failure = await Self.failure(of: "one", call, in: system)
            #expect(failure?.code.name == "rpc-error")
            #expect(failure?.serverError?.code.int64 == code)
        }
        // It responds to a call of 2.0 in 1.0's form, which is not a valid response of 2.0.
        let other = await Self.failure(
            of: "two", RPCCall("add", parameters: .array([1, 2])), in: system)
        #expect(other?.code.name == "malformed-response")
        await system.shutdown()
        try await server.stop()
    }

    private static func failure(
        of service: ServiceName, _ call: RPCCall, in system: NetworkSystem
    ) async -> ClientError? {
        do throws(ClientError) {
            let response = try await system.call(call, on: service)
            Issue.record("\(service) has \(response)")
            return nil
        } catch {
            return error
        }
    }

    @Test(.features("002-31", "003-39", "004-08")) func oneSystemSpeaksBothVersionsAtOnce()
        async throws
    {
        let (server, port) = try await PythonPeer.serve("two-versions")
        let versions: [(ServiceName, String, ServiceConfiguration.PayloadProtocol)] = [
            ("old", "/old", .jsonRPC1), ("new", "/new", .jsonRPC2),
            // Each version at the path of the other.
            ("2.0 at 1.0", "/old", .jsonRPC2), ("1.0 at 2.0", "/new", .jsonRPC1),
        ]
        var services: [ServiceName: ServiceConfiguration] = [:]
        for (service, path, version) in versions {
            services[service] = ServiceConfiguration(
                baseURL: "http://127.0.0.1:\(port)\(path)", payloadProtocol: version,
                timeout: .seconds(120))
        }
        let system = try await NetworkSystem.start(services: services, policy: .allowingAll())

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let service: ServiceName = number.isMultiple(of: 2) ? "old" : "new"
                group.addTask {
                    let text = JSONValue.string("\(service) \(number) é")
                    let response = try await system.call(
                        RPCCall("echo", parameters: .array([text, 1])), on: service)
                    #expect(response.result?.value == .array([text, 1]))
                    #expect(response.warnings.isEmpty)
                }
            }
            try await group.waitForAll()
        }
        for service in ["old", "new"] as [ServiceName] {
            #expect(try await system.call(RPCCall("echo"), on: service).result?.value == [])
            let note = try await system.call(RPCCall("echo", isNotification: true), on: service)
            #expect(note.result == nil && note.warnings.isEmpty)
        }

        // Version 1.0 doesn't specify the form of an error.
        let old = await Self.failure(of: "old", RPCCall("fail"), in: system)
        #expect(old?.code.name == "rpc-error")
        #expect(old?.serverError?.code.int64 == 0)
        #expect(old?.serverError?.data == ["reason": "no"])
        let new = await Self.failure(of: "new", RPCCall("fail"), in: system)
        #expect(new?.serverError?.code.int64 == 4)
        let named = RPCCall("echo", parameters: .object(["a": 1]))
        #expect(await Self.failure(of: "old", named, in: system)?.code.name == "invalid-params")

        let stranger = RPCCall("echo", parameters: .array([1]))
        let lax = await Self.failure(of: "2.0 at 1.0", stranger, in: system)
        #expect(lax?.code.name == "malformed-response")
        let strict = await Self.failure(of: "1.0 at 2.0", stranger, in: system)
        #expect(strict?.code.name == "rpc-error")
        #expect(strict?.serverError?.code.int64 == -32600)
        await system.shutdown()
        try await server.stop()
    }
}

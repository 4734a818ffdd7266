import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTesting
import SignetTransport
import TestSupport
import Testing

/// The articles' examples of interceptors, credentials, groups, chains and stubs.
@Suite struct ArticleExampleTests {
    private struct ListOrders: Endpoint {
        var service: ServiceName { "orders" }
        var method: RPCMethod { "orders.list" }
        typealias Success = [String]
        var callOptions: RequestOptions {
            var options = RequestOptions()
            options.attemptInterceptors = [Numbered()]
            return options
        }
    }

    private struct CountOrders: Endpoint {
        var service: ServiceName { "orders" }
        var method: RPCMethod { "orders.count" }
        typealias Success = Int
    }

    private struct Numbered: AttemptInterceptor {
        static let field = HTTPField.Name("X-Attempt")!
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            call.request.headerFields[Self.field] = "\(call.attempt ?? 0)"
            return try await next(call)
        }
    }

    private struct SessionToken: CredentialSource {
        let system: NetworkSystem
        let scope: String
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            let parameters: JSONObject = ["user": .string(scope)]
            let response = try await system.call(
                RPCCall("session.renew", parameters: .object(parameters)), on: "login")
            return .bearer(response.result?.value["token"]?.string ?? "")
        }
    }

    private func system(_ stub: StubEngine) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.clock.sleep = { _ in }
        return try await NetworkSystem.start(
            services: [
                "orders": .init(
                    baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2),
                "login": .init(
                    baseURL: "https://login.example.com/rpc", payloadProtocol: .jsonRPC2),
                "shop": .init(baseURL: "https://shop.example.com", payloadProtocol: .rest),
            ], stub: stub, options: options)
    }

    @Test func aSessionIsRenewedOnceForCallsAtOnce() async throws {
        let stub = StubEngine()
        stub.respond(to: .procedure("session.renew"), with: .result(["token": "t1"]))
        stub.respond(to: .procedure("orders.count"), with: .result(1))
        let system = try await system(stub)
        var options = RequestOptions()
        options.credentials = SessionToken(system: system, scope: "ann")
        let counts = try await system.values(
            of: Array(repeating: CountOrders(), count: 10), atOnce: 3, options: options)
        #expect(counts == Array(repeating: 1, count: 10))
        #expect(stub.requests.count { $0.procedure == "session.renew" } == 1)
        let tokens = stub.requests.filter { $0.procedure == "orders.count" }
            .map { $0.request.headerFields[.authorization] }
        #expect(tokens == Array(repeating: "Bearer t1", count: 10))
        await system.shutdown()
    }

    @Test func differentCallsRunAtOnceAndChainsInOrder() async throws {
        let stub = StubEngine()
        stub.respond(to: .procedure("orders.list"), with: .result(["tea"]))
        stub.respond(to: .procedure("orders.count"), with: .result(1))
        stub.respond(to: .procedure("orders.create"), with: .rpcError(code: 1, message: "no"))
        let system = try await system(stub)
        async let orders = system.send(ListOrders())
        async let count = system.send(CountOrders())
        #expect(try await orders.count == count)
        let error = await #expect(throws: ClientError.self) {
            let item = try await system.send(ListOrders())[0]
            let parameters: JSONObject = ["item": .string(item)]
            _ = try await system.call(
                RPCCall("orders.create", parameters: .object(parameters)), on: "orders")
            _ = try await system.send(CountOrders())
        }
        #expect(error?.code == .rpcError)
        #expect(stub.requests.map(\.procedure).suffix(2) == ["orders.list", "orders.create"])
        await system.shutdown()
    }
}

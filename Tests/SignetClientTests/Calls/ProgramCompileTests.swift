import TestSupport
import Testing

/// Programs of the package's users compile without `@preconcurrency`, `@unchecked` and the like,
/// whatever their settings are, and without a warning.
@Suite struct ProgramCompileTests {
    /// Endpoints of every kind, a source of credentials, and calls from a class of the program's
    /// own.
    private static let program = """
        struct Order: Codable, Sendable { var id: Int; var item: String }

        enum Orders: Endpoint {
            case create(item: String)
            var service: ServiceName { "orders" }
            var method: RPCMethod { "orders.create" }
            typealias Success = Order
        }

        struct Show: RESTEndpoint {
            var id: Int
            var service: ServiceName { "orders" }
            var httpMethod: HTTPRequest.Method { .get }
            var path: PathTemplate { "/orders/{id}" }
            typealias Success = Order
        }

        struct Token: CredentialSource {
            var scope: String { "user" }
            func credential(
                replacing old: Credential?, for call: CallIdentity
            ) async throws -> Credential { .bearer("token") }
        }

        final class Screen {
            var orders: [Order] = []
            let system: NetworkSystem
            init(system: NetworkSystem) { self.system = system }

            func reload() async {
                do {
                    orders = [try await system.send(Orders.create(item: "tea"))]
                    orders.append(try await system.send(Show(id: 7)))
                    let options = RequestOptions(tags: ["screen"])
                    let response = try await system.call(
                        RPCCall("orders.list"), on: "orders", options: options)
                    print(response.status)
                } catch {
                    orders = []
                }
            }
        }

        func start() async throws -> Screen {
            var service = ServiceConfiguration(
                baseURL: "https://api.example.com", payloadProtocol: .jsonRPC2)
            service.sealing = .init(.a256KW, keyIDs: ["bank"])
            service.options.credentials = Token()
            let system = try await NetworkSystem.start(services: ["orders": service])
            return Screen(system: system)
        }
        """

    @Test(arguments: [
        ["-swift-version", "6"],
        ["-swift-version", "6", "-default-isolation", "MainActor"],
        [
            "-swift-version", "6", "-default-isolation", "MainActor",
            "-enable-upcoming-feature", "NonisolatedNonsendingByDefault",
            "-enable-upcoming-feature", "InferIsolatedConformances",
        ],
        ["-swift-version", "5", "-strict-concurrency=complete"],
        ["-swift-version", "5", "-strict-concurrency=minimal"],
    ])
    func compilesWithoutCeremony(_ settings: [String]) async throws {
        var program = Self.program
        if settings.contains("MainActor") {
            // Values that are decoded off the main actor say so, and nothing else does.
            for kind in ["struct", "enum"] {
                program = ("\n" + program).replacing("\n\(kind) ", with: "\nnonisolated \(kind) ")
            }
        }
        let output = try await UserProgram.typeCheck(program, settings: settings)
        #expect(output.exit == 0, "\(settings): \(output.stderr)")
    }
}

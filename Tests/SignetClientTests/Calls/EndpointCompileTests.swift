import TestSupport
import Testing

/// Endpoints without a required member don't compile.
@Suite struct EndpointCompileTests {
    @Test(
        .features("003-19"),
        arguments: [
            (
                "var method: RPCMethod { \"m\" }", "Endpoint",
                "requires property 'service' with type 'ServiceName'"
            ),
            (
                "var service: ServiceName { \"a\" }", "Endpoint",
                "requires property 'method' with type 'RPCMethod'"
            ),
            (
                "var service: ServiceName { \"a\" }\nvar path: PathTemplate { \"/x\" }",
                "RESTEndpoint",
                "requires property 'httpMethod' with type 'HTTPRequest.Method'"
            ),
            (
                "var service: ServiceName { \"a\" }\nvar httpMethod: HTTPRequest.Method { .get }",
                "RESTEndpoint", "requires property 'path' with type 'PathTemplate'"
            ),
            // A value that nothing makes of the response.
            (
                """
                var service: ServiceName { "a" }
                var method: RPCMethod { "m" }
                struct Success: Sendable {}
                """, "Endpoint", "requires function 'success(from:)'"
            ),
        ])
    func anEndpointWithoutItsMembersDoesNotCompile(
        _ members: String, _ kind: String, _ message: String
    ) async throws {
        let output = try await UserProgram.typeCheck("struct Call: \(kind) {\n\(members)\n}")
        #expect(output.exit == 1)
        #expect(output.stderr.contains(message), "\(output.stderr)")
    }

    @Test func aWholeEndpointCompiles() async throws {
        let output = try await UserProgram.typeCheck(
            """
            enum Calls: Endpoint {
                case ping
                var service: ServiceName { "a" }
                var method: RPCMethod { "m" }
            }
            """)
        #expect(output.exit == 0, "\(output.stderr)")
    }
}

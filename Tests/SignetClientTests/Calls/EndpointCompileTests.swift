import TestSupport
import Testing

/// Endpoints without a required member don't compile, and neither do calls without a treatment of
/// their failure.
@Suite struct EndpointCompileTests {
    @Test(
        .features("001-16", "003-19"),
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

    /// A caller treats the failure, of the one type that there is.
    @Test(
        .features("001-15"),
        arguments: [
            ("_ = await system.send(call)", "call can throw"),
            ("_ = try await system.send(call)", "errors thrown from here are not handled"),
            (
                "do { _ = try await system.send(call) } catch { let code: Int = error.code }",
                "cannot convert value of type 'ClientError.Code'"
            ),
            ("do { _ = try await system.send(call) } catch { print(error.code) }", nil),
        ])
    func anUntreatedFailureDoesNotCompile(_ body: String, _ message: String?) async throws {
        let output = try await UserProgram.typeCheck(
            "func send(_ call: some Endpoint, through system: NetworkSystem) async {\n\(body)\n}")
        #expect(output.exit == (message == nil ? 0 : 1))
        #expect(output.stderr.contains(message ?? ""), "\(output.stderr)")
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

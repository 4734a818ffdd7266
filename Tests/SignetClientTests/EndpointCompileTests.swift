import Foundation
import TestSupport
import Testing

/// Endpoints without a required member don't compile.
@Suite struct EndpointCompileTests {
    /// Type-checks a program that uses the built module, as the package's users do.
    private func compile(_ program: String) async throws -> ProcessOutput {
        let folder = try TemporaryDirectory()
        let source = try folder.write("import SignetClient\n" + program, to: "endpoints.swift")
        let build = SignetTool.url.deletingLastPathComponent()
        let maps = [
            PackageLayout.url("Sources/CSignetBase64/module.modulemap").path,
            PackageLayout.url("Sources/CSignetOpenSSL/module.modulemap").path,
            PackageLayout.url("Sources/CSignetLibcurl/module.modulemap").path,
            build.appending(path: "CSignetCurl.build/module.modulemap").path,
            build.appending(path: "CSignetSystem.build/module.modulemap").path,
        ]
        return try await ChildProcess.run(
            "swiftc",
            ["-typecheck", "-swift-version", "6", "-I", build.appending(path: "Modules").path]
                + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [source])
    }

    @Test(
        .features("003-19"),
        arguments: [
            (
                "var method: RPCMethod { \"m\" }", "Endpoint",
                "requires property 'service' with type 'Service'"
            ),
            (
                "var service: Service { \"a\" }", "Endpoint",
                "requires property 'method' with type 'RPCMethod'"
            ),
            (
                "var service: Service { \"a\" }\nvar path: PathTemplate { \"/x\" }", "RESTEndpoint",
                "requires property 'httpMethod' with type 'HTTPRequest.Method'"
            ),
            (
                "var service: Service { \"a\" }\nvar httpMethod: HTTPRequest.Method { .get }",
                "RESTEndpoint", "requires property 'path' with type 'PathTemplate'"
            ),
            // A value that nothing makes of the response.
            (
                """
                var service: Service { "a" }
                var method: RPCMethod { "m" }
                struct Success: Sendable {}
                """, "Endpoint", "requires function 'success(from:)'"
            ),
        ])
    func anEndpointWithoutItsMembersDoesNotCompile(
        _ members: String, _ kind: String, _ message: String
    ) async throws {
        let output = try await compile("struct Call: \(kind) {\n\(members)\n}")
        #expect(output.exit == 1)
        #expect(output.stderr.contains(message), "\(output.stderr)")
    }

    @Test func aWholeEndpointCompiles() async throws {
        let output = try await compile(
            """
            enum Calls: Endpoint {
                case ping
                var service: Service { "a" }
                var method: RPCMethod { "m" }
            }
            """)
        #expect(output.exit == 0, "\(output.stderr)")
    }
}

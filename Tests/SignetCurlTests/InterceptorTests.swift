import Foundation
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// mitmproxy between engine and host, its authority trusted by the engine: what pins are for.
@Suite struct InterceptorTests {
    @Test(arguments: [false, true])
    func refusesAnInterceptorWhoseAuthorityIsTrusted(overHTTP2: Bool) async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let folder = try TemporaryDirectory()
        let port = freePort()
        let interceptor = try await ServerProcess.start(
            PythonPeer.mitmdump,
            [
                "--listen-host", "127.0.0.1", "--listen-port", "\(port)", "--set",
                "confdir=\(folder.path)", "--set",
                "ssl_verify_upstream_trusted_ca=\(authority.caFile)", "--mode",
                "reverse:https://localhost:\(host.port)",
            ], ready: .listening(port: port))
        let ca = folder.path("mitmproxy-ca-cert.pem")
        let both =
            try Data(contentsOf: URL(filePath: authority.caFile))
            + Data(contentsOf: URL(filePath: ca))
        var configuration = CurlEngine.Configuration()
        configuration.caFile = try folder.write(both, to: "both.pem")
        configuration.offersHTTP2 = overHTTP2
        let engine = try CurlEngine(configuration)

        func request(_ path: String, _ policy: PinPolicy?) -> EngineRequest {
            EngineRequest(get(port, path), policy: policy, timeout: .seconds(300))
        }
        // Without pins all looks well: it reads and could change everything.
        let (_, body) = try await engine.fetch(request("/plain?open", nil))
        #expect(body == Array("x".utf8))
        let theirs = try TestAuthority.pin(ofCertificate: ca)
        for pin in [authority.leaf.pin, authority.intermediate.pin, authority.root.pin] {
            let error = await engine.failure(request("/plain?refused", try pinned(pin)))
            #expect(error?.code == .pinMismatch)
            #expect(error?.message.contains(theirs) == true)
            #expect(error?.message.contains(pin) == true)
        }
        let report = try await engine.fetch(
            request("/plain?reported", try pinned(authority.root.pin, mode: .report)))
        #expect(report.response.verdict?.isMatch == false)
        // The same pins pass where nobody stands between.
        _ = try await engine.fetch(
            EngineRequest(
                get(host.port, "/plain?straight"), policy: try pinned(authority.root.pin),
                timeout: .seconds(300)))
        await engine.shutdown()
        #expect(!interceptor.stdout.contains("refused"))
        let requests = try await host.requests(count: 3)
        #expect(requests.count == 3 && !requests.contains { $0.contains("refused") })
        try await interceptor.stop()
    }
}

import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// The messages about chains that are not trusted: they name the certificate, and what is missing.
@Suite struct TrustMessageTests {
    private let folder: TemporaryDirectory

    /// A root, an intermediate that has ended, and leaves of it and of an intermediate that hasn't.
    init() async throws {
        folder = try TemporaryDirectory()
        let output = try await PythonPeer.run("expired-chain", [folder.path])
        try #require(output.exit == 0, "\(output.stderr)")
    }

    @Test(
        arguments: [
            (
                "leaf", "old",
                "the intermediate certificate (CN=old) expired on May  6 07:08:09 2024"
            ),
            ("past", "good", "the server's certificate (CN=past) expired on "),
            (
                "fine", nil,
                "the server sent no intermediate certificate, and the issuer of its own (CN=good)"
            ),
            ("fine", "old", "the issuer of the server's certificate (CN=good) was not sent"),
            ("fine", "good", nil),
        ] as [(String, String?, String?)])
    func namesTheCertificate(_ leaf: String, _ chain: String?, _ wanted: String?) async throws {
        let server = try await OpenSSLServer(
            .init(
                certificate: folder.path("\(leaf).pem"), key: folder.path("\(leaf).key"),
                chain: chain.map { folder.path("\($0).pem") }))
        let engine = try engine()
        let error = await engine.failure(
            EngineRequest(get(server.port), caFile: folder.path("root.pem")))
        #expect(error?.code == (wanted == nil ? nil : .tls))
        if let wanted {
            #expect(error?.message.contains(wanted) == true, "\(error?.message ?? "")")
        }
        await engine.shutdown()
    }
}

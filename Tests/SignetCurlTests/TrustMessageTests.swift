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
        let output = try await PythonPeer.run(
            """
            import datetime, sys
            from cryptography import x509
            from cryptography.hazmat.primitives import hashes, serialization as s
            from cryptography.hazmat.primitives.asymmetric import ec
            now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
            day = datetime.timedelta(days=1)
            def make(name, issuer, ca, end=now + 30 * day, start=now - 300 * day):
                key = ec.generate_private_key(ec.SECP256R1())
                subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
                by, signer = issuer or (subject, key)
                built = (x509.CertificateBuilder().subject_name(subject).issuer_name(by)
                    .public_key(key.public_key()).serial_number(x509.random_serial_number())
                    .not_valid_before(start).not_valid_after(end)
                    .add_extension(x509.BasicConstraints(ca, None), True))
                if not ca:
                    built = built.add_extension(
                        x509.SubjectAlternativeName([x509.DNSName('localhost')]), False)
                certificate = built.sign(signer, hashes.SHA256())
                file = sys.argv[1] + '/' + name
                open(file + '.pem', 'wb').write(certificate.public_bytes(s.Encoding.PEM))
                open(file + '.key', 'wb').write(key.private_bytes(
                    s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
                return subject, key
            root = make('root', None, True)
            old = make('old', root, True, end=datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.timezone.utc), start=datetime.datetime(2023, 1, 1))
            make('leaf', old, False)
            good = make('good', root, True)
            make('fine', good, False)
            make('past', good, False, end=now - day)
            """, [folder.path])
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

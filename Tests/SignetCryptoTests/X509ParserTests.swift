import SignetBase
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// Certificates and keys made by the openssl program, compared with its own description of them.
@Suite struct X509ParserTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: ["EC:P-256", "EC:P-384", "RSA:2048", "ED25519"])
    func everyKindOfFileGivesOnePin(_ algorithm: String) throws {
        try makeFiles(algorithm)
        let wanted = try pin(of: "public.der")
        for (name, kind) in [
            ("certificate.pem", X509Parser.Kind.certificate), ("certificate.der", .certificate),
            ("public.pem", .publicKey), ("public.der", .publicKey), ("request.pem", .request),
            ("request.der", .request), ("private.pem", .privateKey),
            ("private.der", .privateKey),
        ] {
            let found = try X509Parser.publicKeyDigests(of: folder.read(name))
            #expect(found.map(\.spkiSHA256) == [wanted], "\(name)")
            #expect(found.map(\.kind) == [kind], "\(name)")
            let isNamed = kind == .certificate || kind == .request
            #expect(found.map(\.subject) == [isNamed ? "O=Signet\\, tests,CN=leaf" : ""], "\(name)")
        }
    }

    @Test func olderFormsOfKeysAreRead() throws {
        try makeFiles("RSA:2048")
        let wanted = try pin(of: "public.der")
        try openssl(["rsa", "-in", "private.pem", "-traditional", "-out", "pkcs1.pem"])
        try openssl(["rsa", "-in", "private.pem", "-RSAPublicKey_out", "-out", "rsapub.pem"])
        try openssl(["x509", "-in", "certificate.pem", "-trustout", "-out", "trusted.pem"])
        for name in ["pkcs1.pem", "rsapub.pem", "trusted.pem"] {
            let found = try X509Parser.publicKeyDigests(of: folder.read(name))
            #expect(found.map(\.spkiSHA256) == [wanted], "\(name)")
        }
    }

    @Test func aBundleKeepsItsOrder() throws {
        try makeFiles("EC:P-256")
        let one = try folder.read("certificate.pem")
        let first = try pin(of: "public.der")
        try makeFiles("EC:P-384")
        let second = try pin(of: "public.der")
        let bundle =
            bytes("a line of words\n") + one + bytes("\n# and\r\n")
            + (try folder.read("private.pem")) + (try folder.read("certificate.pem"))
        #expect(try X509Parser.certificates(bundle).map(\.spkiSHA256) == [first, second])
        let kinds = try X509Parser.publicKeyDigests(of: bundle).map(\.kind)
        #expect(kinds == [.certificate, .privateKey, .certificate])
    }

    @Test func tellsTheHostsOfCertificatesAndRequests() throws {
        let names = "subjectAltName=DNS:a.example,DNS:*.b.example,IP:127.0.0.1,IP:::1,email:x@y.z"
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "named.key", "-out", "named.pem", "-subj", "/CN=other", "-days", "30",
            "-addext", names,
        ])
        try openssl([
            "req", "-new", "-key", "named.key", "-out", "named.csr", "-subj", "/CN=other",
            "-addext", names,
        ])
        for file in ["named.pem", "named.csr"] {
            #expect(
                try X509Parser.publicKeyDigests(of: folder.read(file)).map(\.hosts) == [
                    ["a.example", "*.b.example", "127.0.0.1", "[0:0:0:0:0:0:0:1]"]
                ])
        }
        try makeFiles("EC:P-256")
        for file in ["certificate.pem", "request.pem", "public.pem"] {
            #expect(try X509Parser.publicKeyDigests(of: folder.read(file)).map(\.hosts) == [[]])
        }
    }

    @Test func tellsTheDatesInUnixSeconds() throws {
        try makeFiles("EC:P-256")
        let facts = try #require(try X509Parser.certificates(folder.read("certificate.pem")).first)
        #expect(facts.notAfter - facts.notBefore == 30 * 86_400)
        let said = try openssl([
            "x509", "-in", "certificate.pem", "-noout", "-startdate", "-dateopt", "iso_8601",
        ])
        let text = UnixTime.rfc3339(facts.notBefore).replacing("T", with: " ")
        #expect(said.contains(text))
        #expect(facts.der == (try folder.read("certificate.der")))
    }

    @Test func aSubjectCannotSteerATerminal() throws {
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "evil.key", "-out", "evil.pem", "-utf8", "-subj",
            "/O=Sch\u{f6}n\u{202e}/CN=a\u{1b}[31m\nb\u{7f}",
        ])
        let subject = try #require(
            try X509Parser.certificates(folder.read("evil.pem")).first?.subject)
        #expect(subject.contains("Sch\u{f6}n\\u{202e}"))
        #expect(!subject.unicodeScalars.contains { $0.value < 32 || $0.value == 127 })
    }

    @Test func encryptedKeysAreRefusedWithoutAQuestion() throws {
        try makeFiles("RSA:2048")
        try openssl([
            "rsa", "-in", "private.pem", "-aes128", "-passout", "pass:x", "-out", "p8.pem",
        ])
        try openssl([
            "rsa", "-in", "private.pem", "-aes128", "-passout", "pass:x", "-traditional", "-out",
            "p1.pem",
        ])
        for name in ["p8.pem", "p1.pem"] {
            let message = failure { try X509Parser.publicKeyDigests(of: folder.read(name)) }
            #expect(message?.contains("encrypted") == true, "\(name)")
        }
    }

    @Test func refusesFilesWithoutAKey() throws {
        try makeFiles("EC:P-256")
        let pem = try folder.read("certificate.pem")
        let der = try folder.read("certificate.der")
        let broken: [[UInt8]] = [
            [], bytes("words"), [0], [0x30], [0x30, 0x03, 0x02, 0x01, 0x00], Array(der.dropLast()),
            der + [0], Array(der.dropFirst()), Array(pem.dropLast(30)),
            bytes("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"),
            bytes("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            bytes("-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"),
            bytes("-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n"),
            bytes("-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n"),
            pem + bytes("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            [UInt8](repeating: 0x30, count: 100_000), [UInt8](repeating: 0, count: 100_000),
        ]
        for (index, file) in broken.enumerated() {
            #expect(failure { try X509Parser.publicKeyDigests(of: file) } != nil, "\(index)")
        }
        #expect(failure { try X509Parser.certificates(folder.read("public.pem")) } != nil)
        #expect(failure { try X509Parser.certificates(folder.read("private.pem")) } != nil)
    }

    private func failure(_ work: () throws -> Any) -> String? {
        do {
            _ = try work()
            return nil
        } catch {
            return (error as? X509Failure)?.message
        }
    }

    private func makeFiles(_ algorithm: String) throws {
        let parts = algorithm.split(separator: ":").map(String.init)
        var arguments = ["genpkey", "-algorithm", parts[0], "-out", "private.pem"]
        if parts[0] == "EC" { arguments += ["-pkeyopt", "ec_paramgen_curve:\(parts[1])"] }
        if parts[0] == "RSA" { arguments += ["-pkeyopt", "rsa_keygen_bits:\(parts[1])"] }
        try openssl(arguments)
        let subject = ["-subj", "/CN=leaf/O=Signet, tests"]
        try openssl(
            ["req", "-x509", "-key", "private.pem", "-days", "30", "-out", "certificate.pem"]
                + subject)
        try openssl(["req", "-new", "-key", "private.pem", "-out", "request.pem"] + subject)
        try openssl(["pkey", "-in", "private.pem", "-pubout", "-out", "public.pem"])
        for (command, name) in [("x509", "certificate"), ("req", "request"), ("pkey", "private")] {
            try openssl([
                command, "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der",
            ])
        }
        try openssl([
            "pkey", "-pubin", "-in", "public.pem", "-pubout", "-outform", "DER", "-out",
            "public.der",
        ])
    }

    private func pin(of name: String) throws -> [UInt8] {
        let text = try openssl(["dgst", "-sha256", "-r", name])
        return bytes(ofHex: String(text.prefix(64)))
    }

    @discardableResult
    private func openssl(_ arguments: [String]) throws -> String {
        let outcome = try ChildProcess.runBlocking("openssl", arguments, directory: folder.url)
        guard outcome.exit == 0 else { throw TestSupportError(outcome.stderr) }
        return outcome.text
    }
}

import Foundation
import SignetCrypto
import SignetTransport
import TestSupport
import Testing

/// Client certificates: which forms are read, and what is refused.
@Suite struct ClientCertificateTests {
    private let folder: TemporaryDirectory
    private let client: TestAuthority.Certificate

    init() throws {
        folder = try TemporaryDirectory()
        client = try TestAuthority.trusted.get().client("ann")
        for (from, to) in [(client.chain, "chain"), (client.pem, "pem"), (client.key, "key")] {
            try folder.write(Data(contentsOf: URL(filePath: from)), to: to)
        }
        try folder.write(folder.read("chain") + folder.read("key"), to: "both")
        try folder.write("correct horse", to: "passphrase")
        try folder.write("wrong horse", to: "wrong")
    }

    private func source(_ name: String) -> KeySource { .file(folder.path(name)) }

    private func openssl(_ arguments: String...) throws {
        let output = try ChildProcess.runBlocking("openssl", arguments, directory: folder.url)
        try #require(output.exit == 0, "\(output.stderr)")
    }

    private func message(
        _ certificate: String, key: String? = nil, passphrase: String? = nil
    ) -> String {
        do throws(TransportError) {
            _ = try ClientCertificate(
                source(certificate), key: key.map(source), passphrase: passphrase.map(source))
            return "it was taken"
        } catch {
            #expect(error.code == .clientCertificate)
            return error.message
        }
    }

    @Test func readsEveryForm() throws {
        try openssl("x509", "-in", "pem", "-outform", "DER", "-out", "der")
        try openssl(
            "pkcs8", "-topk8", "-nocrypt", "-in", "key", "-outform", "DER", "-out", "key.der")
        try openssl(
            "pkcs8", "-topk8", "-in", "key", "-out", "encrypted", "-passout", "file:passphrase")
        try openssl(
            "pkcs12", "-export", "-in", "chain", "-inkey", "key", "-out", "p12", "-passout",
            "file:passphrase")
        try openssl(
            "pkcs12", "-export", "-in", "chain", "-inkey", "key", "-out", "open.p12", "-passout",
            "pass:")
        for (certificate, key, passphrase) in [
            ("both", nil, nil), ("chain", "key", nil), ("pem", "key", nil), ("der", "key.der", nil),
            ("chain", "encrypted", "passphrase"), ("p12", nil, "passphrase"),
            ("open.p12", nil, nil), ("both", nil, "passphrase"),
        ] as [(String, String?, String?)] {
            for name in [certificate, key].compactMap(\.self) {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: folder.path(name))
            }
            let read = try ClientCertificate(
                source(certificate), key: key.map(source), passphrase: passphrase.map(source))
            #expect(read.subject == "CN=ann", "\(certificate)")
            let count = try read.current().identity.certificates.count
            #expect(count == (["pem", "der"].contains(certificate) ? 1 : 2), "\(certificate)")
        }
    }

    @Test func saysWhatIsWrong() throws {
        let other = try TestAuthority.trusted.get().client("bob")
        try folder.write(Data(contentsOf: URL(filePath: other.key)), to: "other")
        try openssl(
            "pkcs8", "-topk8", "-in", "key", "-out", "encrypted", "-passout", "file:passphrase")
        try openssl(
            "pkcs12", "-export", "-in", "chain", "-inkey", "key", "-out", "p12", "-passout",
            "file:passphrase")
        for name in ["p12", "encrypted"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.path(name))
        }
        try folder.write("no certificate", to: "text")
        try folder.write([], to: "empty")
        try folder.write(
            Array(repeating: try folder.read("pem"), count: 17).joined() + folder.read("key"),
            to: "many")
        try folder.write(folder.read("pem").prefix(300) + folder.read("key"), to: "cut")
        let cases: [(String, String?, String?, String)] = [
            ("chain", nil, nil, "found no private key"), ("key", nil, nil, "found no certificate"),
            ("chain", "pem", nil, "found no private key in the key's source"),
            ("chain", "other", nil, "isn't the one of the first certificate"),
            ("chain", "encrypted", nil, "is encrypted, and no passphrase"),
            ("chain", "encrypted", "wrong", "doesn't open the private key"),
            ("p12", nil, "wrong", "doesn't open the private key"),
            ("p12", nil, nil, "no passphrase was given"),
            ("text", nil, nil, "found no certificate"),
            ("empty", nil, nil, "found no certificate"), ("many", nil, nil, "more than 16"),
            ("cut", nil, nil, "found no certificate"), ("missing", nil, nil, "missing"),
            ("chain", "missing", nil, "missing"), ("chain", "encrypted", "missing", "missing"),
        ]
        for (certificate, key, passphrase, expected) in cases {
            let found = message(certificate, key: key, passphrase: passphrase)
            #expect(found.contains(expected), "\(certificate) \(key ?? "-"): \(found)")
        }
    }

    /// As for every key file; a file of certificates alone may be read by all.
    @Test func othersMayNotReadTheKey() throws {
        for name in ["chain", "key", "both"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: folder.path(name))
        }
        #expect(message("both").contains("chmod 600"))
        #expect(message("chain", key: "key").contains("chmod 600"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.path("key"))
        #expect(message("chain", key: "key") == "it was taken")
    }

    @Test func keepsTheFormerOneWhileTheNewOneIsIncomplete() throws {
        let certificate = try ClientCertificate(source("chain"), key: source("key"))
        let first = try certificate.current().fingerprint
        let other = try TestAuthority.trusted.get().client("bob")
        try folder.write(Data(contentsOf: URL(filePath: other.chain)), to: "chain")
        #expect(try certificate.current().fingerprint == first)
        #expect(throws: TransportError.self) { try certificate.reload() }
        try folder.write(Data(contentsOf: URL(filePath: other.key)), to: "key")
        #expect(try certificate.current().fingerprint != first)
        #expect(certificate.subject == "CN=bob")
        try FileManager.default.removeItem(atPath: folder.path("key"))
        #expect(try certificate.current().identity.leaf.subject == "CN=bob")
    }

    @Test func printsNoKey() throws {
        let certificate = try ClientCertificate(source("both"))
        var text = "\(certificate)"
        dump(certificate, to: &text)
        #expect(text.contains("CN=ann") && !text.contains("PRIVATE") && text.count < 200)
    }
}

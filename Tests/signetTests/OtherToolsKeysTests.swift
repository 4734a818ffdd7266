import Foundation
import SignetJSON
import TestSupport
import Testing

/// Keys as other tools and libraries write them.
@Suite struct OtherToolsKeysTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func signet(
        _ arguments: String..., stdin: [UInt8] = []
    ) async throws -> ProcessOutput {
        try await SignetTool.run(arguments, stdin: stdin, directory: folder.url)
    }

    private func openssl(_ arguments: String...) async throws {
        let output = try await ChildProcess.run(
            "/usr/bin/env", ["openssl"] + arguments, directory: folder.url)
        #expect(output.exit == 0, "\(output.stderr)")
    }

    /// The keys of a file.
    private func keys(_ name: String = "keys") throws -> [JSONObject] {
        try JSONValue(parsing: folder.read(name))["keys"]?.array?.compactMap(\.object) ?? []
    }

    /// An RSA key with the OID id-RSASSA-PSS, such as that of RFC 9421, appendix B.1.2.
    @Test func importsAKeyForRSASSAPSS() async throws {
        try await openssl(
            "genpkey", "-quiet", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048",
            "-out", "private.pem")
        try await openssl("pkey", "-in", "private.pem", "-pubout", "-out", "public.pem")
        for name in ["private", "public"] {
            let imported = try await signet(
                "keys", "import", "\(name).pem", "--id", "a", "--out", name)
            #expect(imported.exit == 0, "\(imported.stderr)")
            #expect(try keys(name).first?["alg"] == "PS512")
        }
        let request = Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8)
        let signed = try await signet(
            "sign", "--scheme", "rfc9421", "--keys", "private", stdin: request)
        let verified = try await signet(
            "verify", "--scheme", "rfc9421", "--keys", "public", stdin: signed.stdout)
        #expect(verified.exit == 0, "\(signed.stderr) \(verified.stderr)")
        let other = try await signet(
            "keys", "import", "private.pem", "--id", "b", "--alg", "RS256", "--out", "other")
        #expect(other.exit == 2 && other.stderr.contains("expected PS512"), "\(other.stderr)")
    }

    @Test func refusesAPSSKeyForAnotherDigest() async throws {
        try await openssl(
            "genpkey", "-quiet", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048",
            "-pkeyopt", "rsa_pss_keygen_md:sha256", "-out", "private.pem")
        let refused = try await signet("keys", "import", "private.pem", "--id", "a", "--out", "k")
        #expect(refused.exit == 2 && refused.stderr.contains("restricted"), "\(refused.stderr)")
    }

    /// The private key of RFC 8410, section 10.3, in both versions. ring wrote the public key of the
    /// last one in an element of its own.
    @Test(arguments: [
        "302e020100300506032b657004220420\(secret)",
        "3072020101300506032b657004220420\(secret)"
            + "a01f301d060a2a864886f70d01090914310f0c0d437572646c6520436861697273812100\(point)",
        "3051020101300506032b657004220420\(secret)812100\(point)",
        "3053020101300506032b657004220420\(secret)a123032100\(point)",
    ])
    func readsPKCS8OfBothVersions(_ der: String) async throws {
        try folder.write(bytes(der), to: "key.der")
        let imported = try await signet(
            "keys", "import", "key.der", "--id", "a", "--type", "ed25519", "--encoding", "raw",
            "--out", "keys")
        #expect(imported.exit == 0, "\(imported.stderr)")
        let point = Data(bytes(Self.point)).base64EncodedString()
        #expect(
            try keys().first?["x"]?.string
                == point.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
        #expect(try keys().first?["alg"] == "Ed25519")
        #expect(try await signet("pins", "show", "key.der").exit == 0)
    }

    @Test(arguments: [
        // Another public key, a shorter one, and unused bits.
        "3051020101300506032b657004220420\(secret)812100\(secret)",
        "3050020101300506032b657004220420\(secret)812000\(point.dropLast(2))",
        "3051020101300506032b657004220420\(secret)812101\(point)",
        // Bytes after the public key and after the structure, and a wrong length.
        "3053020101300506032b657004220420\(secret)812100\(point)0500",
        "3051020101300506032b657004220420\(secret)812100\(point)00",
        "3052020101300506032b657004220420\(secret)812100\(point)",
        // Lengths that aren't DER, a version that isn't 2, and two public keys.
        "308151020101300506032b657004220420\(secret)812100\(point)",
        "3052020101300506032b657004220420\(secret)81812100\(point)",
        "3051020102300506032b657004220420\(secret)812100\(point)",
        "3074020101300506032b657004220420\(secret)812100\(point)812100\(point)",
        // A public key that says it is empty.
        "3031020101300506032b657004220420\(secret)810100",
    ])
    func refusesABrokenVersion2OfPKCS8(_ der: String) async throws {
        try folder.write(bytes(der), to: "key.der")
        for (command, output) in [
            ("keys", ["keys", "import", "key.der", "--id", "a", "--type", "ed25519", "-o", "keys"]),
            ("pins", ["pins", "show", "key.der"]),
        ] {
            let arguments = output + (command == "keys" ? ["--encoding", "raw"] : [])
            let refused = try await SignetTool.run(arguments, directory: folder.url)
            #expect(refused.exit == 2, "\(refused.text)")
        }
    }

    private static let secret = "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842"
    private static let point = "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    /// `alg` of RFC 9864, and the older one that it deprecates.
    @Test func readsBothAlgorithmsOfEd25519() async throws {
        let made = try await signet("keys", "new", "--type", "ed25519", "--id", "a", "--out", "new")
        #expect(made.exit == 0)
        var key = try #require(try keys("new").first)
        #expect(key["alg"] == "Ed25519")
        let request = Array("GET / HTTP/1.1\nHost: a.test\n\n".utf8)
        for algorithm in ["EdDSA", "Ed25519", "Ed448"] {
            key["alg"] = .string(algorithm)
            let set = JSONValue.object(["keys": [.object(key)]]).serialized()
            try folder.write(set, to: "keys")
            let signed = try await signet(
                "sign", "--scheme", "rfc9421", "--key-id", "a", "--keys", "keys", stdin: request)
            guard algorithm != "Ed448" else {
                #expect(signed.exit != 0)
                continue
            }
            let verified = try await signet(
                "verify", "--scheme", "rfc9421", "--keys", "new", stdin: signed.stdout)
            #expect(verified.exit == 0, "\(algorithm): \(signed.stderr) \(verified.stderr)")
        }
    }
}

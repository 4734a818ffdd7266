import Foundation
import TestSupport
import Testing

/// `Scripts/scan-binary`: the built program contains no key, and a key would be found.
@Suite struct BinaryScanTests {
    private func scan(_ arguments: [String]) async throws -> ProcessOutput {
        let script = PackageLayout.url("Scripts/scan-binary").path
        return try await ChildProcess.run("python3", ["-I", script] + arguments)
    }

    private static let secret = (0..<32).map { UInt8(truncatingIfNeeded: $0 * 73 + 41) }

    private static func base64url(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// A piece of the real program with bytes in its middle.
    private func plant(_ bytes: [UInt8], in folder: TemporaryDirectory, as name: String) throws
        -> String
    {
        let file = try FileHandle(forReadingFrom: SignetTool.url)
        let part = [UInt8](try file.read(upToCount: 100_000) ?? Data())
        return try folder.write(part + bytes + part, to: name)
    }

    /// A new key's private half in PEM and in DER, and its public half in DER.
    private func keys(_ algorithm: [String], in folder: TemporaryDirectory) async throws
        -> [[UInt8]]
    {
        let path = folder.path("key")
        let made = try await ChildProcess.run(
            "openssl", ["genpkey", "-out", path, "-algorithm"] + algorithm)
        let der = try await ChildProcess.run("openssl", ["pkey", "-in", path, "-outform", "DER"])
        let half = try await ChildProcess.run(
            "openssl", ["pkey", "-in", path, "-pubout", "-outform", "DER"])
        #expect([made.exit, der.exit, half.exit] == [0, 0, 0])
        return [try folder.read("key"), der.stdout, half.stdout]
    }

    @Test(.features("003-24")) func theProgramContainsNoKey() async throws {
        let output = try await scan([SignetTool.url.path])
        #expect(output.exit == 0 && output.text == "", "\(output.text) \(output.stderr)")
    }

    @Test(
        .features("003-24"),
        arguments: [
            ["ed25519"], ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
            ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        ])
    func aPrivateKeyIsFoundAndAPublicOneIsNot(_ algorithm: [String]) async throws {
        let folder = try TemporaryDirectory()
        let keys = try await keys(algorithm, in: folder)
        let names = ["PEM", "DER", "public"]
        let files = try zip(names, keys).map { try plant($1, in: folder, as: $0) }
        let output = try await scan(files)
        #expect(output.exit == 1)
        let lines = output.text.split(separator: "\n")
        #expect(lines.count == 2, "\(output.text)")
        for (name, file) in zip(names, files).prefix(2) {
            #expect(
                lines.contains { $0.hasPrefix("\(file): a private key in \(name) at byte 100") })
        }
    }

    @Test(.features("003-24")) func secretsInTextAreFound() async throws {
        let folder = try TemporaryDirectory()
        let text = Self.base64url(Self.secret)
        for (name, planted, kind) in [
            ("jwk", #"{"kty":"oct","k":"\#(text)"}"#, "a private member of a JWK"),
            ("escaped", #"{\"kty\":\"OKP\",\"d\": \"\#(text)\"}"#, "a private member of a JWK"),
            ("aws", "\0AKIA" + "R4ND0MQWZX7TYUVB\0", "a token of a known vendor"),
            ("github", " ghp" + "_\(text.replacing("-", with: "a"))", "a token of a known vendor"),
        ] {
            let output = try await scan([plant(Array(planted.utf8), in: folder, as: name)])
            #expect(output.exit == 1 && output.text.contains(kind), "\(name)")
            #expect(!output.text.contains(text.prefix(8)))
        }
    }

    /// The program's own keys are found in each form in which they could be compiled in.
    @Test func theKeysOfAFileAreFoundInEachForm() async throws {
        let folder = try TemporaryDirectory()
        let text = Self.base64url(Self.secret)
        let keys = try folder.write(
            #"{"keys":[{"kty":"oct","kid":"shop","k":"\#(text)"}]}"#, to: "keys")
        let digits = hex(Self.secret)
        let forms = [
            Self.secret, Array(text.utf8), Array(Data(Self.secret).base64EncodedString().utf8),
            Array(digits.utf8), Array(digits.uppercased().utf8),
        ]
        let files = try forms.enumerated().map { try plant($1, in: folder, as: "\($0)") }
        let output = try await scan(["--keys", keys] + files)
        #expect(output.exit == 1)
        for file in files {
            #expect(output.text.contains("\(file): the key 'shop' at byte 100000"))
        }
        #expect(try await scan(files).exit == 0)
    }

    @Test func textAboutKeysIsNoKey() async throws {
        let folder = try TemporaryDirectory()
        let text = """
            -----BEGIN \("PRIVATE") KEY-----
            found a key, expected "k":"BASE64URL" or "d":"…", such as AKIAIOSFODNN7EXAMPLE or ghp_
            """
        #expect(try await scan([plant(Array(text.utf8), in: folder, as: "text")]).exit == 0)
    }

    @Test func anUnscannableFileIsAnError() async throws {
        let folder = try TemporaryDirectory()
        let keys = try folder.write(#"["ZZZZZZZZ"]"#, to: "keys")
        for arguments in [[], [folder.path("none")], ["--keys"], ["--keys", keys, keys]] {
            let output = try await scan(arguments)
            #expect(output.exit == 2 && output.text == "")
            #expect(output.stderr.hasPrefix("scan-binary: ") && !output.stderr.contains("ZZZZ"))
        }
    }
}

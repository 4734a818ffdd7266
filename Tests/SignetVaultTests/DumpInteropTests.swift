import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetBase
@testable import SignetVault

/// Dumps that other implementations open or make: joserfc and jwcrypto (Python), `jose` (C), and
/// `TestSupport/Peers/dump.py`, which derives the keys itself.
@Suite struct DumpInteropTests {
    /// Names and values beyond ASCII, control characters, a number that others write in another
    /// way.
    static let values = """
        {"ключ":"é e\\u0301 \\u0000 \\" \\\\ 🙂","число":-12.50e3,"список":[1,[],{"a":null}]}
        """
    static let binding = VersionBinding(
        app: .init(id: "com.example.магазин", version: "1.4.2-β"),
        system: .init(id: "signet", version: "0.1.0"))

    func configuration(_ count: Int = 0) throws -> GlobalConfiguration {
        let text = String(repeating: "x", count: count)
        let values = try #require(JSONValue(parsing: Self.values).object)
        return try GlobalConfiguration(
            schema: schema(
                """
                {"ключ":{"type":"string"},"число":{"type":"number"},"список":{"type":"array"},
                 "text":{"type":"string"}}
                """),
            defaults: .values(values), launch: .values(["text": .string(text)]))
    }

    // MARK: - Ours, opened by others with the exported key

    @Test(arguments: ["joserfc-open", "jwcrypto-open"])
    func pythonLibrariesOpenOurDumps(_ opener: String) async throws {
        let keys = try keySet()
        for count in [0, 1, 40_000] {
            let dump = try configuration(count).seal(
                with: keys.key(id: "vault-2026"), for: Self.binding, now: noon)
            let jwk = JSONValue.object(try dump.exportKey(with: keys, now: noon))
            let output = try await PythonPeer.run(opener, [jwk.text], stdin: dump.bytes)
            #expect(output.exit == 0, "\(output.stderr)")
            let opened = try dump.open(with: keys, for: Self.binding, now: noon)
            #expect(output.text == JSONValue.object(opened.plaintext).text)
            let other = try shopDump().exportKey(with: keys, now: noon)
            let wrong = try await PythonPeer.run(
                opener, [JSONValue.object(other).text], stdin: dump.bytes)
            #expect(wrong.exit != 0 && wrong.stdout.isEmpty)
        }
    }

    /// `jose` is C (latchset), reads the key from a file and has no limit.
    @Test(.enabled(if: isInstalled("jose"), "the jose tool is not installed"))
    func theToolJoseOpensOurDumps() async throws {
        let keys = try keySet()
        let folder = try TemporaryDirectory()
        for count in [0, 1, 200_000] {
            let dump = try configuration(count).seal(
                with: keys.key(id: "vault-2026"), for: Self.binding, now: noon)
            try folder.write(dump.bytes, to: "dump")
            let jwk = JSONValue.object(try dump.exportKey(with: keys, now: noon))
            try folder.write(jwk.serialized(), to: "key", mode: 0o600)
            let arguments = ["jwe", "dec", "-i", "dump", "-k", "key"]
            let output = try await ChildProcess.run(
                "jose", arguments, directory: folder.url)
            #expect(output.exit == 0, "\(output.stderr)")
            let opened = try dump.open(with: keys, for: Self.binding, now: noon)
            #expect(output.text == JSONValue.object(opened.plaintext).text)
            let other = try shopDump().exportKey(with: keys, now: noon)
            try folder.write(JSONValue.object(other).serialized(), to: "key", mode: 0o600)
            let wrong = try await ChildProcess.run("jose", arguments, directory: folder.url)
            // It prints while it decrypts, before the tag is known to be wrong.
            #expect(wrong.exit != 0 && wrong.stdout != output.stdout)
        }
    }

    // MARK: - Both ways, from the root or the passphrase on

    /// The peer's response to an order.
    private func peer(_ order: JSONObject) async throws -> JSONValue {
        let output = try await PythonPeer.run(
            "dump", stdin: JSONValue.object(order).serialized())
        #expect(output.exit == 0, "\(output.stderr)")
        return try JSONValue(parsing: output.stdout)
    }

    /// The secret on both sides: our keys, and the order's member for the peer.
    private func secret(
        _ passphrase: String?
    ) throws -> (keys: VaultKeys, name: String, value: String) {
        guard let passphrase else {
            let root = try RandomBytes.bytes(32)
            return (
                .keys(try keySet("ключ e\u{301}", root: root)), "root",
                Base64.encode(root, as: .url)
            )
        }
        let bytes = Array(passphrase.utf8)
        return (.passphrase(Passphrase(copying: bytes.span)), "passphrase", passphrase)
    }

    private static let passphrases: [String?] = [nil, "correct horse", "pässwörd \u{1F511}\n "]

    @Test(arguments: passphrases)
    func aDumpMadeInPythonOpensInOurs(_ passphrase: String?) async throws {
        let secret = try secret(passphrase)
        let binding = Self.binding
        var order: JSONObject = [
            "do": "seal", "keyID": "ключ e\u{301}",
            "names": .array(
                [
                    binding.app.id, binding.app.version, binding.system.id, binding.system.version,
                ].map { .string($0) }),
            "values": ["ключ": "é e\u{301} \u{0} 🙂", "n": 7],
            "origins": ["ключ": "launch", "n": "fetched"],
        ]
        order[secret.name] = .string(secret.value)
        let text = try #require(try await peer(order)["dump"]?.string)
        let dump = try SealedDump(parsing: Array(text.utf8))
        #expect(dump.isPassphraseSealed == (passphrase != nil))
        let opened = try dump.open(with: secret.keys, for: binding, now: noon)
        #expect(JSONValue.object(opened.values) == order["values"])
        #expect(JSONValue.object(opened.origins) == order["origins"])
        #expect(sameBytes(opened.keyID, "ключ e\u{301}"))
        let other = try self.secret(passphrase.map { $0 + "x" })
        #expect(
            code { _ = try dump.open(with: other.keys, for: binding, now: noon) } == "wrong-key")
    }

    @Test(arguments: passphrases)
    func aDumpMadeByUsOpensInPython(_ passphrase: String?) async throws {
        let secret = try secret(passphrase)
        let folder = try TemporaryDirectory()
        let opened = try DumpFile(folder.path("dump")).seal(
            configuration(3), with: secret.keys, keyID: "ключ e\u{301}", for: Self.binding,
            now: noon)
        let dump = try folder.read("dump")
        let order: JSONObject = [
            "do": "open", "dump": .string(String(decoding: dump, as: UTF8.self)),
        ]
        var right = order
        right[secret.name] = .string(secret.value)
        let found = try await peer(right)
        #expect(found["plaintext"]?.string == JSONValue.object(opened.plaintext).text)
        var wrong = order
        wrong[secret.name] = .string(try self.secret(passphrase.map { $0 + "x" }).value)
        #expect(try await peer(wrong) == ["refused": "commitment"])
    }
}

/// Returns whether `PATH` contains a program.
private func isInstalled(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
}

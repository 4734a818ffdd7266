import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto
@testable import SignetSystem

/// The sources of a key or passphrase: files, descriptors and commands.
@Suite struct KeySourceTests {
    private static let set = #"{"keys":[{"kid":"a","kty":"oct","alg":"HS256","k":"c2VjcmV0"}]}"#
    private static let publicSet =
        #"{"keys":[{"kid":"a","kty":"OKP","crv":"Ed25519","#
        + #""x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}"#
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func readsAFileThatOnlyItsOwnerMayRead() throws {
        let path = try folder.write(Self.set, to: "keys")
        #expect(try KeySource(path).load().keys.map(\.id) == ["a"])
        #expect(try KeySource.file(path).load().source == path)
    }

    @Test(.features("003-22")) func demandsTheModeOnlyOfSecrets() throws {
        let secret = try folder.write(Self.set, to: "keys", mode: 0o640)
        let failure = error { try KeySource(secret).load() }
        #expect(failure?.code == .keyFilePermissions)
        #expect(failure?.message.contains("chmod 600 \(secret)") == true)
        let open = try folder.write(Self.publicSet, to: "public", mode: 0o644)
        #expect(try KeySource(open).load().keys.count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func demandsTheOwnerOnlyOfSecrets() throws {
        let theirs = try folder.write(Self.set, to: "keys")
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: theirs)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: "keys")
        for path in [theirs, folder.path("link")] {
            let failure = error { try KeySource(path).load() }
            #expect(failure?.code == .keyFilePermissions)
            #expect(failure?.message.contains("user 12345's") == true)
            #expect(failure?.message.contains("chown 0 \(path)") == true)
            #expect(error { try discard(KeySource(path).loadPassphrase()) } == failure)
        }
        let open = try folder.write(Self.publicSet, to: "public", mode: 0o644)
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: open)
        #expect(try KeySource(open).load().keys.count == 1)
        // Whoever opened it chose it.
        let file = try FileHandle(forReadingFrom: URL(filePath: theirs))
        defer { try? file.close() }
        #expect(try KeySource("fd:\(file.fileDescriptor)").load().keys.count == 1)
        // A key is never added to another user's set.
        #expect(throws: KeyError.self) {
            try KeyFile.add(.hmac, id: "new", to: theirs, append: true)
        }
        #expect(try folder.read("keys") == bytes(Self.set))
    }

    /// Checked for users other than the one who runs the tests.
    @Test(arguments: [
        (1000, 0o600, 1000, true), (0, 0o400, 1000, true), (0, 0o600, 0, true),
        (1001, 0o600, 1000, false), (1000, 0o600, 0, false), (1001, 0o600, 0, false),
        (1000, 0o640, 1000, false), (0, 0o644, 1000, false), (1000, 0o601, 1000, false),
    ])
    func judgesOwnerAndMode(_ owner: UInt32, _ mode: UInt32, _ user: UInt32, _ isGood: Bool) {
        let refusal = PrivateFile.refusal(of: "/a b/keys", owner: owner, mode: mode, user: user)
        #expect((refusal == nil) == isGood)
        guard let refusal else { return }
        let command = [0, user].contains(owner) ? "chmod 600" : "chown \(user)"
        #expect(refusal.message.hasSuffix("\(command) '/a b/keys'"), "\(refusal)")
    }

    @Test func refusesNonRegularFilesAtOnce() throws {
        let pipe = try ChildProcess.runBlocking("mkfifo", ["-m", "600", folder.path("pipe")])
        try #require(pipe.exit == 0)
        #expect(
            error { try KeySource(folder.path("pipe")).load() }?.message.contains("pipe") == true)
        #expect(code(folder.path) == .unreadableKeys)
        #expect(code("/dev/zero") == .unreadableKeys)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("loop"), withDestinationPath: "loop")
        #expect(code(folder.path("loop")) == .unreadableKeys)
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        #expect(code("/proc/self/fd/\(socket)") == .unreadableKeys)
    }

    @Test func refusesInvalidKeyFiles() throws {
        #expect(code(folder.path) == .unreadableKeys)
        #expect(code(folder.path("absent")) == .unreadableKeys)
        #expect(code("/dev/null") == .unreadableKeys)
        #expect(code(try folder.write("", to: "empty")) == .malformedKeys)
        let large = [UInt8](repeating: 0x20, count: KeySet.maximumByteCount + 1)
        #expect(code(try folder.write(large, to: "large")) == .unreadableKeys)
        #expect(code(try folder.write([0xff, 0xfe], to: "binary")) == .malformedKeys)
    }

    @Test func readsTheOutputOfACommand() throws {
        let path = try folder.write(Self.set, to: "keys")
        #expect(try KeySource("command:cat '\(path)'").load().keys.count == 1)
        #expect(try KeySource("command:cat; cat '\(path)'").load().keys.count == 1)
        let chatty = "i=0; while [ $i -lt 2000 ]; do echo x; i=$((i+1)); done; "
        #expect(code("command:\(chatty)") == .malformedKeys)
    }

    @Test(arguments: ["", "exit 3", "cat /nowhere 2>/dev/null", "kill -9 $$", "true", "yes"])
    func refusesACommandThatFails(_ line: String) {
        let failure = error { try KeySource("command:\(line)").load() }
        #expect(failure != nil)
        // The line may hold a secret.
        if !line.isEmpty { #expect(failure?.message.contains(line) == false) }
    }

    @Test(arguments: [
        "env:", "env:SIGNET_TEST_NO_SUCH_VARIABLE", "env:A=B", "fd:", "fd:x", "fd:-1", "fd:+1",
        "fd:2147483647",
        "fd:99999999999", "credential:", "credential:..", "credential:../keys", "credential:a/b",
    ])
    func refusesTheSource(_ text: String) {
        #expect(code(text) == .unreadableKeys)
    }

    @Test func readsADescriptorOnce() throws {
        let path = try folder.write(Self.set, to: "keys")
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        let source = KeySource("fd:\(file.fileDescriptor)")
        #expect(try source.load().keys.count == 1)
        #expect(error { try source.load() }?.message.contains("once") == true)
        let open = try folder.write(Self.set, to: "open", mode: 0o644)
        let second = try FileHandle(forReadingFrom: URL(filePath: open))
        defer { try? second.close() }
        #expect(code("fd:\(second.fileDescriptor)") == .keyFilePermissions)
    }

    @Test(arguments: [
        ("open sesame", "open sesame"), ("open sesame\n", "open sesame"),
        ("open sesame\n\n", "open sesame\n"), (" \n", " "), ("\r\n", "\r"),
    ])
    func dropsOneFinalNewlineOfAPassphrase(_ text: String, _ wanted: String) throws {
        let path = try folder.write(text, to: "passphrase")
        #expect(copy(try KeySource(path).loadPassphrase()) == bytes(wanted))
        #expect(copy(try KeySource("command:cat '\(path)'").loadPassphrase()) == bytes(wanted))
    }

    @Test func refusesAPassphraseThatIsEmptyOrOpen() throws {
        for text in ["", "\n"] {
            let path = try folder.write(text, to: "passphrase")
            #expect(error { try discard(KeySource(path).loadPassphrase()) } != nil)
        }
        let open = try folder.write("open sesame", to: "open", mode: 0o644)
        let failure = error { try discard(KeySource(open).loadPassphrase()) }
        #expect(failure?.code == .keyFilePermissions)
    }

    private func code(_ source: String) -> KeyError.Code? {
        error { try KeySource(source).load() }?.code
    }

    private func error(_ work: () throws -> Any) -> KeyError? {
        do {
            _ = try work()
            return nil
        } catch {
            return error as? KeyError
        }
    }
}

/// Making a key file and appending keys to it.
@Suite struct KeyFileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: CryptoKey.Kind.all)
    func makesAKeyThatLoads(_ kind: CryptoKey.Kind) throws {
        try KeyFile.add(kind, id: "new", to: folder.path("keys"), append: false)
        let key = try KeySource(folder.path("keys")).load().key(id: "new")
        #expect(key.kind == kind && key.isPrivate)
        let algorithms: [CryptoKey.Kind: String] = [
            .hmac: "HS256", .ed25519: "Ed25519", .x25519: "ECDH-ES+A256KW", .p256: "ES256",
            .p384: "ES384", .rsa: "PS512", .aes: "A256KW",
        ]
        #expect(key.algorithm == algorithms[kind])
        #expect(key.use == ([.vault, .x25519, .aes].contains(kind) ? "enc" : "sig"))
        #expect((key.publicHalf == nil) == [.hmac, .vault, .aes].contains(kind))
        for name in ["d", "p", "q", "dp", "dq", "qi", "k"] {
            #expect(key.publicHalf?[name] == nil)
        }
    }

    /// Each key is bound to the algorithm that was named, with a secret of its size.
    @Test(arguments: [
        (CryptoKey.Kind.aes, "A128KW", 16), (.aes, "A256KW", 32), (.aes, "A128GCM", 16),
        (.aes, "A256GCM", 32), (.hmac, "HS512", 32),
    ])
    func makesAKeyOfAnAlgorithm(
        _ kind: CryptoKey.Kind, _ algorithm: String, _ count: Int
    ) throws {
        try KeyFile.add(
            kind, id: "new", algorithm: algorithm, to: folder.path("keys"), append: false)
        let key = try KeySource(folder.path("keys")).load().key(id: "new")
        #expect(key.kind == kind && key.algorithm == algorithm && key.publicHalf == nil)
        #expect(try key.withSecret { $0.count } == count)
    }

    @Test(
        arguments: [
            (CryptoKey.Kind.aes, nil, "HS256"), (.aes, nil, "A192KW"), (.aes, nil, "dir"),
            (.aes, nil, "a256kw"), (.aes, "sig", nil), (.hmac, nil, "A256KW"), (.hmac, "enc", nil),
            (.vault, nil, "A256GCM"), (.ed25519, nil, "ES256"), (.p256, nil, "ECDH-ES"),
            (.p256, "enc", "ES256"), (.rsa, "enc", "PS512"), (.x25519, nil, "RSA-OAEP-256"),
        ] as [(CryptoKey.Kind, String?, String?)])
    func refusesAnAlgorithmOfAnotherKind(
        _ kind: CryptoKey.Kind, _ use: String?, _ algorithm: String?
    ) throws {
        let error = #expect(throws: KeyError.self) {
            try KeyFile.add(
                kind, id: "new", use: use, algorithm: algorithm, to: folder.path("keys"),
                append: true)
        }
        #expect(error?.code == .wrongKeyUse)
        #expect(error?.message.contains("of type \(kind)") == true, "\(error?.message ?? "")")
        #expect(try folder.contents().isEmpty)
    }

    @Test func appendsAndKeepsTheOtherKeys() throws {
        let old = #"{"note":"ours","keys":[{"kid":"old","kty":"oct","k":"AA","x-note":1e400}]}"#
        try folder.write(old, to: "keys")
        try KeyFile.add(.hmac, id: "new", to: folder.path("keys"), append: true)
        let value = try JSONValue(parsing: folder.read("keys"))
        #expect(value["note"]?.string == "ours")
        let keys = try #require(value["keys"]?.array)
        #expect(keys.count == 2 && keys[0]["x-note"]?.number?.text == "1e400")
        #expect(try KeySource(folder.path("keys")).load().keys.map(\.id) == ["old", "new"])
        #expect(try folder.contents() == ["keys"])
        try KeyFile.add(.hmac, id: "first", to: folder.path("other"), append: true)
        #expect(try folder.contents() == ["keys", "other"])
    }

    @Test func refusesAndLeavesTheFileAsItWas() throws {
        let old = #"{"keys":[{"kid":"old","kty":"oct","k":"AA"}]}"#
        let path = try folder.write(old, to: "keys")
        let open = try folder.write(old, to: "open", mode: 0o644)
        let broken = try folder.write("{", to: "broken")
        for (code, id, path, append) in [
            (KeyError.Code.fileExists, "new", path, false), (.keyExists, "old", path, true),
            (.invalidKeyID, "", path, true), (.invalidKeyID, "a\nb", path, true),
            (.keyFilePermissions, "new", open, true), (.malformedKeys, "new", broken, true),
            (.unwritableKeys, "new", folder.path("no/keys"), false),
            (.fileExists, "new", folder.path, false), (.unwritableKeys, "new", folder.path, true),
        ] {
            let found: KeyError.Code?
            do throws(KeyError) {
                try KeyFile.add(.hmac, id: id, to: path, append: append)
                found = nil
            } catch {
                found = error.code
            }
            #expect(found == code, "\(id) \(path)")
        }
        #expect(try folder.read("keys") == bytes(old) && folder.read("open") == bytes(old))
        #expect(try folder.contents() == ["broken", "keys", "open"])
    }

    @Test func appendersDoNotLoseEachOthersKeys() async throws {
        let path = folder.path("keys")
        try KeyFile.add(.hmac, id: "first", to: path, append: false)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { try? KeyFile.add(.hmac, id: "k\(number)", to: path, append: true) }
            }
        }
        #expect(try KeySource(path).load().keys.count == 9)
    }
}

import Foundation
import SignetCrypto
import Testing

@testable import SignetSigning

/// Signers whose key is outside the program, such as in a hardware module.
@Suite struct ExternalSignerTests {
    /// Stands for a KMS: it sees the base and gives a signature.
    private struct Vault: ExternalSigner {
        let keyID: String
        let algorithm: HTTPSignatureAlgorithm
        var change: @Sendable ([UInt8]) throws -> [UInt8] = { $0 }

        init(_ keyID: String, _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8] = { $0 })
            throws
        {
            self.keyID = keyID
            algorithm = try #require(HTTPSignatureAlgorithm(name: keyID))
            self.change = change
        }

        func sign(_ base: [UInt8]) async throws -> [UInt8] {
            try change(AlgorithmTests.keys.key(id: keyID).rfc9421SigningKey().sign(base))
        }
    }

    private struct Outage: Error {}

    private func signer(_ vault: Vault) throws -> MessageSigner {
        try MessageSigner(keyID: vault.keyID, algorithm: vault.algorithm)
    }

    private func verify(_ message: SignableMessage) throws -> VerifiedMessage {
        try Verifier(keys: AlgorithmTests.keys).verify(message, now: Sample.now)
    }

    @Test(arguments: AlgorithmTests.names)
    func signsAsAKeyInTheProgramDoes(_ name: String) async throws {
        let vault = try Vault(name)
        var message = try Sample.message()
        let result = try await signer(vault).sign(&message, with: vault, now: Sample.now)
        #expect(
            result.addedFields.map(\.name) == ["Content-Digest", "Signature-Input", "Signature"])
        #expect(try verify(message).keyID == name)
    }

    @Test func signsInTwoSteps() throws {
        let key = try AlgorithmTests.keys.key(id: "ed25519").rfc9421SigningKey()
        let signer = try MessageSigner(keyID: "ed25519", algorithm: .ed25519)
        var message = try Sample.message()
        let prepared = try signer.prepare(&message, now: Sample.now, nonce: "n")
        #expect(prepared.algorithm == .ed25519)
        #expect(prepared.keyID == "ed25519")
        #expect(prepared.parts.map(\.identifier).first == "@method")
        #expect(message.fields.last?.name == "Content-Digest")
        _ = try signer.apply(try key.sign(prepared.base), of: prepared, to: &message)
        #expect(try verify(message).nonce == "n")
        // A signer with a key of its own prepares the same.
        var other = try Sample.message()
        let own = try MessageSigner(scheme: .rfc9421, key: AlgorithmTests.keys.key(id: "ed25519"))
        #expect(try own.prepare(&other, now: Sample.now, nonce: "n") == prepared)
    }

    @Test(
        arguments: [("/rpc", "/rpd"), ("\"id\":1", "\"id\":2"), ("?tea=2", "")])
    func refusesAMessageThatChangedInBetween(_ old: String, _ new: String) throws {
        let signer = try MessageSigner(keyID: "ed25519", algorithm: .ed25519)
        var message = try Sample.message()
        let prepared = try signer.prepare(&message, now: Sample.now)
        var other = try message.replacing(old, with: new)
        let before = other
        let reason = code {
            _ = try signer.apply([UInt8](repeating: 1, count: 64), of: prepared, to: &other)
        }
        #expect(
            reason == (old.contains("id") ? "digest-mismatch" : "message-changed"))
        #expect(other == before)
    }

    @Test(arguments: AlgorithmTests.names)
    func refusesASignatureOfAnotherLength(_ name: String) throws {
        let algorithm = try #require(HTTPSignatureAlgorithm(name: name))
        let signer = try MessageSigner(keyID: name, algorithm: algorithm)
        var message = try Sample.message()
        let prepared = try signer.prepare(&message, now: Sample.now)
        for count in [0, 1, 31, 33, 63, 70, 95, 97, 255, 2049] {
            #expect(
                code {
                    _ = try signer.apply(
                        [UInt8](repeating: 0x30, count: count), of: prepared, to: &message)
                } == "invalid-signature")
        }
        #expect {
            _ = try signer.apply(
                [0x30] + [UInt8](repeating: 2, count: 69), of: prepared, to: &message)
        } throws: { "\($0)".contains("DER") }
    }

    /// The failures: another key, another algorithm, an outage of the key's service.
    @Test func leavesTheMessageUnchangedOnAFailure() async throws {
        var message = try Sample.message()
        let before = message
        let vault = try Vault("ed25519")
        for (id, name, wanted) in [
            ("another", "ed25519", "unknown-key"),
            ("ed25519", "ecdsa-p256-sha256", "algorithm-mismatch"),
        ] {
            let signer = try MessageSigner(
                keyID: id, algorithm: #require(HTTPSignatureAlgorithm(name: name)))
            await #expect {
                _ = try await signer.sign(&message, with: vault, now: Sample.now)
            } throws: { ($0 as? SigningError)?.code.name == wanted }
        }
        let out = try Vault("ed25519") { _ in throw Outage() }
        await #expect(throws: Outage.self) {
            _ = try await signer(out).sign(&message, with: out, now: Sample.now)
        }
        let short = try Vault("ed25519") { Array($0.dropLast()) }
        await #expect {
            _ = try await signer(short).sign(&message, with: short, now: Sample.now)
        } throws: { ($0 as? SigningError)?.code == .invalidSignature }
        #expect(message == before)
    }

    /// A salted HMAC needs its key in the program.
    @Test func refusesToSignWithoutAKey() throws {
        var message = try Sample.message()
        let signer = try MessageSigner(keyID: "ed25519", algorithm: .ed25519)
        #expect(code { _ = try signer.sign(&message, now: 1) } == "unsupported-option")
        let salted = try Sample.signer(.saltedHMAC)
        #expect(code { _ = try salted.prepare(&message, now: 1) } == "unsupported-option")
        #expect(try message == Sample.message())
        #expect(code { _ = try MessageSigner(keyID: "", algorithm: .ed25519) } == "invalid-value")
    }
}

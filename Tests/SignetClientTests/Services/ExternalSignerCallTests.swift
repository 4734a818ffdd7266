import Foundation
import HTTPTypes
import SignetClient
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetRPC
import SignetSigning
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

/// Services whose key is held elsewhere, such as in a hardware module.
@Suite struct ExternalSignerCallTests {
    /// Stands for a KMS: it sees signature bases alone.
    private final class Vault: ExternalSigner {
        let keyID: String
        let algorithm = HTTPSignatureAlgorithm.hmacSHA256
        private let seen = Mutex<[[UInt8]]>([])
        private let change: @Sendable ([UInt8]) async throws -> [UInt8]

        init(
            _ keyID: String = "kms",
            change: @escaping @Sendable ([UInt8]) async throws -> [UInt8] = { $0 }
        ) {
            self.keyID = keyID
            self.change = change
        }

        var asked: Int { seen.withLock { $0.count } }

        func sign(_ base: [UInt8]) async throws -> [UInt8] {
            seen.withLock { $0.append(base) }
            let key = try HMACKey(.sha256, key: Array(ExternalSignerCallTests.secret.utf8).span)
            return try await change(key.tag(of: base))
        }
    }

    private struct Outage: Error, CustomStringConvertible {
        var description: String { "ZZZZZZ" }
    }

    fileprivate static let secret = "0123456789abcdef0123456789abcdef"

    private static func keys(_ id: String) throws -> KeySet {
        let text = Base64.encode(Array(secret.utf8), as: .url)
        return try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","kid":"\#(id)","k":"\#(text)","alg":"HS256"}]}"#
                    .utf8), source: "test")
    }

    private static func system(
        _ engine: any HTTPEngine, _ signers: [any ExternalSigner], scheme: String = "rfc9421",
        keys: KeySet? = nil, values: JSONObject = [:]
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.externalSigners = signers
        options.clock.sleep = { _ in }
        var all: JSONObject = [
            "services.a.protocol": "rest", "services.a.signing.scheme": .string(scheme),
            "services.a.signing.key": "kms", "services.a.attempts": 3,
            "retry.statusCodes": [503],
        ]
        for (name, value) in values { all[name] = value }
        return try await NetworkSystem.start(
            Settings.configuration(all), keys: keys, options: options)
    }

    private static func put(
        _ system: NetworkSystem, body: HTTPRequestBody = HTTPRequestBody(Array("tea".utf8)),
        options: RequestOptions = RequestOptions()
    ) async -> ClientError? {
        do throws(ClientError) {
            _ = try await system.exchange(
                "a", method: .put, target: "/orders", fields: [:], body: body, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test func eachAttemptHasAFreshValidSignature() async throws {
        let engine = RecordingEngine(responses: [.init(status: 503), .init(body: "{}")])
        let vault = Vault()
        let system = try await Self.system(engine, [Vault("other"), vault])
        #expect(await Self.put(system) == nil)
        await system.shutdown()
        #expect(engine.count == 2 && vault.asked == 2)
        let verifier = try Verifier(keys: Self.keys("kms"))
        for request in engine.requests {
            let message = try SignableMessage(request: request.request, body: request.bytes)
            let now = Int64(Date().timeIntervalSince1970)
            #expect(try await verifier.verify(message, now: now).keyID == "kms")
        }
    }

    @Test func aStreamIsSignedByItsDigest() async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(Array("a file".utf8), to: "body")
        let engine = RecordingEngine()
        let system = try await Self.system(engine, [Vault()])
        let body = try HTTPRequestBody.file(path)
        #expect(await Self.put(system, body: body) == nil)
        await system.shutdown()
        let fields = engine.requests.first?.request.headerFields
        #expect(fields?[HTTPField.Name("Content-Digest")!]?.hasPrefix("sha-256=:") == true)
        #expect(fields?[HTTPField.Name("Signature")!] != nil)
    }

    @Test func aFailureSendsNothingAndIsNotRepeated() async throws {
        let engine = RecordingEngine()
        let vault = Vault { _ in throw Outage() }
        let system = try await Self.system(engine, [vault])
        let error = await Self.put(system)
        #expect(error?.code == .signerFailed && error?.kind == .local)
        #expect(error?.message == "the external signer threw Outage; nothing was sent")
        #expect(engine.count == 0 && vault.asked == 1)
        await system.shutdown()
    }

    @Test func aSignatureOfAnotherLengthSendsNothing() async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(engine, [Vault { Array($0.dropLast()) }])
        #expect(await Self.put(system)?.code == .invalidSignature)
        #expect(engine.count == 0)
        await system.shutdown()
    }

    /// The error of a signer that itself makes calls through a system is handed on.
    @Test func aSignersOwnClientErrorIsHandedOn() async throws {
        let engine = RecordingEngine()
        let vault = Vault { _ in throw ClientError(.tls, "the KMS") }
        let system = try await Self.system(engine, [vault])
        #expect(await Self.put(system)?.code == .tls)
        #expect(engine.count == 0)
        await system.shutdown()
    }

    @Test(arguments: ["deadline", "cancel", "shutdown"])
    func aCallThatWaitsForTheSignerEnds(_ end: String) async throws {
        let (gate, producer) = AsyncStream.makeStream(of: Void.self)
        let engine = RecordingEngine()
        let vault = Vault { signature in
            for await _ in gate {}
            return signature
        }
        let system = try await Self.system(engine, [vault])
        let options =
            end == "deadline" ? RequestOptions(deadline: .milliseconds(20)) : RequestOptions()
        let call = Task { await Self.put(system, options: options)?.code }
        if end != "deadline" { #expect(try await eventually { vault.asked == 1 }) }
        switch end {
        case "cancel": call.cancel()
        case "shutdown": await system.shutdown(gracePeriod: .zero)
        default: break
        }
        let wanted: [String: ClientError.Code] = [
            "deadline": .timeout, "cancel": .cancelled, "shutdown": .notRunning,
        ]
        #expect(await call.value == wanted[end])
        producer.finish()
        await system.shutdown()
        #expect(engine.count == 0)
    }

    @Test(arguments: ["salted-hmac-v1", "github"])
    func anotherSchemeDoesNotStart(_ scheme: String) async throws {
        let error = await #expect(throws: ClientError.self) {
            try await Self.system(RecordingEngine(), [Vault()], scheme: scheme)
        }
        #expect(error?.code == .unsupportedOption)
        #expect(error?.message.hasPrefix("service a: \(scheme)") == true)
    }

    @Test func anIDOfTwoKeysDoesNotStart() async throws {
        for (signers, keys) in [
            ([Vault(), Vault()], nil), ([Vault()], try Self.keys("kms")),
        ] as [([Vault], KeySet?)] {
            let error = await #expect(throws: ClientError.self) {
                try await Self.system(RecordingEngine(), signers, keys: keys)
            }
            #expect(error?.code == .invalidService)
        }
    }

    @Test func anUnknownKeyPreventsTheStart() async throws {
        let error = await #expect(throws: ClientError.self) {
            try await Self.system(RecordingEngine(), [Vault("other")])
        }
        #expect(error?.code == .invalidService)
        let unknown = await #expect(throws: ClientError.self) {
            try await Self.system(
                RecordingEngine(), [Vault("other")], keys: Self.keys("another"))
        }
        #expect(unknown?.code == .unknownKey)
    }
}

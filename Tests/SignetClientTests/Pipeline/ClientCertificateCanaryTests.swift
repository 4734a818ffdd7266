import Foundation
import Logging
import SignetBase
import SignetClient
import SignetCrypto
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Nothing that a program can show of a failing call with a client certificate holds the private
/// key or its passphrase.
@Suite struct ClientCertificateCanaryTests {
    private static let passphrase = "ZZZZZZ passphrase"

    private let authority: TestAuthority
    private let folder: TemporaryDirectory

    init() throws {
        authority = try TestAuthority.trusted.get()
        folder = try TemporaryDirectory()
    }

    /// The forms in which a secret could be shown.
    private struct Secrets {
        private var forms: [String] = []

        mutating func add(_ bytes: [UInt8]) {
            let hex = bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
            forms += [
                hex, hex.uppercased(), Base64.encode(bytes, as: .standard),
                bytes.prefix(6).map { "\($0)" }.joined(separator: ", "),
            ]
        }

        mutating func add(text: String) {
            forms.append(text)
            add(Array(text.utf8))
        }

        /// Adds each line of a PEM file's contents.
        mutating func add(pem: String) {
            forms += pem.split(separator: "\n").map(String.init).filter {
                $0.utf8.count > 20 && !$0.contains("CERTIFICATE")
            }
        }

        func found(in text: String) -> [String] { forms.filter { text.contains($0) } }
    }

    private final class Observer: CallObserver {
        private let shown = Mutex("")
        var text: String { shown.withLock { $0 } }

        func receive(_ event: CallEvent) {
            let text = ClientCertificateCanaryTests.texts(of: event)
            shown.withLock { $0 += text }
        }
    }

    private static func texts(of value: some Any) -> String {
        var text = "\(value)\n\(String(reflecting: value))\n"
        dump(value, to: &text)
        return text
    }

    private func read(_ file: String) throws -> String {
        try String(contentsOfFile: file, encoding: .utf8)
    }

    /// Encrypts a client's key, and notes every form of it and of its passphrase.
    private func lock(
        _ client: TestAuthority.Certificate, noting secrets: inout Secrets
    ) async throws -> String {
        let locked = folder.path("\(UUID().uuidString).key")
        try await folder.openssl(
            "pkey", "-in", client.key, "-aes256", "-passout", "pass:\(Self.passphrase)", "-out",
            locked)
        try await folder.openssl("pkey", "-in", client.key, "-outform", "DER", "-out", "key.der")
        // PKCS #8 of P-256: the private number (RFC 5915, section 3).
        let der = try folder.read("key.der")
        let start = try #require(der.firstRange(of: [0x02, 0x01, 0x01, 0x04, 0x20]))
        secrets.add(Array(der[start.upperBound...].prefix(32)))
        secrets.add(pem: try read(client.key))
        secrets.add(pem: try read(locked))
        secrets.add(text: Self.passphrase)
        return locked
    }

    private func certificate(
        _ client: TestAuthority.Certificate, key: String, passphrase: String = passphrase
    ) throws -> ClientCertificate {
        let path = try folder.write(passphrase, to: "passphrase-\(UUID().uuidString)", mode: 0o600)
        return try ClientCertificate(
            .file(client.chain), key: .file(key), passphrase: .file(path))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aFailingCallShowsNothingOfTheKey(_ version: String) async throws {
        let stranger = try TestAuthority.rogue.get().client("stranger")
        let ended = try authority.client("ended", to: "20210101000000Z")
        let server = try await OpenSSLServer(
            authority.identity,
            options: [
                version, "-Verify", "3", "-verify_return_error", "-CAfile", authority.root.pem,
            ])
        for (client, code) in [
            (stranger, ClientError.Code.tls), (ended, .clientCertificate),
        ] {
            var secrets = Secrets()
            let key = try await lock(client, noting: &secrets)
            let (log, observer, trace) = (RecordingLog(), Observer(), CallTrace())
            var service = ServiceConfiguration(
                baseURL: "https://localhost:\(server.port)", payloadProtocol: .rest, attempts: 2)
            service.clientCertificate = try certificate(client, key: key)
            var options = NetworkSystem.Options()
            options.caFile = authority.caFile
            options.runMode = .development
            options.logger = Logger(label: "canary", factory: { _ in log })
            options.observers = [observer]
            options.clock.sleep = { _ in }
            let system = try await NetworkSystem.start(
                services: ["a": service], policy: .allowingAll(), options: options)
            var call = RequestOptions()
            call.trace = trace
            call.clientCertificate = service.clientCertificate
            let response = await system.response(
                to: RESTCall(RESTRequest(.get, "/x"), on: "a"), options: call)
            let report = await system.selfCheck(hostTimeout: .seconds(300))
            await system.shutdown()
            #expect(response.result.failureCode == code)
            let record = try #require(trace.record)
            let shown = [
                "log": log.text, "events": observer.text, "response": Self.texts(of: response),
                "record": Self.texts(of: record) + Self.texts(of: record.counted),
                "service": Self.texts(of: service), "options": Self.texts(of: call),
                "certificate": Self.texts(of: try #require(service.clientCertificate)),
                "report": Self.texts(of: report),
            ]
            for (name, text) in shown {
                #expect(!text.isEmpty && secrets.found(in: text).isEmpty, "\(name): \(text)")
            }
            // The search finds what it looks for.
            let all = try read(client.key) + Self.passphrase
            #expect(secrets.found(in: all).count >= 3)
        }
    }

    /// Errors of certificates that can't be read at all.
    @Test func anUnreadableCertificateShowsNothing() async throws {
        let (ann, bob) = (try authority.client("ann"), try authority.client("bob"))
        var secrets = Secrets()
        let key = try await lock(ann, noting: &secrets)
        secrets.add(text: "ZZZZZZ wrong")
        secrets.add(pem: try read(bob.key))
        let half = String(try read(ann.key).prefix(150))
        let cut = try folder.write(half, to: "cut.key", mode: 0o600)
        let open = try folder.write(try read(ann.key), to: "open.key", mode: 0o644)
        let attempts: [() throws -> ClientCertificate] = [
            { try certificate(ann, key: key, passphrase: "ZZZZZZ wrong") },
            { try certificate(ann, key: key, passphrase: "") },
            { try ClientCertificate(.file(ann.chain), key: .file(key)) },
            { try ClientCertificate(.file(ann.chain), key: .file(bob.key)) },
            { try ClientCertificate(.file(ann.chain), key: .file(cut)) },
            { try ClientCertificate(.file(ann.chain), key: .file(open)) },
            { try ClientCertificate(.file(ann.key), key: .file(ann.key)) },
        ]
        for attempt in attempts {
            let error = #expect(throws: TransportError.self) { try attempt() }
            let found = try #require(error)
            let text = Self.texts(of: found)
            #expect(found.code == .clientCertificate && secrets.found(in: text).isEmpty, "\(text)")
        }
    }
}

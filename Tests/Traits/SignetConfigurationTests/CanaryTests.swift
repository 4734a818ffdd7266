import Configuration
import Foundation
import Logging
import SignetConfiguration
import SignetJSON
import SignetVault
import Synchronization
import SystemPackage
import Testing

/// Collects the reports of readers.
final class Reports: AccessReporter {
    private let collected = Mutex<[AccessEvent]>([])
    var events: [AccessEvent] { collected.withLock { $0 } }

    func report(_ event: AccessEvent) { collected.withLock { $0.append(event) } }
}

/// Collects the logged messages.
final class Lines: Sendable {
    private let collected = Mutex<[String]>([])
    var text: String { collected.withLock { $0.joined(separator: "\n") } }

    func append(_ line: String) { collected.withLock { $0.append(line) } }
}

struct LineHandler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.append("\(event.message) \(event.metadata ?? [:])")
    }
}

/// No secret is in the provider, its snapshots, a reader, or the reports and logs of readers.
@Suite struct CanaryTests {
    @Test func nothingPrintsASecret() async throws {
        let live = LiveConfiguration(try shopConfiguration())
        let provider = VaultProvider(live, name: "shop")
        let reports = Reports()
        let lines = Lines()
        var logger = Logger(label: "test", factory: { _ in LineHandler(lines: lines) })
        logger.logLevel = .trace
        let log = try TemporaryFile()
        let reader = ConfigReader(
            provider: provider,
            accessReporter: BroadcastingAccessReporter(upstreams: [
                reports, AccessLogger(logger: logger, level: .info),
                try FileAccessLogger(filePath: FilePath(log.path)),
            ]))
        let snapshot = provider.snapshot()

        for key in ["token", "orders.host", "orders.limit", "absent"] as [ConfigKey] {
            #expect(reader.string(forKey: key) != canary)
            #expect(reader.string(forKey: key, default: "fallback") != canary)
            #expect(reader.snapshot().string(forKey: key) != canary)
            _ = try? reader.requiredString(forKey: key)
            _ = try? await reader.fetchString(forKey: key)
            _ = reader.int(forKey: key)
            _ = reader.bytes(forKey: key)
            _ = reader.stringArray(forKey: key)
        }
        let types: [ConfigType] = [
            .string, .int, .double, .bool, .bytes, .stringArray, .intArray, .doubleArray,
            .boolArray, .byteChunkArray,
        ]
        var errors: [any Error] = []
        for type in types {
            let error = #expect(throws: VaultError.self) {
                try provider.value(forKey: "token", type: type)
            }
            #expect(error?.code == .notPublic)
            errors.append(try #require(error))
            #expect(throws: VaultError.self) { try snapshot.value(forKey: "token", type: type) }
        }

        let public_ = try provider.value(forKey: "orders.host", type: .string)
        #expect(public_.value?.isSecret == false)
        let events = reports.events
        #expect(events.count >= 32)
        let subjects: [Any] = [
            provider, snapshot, reader, reader.snapshot(), live, events, errors, [provider],
            ["p": snapshot], public_,
        ]
        for subject in subjects {
            let text = prints(subject)
            #expect(!text.contains("ZZZZZZ"), "\(Swift.type(of: subject))")
            #expect(!text.contains("90, 90, 90"), "\(Swift.type(of: subject))")
        }
        let written = try String(contentsOfFile: log.path, encoding: .utf8)
        for text in [lines.text, written] {
            #expect(text.contains("orders.example.com") && text.contains("token"))
            #expect(!text.contains("ZZZZZZ"))
        }
        #expect("\(provider)" == "VaultProvider[shop]")
        #expect(String(reflecting: provider) == "VaultProvider[shop]")
        #expect(provider.providerName == "VaultProvider[shop]")
        #expect(VaultProvider(live).providerName == "VaultProvider")
    }

    @Test func aReadersSecretValueIsNotLogged() throws {
        let reports = Reports()
        let reader = ConfigReader(
            provider: VaultProvider(try shopConfiguration()), accessReporter: reports)
        #expect(reader.string(forKey: "orders.host", isSecret: true) == "orders.example.com")
        let event = try #require(reports.events.first)
        #expect(try event.result.get()?.isSecret == true)
        #expect(try event.providerResults[0].result.get().value?.isSecret == true)
    }

    /// A provider that shares secrets marks them, so that the reports of readers leave them out.
    @Test func sharesSecretsOnlyAsSecrets() async throws {
        let live = LiveConfiguration(try shopConfiguration())
        let provider = VaultProvider(live, sharingSecrets: true)
        let lines = Lines()
        var logger = Logger(label: "test", factory: { _ in LineHandler(lines: lines) })
        logger.logLevel = .trace
        let reader = ConfigReader(
            provider: provider, accessReporter: AccessLogger(logger: logger, level: .info))
        let token = try reader.requiredString(forKey: "token")
        #expect(token.contains("ZZZZZZ"))
        #expect(reader.snapshot().string(forKey: "token") == token)
        #expect(try provider.value(forKey: ["token"], type: .string).value?.isSecret == true)
        #expect(
            try provider.value(forKey: ["orders", "host"], type: .string).value?.isSecret == false)
        #expect(throws: VaultError.self) { try provider.value(forKey: ["token"], type: .int) }
        #expect(!lines.text.contains("ZZZZZZ") && lines.text.contains("token"))
        var text = "\(provider)\(provider.snapshot())"
        dump(provider.snapshot(), to: &text)
        #expect(!text.contains("ZZZZZZ"))
    }
}

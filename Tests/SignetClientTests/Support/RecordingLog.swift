import Logging
import Synchronization
import Testing

/// Stores the logged messages.
final class RecordingLog: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    var logLevel: Logger.Level {
        get { .trace }
        set { _ = newValue }
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }

    func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}

/// Discards what systems without a logger of their own log, in all tests of the process.
///
/// The runner makes the traits of all tests, also of those that it leaves out, before it runs one.
private struct QuietLog: SuiteTrait {
    private static let isSet: Void = LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }

    init() { Self.isSet }
}

@Suite(QuietLog()) struct QuietLogTests {
    @Test func aTestPrintsNoLog() {
        #expect(Logger(label: "signet.client").handler is SwiftLogNoOpLogHandler)
    }
}

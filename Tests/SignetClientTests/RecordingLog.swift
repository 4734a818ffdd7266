import Logging
import Synchronization

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

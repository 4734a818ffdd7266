package import Logging
import Synchronization

/// Stores the logged messages.
package final class RecordingLog: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])
    private let level: Logger.Level

    package init(level: Logger.Level = .trace) { self.level = level }

    package var text: String { lines.withLock { $0.joined(separator: "\n") } }
    package var logLevel: Logger.Level {
        get { level }
        set { _ = newValue }
    }
    package var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    package subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }

    package func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}

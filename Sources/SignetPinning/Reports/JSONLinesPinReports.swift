import Dispatch
import SignetJSON
import SignetSystem

/// Writes pin reports to a file, one JSON object a line. Several processes can share the file.
///
/// The file is created with mode 0600. Each line is appended in one write under a lock, and removed
/// again if the disk is full. Before the file would exceed its size limit it is renamed to
/// `FILE.1`, which replaces an older `FILE.1`, and a new file is started.
public final class JSONLinesPinReports: PinReportSink {
    /// The file's path.
    public let path: String
    private let maximumSize: Int
    // Waiting for the file's lock blocks the thread, so it happens here and not in a task.
    private let queue = DispatchQueue(label: "signet.pin-reports")

    /// Creates a sink. The file is created with the first report.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - maximumSize: The largest size of the file and of `FILE.1` each, in bytes.
    public init(path: String, maximumSize: Int = 16 << 20) {
        self.path = path
        self.maximumSize = maximumSize
    }

    /// The path.
    public var name: String { path }

    /// Appends a report as a line.
    public func receive(_ report: PinReport) async throws(PinError) {
        let line = JSONValue.object(report.json).serialized() + [UInt8(ascii: "\n")]
        let result = await withCheckedContinuation { continuation in
            queue.async { [path, maximumSize] in
                continuation.resume(
                    returning: Result { () throws(FileFailure) in
                        try Self.append(line, to: path, limit: maximumSize)
                    })
            }
        }
        if case .failure(let error) = result { throw PinError(.reportFailed, error.message) }
    }

    private static func append(
        _ line: [UInt8], to path: String, limit: Int
    ) throws(FileFailure) {
        let deadline = ContinuousClock.now + .seconds(5)
        var file = try LockedFile(path: path, until: deadline)
        var size = try file.size()
        if size > 0, size + line.count > limit {
            try file.rename(to: path + ".1")
            file = try LockedFile(path: path, until: deadline)
            size = try file.size()
        }
        do throws(FileFailure) {
            try file.write(line, at: size)
        } catch {
            // Removes an incomplete line.
            try? file.write([], at: size)
            throw error
        }
    }
}

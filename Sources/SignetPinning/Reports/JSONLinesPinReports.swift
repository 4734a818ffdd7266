internal import Dispatch
internal import SignetCrypto
internal import SignetJSON

/// Pin reports in a file, one JSON object a line, which several processes may share.
///
/// The file is made with mode 0600; each line is appended in one write under a lock, and a line that did
/// not fit on the disk is taken back. When the file would grow beyond its limit it becomes `FILE.1`, in
/// the place of an older one, and a new file begins.
public final class JSONLinesPinReports: PinReportSink {
    /// The file's path.
    public let path: String
    private let maximumSize: Int
    // The file's lock blocks its thread; tasks' threads are not for that.
    private let queue = DispatchQueue(label: "signet.pin-reports")

    /// Names the file.
    ///
    /// - Parameters:
    ///   - path: It is made with the first report.
    ///   - maximumSize: In bytes, of the file and of `FILE.1` each.
    public init(path: String, maximumSize: Int = 16 << 20) {
        self.path = path
        self.maximumSize = maximumSize
    }

    /// The path.
    public var name: String { path }

    /// Appends a line.
    public func receive(_ report: PinReport) async throws(PinError) {
        let line = JSONValue.object(report.json).serialized() + [UInt8(ascii: "\n")]
        let result = await withCheckedContinuation { continuation in
            queue.async { [path, maximumSize] in
                do throws(FileFailure) {
                    try Self.append(line, to: path, limit: maximumSize)
                    continuation.resume(returning: Result<Void, FileFailure>.success(()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        do {
            try result.get()
        } catch {
            throw PinError(code: .reportFailed, message: error.message)
        }
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
            // Half a line would spoil the next one.
            try? file.write([], at: size)
            throw error
        }
    }
}

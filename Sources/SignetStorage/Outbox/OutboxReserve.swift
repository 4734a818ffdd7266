#if Storage
import SignetSystem

/// A file that keeps room on the disk for sending.
///
/// A batch is written down before it is sent and after it has arrived, and SQLite's log grows by
/// that. On a full disk the file is given up, so that batches leave. Until it is whole again no
/// record is added.
struct OutboxReserve: Sendable {
    /// The pages of 4 KiB after which the log is copied into the database.
    static let walPages = 128

    let name: String
    private let folder: StoreFolder
    /// Room for the log, for its copy, and for a batch as it is made and as it is removed.
    private let size: Int64

    init(_ name: String, in folder: StoreFolder, for rule: OutboxRule) {
        self.name = name
        self.folder = folder
        size = (1 << 20) + 4 * min(rule.batchBytes, rule.byteLimit)
    }

    /// Makes the file whole, or as large as it can be.
    ///
    /// - Parameter bytes: The bytes of the records that are to be added, which take room twice: in
    ///   the log, and in the database.
    /// - Returns: Whether it is whole.
    @discardableResult
    func fill(forAdding bytes: Int64 = 0) -> Bool {
        let whole = bytes > size / 4 ? size + 2 * bytes : size
        let held = folder.size(of: name)
        guard held < whole else { return true }
        // Other programs must not take the rest.
        for part in [whole, size, size / 2, size / 4, size / 8] where held < part {
            if (try? folder.allocate(name, bytes: part)) != nil { return part == whole }
        }
        return false
    }

    /// Gives the room to the database.
    ///
    /// - Returns: Whether there was any.
    func release() -> Bool {
        guard folder.size(of: name) > 0 else { return false }
        folder.remove(name)
        return true
    }

    /// Makes the file whole again after a batch has left, if that is possible.
    ///
    /// - Parameter isEmpty: Whether no record is left, so that the usual size will do.
    func refill(isEmpty: Bool) {
        if isEmpty, folder.size(of: name) > size { _ = release() }
        fill()
    }
}
#endif

#if Storage
import SignetSystem

/// The data that a program's network system keeps on disk, by kinds that are kept apart: removing
/// one leaves the others as they are.
///
/// ```swift
/// import SignetStorage
///
/// let data = try DataFolder("/var/lib/shop")
/// let store = try DiskCacheStore(folder: data.path(of: .cache))
/// try data.remove(.responses)
/// ```
public struct DataFolder: Sendable {
    /// A kind of data, which has a folder of its own.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Sealed values and the last good ones.
        case configuration
        /// Recorded requests, and the calls that they belong to.
        case requests
        /// Recorded responses.
        case responses
        /// Responses that a cache keeps.
        case cache
        /// Responses that were written by hand, as HAR.
        case mocks
        /// Recordings that are tests, as HAR.
        case tests
    }

    /// The path of the folder.
    public let path: String

    /// Opens a folder, or creates it with the mode 0700.
    ///
    /// - Throws: `StorageError` with `unusable-cache-folder` if it belongs to another user or
    ///   others may write to it.
    public init(_ path: String) throws(StorageError) {
        self.path = path
        do throws(FileFailure) {
            _ = try StoreFolder(path)
            for kind in Kind.allCases { _ = try StoreFolder("\(path)/\(kind.rawValue)") }
        } catch {
            throw StorageError(error)
        }
    }

    /// The folder of a kind, which exists.
    public func path(of kind: Kind) -> String { "\(path)/\(kind.rawValue)" }

    /// Returns the bytes that a kind takes.
    ///
    /// - Throws: `StorageError` if the folder can't be read.
    public func size(of kind: Kind) throws(StorageError) -> Int64 {
        try inFolder(of: kind) { folder throws(FileFailure) in
            try folder.names().reduce(0) { $0 + folder.size(of: $1) }
        }
    }

    /// Removes the files of a kind. A store that is open there must not be used any longer.
    ///
    /// - Throws: `StorageError` if the folder can't be read.
    public func remove(_ kind: Kind) throws(StorageError) {
        try inFolder(of: kind) { folder throws(FileFailure) in
            // The logs of SQLite first: they must not be applied to another database.
            for name in try folder.names().sorted(by: { $0.utf8.count > $1.utf8.count }) {
                folder.remove(name)
            }
        }
    }

    private func inFolder<Value>(
        of kind: Kind, _ work: (StoreFolder) throws(FileFailure) -> Value
    ) throws(StorageError) -> Value {
        do throws(FileFailure) {
            return try work(StoreFolder(path(of: kind)))
        } catch {
            throw StorageError(error)
        }
    }
}
#endif

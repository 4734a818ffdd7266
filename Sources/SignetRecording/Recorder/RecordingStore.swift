/// A place for recorded calls. A store of the program's gets them redacted.
///
/// `MemoryRecordingStore` is the default. A store keeps its limits by itself, and never holds a
/// call up.
public protocol RecordingStore: Sendable {
    /// The largest number of a mark that the store had when it was opened; a recorder's marks
    /// follow it. Defaults to 0.
    var lastMark: Int { get }

    /// Adds a call that has ended. The call waits for it, so it must not block.
    func add(_ call: RecordedCall)

    /// Returns all calls that were added before.
    ///
    /// - Throws: `RecordingError` if they can't be read.
    func recording() async throws(RecordingError) -> Recording

    /// Removes all calls.
    ///
    /// - Throws: `RecordingError` if they can't be removed.
    func removeAll() async throws(RecordingError)
}

extension RecordingStore {
    /// 0: a store without calls of earlier processes.
    public var lastMark: Int { 0 }
}

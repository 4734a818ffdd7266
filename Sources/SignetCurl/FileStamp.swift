import CSignetCurl

/// Identifies a version of a CA file without reading it: two stamps differ if the file has changed.
///
/// All missing files have the same stamp.
struct FileStamp: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64
    private let changed: Int64

    /// Creates the stamp of a file; `nil` is the file that libcurl was built with.
    init(caFile: String?) {
        let stamp = unsafe signet_stamp_ca_file(caFile)
        device = stamp.device
        inode = stamp.inode
        size = stamp.size
        modified = stamp.modified
        changed = stamp.changed
    }
}

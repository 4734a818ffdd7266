internal import CSignetCurl

/// Tells one version of a CA file from another without reading it.
///
/// All files that are missing are equal.
struct FileStamp: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64
    private let changed: Int64

    /// Looks at a file; nil is the one that libcurl was built with.
    init(caFile: String?) {
        let stamp = unsafe signet_stamp_ca_file(caFile)
        device = stamp.device
        inode = stamp.inode
        size = stamp.size
        modified = stamp.modified
        changed = stamp.changed
    }
}

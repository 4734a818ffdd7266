import Glibc

/// Identifies a version of a file without reading it: two differ if the file has changed.
package struct FileVersion: Sendable, Hashable {
    private let numbers: [Int]

    /// The version of the file at a path, links followed; nil if it's missing.
    package init?(_ path: String) {
        var status = Glibc.stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(bitPattern: UInt(status.st_dev)), Int(bitPattern: UInt(status.st_ino)),
            Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}

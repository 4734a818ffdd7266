#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What lies in a folder beside a file.
package enum Folder {
    /// The most names that are looked at.
    private static let limit = 10_000

    /// The first bytes of each file that lies beside another, in no order. Folders, links, what
    /// cannot be read and the temporary files of killed writers are left out.
    ///
    /// - Parameters:
    ///   - path: The file beside which is looked; itself left out, under other names too.
    ///   - count: How many bytes of each.
    /// - Throws: `FileFailure` where the folder cannot be read, or holds more than 10 000 names.
    package static func beginnings(
        beside path: String, count: Int
    ) throws(FileFailure) -> [(name: String, bytes: [UInt8])] {
        let folder = try Descriptor(
            opening: PrivateFile.split(path).folder, O_RDONLY | O_DIRECTORY)
        var itself = stat()
        let isThere = unsafe stat(path, &itself) == 0
        var found: [(name: String, bytes: [UInt8])] = []
        for name in try names(in: folder, path) where !isTemporary(name) {
            guard
                let file = try? Descriptor(
                    at: folder.number, name,
                    flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: 0, shown: name),
                let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG,
                !isThere || status.st_ino != itself.st_ino || status.st_dev != itself.st_dev
            else { continue }
            var bytes = [UInt8](repeating: 0, count: count)
            let taken = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe pread(file.number, bytes.baseAddress, bytes.count, 0)
            }
            guard taken >= 0 else { continue }
            found.append((name, Array(bytes[..<taken])))
        }
        return found
    }

    private static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(".") && name.contains(".signet-") && name.hasSuffix(".tmp")
    }

    private static func names(
        in folder: borrowing Descriptor, _ path: String
    ) throws(FileFailure) -> [String] {
        // The stream closes its descriptor, so it gets one of its own.
        let copy = unsafe openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            let failure = FileFailure(path: path, operation: "look beside", errno: errno)
            if copy >= 0 { _ = close(copy) }
            throw failure
        }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name == "." || name == ".." { continue }
            names.append(name)
            guard names.count <= limit else {
                throw FileFailure(
                    path: path, operation: "look beside",
                    reason: "its folder holds more than \(limit) names", kind: .tooLarge)
            }
        }
        return names
    }
}

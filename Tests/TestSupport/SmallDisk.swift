import Foundation
import Glibc

/// A file system in memory of a fixed size, which only root can mount.
package final class SmallDisk: Sendable {
    /// The folder that shows it.
    package let path: String

    /// Whether this process can mount one.
    package static let isAvailable: Bool = {
        guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
        return (try? SmallDisk(at: directory.path("disk"), size: "64k")) != nil
    }()

    /// Mounts a disk at a new folder.
    ///
    /// - Parameter size: Its size as `mount` takes it, such as `2m`.
    package init(at path: String, size: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let output = try ChildProcess.runBlocking(
            "mount", ["-t", "tmpfs", "-o", "size=\(size),mode=0700", "signet-tests", path])
        guard output.exit == 0 else { throw TestSupportError(output.stderr) }
        self.path = path
    }

    deinit { _ = try? ChildProcess.runBlocking("umount", ["-l", path]) }

    /// Writes a file until no block is free.
    package func fill() throws {
        let output = try ChildProcess.runBlocking(
            "dd", ["if=/dev/zero", "of=\(path)/filler", "bs=4k", "oflag=append", "conv=notrunc"])
        guard output.exit != 0 else { throw TestSupportError("the disk isn't full") }
    }

    /// Removes the file that fills the disk.
    package func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(path)/filler") }
}

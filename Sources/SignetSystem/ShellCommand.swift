internal import CSignetSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A line that the operator gave, run by `sh`.
package enum ShellCommand {
    /// The words that stand for the line in errors: the line itself may hold a secret.
    static let shownAs = "the command"

    /// Runs the line and takes what it prints; it has nothing to read, and its errors go to ours.
    ///
    /// - Parameters:
    ///   - line: Given to `sh -c` as it stands.
    ///   - limit: A command that prints more is stopped.
    /// - Returns: What it printed.
    /// - Throws: `FileFailure` where it could not run, printed too much, or ended with a status that
    ///   is not 0.
    package static func output(of line: String, limit: Int) throws(FileFailure) -> [UInt8] {
        guard !line.isEmpty, !line.utf8.contains(0) else {
            throw failure("it is empty")
        }
        let running = try Running(line)
        do throws(FileFailure) {
            var bytes = try running.output.readAll(limit: limit)
            let status = signet_wait(running.child)
            guard status == 0 else {
                wipe(&bytes)
                throw failure(status < 0 ? "its end is unknown" : "it ended with status \(status)")
            }
            return bytes
        } catch {
            if error.kind == .tooLarge {
                _ = kill(running.child, SIGKILL)
                _ = signet_wait(running.child)
            }
            throw error
        }
    }

    /// A child and the reading end of its output.
    private struct Running: ~Copyable {
        let output: Descriptor
        let child: pid_t

        init(_ line: String) throws(FileFailure) {
            var ends: (reading: Int32, writing: Int32) = (-1, -1)
            guard unsafe signet_pipe(&ends.reading, &ends.writing) == 1 else {
                throw FileFailure(path: shownAs, operation: "run", errno: errno)
            }
            let reading = Descriptor(adopting: ends.reading, path: shownAs)
            // Closed at the end of this scope, so that the child's is the only one.
            let writing = Descriptor(adopting: ends.writing, path: shownAs)
            var child: pid_t = 0
            let error = unsafe signet_spawn_shell(line, writing.number, &child)
            guard error == 0 else {
                throw FileFailure(path: shownAs, operation: "run", errno: error)
            }
            self.output = reading
            self.child = child
        }
    }

    private static func failure(_ reason: String) -> FileFailure {
        FileFailure(path: shownAs, operation: "run", reason: reason, kind: .system)
    }
}

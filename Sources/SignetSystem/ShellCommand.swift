import CSignetSystem
import Glibc

/// Runs the operator's command lines with `sh`.
package enum ShellCommand {
    /// The name of the command in errors, because the line may contain a secret.
    static let shownAs = "the command"

    /// Runs a command line and returns its standard output. The command's standard input is empty,
    /// and it shares this process's standard error.
    ///
    /// - Parameters:
    ///   - line: The argument of `sh -c`.
    ///   - limit: The maximum number of bytes. A command that prints more is killed.
    /// - Throws: `FileFailure` if the command cannot run, prints too much, or ends with a status
    ///   other than 0.
    package static func output(of line: String, limit: Int) throws(FileFailure) -> [UInt8] {
        guard !line.isEmpty, !line.utf8.contains(0) else {
            throw failure("it is empty or contains a zero byte")
        }
        let running = try Running(line)
        do throws(FileFailure) {
            var bytes = try running.output.readAll(limit: limit)
            let status = signet_wait(running.child)
            guard status == 0 else {
                wipe(&bytes)
                throw failure(
                    status < 0 ? "its exit status is unknown" : "it ended with status \(status)")
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

    /// Returns a text as one word of `sh`, in single quotes, between which nothing has a meaning.
    package static func word(_ text: String) -> String {
        // Bytes: a quote before a combining mark is a part of another character.
        let parts = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + parts.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }

    /// A child process and the reading end of its output pipe.
    private struct Running: ~Copyable {
        let output: Descriptor
        let child: pid_t

        init(_ line: String) throws(FileFailure) {
            var ends: (reading: Int32, writing: Int32) = (-1, -1)
            guard unsafe signet_pipe(&ends.reading, &ends.writing) == 1 else {
                throw FileFailure(path: shownAs, operation: "run", errno: errno)
            }
            let reading = Descriptor(adopting: ends.reading, path: shownAs)
            // Closed when this scope ends, so that only the child has the writing end.
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

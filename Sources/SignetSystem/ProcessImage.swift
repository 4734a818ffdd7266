import CSignetSystem
import Glibc

/// The program that the process runs.
package enum ProcessImage {
    /// The reason that another program cannot run.
    package struct Failure: Error, Sendable {
        /// Whether no file has the program's name.
        package let isNotFound: Bool
        /// The system's message.
        package let reason: String
    }

    /// Runs another program in the place of this one (`execve`), found in `PATH` as `execvp` does.
    ///
    /// The program gets the process id, the open descriptors except those of this package, the
    /// signals' actions, the limits and the working directory that this process was started with.
    /// Its arguments are the last ones of this process, byte for byte, even if they aren't UTF-8.
    ///
    /// - Parameters:
    ///   - count: The number of arguments, at least 1; the first one is the program.
    ///   - variables: Variables of the new environment. They replace those of the same name.
    ///   - names: Variables of this process that the program doesn't get.
    /// - Returns: The failure. Doesn't return if the program runs.
    package static func replace(
        lastArguments count: Int, adding variables: [(name: String, value: String)],
        removing names: [String]
    ) -> Failure {
        let first = Int(CommandLine.argc) - count
        guard count > 0, first > 0 else {
            return Failure(isNotFound: true, reason: "the program's name is missing")
        }
        let added = variables.map { "\($0.name)=\($0.value)" }
        StandardStreams.closeReservedDescriptorsOnExecute()
        let error = unsafe withCStrings(added) { added in
            unsafe withCStrings(names) { removed in
                unsafe signet_execute(CommandLine.unsafeArgv + first, added, removed)
            }
        }
        return Failure(
            isNotFound: error == ENOENT || error == ENOTDIR,
            reason: unsafe String(cString: strerror(error)))
    }

    /// Makes a file in memory that the program which replaces this one inherits. It is sealed
    /// against changes, and only this user can open it. Its memory may be swapped.
    ///
    /// - Returns: The file's path, `/proc/PID/fd/N`, which is valid as long as the program runs.
    package static func inheritedFile(_ bytes: Span<UInt8>) throws(FileFailure) -> String {
        let number = unsafe bytes.withUnsafeBytes { bytes in
            unsafe signet_sealed_file(bytes.baseAddress, bytes.count)
        }
        guard number >= 0 else {
            throw FileFailure(path: "a file in memory", operation: "write", errno: errno)
        }
        return "/proc/\(getpid())/fd/\(number)"
    }
}

/// Calls `body` with texts as a C array that ends with a null pointer.
private func withCStrings<Result>(
    _ texts: [String], body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = unsafe texts.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    let pointers = unsafe copies.map { unsafe UnsafePointer($0) } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
}

import CSignetSystem
import Glibc
import Synchronization

/// The process's standard streams. A closed pipe or a full disk is an error.
package enum StandardStreams {
    /// An output stream of the process.
    package enum Output: Int32, Sendable {
        case standardOutput = 1
        case standardError = 2
    }

    /// Makes a write to a closed pipe fail with an error instead of ending the process.
    package static func ignoreBrokenPipes() {
        _ = signet_ignore_broken_pipes()
    }

    /// Opens `/dev/null` as descriptor 0, 1 or 2 if the process was started without it.
    ///
    /// Otherwise the next opened file or socket would get the number, and output for the user would
    /// be written into it. Reads and writes still fail, as they did before.
    package static func reserveStandardDescriptors() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 && errno == EBADF {
            let opened = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
            if opened == number { reserved.withLock { $0.append(number) } }
        }
    }

    /// The standard descriptors that the process was started without.
    private static let reserved = Mutex<[Int32]>([])

    /// Marks the reserved descriptors close-on-exec, so that the next program finds them closed, as
    /// this one did.
    static func closeReservedDescriptorsOnExecute() {
        for number in reserved.withLock(\.self) { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    }

    /// Returns whether the process can now open `count` more descriptors.
    package static func areFree(descriptors count: Int) -> Bool {
        let probes = (0..<count).map { _ in fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) }
        for probe in probes where probe >= 0 { _ = close(probe) }
        return probes.allSatisfy { $0 >= 0 }
    }

    /// Returns whether an output is a terminal.
    package static func isTerminal(_ output: Output) -> Bool {
        isatty(output.rawValue) == 1
    }

    /// Whether standard error and standard input are terminals.
    package static var isInteractive: Bool {
        isTerminal(.standardError) && isatty(STDIN_FILENO) == 1
    }

    /// Writes all bytes of an array.
    ///
    /// - Returns: nil, or the system's message if an error stopped it.
    package static func write(_ bytes: [UInt8], to output: Output) -> String? {
        write(bytes.span, to: output)
    }

    /// Writes all bytes.
    ///
    /// - Returns: nil, or the system's message if an error stopped it.
    package static func write(_ bytes: Span<UInt8>, to output: Output) -> String? {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    output.rawValue, buffer.baseAddress! + written, buffer.count - written)
            }
            if count > 0 {
                written += count
            } else if count < 0 && errno == EAGAIN {
                var state = pollfd(fd: output.rawValue, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&state, 1, -1)
            } else if errno != EINTR {
                return unsafe String(cString: strerror(errno))
            }
        }
        return nil
    }
}

internal import CSignetOpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Writing to the process's own output, where a closed pipe or a full disk is an error.
package enum StandardStreams {
    /// An output of the process.
    package enum Output: Int32, Sendable {
        case standardOutput = 1
        case standardError = 2
    }

    /// Makes a write to a closed pipe fail with an error, where it would kill the process.
    package static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Takes the numbers 0, 1 and 2 where the process was started without them.
    ///
    /// The next file or socket that is opened would get the number, and what is meant for a person would
    /// be written into it. What stands there instead cannot be written to, or read from, as before.
    package static func reserveStandardDescriptors() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 && errno == EBADF {
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Tells whether the process may open so many files, sockets and the like more at this moment.
    package static func areFree(descriptors count: Int) -> Bool {
        let probes = (0..<count).map { _ in fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) }
        for probe in probes where probe >= 0 { _ = close(probe) }
        return probes.allSatisfy { $0 >= 0 }
    }

    /// Tells whether a person reads the output on a terminal.
    package static func isTerminal(_ output: Output) -> Bool {
        isatty(output.rawValue) == 1
    }

    /// Tells whether a person reads standard error on a terminal and answers on another or the same.
    package static var isInteractive: Bool {
        isTerminal(.standardError) && isatty(STDIN_FILENO) == 1
    }

    /// Writes all bytes, or says which error stopped it.
    ///
    /// - Returns: nil when every byte was taken, else the system's words for what went wrong.
    package static func write(_ bytes: [UInt8], to output: Output) -> String? {
        write(bytes.span, to: output)
    }

    /// Writes all bytes, or says which error stopped it.
    ///
    /// - Returns: nil when every byte was taken, else the system's words for what went wrong.
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

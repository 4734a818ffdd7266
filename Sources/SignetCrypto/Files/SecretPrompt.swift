internal import CSignetOpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Asks for a secret on the terminal without showing it.
package enum SecretPrompt {
    /// The maximum number of bytes in a line.
    private static let limit = 1024

    /// Reads one line from the controlling terminal without echo, even if standard input and output
    /// are redirected. Restores the terminal's settings, even if Ctrl-C or another signal ends the
    /// process.
    ///
    /// - Parameter question: Printed unchanged.
    /// - Returns: The line without its newline, one byte or more.
    /// - Throws: `KeyError` with `noTerminal`, or with `unreadable` if the line is empty or has
    ///   more than 1024 bytes.
    package static func ask(_ question: String) throws(KeyError) -> SecretBytes {
        var count = 0
        var status = Int32(CSIGNET_ASK_FAILED)
        var reason = ""
        let line = SecretBytes(count: limit) { target in
            status = unsafe target.withUnsafeMutableBytes { target in
                unsafe csignet_ask(question, target.baseAddress, target.count, &count)
            }
            reason = unsafe String(cString: strerror(errno))
        }
        switch status {
        case Int32(CSIGNET_ASK_DONE) where count > 0:
            return SecretBytes(copying: line.bytes.extracting(first: count))
        case Int32(CSIGNET_ASK_DONE), Int32(CSIGNET_ASK_ENDED): reason = "nothing was typed"
        case Int32(CSIGNET_ASK_NO_TERMINAL):
            throw KeyError(
                code: .noTerminal, message: "found no terminal on which to ask for a secret")
        case Int32(CSIGNET_ASK_TOO_LONG): reason = "more than \(limit) bytes were typed"
        case Int32(CSIGNET_ASK_SIGNALLED): reason = "a signal was received"
        default: break
        }
        throw KeyError(code: .unreadable, message: "cannot read from the terminal: \(reason)")
    }
}

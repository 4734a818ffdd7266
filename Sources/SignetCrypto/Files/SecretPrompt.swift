internal import CSignetOpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A secret that a person types on the terminal, where it is not shown.
package enum SecretPrompt {
    /// The most bytes of a line.
    private static let limit = 1024

    /// Asks on the controlling terminal, whatever standard input and output are, and reads one line
    /// without echo. The terminal is as it was before afterwards, also when Ctrl-C or another signal
    /// ends the process.
    ///
    /// - Parameter question: Shown as it stands.
    /// - Returns: The bytes of the line without its newline, one or more.
    /// - Throws: `KeyError` with `noTerminal`, or `unreadable` where nothing was typed, or too much.
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
                code: .noTerminal, message: "there is no terminal on which to ask for a secret")
        case Int32(CSIGNET_ASK_TOO_LONG): reason = "more than \(limit) bytes were typed"
        case Int32(CSIGNET_ASK_SIGNALLED): reason = "a signal came"
        default: break
        }
        throw KeyError(code: .unreadable, message: "cannot read from the terminal: \(reason)")
    }
}

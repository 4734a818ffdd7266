import CSignetSystem
import Glibc

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
    /// - Throws: `PromptFailure` if there is no terminal, or if nothing or too much was typed.
    package static func readLine(asking question: String) throws(PromptFailure) -> SecretBytes {
        var count = 0
        var status = Int32(SIGNET_ASK_FAILED)
        var reason = ""
        let line = SecretBytes(count: limit) { target in
            status = unsafe target.withUnsafeMutableBytes { target in
                unsafe signet_ask(question, target.baseAddress, target.count, &count)
            }
            reason = unsafe String(cString: strerror(errno))
        }
        switch status {
        case Int32(SIGNET_ASK_DONE) where count > 0:
            return SecretBytes(copying: line.bytes.extracting(first: count))
        case Int32(SIGNET_ASK_DONE), Int32(SIGNET_ASK_ENDED): reason = "nothing was typed"
        case Int32(SIGNET_ASK_NO_TERMINAL):
            throw PromptFailure(
                lacksTerminal: true, message: "found no terminal on which to ask for a secret")
        case Int32(SIGNET_ASK_TOO_LONG): reason = "more than \(limit) bytes were typed"
        case Int32(SIGNET_ASK_SIGNALLED): reason = "a signal was received"
        default: break
        }
        throw PromptFailure(
            lacksTerminal: false, message: "cannot read from the terminal: \(reason)")
    }
}

/// A secret that could not be read from the terminal.
package struct PromptFailure: Error, Sendable, Hashable {
    /// Whether the process has no controlling terminal.
    package let lacksTerminal: Bool
    package let message: String
}

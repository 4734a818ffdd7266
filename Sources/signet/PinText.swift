#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning

/// Pins and certificates in lines that fit a terminal.
enum PinText {
    /// The columns of a line. A pin has 51 of them.
    static let width = 100

    /// Returns a line for each certificate of a chain; a long subject is cut.
    static func lines(
        of chain: [SeenCertificate], titled title: String, width: Int = width
    ) -> [String] {
        guard !chain.isEmpty else { return ["  \(title): none"] }
        return ["  \(title):"]
            + chain.map { certificate in
                let line =
                    "    \(certificate.pin.text)  \(SignetBase.printable(certificate.subject))"
                return line.count <= width ? line : line.prefix(width - 1) + "…"
            }
    }

    /// Returns a line for each pin of which one was expected.
    static func lines(expecting pins: [Pin]) -> [String] {
        pins.isEmpty ? [] : ["  expected one of:"] + pins.map { "    \($0.text)" }
    }
}

extension PinRefusal {
    /// The refusal in lines: its summary, and the details.
    ///
    /// - Parameter message: The message of the error that the refusal caused, which ends with the
    ///   refusal's own.
    func lines(endingMessage message: String) -> [String] {
        guard message.endsWithBytes(of: self.message) else { return [message] }
        let start = message.dropLast(self.message.count)
        return Terminal.wrapped(start + summary, indent: 2) + details()
    }

    /// The certificates that were found, the pins that were expected, and the remedy.
    ///
    /// - Parameter width: The columns of a certificate's line.
    func details(width: Int = PinText.width) -> [String] {
        let found =
            seen.isEmpty && code != .pinMismatch
            ? [] : PinText.lines(of: seen, titled: "found, leaf first", width: width)
        return found + PinText.lines(expecting: expected) + remedyLines
    }

    /// The remedy in lines.
    var remedyLines: [String] {
        let lines = Terminal.wrapped(
            "remedy: \(remedy.advice)\(remedy.entry == nil ? "" : ":")", firstIndent: 2, indent: 4)
        return lines + (remedy.entry.map(Self.lines(ofEntry:)) ?? [])
    }

    /// A member of `hosts` in the layout of a policy, ready to be pasted.
    private static func lines(ofEntry entry: String) -> [String] {
        guard let object = try? JSONValue(parsing: Array("{\(entry)}".utf8)) else { return [entry] }
        return String(decoding: object.serialized(.pretty), as: UTF8.self)
            .split(separator: "\n").dropFirst().dropLast().map { "  \($0)" }
    }
}
#endif

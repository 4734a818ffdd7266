import SignetBase

/// The last day on which a rule is valid. The rule expires when that day ends in UTC.
public struct ExpiryDate: Sendable, Hashable, CustomStringConvertible {
    /// `YYYY-MM-DD`.
    public let text: String
    /// The first Unix second at which the rule has expired.
    public let end: Int64

    /// Reads an existing date as `YYYY-MM-DD` (RFC 3339, `full-date`).
    ///
    /// - Throws: `PinError` with code `malformed-policy`.
    public init(parsing text: String) throws(PinError) {
        guard let start = UnixTime.parseDate(text), !text.utf8.starts(with: "0000".utf8) else {
            throw PinError(
                .malformedPolicy,
                "found \(Self.shown(text)), expected an existing date as YYYY-MM-DD")
        }
        self.text = text
        self.end = start + 86_400
    }

    /// Whether the day is over at a Unix time in seconds.
    public func isOver(at now: Int64) -> Bool { now >= end }

    /// The text.
    public var description: String { text }

    /// Returns a refused value for a message: in quotation marks, cut after 32 characters.
    static func shown(_ text: String) -> String {
        let start = String(text.unicodeScalars.prefix(32))
        return "\"\(printable(start))\(start.utf8.count < text.utf8.count ? "…" : "")\""
    }
}

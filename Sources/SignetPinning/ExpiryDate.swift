internal import SignetBase

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
        let bytes = Array(text.utf8)
        let malformed = PinError(
            .malformedPolicy, "found \(Self.shown(text)), expected an existing date as YYYY-MM-DD")
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = ExpiryDate.number(bytes[0..<4]), let month = ExpiryDate.number(bytes[5..<7]),
            let day = ExpiryDate.number(bytes[8..<10]), (1...12).contains(month), year >= 1
        else { throw malformed }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month - 1]).contains(day) else { throw malformed }
        let before = year - 1
        let days =
            before * 365 + before / 4 - before / 100 + before / 400
            + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 719_162
        self.text = text
        self.end = Int64(days + 1) * 86_400
    }

    /// Whether the day is over at a Unix time in seconds.
    public func isOver(at now: Int64) -> Bool { now >= end }

    /// The text.
    public var description: String { text }

    /// A refused value for a message: in quotation marks, cut after 32 characters.
    static func shown(_ text: String) -> String {
        let start = String(text.unicodeScalars.prefix(32))
        return "\"\(printable(start))\(start.utf8.count < text.utf8.count ? "…" : "")\""
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}

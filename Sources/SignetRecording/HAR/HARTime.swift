import SignetBase
import SignetJSON

/// The times of HAR: dates of RFC 3339, and durations in milliseconds.
enum HARTime {
    /// A date of Unix milliseconds.
    static func text(_ milliseconds: Int64) -> String {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        let rest = milliseconds - seconds * 1000
        let text = UnixTime.rfc3339(seconds).dropLast()
        let digits = String(rest)
        return text + "." + String(repeating: "0", count: 3 - digits.utf8.count) + digits + "Z"
    }

    /// The Unix milliseconds of a date; nil for another text. A space in place of the `T`, and an
    /// offset without a colon, are accepted.
    static func milliseconds(_ text: String) -> Int64? {
        var bytes = Array(text.utf8)
        if bytes.count > 10, bytes[10] == ASCII.space { bytes[10] = UInt8(ascii: "T") }
        if bytes.count > 5, bytes.suffix(4).allSatisfy(\.isDigit),
            [ASCII.plus, ASCII.minus].contains(bytes[bytes.count - 5])
        {
            bytes.insert(ASCII.colon, at: bytes.count - 2)
        }
        guard let time = UnixTime.parseRFC3339(String(decoding: bytes, as: UTF8.self)) else {
            return nil
        }
        return time.seconds * 1000 + time.nanoseconds / 1_000_000
    }

    /// Milliseconds, with microseconds behind the dot.
    static func number(_ duration: Duration) -> JSONValue {
        let (seconds, attoseconds) = duration.components
        let micro = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        guard micro % 1000 != 0 else { return .number(JSONNumber(micro / 1000)) }
        return JSONNumber(Double(micro) / 1000).map(JSONValue.number) ?? 0
    }

    /// The duration of milliseconds; nil for a negative number, which means that it isn't known.
    static func duration(_ number: JSONNumber) -> Duration? {
        guard let value = number.double, value >= 0, value < 1e12 else { return nil }
        return .microseconds(Int64((value * 1000).rounded()))
    }
}

extension Duration {
    /// The duration in whole microseconds, as a HAR has it.
    var inMicroseconds: Duration {
        let (seconds, attoseconds) = components
        return .microseconds(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}

import SignetBase
import SignetJSON

/// Reads durations of a configuration: a number of seconds, or a text of numbers with units
/// (`250ms`, `1.5s`, `1h30m`). They're never negative, and exact to the attosecond.
enum DurationText {
    private static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000
    private static let units: [(name: String, attoseconds: Int128)] = [
        ("ns", 1_000_000_000), ("us", 1_000_000_000_000), ("ms", 1_000_000_000_000_000),
        ("s", attosecondsPerSecond), ("m", 60 * attosecondsPerSecond),
        ("h", 3600 * attosecondsPerSecond), ("d", 86400 * attosecondsPerSecond),
    ]

    /// Returns the duration of a JSON value, or nil.
    static func duration(_ value: JSONValue) -> Duration? {
        switch value {
        case .number(let number): seconds(number)
        case .string(let text): duration(text)
        default: nil
        }
    }

    /// Reads a number of seconds without an exponent or a sign.
    static func seconds(_ number: JSONNumber) -> Duration? {
        amount(Array(number.text.utf8)[...], of: attosecondsPerSecond).map(make)
    }

    private static func make(_ attoseconds: Int128) -> Duration {
        Duration(attoseconds: attoseconds)
    }

    private static func duration(_ text: String) -> Duration? {
        var rest = Array(text.utf8)[...]
        var total: Int128 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isDigit || $0 == UInt8(ascii: ".") }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { !$0.isDigit }
            rest = rest.dropFirst(unit.count)
            guard let size = units.first(where: { $0.name.utf8.elementsEqual(unit) }),
                let part = amount(number, of: size.attoseconds)
            else { return nil }
            total += part
        }
        return total <= longest ? make(total) : nil
    }

    /// 10^12 seconds, about 31,700 years.
    private static let longest = 1_000_000_000_000 * attosecondsPerSecond

    private static func amount(_ text: ArraySlice<UInt8>, of unit: Int128) -> Int128? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
            parts.allSatisfy({ $0.count <= 18 && $0.allSatisfy(\.isDigit) })
        else { return nil }
        func number(_ digits: ArraySlice<UInt8>) -> Int128 {
            digits.reduce(0) { $0 * 10 + Int128($1 - 0x30) }
        }
        let (whole, overflow) = number(parts[0]).multipliedReportingOverflow(by: unit)
        guard !overflow, whole <= longest else { return nil }
        guard parts.count == 2 else { return whole }
        var fraction = number(parts[1])
        var divisor: Int128 = 1
        for _ in 0..<parts[1].count { divisor *= 10 }
        while divisor > 1, fraction % 10 == 0 {
            fraction /= 10
            divisor /= 10
        }
        guard unit % divisor == 0 else { return nil }
        return whole + fraction * (unit / divisor)
    }
}

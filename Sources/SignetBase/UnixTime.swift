import Glibc

/// Unix time: seconds since 1970-01-01T00:00:00Z.
package enum UnixTime {
    /// The last second of the year 9999, the last one that RFC 3339 can express.
    package static let latest: Int64 = 253_402_300_799

    /// Returns the current time.
    package static func now() -> Int64 {
        Int64(time(nil))
    }

    /// The first second of the year 0, the first one that RFC 3339 can express.
    package static let earliest: Int64 = -62_167_219_200

    /// Returns a time as in `2026-11-21T04:45:48Z` (RFC 3339), clamped to the years 0 to 9999.
    package static func rfc3339(_ seconds: Int64) -> String {
        let bounded = min(max(seconds, earliest), latest)
        let (days, rest) = divided(bounded, by: 86_400)
        let (year, month, day) = civil(days)
        return "\(padded(year, to: 4))-\(padded(month))-\(padded(day))T"
            + "\(padded(rest / 3600)):\(padded(rest / 60 % 60)):\(padded(rest % 60))Z"
    }

    /// Returns the first second (UTC) of a day written `YYYY-MM-DD`, or nil for any other form or a
    /// day that doesn't exist.
    package static func parseDate(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]), (1...12).contains(month), day >= 1
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        guard civil(days) == (year, month, day) else { return nil }
        return days * 86_400
    }

    static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard digit.isDigit else { return nil }
            value = value * 10 + Int64(digit - 48)
        }
        return value
    }

    static func padded(_ value: Int64, to width: Int = 2) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    /// Divides and rounds down, so that the remainder is never negative.
    static func divided(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }

    /// Returns the days from 1970-01-01 to a date. A month or day out of range gives another date.
    package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        // Count years from March, so that the leap day is a year's last, in eras of 400 years.
        let (era, yearOfEra) = divided(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Returns the date a number of days after 1970-01-01.
    package static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = divided(days + 719_468, by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

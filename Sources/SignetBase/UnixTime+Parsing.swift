/// A time in Unix seconds and the nanoseconds after it.
package struct FractionalTime: Equatable, Sendable {
    package var seconds: Int64
    /// In 0..<1,000,000,000.
    package var nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }
}

extension UnixTime {
    /// Reads a date and time of RFC 3339, section 5.6, such as `2026-11-21T04:45:48.25+01:00`.
    ///
    /// Digits of the fraction after the ninth one are ignored.
    ///
    /// - Returns: The time; nil for another form, a day or time that doesn't exist, a leap second,
    ///   and a time outside of the years 0 to 9999 in UTC.
    package static func parseRFC3339(_ text: String) -> FractionalTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] | 0x20 == UInt8(ascii: "t"),
            let day = parseDate(String(decoding: bytes[..<10], as: UTF8.self)),
            let time = parseTime(bytes[11..<19])
        else { return nil }
        var rest = bytes[19...]
        var nanoseconds: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: \.isDigit)
            guard !digits.isEmpty else { return nil }
            nanoseconds = number(digits.prefix(9)) ?? 0
            for _ in 0..<max(9 - digits.count, 0) { nanoseconds *= 10 }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = parseOffset(rest) else { return nil }
        let seconds = day + time - offset
        guard (earliest...latest).contains(seconds) else { return nil }
        return FractionalTime(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// Returns a time as RFC 3339, with no fraction or one of 3, 6 or 9 digits; clamped to the
    /// years 0 to 9999.
    package static func rfc3339(_ time: FractionalTime) -> String {
        let text = rfc3339(time.seconds)
        guard time.nanoseconds > 0 else { return text }
        var (fraction, width) = (time.nanoseconds, 9)
        while fraction % 1000 == 0 { (fraction, width) = (fraction / 1000, width - 3) }
        return "\(text.dropLast()).\(padded(fraction, to: width))Z"
    }

    /// Reads the preferred form of RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Returns: Unix seconds; nil for another form, or a day or time that doesn't exist. The
    ///   weekday must be valid and match the date.
    package static func parseHTTPDate(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[3...4].elementsEqual(", ".utf8),
            [7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
            bytes[25...].elementsEqual(" GMT".utf8),
            let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)),
            let year = number(bytes[12..<16]), let day = number(bytes[5..<7]),
            let time = parseTime(bytes[17..<25])
        else { return nil }
        let days = daysSince1970(year: year, month: Int64(month) + 1, day: day)
        guard civil(days) == (year, Int64(month) + 1, day),
            weekday(days).utf8.elementsEqual(bytes[..<3])
        else { return nil }
        return days * 86_400 + time
    }

    /// Reads any of the three forms that a recipient accepts (RFC 9110, section 5.6.7): the
    /// preferred one, `Sunday, 06-Nov-94 08:49:37 GMT`, and `Sun Nov  6 08:49:37 1994`.
    ///
    /// - Parameter now: Unix seconds. A year of two digits is at most 50 years after it.
    /// - Returns: Unix seconds; nil for another form, or a day or time that doesn't exist.
    package static func parseHTTPDate(inAnyForm text: String, now: Int64) -> Int64? {
        if let preferred = parseHTTPDate(text) { return preferred }
        let parts = Array(text.utf8).split(separator: ASCII.space)
        if parts.count == 4, parts[3].elementsEqual("GMT".utf8), parts[0].last == ASCII.comma {
            let date = parts[1].split(separator: ASCII.minus, omittingEmptySubsequences: false)
            guard date.count == 3, date[2].count == 2, let year = number(date[2]),
                isWeekday(parts[0].dropLast(), in: longWeekdays)
            else { return nil }
            let thisYear = civil(divided(now, by: 86_400).quotient).year
            let full = thisYear - divided(thisYear, by: 100).rest + year
            return time(
                year: full > thisYear + 50 ? full - 100 : full, month: date[1], day: date[0],
                clock: parts[2])
        }
        guard parts.count == 5, isWeekday(parts[0], in: weekdays), parts[4].count == 4,
            let year = number(parts[4])
        else { return nil }
        return time(year: year, month: parts[1], day: parts[2], clock: parts[3])
    }

    private static func time(
        year: Int64, month: ArraySlice<UInt8>, day: ArraySlice<UInt8>, clock: ArraySlice<UInt8>
    ) -> Int64? {
        guard let index = months.firstIndex(where: { month.elementsEqual($0.utf8) }),
            (1...2).contains(day.count), let day = number(day), let time = parseTime(clock)
        else { return nil }
        let month = Int64(index) + 1
        let days = daysSince1970(year: year, month: month, day: day)
        guard civil(days) == (year, month, day) else { return nil }
        return days * 86_400 + time
    }

    private static func isWeekday(_ bytes: ArraySlice<UInt8>, in names: [String]) -> Bool {
        names.contains { bytes.elementsEqual($0.utf8) }
    }

    /// Returns a time in the preferred form of RFC 9110, section 5.6.7; clamped to the years 0 to
    /// 9999.
    package static func httpDate(_ seconds: Int64) -> String {
        let bounded = min(max(seconds, earliest), latest)
        let days = divided(bounded, by: 86_400).quotient
        let (year, month, day) = civil(days)
        let time = rfc3339(bounded).dropFirst(11).dropLast()
        return
            "\(weekday(days)), \(padded(day)) \(months[Int(month) - 1]) \(padded(year, to: 4)) \(time) GMT"
    }

    /// The names of the months in HTTP dates and cookies.
    package static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    // 1970-01-01 was a Thursday.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let longWeekdays = [
        "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
    ]

    private static func weekday(_ days: Int64) -> String {
        weekdays[Int(divided(days, by: 7).rest)]
    }

    /// Reads `HH:MM:SS` as seconds of the day.
    private static func parseTime(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let start = bytes.startIndex
        guard bytes.count == 8, bytes[start + 2] == 58, bytes[start + 5] == 58,
            let hours = number(bytes[start..<start + 2]), hours < 24,
            let minutes = number(bytes[start + 3..<start + 5]), minutes < 60,
            let seconds = number(bytes[start + 6..<start + 8]), seconds < 60
        else { return nil }
        return hours * 3600 + minutes * 60 + seconds
    }

    /// Reads `Z` or `±HH:MM` as seconds east of UTC.
    private static func parseOffset(_ bytes: ArraySlice<UInt8>) -> Int64? {
        if bytes.count == 1, let only = bytes.first, only | 0x20 == UInt8(ascii: "z") { return 0 }
        let start = bytes.startIndex
        guard bytes.count == 6, let sign = bytes.first, sign == 43 || sign == 45,
            bytes[start + 3] == 58, let hours = number(bytes[start + 1..<start + 3]), hours < 24,
            let minutes = number(bytes[start + 4..<start + 6]), minutes < 60
        else { return nil }
        return (sign == 43 ? 1 : -1) * (hours * 3600 + minutes * 60)
    }
}

/// A format of times in schemes, all in UTC. The raw values are the names of placeholders.
enum SchemeTime: String, Sendable, CaseIterable {
    /// Seconds since 1970.
    case unix = "time"
    /// Milliseconds since 1970.
    case milliseconds = "time.ms"
    /// `20260102`
    case date = "time.date"
    /// `2026-01-02`
    case day = "time.day"
    /// `20260102T030405Z`
    case basic = "time.basic"
    /// `2026-01-02T03:04:05Z`
    case extended = "time.iso"

    /// Whether the format has the time to the second.
    var isWhole: Bool { self != .date && self != .day }

    /// Appends a time.
    ///
    /// - Parameters:
    ///   - time: Seconds since 1970.
    ///   - millisecond: The milliseconds of that second, in 0...999; only ``milliseconds`` writes
    ///     them.
    ///   - target: The text to append to.
    func append(_ time: Int64, millisecond: Int64 = 0, to target: inout [UInt8]) {
        switch self {
        case .unix: return target.append(decimal: time)
        case .milliseconds: return target.append(decimal: time * 1000 + millisecond)
        default: break
        }
        let day = CivilDay(daysSince1970: time / 86_400)
        let second = time % 86_400
        let dash: UInt8? = self == .day || self == .extended ? ASCII.minus : nil
        target.append(twoDigits: day.year / 100)
        target.append(twoDigits: day.year % 100)
        if let dash { target.append(dash) }
        target.append(twoDigits: day.month)
        if let dash { target.append(dash) }
        target.append(twoDigits: day.day)
        guard isWhole else { return }
        target.append(0x54)
        target.append(twoDigits: Int(second / 3600))
        if dash != nil { target.append(ASCII.colon) }
        target.append(twoDigits: Int(second / 60 % 60))
        if dash != nil { target.append(ASCII.colon) }
        target.append(twoDigits: Int(second % 60))
        target.append(0x5A)
    }

    /// Returns the milliseconds of a valid text's second, 0 in formats without milliseconds.
    func millisecond(of text: [UInt8]) -> Int64 {
        guard self == .milliseconds else { return 0 }
        return text.suffix(3).reduce(0) { $0 * 10 + Int64($1 &- ASCII.zero) }
    }

    /// Parses a time in seconds since 1970. Returns `nil` if the text is not exactly what `append`
    /// writes, or if the time is not in the years 1970 to 9999.
    func time(of text: [UInt8]) -> Int64? {
        switch self {
        case .unix, .milliseconds:
            guard (1...18).contains(text.count), text.allSatisfy(\.isDigit),
                text.count == 1 || text[0] != ASCII.zero
            else { return nil }
            let number = text.reduce(0) { $0 * 10 + Int64($1 - ASCII.zero) }
            let seconds = self == .unix ? number : number / 1000
            return seconds <= SigningTime.latest ? seconds : nil
        case .date, .day: return nil
        case .basic, .extended:
            let digits = text.filter(\.isDigit).map { Int64($0 - ASCII.zero) }
            guard digits.count == 14 else { return nil }
            func number(_ range: Range<Int>) -> Int64 { digits[range].reduce(0) { $0 * 10 + $1 } }
            let days = CivilDay.days(year: number(0..<4), month: number(4..<6), day: number(6..<8))
            let time =
                days * 86_400 + number(8..<10) * 3600 + number(10..<12) * 60 + number(12..<14)
            guard time >= 0 else { return nil }
            // Formatting must give the same text: this refuses 30 February, hour 25 and other
            // signs.
            var again: [UInt8] = []
            append(time, to: &again)
            return again == text ? time : nil
        }
    }
}

/// A day of the Gregorian calendar.
struct CivilDay {
    let year: Int
    let month: Int
    let day: Int

    init(daysSince1970 days: Int64) {
        // Years start in March here, so that a leap day is the last day of its year.
        let shifted = Int(days) + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * march + 2) / 5 + 1
        self.month = march < 10 ? march + 3 : march - 9
        self.year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Returns the days from 1970-01-01 to a date in the years 0 to 9999. A month or day out of
    /// range gives another date.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

extension [UInt8] {
    /// Appends a number in 0...99.
    fileprivate mutating func append(twoDigits number: Int) {
        append(ASCII.zero + UInt8(truncatingIfNeeded: number / 10))
        append(ASCII.zero + UInt8(truncatingIfNeeded: number % 10))
    }
}

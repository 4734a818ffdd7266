import SignetBase

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
    /// `2026-01-02T03:04:05.678Z`, when reading with no fraction or with 1 to 9 digits (RFC 3339)
    case precise = "time.rfc3339"
    /// `Fri, 02 Jan 2026 03:04:05 GMT` (IMF-fixdate of RFC 9110, section 5.6.7)
    case http = "time.http"

    /// Whether the format contains the time to the second, not only the date.
    var isWhole: Bool { self != .date && self != .day }

    /// Appends a time.
    ///
    /// - Parameters:
    ///   - time: Seconds since 1970.
    ///   - fraction: The digits of that second's fraction, at most 9; nil is `000`. Only
    ///     ``milliseconds`` and ``precise`` write them.
    ///   - target: The text to append to.
    func append(_ time: Int64, fraction: [UInt8]? = nil, to target: inout [UInt8]) {
        switch self {
        case .unix: return target.append(decimal: time)
        case .milliseconds:
            let digits = ((fraction ?? []) + "000".utf8).prefix(3)
            let millisecond = digits.reduce(0) { $0 * 10 + Int64($1 - ASCII.zero) }
            return target.append(decimal: time * 1000 + millisecond)
        case .http: return target.append(contentsOf: UnixTime.httpDate(time).utf8)
        default: break
        }
        let (year, month, day) = UnixTime.civil(time / 86_400)
        let second = time % 86_400
        let hasSeparators = self != .date && self != .basic
        // Reserves memory once.
        target.append(addingCapacity: Self.secondsCount) { (target: inout OutputSpan<UInt8>) in
            target.append(twoDigits: year / 100)
            target.append(twoDigits: year % 100)
            if hasSeparators { target.append(ASCII.minus) }
            target.append(twoDigits: month)
            if hasSeparators { target.append(ASCII.minus) }
            target.append(twoDigits: day)
            guard isWhole else { return }
            target.append(0x54)
            target.append(twoDigits: second / 3600)
            if hasSeparators { target.append(ASCII.colon) }
            target.append(twoDigits: second / 60 % 60)
            if hasSeparators { target.append(ASCII.colon) }
            target.append(twoDigits: second % 60)
        }
        guard isWhole else { return }
        if self == .precise {
            let fraction = fraction ?? Array("000".utf8)
            if !fraction.isEmpty { target += [UInt8(ascii: ".")] + fraction }
        }
        target.append(0x5A)
    }

    /// Returns the digits of the second's fraction in a valid text; nil if the format has none.
    func fraction(of text: [UInt8]) -> [UInt8]? {
        switch self {
        case .milliseconds: Array(("00".utf8 + text).suffix(3))
        case .precise: text.dropFirst(Self.secondsCount).filter(\.isDigit)
        default: nil
        }
    }

    /// The number of bytes of ``extended`` without its `Z`.
    private static let secondsCount = 19

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
        case .http:
            let time = UnixTime.parseHTTPDate(String(decoding: text, as: UTF8.self))
            return time.flatMap { $0 >= 0 ? $0 : nil }
        case .precise:
            let fraction = text.dropFirst(Self.secondsCount).dropLast()
            guard text.last == 0x5A,
                fraction.isEmpty
                    || fraction.first == UInt8(ascii: ".") && (2...10).contains(fraction.count)
                        && fraction.dropFirst().allSatisfy(\.isDigit)
            else { return nil }
            return Self.extended.time(of: text.prefix(Self.secondsCount) + [0x5A])
        case .basic, .extended:
            // The digits of year, month, day, hour, minute and second as one number.
            var number: Int64 = 0
            for byte in text where byte.isDigit {
                number = number * 10 + Int64(byte - ASCII.zero)
                guard number < 100_000_000_000_000 else { return nil }
            }
            let (date, second) = number.quotientAndRemainder(dividingBy: 1_000_000)
            let days = UnixTime.daysSince1970(
                year: date / 10_000, month: date / 100 % 100, day: date % 100)
            let time =
                days * 86_400 + second / 10_000 * 3600 + second / 100 % 100 * 60 + second % 100
            guard time >= 0 else { return nil }
            // Formatting must produce the same text: this refuses 30 February, hour 25, another
            // number of digits and other separators.
            var formatted: [UInt8] = []
            formatted.reserveCapacity(Self.secondsCount + 1)
            append(time, to: &formatted)
            return formatted == text ? time : nil
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a number in 0...99.
    @inline(__always) fileprivate mutating func append(twoDigits number: Int64) {
        append(ASCII.zero + UInt8(truncatingIfNeeded: number / 10))
        append(ASCII.zero + UInt8(truncatingIfNeeded: number % 10))
    }
}

import FoundationEssentials
import SignetBase

extension JSONDocument {
    /// Reads a date in the form of the conventions.
    func date(at index: Int) throws(JSONError) -> Date {
        let time: FractionalTime?
        switch conventions.dates {
        case .rfc3339: time = UnixTime.parseRFC3339(try string(at: index))
        case .httpDate:
            time = UnixTime.parseHTTPDate(try string(at: index)).map { FractionalTime(seconds: $0) }
        case .unixSeconds: return try date(seconds: double(at: index), at: index)
        case .unixMilliseconds: return try date(seconds: double(at: index) / 1000, at: index)
        }
        guard let time else {
            let form = conventions.dates == .rfc3339 ? "of RFC 3339" : "of HTTP"
            throw error(
                .typeMismatch, "found a string that is not a date and time \(form)", at: index)
        }
        return Date(
            timeIntervalSinceReferenceDate: Double(time.seconds - UnixTime.referenceDate)
                + Double(time.nanoseconds) / 1e9)
    }

    private func date(seconds: Double, at index: Int) throws(JSONError) -> Date {
        guard UnixTime.holds(seconds) else {
            throw error(
                .outOfRange, "found a time outside of the years 0 to 9999", at: index)
        }
        return Date(timeIntervalSince1970: seconds)
    }
}

extension EncodingState {
    /// Returns a date in the form of the conventions.
    func scalar(of date: Date, at place: Int) throws(JSONError) -> JSONScalar {
        guard UnixTime.holds(date.timeIntervalSince1970) else {
            throw failure(
                .outOfRange, because: "found a time outside of the years 0 to 9999", at: place)
        }
        switch conventions.dates {
        case .rfc3339: return .string(UnixTime.rfc3339(FractionalTime(date)))
        case .httpDate:
            return .string(UnixTime.httpDate(Int64(date.timeIntervalSince1970.rounded(.down))))
        case .unixSeconds: return .signed(Int64(date.timeIntervalSince1970.rounded(.down)))
        case .unixMilliseconds: return .signed(Int64((date.timeIntervalSince1970 * 1000).rounded()))
        }
    }
}

extension UnixTime {
    /// The time from which a `Date` counts, 2001-01-01.
    fileprivate static let referenceDate: Int64 = 978_307_200

    /// Whether a time is within the years 0 to 9999; a NaN is not.
    fileprivate static func holds(_ seconds: Double) -> Bool {
        seconds >= Double(earliest) && seconds < Double(latest + 1)
    }
}

extension FractionalTime {
    /// The time to the nearest microsecond within its second.
    ///
    /// A `Date` of our century distinguishes times that differ by 0.1 to 0.2 microseconds,
    /// depending on how it was made; more digits would be noise.
    fileprivate init(_ date: Date) {
        let interval = date.timeIntervalSinceReferenceDate
        let whole = interval.rounded(.down)
        let microseconds = min(((interval - whole) * 1e6).rounded(), 999_999)
        self.init(
            seconds: Int64(whole) + UnixTime.referenceDate, nanoseconds: Int64(microseconds) * 1000)
    }
}

import Foundation
import SignetJSON
import TestSupport
import Testing

/// Dates in the forms of `JSONConventions.Dates`.
struct DateTests {
    private func decode(_ text: String, _ dates: JSONConventions.Dates) throws(JSONError) -> Date {
        try StrictJSONDecoder(conventions: JSONConventions(dates: dates))
            .decode(Date.self, from: bytes(text))
    }

    private func encode(_ date: Date, _ dates: JSONConventions.Dates) throws(JSONError) -> String {
        String(
            decoding: try StrictJSONEncoder(conventions: JSONConventions(dates: dates)).encode(
                date),
            as: UTF8.self)
    }

    @Test(
        arguments: [
            ("2023-11-14T22:13:20Z", 1_700_000_000), ("2023-11-14t22:13:20z", 1_700_000_000),
            ("2023-11-14T23:13:20+01:00", 1_700_000_000),
            ("2023-11-14T16:43:20-05:30", 1_700_000_000),
            ("2023-11-14T22:13:20-00:00", 1_700_000_000),
            ("2023-11-14T22:13:20.5Z", 1_700_000_000.5),
            ("2023-11-14T22:13:20.2500000009999Z", 1_700_000_000.25),
            ("1969-12-31T23:59:59.75Z", -0.25), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("0000-01-01T00:00:00Z", -62_167_219_200), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Double)])
    func readsRFC3339(_ text: String, _ seconds: Double) throws {
        #expect(try decode("\"\(text)\"", .rfc3339) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "2023-11-14", "2023-11-14T22:13:20", "2023-11-14 22:13:20Z", "2023-11-14T22:13Z",
        "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20,5Z", "2023-11-14T22:13:20+0100",
        "2023-11-14T22:13:20+01", "2023-11-14T22:13:20+24:00", "2023-11-14T22:13:20+01:60",
        "2023-02-29T00:00:00Z", "2023-13-01T00:00:00Z", "2023-00-01T00:00:00Z",
        "2023-11-31T00:00:00Z", "2023-11-00T00:00:00Z", "2023-11-14T24:00:00Z",
        "2023-11-14T22:60:20Z", "2016-12-31T23:59:60Z", "20231114T221320Z",
        "2023-11-14T22:13:20ZZ", " 2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z ",
        "2023-W46-2T22:13:20Z", "+2023-11-14T22:13:20Z", "12023-11-14T22:13:20Z",
        "2023-1-14T22:13:20Z", "2023-11-14T2:13:20Z", "２023-11-14T22:13:20Z", "",
        "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01", "2023-11-14T22:13:20.5e1Z",
        "2023-11-14T-2:13:20Z", "2023-11-14T22:13:+2Z", "Tue, 14 Nov 2023 22:13:20 GMT",
    ])
    func refusesAsRFC3339(_ text: String) {
        let error = #expect(throws: JSONError.self) { try decode("\"\(text)\"", .rfc3339) }
        #expect(error?.code == .typeMismatch)
        #expect(text.isEmpty || error?.message.contains(text) == false)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_700_000_000.5, "2023-11-14T22:13:20.500Z"),
            (1_700_000_000.25, "2023-11-14T22:13:20.250Z"),
            (1_700_000_000.123, "2023-11-14T22:13:20.123Z"),
            (1_700_000_000.000_25, "2023-11-14T22:13:20.000250Z"),
            (-0.25, "1969-12-31T23:59:59.750Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
        ] as [(Double, String)])
    func writesTheShortestFraction(_ seconds: Double, _ text: String) throws {
        #expect(try encode(Date(timeIntervalSince1970: seconds), .rfc3339) == "\"\(text)\"")
    }

    @Test func aDateIsUnchangedByARoundTrip() throws {
        var numbers = SplitMix(seed: 17)
        for _ in 0..<2000 {
            let seconds = Double(numbers.next() % 8_000_000_000) - 4_000_000_000
            let date = Date(
                timeIntervalSinceReferenceDate: seconds + Double(numbers.next() % 1000) / 1000)
            #expect(try decode(encode(date, .rfc3339), .rfc3339) == date)
            let milliseconds = try decode(encode(date, .unixMilliseconds), .unixMilliseconds)
            #expect(abs(milliseconds.timeIntervalSince(date)) < 1e-5)
            let whole = Date(timeIntervalSinceReferenceDate: seconds)
            for dates in JSONConventions.Dates.allCases {
                #expect(try decode(encode(whole, dates), dates) == whole)
            }
        }
    }

    @Test(
        arguments: [
            (.unixSeconds, "1700000000", 1_700_000_000), (.unixSeconds, "1.7e9", 1_700_000_000),
            (.unixSeconds, "-1", -1), (.unixSeconds, "0.5", 0.5),
            (.unixMilliseconds, "1700000000500", 1_700_000_000.5),
            (.unixMilliseconds, "-1", -0.001),
            (.httpDate, #""Sun, 06 Nov 1994 08:49:37 GMT""#, 784_111_777),
            (.httpDate, #""Thu, 01 Jan 1970 00:00:00 GMT""#, 0),
        ] as [(JSONConventions.Dates, String, Double)])
    func readsTheOtherForms(
        _ dates: JSONConventions.Dates, _ text: String, _ seconds: Double
    ) throws {
        #expect(try decode(text, dates) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        arguments: [
            (.unixSeconds, #""1700000000""#, .typeMismatch),
            (.unixSeconds, "253402300800", .outOfRange),
            (.unixSeconds, "-62167219201", .outOfRange),
            (.unixSeconds, "1700000000000", .outOfRange),
            (.unixSeconds, "1e400", .notFinite), (.unixSeconds, "null", .typeMismatch),
            (.unixMilliseconds, "253402300800000", .outOfRange),
            (.unixMilliseconds, #""2023-11-14T22:13:20Z""#, .typeMismatch),
            (.rfc3339, "1700000000", .typeMismatch), (.rfc3339, "{}", .typeMismatch),
            (.httpDate, #""Mon, 06 Nov 1994 08:49:37 GMT""#, .typeMismatch),
            (.httpDate, #""Sun, 6 Nov 1994 08:49:37 GMT""#, .typeMismatch),
            (.httpDate, #""Sun, 06 Nov 1994 08:49:37 UTC""#, .typeMismatch),
            (.httpDate, #""Sun, 06 nov 1994 08:49:37 GMT""#, .typeMismatch),
            (.httpDate, #""Sun, 06 Nov 1994 24:49:37 GMT""#, .typeMismatch),
            (.httpDate, #""Wed, 30 Feb 1994 08:49:37 GMT""#, .typeMismatch),
            (.httpDate, #""Sunday, 06-Nov-94 08:49:37 GMT""#, .typeMismatch),
            (.httpDate, #""Sun Nov  6 08:49:37 1994""#, .typeMismatch),
            (.httpDate, "784111777", .typeMismatch),
        ] as [(JSONConventions.Dates, String, JSONError.Code)])
    func refuses(_ dates: JSONConventions.Dates, _ text: String, _ code: JSONError.Code) {
        let error = #expect(throws: JSONError.self) { try decode(text, dates) }
        #expect(error?.code == code, "\(error?.message ?? "")")
    }

    @Test(
        arguments: JSONConventions.Dates.allCases,
        [253_402_300_800, -62_167_219_201, .infinity, -.infinity, .nan, 1e300] as [Double])
    func refusesToWriteATimeBeyondTheYears(_ dates: JSONConventions.Dates, _ seconds: Double) {
        let error = #expect(throws: JSONError.self) {
            try StrictJSONEncoder(conventions: JSONConventions(dates: dates))
                .encode(["at": [Date(timeIntervalSince1970: seconds)]])
        }
        #expect(error?.code == .outOfRange)
        #expect(error?.path == "$.at[0]")
    }

    @Test func writesTheOtherForms() throws {
        let date = Date(timeIntervalSince1970: 784_111_777.6)
        #expect(try encode(date, .unixSeconds) == "784111777")
        #expect(try encode(date, .unixMilliseconds) == "784111777600")
        #expect(try encode(date, .httpDate) == #""Sun, 06 Nov 1994 08:49:37 GMT""#)
    }

    @Test func datesAreCodedInOptionalsAndArrays() throws {
        struct Times: Codable, Equatable {
            var at: Date?
            var all: [Date]
            var byName: [String: Date]
        }
        let second = Date(timeIntervalSince1970: 1)
        let times = Times(at: second, all: [second], byName: ["x": second])
        let encoder = StrictJSONEncoder(conventions: JSONConventions(dates: .unixSeconds))
        let decoder = StrictJSONDecoder(conventions: JSONConventions(dates: .unixSeconds))
        let text = try encoder.encode(times)
        #expect(text == bytes(#"{"at":1,"all":[1],"byName":{"x":1}}"#))
        #expect(try decoder.decode(Times.self, from: text) == times)
        #expect(try decoder.decode(Times.self, from: encoder.encodeValue(times)) == times)
        let error = #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode(Times.self, from: text)
        }
        #expect(error?.message == "at $.at (byte 6): found a number, expected a string")
    }
}

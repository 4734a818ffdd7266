import SignetBase
import Testing

/// The three forms of a date that a recipient accepts (RFC 9110, section 5.6.7).
@Suite struct HTTPDateTests {
    /// 2023-11-14T22:13:20Z
    private static let now: Int64 = 1_700_000_000

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 06 08:49:37 1994", 784_111_777),
            ("Wednesday, 15-Nov-23 22:13:20 GMT", 1_700_086_400),
            // At most fifty years after now, otherwise a hundred years earlier.
            ("Sunday, 01-Jan-73 00:00:00 GMT", 3_250_454_400),
            ("Tuesday, 01-Jan-74 00:00:00 GMT", 126_230_400),
        ] as [(String, Int64)])
    func readsEachForm(_ text: String, _ time: Int64) {
        #expect(UnixTime.parseHTTPDate(inAnyForm: text, now: Self.now) == time)
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37", "Sunday, 31-Feb-94 08:49:37 GMT",
        "Sunday, 06-11-94 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-94 24:49:37 GMT", "Sunday, -6-Nov-94 08:49:37 GMT",
        "Sun Nov 31 08:49:37 1994", "Sun Nov 6 08:49:37 94", "Sun Nov 6 08:49:37 1994 GMT",
        "Sun Nov 006 08:49:37 1994", "Sun Nov +6 08:49:37 1994", "Sun 6 Nov 08:49:37 1994",
    ])
    func refuses(_ text: String) {
        #expect(UnixTime.parseHTTPDate(inAnyForm: text, now: Self.now) == nil)
    }
}

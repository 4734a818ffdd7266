import FuzzSupport
import HTTPTypes
import SignetRPC

@testable import SignetBase
@testable import SignetClient

/// Dates of HTTP fields and of cookies: what is read is the same time when it is written in the preferred form,
/// and a pause that a response asks for isn't negative.

private let now: Int64 = 1_700_000_000

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.texts([
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "Mon, 31 Dec 9999 23:59:59 GMT",
            "Wed, 15-Nov-93 22:13:20 GMT", "1 jan 1601 0:0:0", "6/nov/69;8:49:37x",
            "Thu, 29 Feb 2024 00:00:00 GMT", "Saturday, 01-Jan-00 00:00:00 GMT", "120",
            "Fri Dec 31 23:59:60 1999", "99999999999999999999",
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: unsafe input(data, count), as: UTF8.self)
    if let time = UnixTime.parseHTTPDate(inAnyForm: text, now: now) {
        guard UnixTime.parseHTTPDate(UnixTime.httpDate(time)) == time else {
            broken("a date is another time when it is written again")
        }
    }
    if let time = UnixTime.parseHTTPDate(text), UnixTime.httpDate(time) != text {
        broken("a date in the preferred form that is not written so")
    }
    if let time = CookieDate.parse(text), CookieDate.parse(UnixTime.httpDate(time)) != time {
        broken("a cookie's date is another time when it is written again")
    }
    var response = HTTPResponse(status: 503)
    response.headerFields[.retryAfter] = text
    let pause = RetryStrategy.wait(response, now: now)
    response.headerFields[.date] = UnixTime.httpDate(now)
    guard RetryStrategy.wait(response, now: now) == pause, pause ?? .zero >= .zero else {
        broken("a pause that is negative, or another one with the response's own Date")
    }
    return 0
}

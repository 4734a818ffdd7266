/// How an API writes dates and the names of members.
///
/// ```swift
/// import Foundation
///
/// struct Order: Codable {
///     var orderID: Int
///     var createdAt: Date
/// }
/// let order = Order(orderID: 7, createdAt: Date(timeIntervalSince1970: 1_700_000_000))
/// var encoder = StrictJSONEncoder()
/// encoder.conventions = JSONConventions(keys: .snakeCase)
/// // {"order_id":7,"created_at":"2023-11-14T22:13:20Z"}
/// let text = try encoder.encode(order)
/// ```
public struct JSONConventions: Sendable, Hashable {
    /// How a `Date` is written, and the only form in which it is read.
    ///
    /// A time before the year 0 or after the year 9999 (UTC) is `out-of-range`, both ways. A text
    /// of another form, and a day or a time that doesn't exist, is `type-mismatch`.
    public enum Dates: String, Sendable, Hashable, CaseIterable {
        /// A string as in RFC 3339, section 5.6: `2026-11-21T04:45:48Z`, with an offset and a
        /// fraction of a second if there is one. Written in UTC to the microsecond, with 0, 3 or 6
        /// digits of a fraction. A leap second is refused, and digits after the ninth are ignored.
        case rfc3339
        /// A number of seconds since 1970. Written as an integer, rounded down; a fraction is read.
        case unixSeconds = "unix-seconds"
        /// A number of milliseconds since 1970. Written as the nearest integer; a fraction is read.
        case unixMilliseconds = "unix-milliseconds"
        /// A string as in HTTP fields: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 1123; RFC 9110, section
        /// 5.6.7). Written rounded down to a second.
        case httpDate = "http-date"
    }

    /// How the names of a type's properties become names of members.
    ///
    /// The same function is used for both directions, so a property always finds the member that it
    /// wrote. The keys of a dictionary are data, and stay as they are.
    public enum Keys: String, Sendable, Hashable, CaseIterable {
        /// As the type's `CodingKeys` spell them.
        case asIs = "as-is"
        /// `createdAt` becomes `created_at`: words in lower case, joined by `_`.
        ///
        /// A word begins with a capital letter. Capitals in a row are one word, whose last one
        /// belongs to the next word if a small letter follows: `httpURLPath` becomes
        /// `http_url_path`. A plural `s` belongs to them: `userIDs` becomes `user_ids`. Digits
        /// belong to the word before them: `line2Text` becomes `line2_text`, `sha256` stays. A name
        /// that has no capital letter, such as `created_at`, stays too. Only ASCII letters count as
        /// letters.
        case snakeCase = "snake-case"
    }

    /// How dates are written and read.
    public var dates: Dates
    /// How members are named.
    public var keys: Keys

    /// Creates conventions: dates as RFC 3339 and names as they are, unless given otherwise.
    public init(dates: Dates = .rfc3339, keys: Keys = .asIs) {
        self.dates = dates
        self.keys = keys
    }
}

public import HTTPTypes
package import SignetJSON

/// How the pages of a service's list are connected: by Link fields, by a cursor, by numbers or by
/// offsets.
///
/// ```swift
/// import SignetRPC
///
/// let byLink = Paging.link()  // the Link field with rel=next
/// var byCursor = Paging.cursor(at: ["meta", "next"], as: "cursor")  // sent as ?cursor=…
/// byCursor.maximumPages = 50
/// let inBody = Paging.cursor(from: .result("next_cursor"), to: .body("start_cursor"))
/// let byNumber = Paging.number(at: ["items"], as: "page")  // ?page=1, ?page=2, …
/// let byOffset = Paging.offset(as: "skip", size: 50)  // ?skip=0, ?skip=50, …
/// ```
public struct Paging: Sendable, Hashable {
    package enum Way: Sendable, Hashable {
        case link(relation: String)
        case cursor(Source, Target)
        case counted(PageCount)
    }

    /// The place of the cursor in a response.
    public struct Source: Sendable, Hashable {
        enum Place: Sendable, Hashable {
            case result([String])
            case field(HTTPField.Name)
        }

        let place: Place

        /// In the result: the member names that lead there, from the root.
        public static func result(_ path: String...) -> Source { Source(place: .result(path)) }

        /// In a field of the response, such as `X-Next-Cursor`.
        public static func field(_ name: HTTPField.Name) -> Source { Source(place: .field(name)) }
    }

    /// The place of the cursor in the next request.
    public struct Target: Sendable, Hashable {
        enum Place: Sendable, Hashable {
            case query(String)
            case field(HTTPField.Name)
            case body([String])
            case parameter([String])
        }

        let place: Place

        /// In the query, under a name.
        public static func query(_ name: String) -> Target { Target(place: .query(name)) }

        /// In a field of the request.
        public static func field(_ name: HTTPField.Name) -> Target { Target(place: .field(name)) }

        /// In the JSON body of a POST: the member names that lead there, from the root.
        public static func body(_ path: String...) -> Target { Target(place: .body(path)) }

        /// In the call's parameters by name: the member names that lead there. With REST that is
        /// the query of a GET, which has one name, or the JSON body of a POST.
        public static func parameter(_ path: String...) -> Target {
            Target(place: .parameter(path))
        }
    }

    /// The maximum size of a cursor in bytes: 64 KiB. Cursors are kept to detect a page that comes
    /// twice.
    private static let maximumCursorSize = 64 << 10

    package let way: Way
    /// The maximum number of pages to read. A list with more pages is an error, not the end.
    public var maximumPages = 1000
    /// Whether an `http` link to the host of an `https` service is followed over `https`. A server
    /// writes such links if the proxy in front of it ends TLS. Without it, the link is refused.
    public var staysOnHTTPS = false

    /// Follows the link with a relation in the response's Link field (RFC 8288), on the service's
    /// own origin.
    public static func link(relation: String = "next") -> Paging {
        Paging(way: .link(relation: relation))
    }

    /// Copies a value from the response into the next call's parameters. The list ends if the value
    /// is null, an empty string or missing. A value of more than 64 KiB is `malformed-response`.
    ///
    /// - Parameters:
    ///   - path: The member names that lead to the value, from the result's root.
    ///   - parameter: The parameter's name; with GET it is in the query.
    public static func cursor(at path: [String], as parameter: String) -> Paging {
        Paging(way: .cursor(Source(place: .result(path)), .parameter(parameter)))
    }

    /// Copies a value from the response into the next request. The list ends if the value is null,
    /// an empty string or missing. A value of more than 64 KiB is `malformed-response`.
    ///
    /// In a body a number stays a number, with the same digits.
    public static func cursor(from source: Source, to target: Target) -> Paging {
        Paging(way: .cursor(source, target))
    }

    /// Counts pages: 1, 2, 3 and so on. The number is sent with the first page too.
    ///
    /// The list ends after a page without items or, if `size` is given, with fewer items than that.
    /// Give a size only if the service never shortens a page.
    ///
    /// - Parameters:
    ///   - path: The member names that lead from the result's root to the array of items.
    ///   - parameter: The name of the parameter for the number.
    ///   - first: The number of the first page, 0 or more.
    ///   - size: The number of items of a full page; nil if only an empty page is the end.
    public static func number(
        at path: [String] = [], as parameter: String = "page", from first: Int = 1,
        size: Int? = nil
    ) -> Paging {
        counted(.page, to: .parameter(parameter), items: path, first: first, size: size)
    }

    /// Counts items: the parameter is the number of items before the page. It is sent with the
    /// first page too.
    ///
    /// The list ends as with ``number(at:as:from:size:)``.
    ///
    /// - Parameters: As ``number(at:as:from:size:)``; `first` is the offset of the first page.
    public static func offset(
        at path: [String] = [], as parameter: String = "offset", from first: Int = 0,
        size: Int? = nil
    ) -> Paging {
        counted(.item, to: .parameter(parameter), items: path, first: first, size: size)
    }

    /// Counts pages or items, and puts the number into any place of the request.
    ///
    /// - Parameters: As ``number(at:as:from:size:)``.
    public static func counted(
        _ unit: CountedUnit, to target: Target, items path: [String] = [], first: Int,
        size: Int? = nil
    ) -> Paging {
        Paging(
            way: .counted(
                PageCount(unit: unit, target: target, items: path, first: first, size: size)))
    }

    /// The unit that a program counts to request the next page.
    public enum CountedUnit: Sendable, Hashable {
        /// Pages: the next number is one more.
        case page
        /// Items: the next number is larger by the number of the page's items.
        case item
    }

    /// Returns the cursor in a response, a string or a number; nil at the list's end.
    ///
    /// - Throws: `PayloadError` with code `malformed-response` for a cursor of another type or of
    ///   more than 64 KiB, or for several fields.
    package static func cursor(
        from source: Source, in response: UnboxedResponse
    ) throws(PayloadError) -> JSONValue? {
        var value: JSONValue?
        switch source.place {
        case .result(let path):
            value = path.reduce(response.result?.value) { $0?[$1] }
        case .field(let name):
            let texts = response.raw.fields[values: name]
            guard texts.count < 2 else {
                throw .malformedResponse(
                    "found two fields with a cursor, expected one", status: response.status)
            }
            value = texts.first.map(JSONValue.string)
        }
        switch value {
        case nil, .null?, .string("")?: return nil
        case .string?, .number?:
            let size = (value?.string ?? value?.text)?.utf8.count ?? 0
            guard size <= maximumCursorSize else {
                throw .malformedResponse(
                    "found a cursor of \(size) bytes, expected at most \(maximumCursorSize)",
                    status: response.status)
            }
            return value
        default:
            throw .malformedResponse(
                "found a cursor of type \(value?.typeName ?? "null"), expected a string or number",
                status: response.status)
        }
    }
}

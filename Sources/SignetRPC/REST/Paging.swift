public import HTTPTypes
package import SignetJSON

/// How the pages of a service's list are connected: by Link fields or by a cursor.
///
/// ```swift
/// import SignetRPC
///
/// let byLink = Paging.link()  // the Link field with rel=next
/// var byCursor = Paging.cursor(at: ["meta", "next"], as: "cursor")  // sent as ?cursor=…
/// byCursor.maximumPages = 50
/// let inBody = Paging.cursor(from: .result("next_cursor"), to: .body("start_cursor"))
/// ```
public struct Paging: Sendable, Hashable {
    package enum Way: Sendable, Hashable {
        case link(relation: String)
        case cursor(Source, Target)
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
        }

        let place: Place

        /// In the query, under a name.
        public static func query(_ name: String) -> Target { Target(place: .query(name)) }

        /// In a field of the request.
        public static func field(_ name: HTTPField.Name) -> Target { Target(place: .field(name)) }

        /// In the JSON body of a POST: the member names that lead there, from the root.
        public static func body(_ path: String...) -> Target { Target(place: .body(path)) }
    }

    package let way: Way
    /// The maximum number of pages to read. A list with more pages is an error, not the end.
    public var maximumPages = 1000

    /// Follows the link with a relation in the response's Link field (RFC 8288), on the service's
    /// own origin.
    public static func link(relation: String = "next") -> Paging {
        Paging(way: .link(relation: relation))
    }

    /// Copies a value from the response into the next request's query. The list ends if the value
    /// is null, an empty string or missing.
    ///
    /// - Parameters:
    ///   - path: The member names that lead to the value, from the result's root.
    ///   - parameter: The parameter's name in the query.
    public static func cursor(at path: [String], as parameter: String) -> Paging {
        Paging(
            way: .cursor(Source(place: .result(path)), Target(place: .query(parameter))))
    }

    /// Copies a value from the response into the next request. The list ends if the value is null,
    /// an empty string or missing.
    ///
    /// In a body a number stays a number, with the same digits.
    public static func cursor(from source: Source, to target: Target) -> Paging {
        Paging(way: .cursor(source, target))
    }

    /// Refuses a request that cannot read a list.
    ///
    /// - Throws: `RPCError` with code `unsupported-call` for a method other than GET (or, with the
    ///   cursor in the body, other than POST), or `invalid-params` for a body that the cursor
    ///   cannot be put into.
    package func check(_ request: RESTRequest) throws(RPCError) {
        guard case .cursor(_, let target) = way, case .body = target.place else {
            guard request.method == .get else {
                throw RPCError(
                    .unsupportedCall,
                    "found the method \(request.method.rawValue), expected GET to read a list, or "
                        + "POST with the cursor in the body")
            }
            return
        }
        guard request.method == .post else {
            throw RPCError(
                .unsupportedCall,
                "found the method \(request.method.rawValue), expected POST for a cursor in "
                    + "the body")
        }
        var request = request
        try set("", in: &request, status: nil)
    }

    /// Returns the cursor in a response, a string or a number; nil at the list's end.
    ///
    /// - Throws: `RPCError` with code `malformed-reply` for a cursor of another type, or for
    ///   several fields.
    package static func cursor(
        from source: Source, in response: UnboxedResponse
    ) throws(RPCError) -> JSONValue? {
        var value: JSONValue?
        switch source.place {
        case .result(let path):
            value = response.result?.value
            for name in path { value = value?[name] }
        case .field(let name):
            let texts = response.fields[values: name]
            guard texts.count < 2 else {
                throw .malformedResponse(
                    "found two fields with a cursor, expected one", status: response.status)
            }
            value = texts.first.map(JSONValue.string)
        }
        switch value {
        case nil, .null?, .string("")?: return nil
        case .string?, .number?: return value
        default:
            throw .malformedResponse(
                "found a cursor of type \(value?.typeName ?? "null"), expected a string or number",
                status: response.status)
        }
    }

    /// Puts a cursor into the next page's request.
    ///
    /// - Parameter status: The status of the response that the cursor comes from.
    /// - Throws: `RPCError` with code `malformed-reply` for a cursor that is invalid in a field, or
    ///   `invalid-params` for a body that the cursor cannot be put into.
    package func set(
        _ cursor: JSONValue, in request: inout RESTRequest, status: Int?
    ) throws(RPCError) {
        guard case .cursor(_, let target) = way else { return }
        switch target.place {
        case .query(let name): request.query[name] = .string(cursor.scalarText ?? "")
        case .field(let name):
            let text = cursor.scalarText ?? ""
            guard HTTPField.isValidValue(text) else {
                throw .malformedResponse("the cursor is not a valid field value", status: status)
            }
            request.fields[name] = text
        case .body(let path):
            var object: JSONObject = [:]
            if let type = request.body.contentType {
                guard MediaType(type)?.isJSON == true,
                    let members = (try? JSONValue(parsing: request.body.bytes))?.object
                else { throw Self.noPlace }
                object = members
            }
            request.body = .json(.object(try Self.setting(cursor, at: path[...], in: object)))
        }
    }

    private static let noPlace = RPCError.invalidParameters(
        "the cursor cannot be put into the body, expected a JSON object, and objects on the way")

    private static func setting(
        _ cursor: JSONValue, at path: ArraySlice<String>, in object: JSONObject
    ) throws(RPCError) -> JSONObject {
        guard let name = path.first else { throw noPlace }
        var object = object
        if path.count == 1 {
            object[name] = cursor
        } else {
            guard let members = (object[name] ?? .object([:])).object else { throw noPlace }
            object[name] = .object(try setting(cursor, at: path.dropFirst(), in: members))
        }
        return object
    }
}

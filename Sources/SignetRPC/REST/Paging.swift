public import HTTPTypes
package import SignetJSON

/// How a service's list goes on behind its first page.
public struct Paging: Sendable, Hashable {
    package enum Way: Sendable, Hashable {
        case link(relation: String)
        case cursor(Source, Target)
    }

    /// Where a response names what the next page is asked for with.
    public struct Source: Sendable, Hashable {
        enum Place: Sendable, Hashable {
            case result([String])
            case field(HTTPField.Name)
        }

        let place: Place

        /// In its result: the names that lead there, from the root.
        public static func result(_ path: String...) -> Source { Source(place: .result(path)) }

        /// In a field, such as `X-Next-Cursor`.
        public static func field(_ name: HTTPField.Name) -> Source { Source(place: .field(name)) }
    }

    /// Where the next request repeats it.
    public struct Target: Sendable, Hashable {
        enum Place: Sendable, Hashable {
            case query(String)
            case field(HTTPField.Name)
            case body([String])
        }

        let place: Place

        /// In the query, under a name.
        public static func query(_ name: String) -> Target { Target(place: .query(name)) }

        /// In a field.
        public static func field(_ name: HTTPField.Name) -> Target { Target(place: .field(name)) }

        /// In the JSON body of a POST: the names that lead there, from the root.
        public static func body(_ path: String...) -> Target { Target(place: .body(path)) }
    }

    package let way: Way
    /// How many pages are read at most; a list that goes on behind them is an error, not the end.
    public var maximumPages = 1000

    /// By the link of a relation in the response's Link field (RFC 8288), on the service's own origin.
    public static func link(relation: String = "next") -> Paging {
        Paging(way: .link(relation: relation))
    }

    /// By a value in the response that the next request repeats in its query. Null, an empty string and none
    /// at all are the end.
    ///
    /// - Parameters:
    ///   - path: The names that lead to the value, from the result's root.
    ///   - parameter: The name in the query.
    public static func cursor(at path: [String], as parameter: String) -> Paging {
        Paging(
            way: .cursor(
                Source(place: .result(path)), Target(place: .query(parameter))))
    }

    /// By a value in the response that the next request repeats. Null, an empty string and none at all are
    /// the end.
    ///
    /// In a body a number stays a number, in its own digits.
    ///
    /// ```swift
    /// .cursor(from: .result("next_cursor"), to: .body("start_cursor"))
    /// ```
    public static func cursor(from source: Source, to target: Target) -> Paging {
        Paging(way: .cursor(source, target))
    }

    /// Refuses a request that no list is read with.
    ///
    /// - Throws: `RPCError` with code `unsupported-call` (a method other than GET, or than POST where the
    ///   cursor stands in the body) or `invalid-params` (a body that has no place for it).
    package func check(_ request: RESTRequest) throws(RPCError) {
        guard case .cursor(_, let target) = way, case .body = target.place else {
            guard request.method == .get else {
                throw RPCError(
                    code: .unsupportedCall,
                    message:
                        "a list is read page by page with GET, or with POST where the cursor stands "
                        + "in the body")
            }
            return
        }
        guard request.method == .post else {
            throw RPCError(
                code: .unsupportedCall,
                message: "a list whose cursor stands in the body is read with POST")
        }
        var request = request
        try set("", in: &request, status: nil)
    }

    /// The cursor that a response names, a string or a number; nil at the end.
    ///
    /// - Throws: `RPCError` with code `malformed-reply` for one of another type, and for several fields.
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
                throw .malformedResponse("its cursor is there twice", status: response.status)
            }
            value = texts.first.map(JSONValue.string)
        }
        switch value {
        case nil, .null?, .string("")?: return nil
        case .string?, .number?: return value
        default:
            throw .malformedResponse(
                "its cursor is of type \(value?.typeName ?? "null"), expected a string or number",
                status: response.status)
        }
    }

    /// Puts a cursor into the next page's request.
    ///
    /// - Parameter status: Of the response that named it.
    /// - Throws: `RPCError` with code `malformed-reply` for what no field can hold, or `invalid-params` for a
    ///   body that has no place for it.
    package func set(
        _ cursor: JSONValue, in request: inout RESTRequest, status: Int?
    ) throws(RPCError) {
        guard case .cursor(_, let target) = way else { return }
        switch target.place {
        case .query(let name): request.query[name] = .string(cursor.scalarText ?? "")
        case .field(let name):
            let text = cursor.scalarText ?? ""
            guard HTTPField.isValidValue(text) else {
                throw .malformedResponse("its cursor holds what no field can hold", status: status)
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
            request.body = .json(.object(try Self.set(cursor, path[...], in: object)))
        }
    }

    private static let noPlace = RPCError.invalidParameters(
        "the list's cursor has no place in the body: wanted a JSON object, and objects on the way")

    private static func set(
        _ cursor: JSONValue, _ path: ArraySlice<String>, in object: JSONObject
    ) throws(RPCError) -> JSONObject {
        guard let name = path.first else { throw noPlace }
        var object = object
        if path.count == 1 {
            object[name] = cursor
        } else {
            guard let members = (object[name] ?? .object([:])).object else { throw noPlace }
            object[name] = .object(try set(cursor, path.dropFirst(), in: members))
        }
        return object
    }
}

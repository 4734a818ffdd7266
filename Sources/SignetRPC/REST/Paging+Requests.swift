import HTTPTypes
package import SignetJSON

// The place of a cursor or a number in requests, calls and boxed requests.
extension Paging {
    /// The place of the cursor or number; nil for links.
    private var target: Target? {
        switch way {
        case .link: nil
        case .cursor(_, let target): target
        case .counted(let count): count.target
        }
    }

    /// Refuses a request that cannot read a list.
    ///
    /// - Throws: `PayloadError` with code `unsupported-call` for a method other than GET (or, with
    ///   the cursor in the body, other than POST), or `invalid-params` for a body that the cursor
    ///   cannot be put into.
    package func check(_ request: RESTRequest) throws(PayloadError) {
        try checkCount()
        try check(method: request.method.rawValue)
        var request = request
        try set("0", in: &request, status: nil)
    }

    /// Refuses a call that cannot read a list.
    ///
    /// - Parameter isREST: Whether the call's method is an HTTP method.
    /// - Throws: As `check(_:)` of a request; `unsupported-call` also for a link, a query or a body
    ///   if the protocol isn't REST, and for a notification.
    package func check(_ call: RPCCall, isREST: Bool) throws(PayloadError) {
        try checkCount()
        guard !call.isNotification else {
            throw PayloadError(.unsupportedCall, "a notification has no pages")
        }
        switch target?.place {
        case _ where isREST: try check(method: String(call.method.name.prefix { $0 != " " }))
        case .parameter?, .field?: break
        case nil, .query?, .body?:
            throw PayloadError(
                .unsupportedCall,
                "only REST has pages by links, or a cursor in the query or the body: expected it "
                    + "in a parameter or a field")
        }
        var call = call
        try set("0", in: &call)
    }

    private func checkCount() throws(PayloadError) {
        if case .counted(let count) = way { try count.check() }
    }

    private func check(method: String) throws(PayloadError) {
        switch target?.place {
        case .body? where method != HTTPRequest.Method.post.rawValue:
            throw PayloadError(
                .unsupportedCall,
                "found the method \(method), expected POST for a cursor in the body")
        case .body?: break
        case .parameter? where method == HTTPRequest.Method.post.rawValue: break
        case .parameter(let path)? where path.count != 1: throw Self.noPlace
        default:
            guard method == HTTPRequest.Method.get.rawValue else {
                throw PayloadError(
                    .unsupportedCall,
                    "found the method \(method), expected GET to read a list, or POST with the "
                        + "cursor in the body")
            }
        }
    }

    /// Puts a cursor or a number into the next page's request, unless its place is a field.
    ///
    /// - Parameter status: The status of the response that the cursor comes from.
    /// - Throws: `PayloadError` with code `invalid-params` for a body that the cursor cannot be put
    ///   into.
    package func set(
        _ cursor: JSONValue, in request: inout RESTRequest, status: Int?
    ) throws(PayloadError) {
        switch target?.place {
        case .query(let name)?: request.query[name] = .string(cursor.scalarText ?? "")
        case .parameter(let path)? where request.method == .get:
            guard let name = path.first else { throw Self.noPlace }
            request.query[name] = .string(cursor.scalarText ?? "")
        case .body(let path)?, .parameter(let path)?:
            var object: JSONObject = [:]
            if let type = request.body.contentType {
                guard MediaType(type)?.isJSON == true,
                    let members = (try? JSONValue(parsing: request.body.bytes))?.object
                else { throw Self.noPlace }
                object = members
            }
            request.body = .json(.object(try Self.setting(cursor, at: path[...], in: object)))
        case .field?, nil: break
        }
    }

    /// Puts a cursor or a number into the next page's call, unless its place is a field.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for parameters by position, or without a
    ///   place for it.
    package func set(_ cursor: JSONValue, in call: inout RPCCall) throws(PayloadError) {
        let path: [String]
        switch target?.place {
        case .query(let name)?: path = [name]
        case .body(let names)?, .parameter(let names)?: path = names
        case .field?, nil: return
        }
        let members = try call.parameters?.members(for: "for the cursor of a list") ?? [:]
        call.parameters = .object(try Self.setting(cursor, at: path[...], in: members))
    }

    /// Puts a cursor or a number into the request's field, if its place is a field.
    ///
    /// - Throws: `PayloadError` with code `malformed-response` for a cursor that is invalid in a
    ///   field.
    package func set(
        _ cursor: JSONValue, in boxed: inout BoxedRequest, status: Int?
    ) throws(PayloadError) {
        guard case .field(let name)? = target?.place else { return }
        let text = cursor.scalarText ?? ""
        guard HTTPField.isValidValue(text) else {
            throw .malformedResponse("the cursor is not a valid field value", status: status)
        }
        boxed.fields[name] = text
    }

    private static let noPlace = PayloadError.invalidParameters(
        "the cursor cannot be put into the parameters or the body, expected a JSON object at each "
            + "level of its path")

    private static func setting(
        _ cursor: JSONValue, at path: ArraySlice<String>, in object: JSONObject
    ) throws(PayloadError) -> JSONObject {
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

import HTTPTypes
import SignetJSON

/// An adapter that takes whole REST requests beside calls with parameters by name.
public protocol RESTBoxing: PayloadAdapter {
    /// Boxes a request. Nothing has been sent where this throws.
    func box(_ request: RESTRequest) throws(RPCError) -> BoxedRequest
}

/// Plain REST: the call's method is the HTTP method, the result is the response's JSON body.
///
/// A method may name a path below the service's URL, with places for parameters: `GET /orders/{id}`
/// (``PathTemplate``). Of the other parameters, which are by name, POST, PUT and PATCH make the body, and
/// the other methods the query.
public struct RESTAdapter: RESTBoxing {
    /// What parameters become in a body.
    public enum BodyEncoding: Sendable, Hashable {
        /// `application/json`.
        case json
        /// `application/x-www-form-urlencoded`.
        case form
    }

    /// The largest body of a response, in bytes.
    public var maximumResponseSize = 64 << 20
    /// What parameters become with POST, PUT and PATCH.
    public var bodyEncoding = BodyEncoding.json
    /// How parameters of these names join the query. Of others an array repeats its name, and an object is
    /// refused.
    public var queryStyles: [String: QueryStyle] = [:]
    /// Names of parameters that join the query with every method.
    public var queryParameters: Set<String> = []
    /// Names of parameters that become fields of the request; of an array commas stand between the values
    /// (OpenAPI's style `simple`).
    public var headerParameters: Set<String> = []
    /// Names of parameters that become cookies (RFC 6265, section 4.2), as they stand.
    public var cookieParameters: Set<String> = []

    /// Makes an adapter.
    public init() {}

    /// Boxes a call. Nothing has been sent where this throws.
    ///
    /// In the query names and values are percent-encoded (RFC 3986, section 2.3: all but unreserved
    /// characters).
    ///
    /// - Throws: `RPCError` with code `invalid-method` (no token of RFC 9110, section 5.6.2),
    ///   `invalid-path`, `invalid-params` (by position; an object or null for the query; what no field or
    ///   cookie can hold) or `unsupported-call` (a notification).
    public func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest {
        var (request, parameters) = try begun(call)
        switch (request.method, parameters) {
        case (_, nil): break
        case (.post, var rest?), (.put, var rest?), (.patch, var rest?):
            request.query = Self.take(queryParameters, of: &rest)
            request.body =
                switch bodyEncoding {
                // Where all went to the query there is no body left.
                case _ where rest.isEmpty && !request.query.isEmpty: .none
                case .json: .json(.object(rest))
                case .form: try .form(rest)
                }
        case (_, let rest?): request.query = rest
        }
        return try box(request)
    }

    /// A call's request with a body of its own: all parameters that are none of the path, of fields or of
    /// cookies join the query, whatever the method.
    ///
    /// - Throws: As `box(_:)` of a call.
    public func request(
        for call: RPCCall, body: RESTBody = .none
    ) throws(RPCError) -> RESTRequest {
        var (request, parameters) = try begun(call)
        request.query = parameters ?? [:]
        request.body = body
        return request
    }

    /// A call's method, path and fields, and the parameters that are left; nil where there were none, or
    /// all have been taken.
    private func begun(_ call: RPCCall) throws(RPCError) -> (RESTRequest, JSONObject?) {
        guard !call.isNotification else {
            throw RPCError(code: .unsupportedCall, message: "REST knows no notifications")
        }
        let name = call.method.name
        let space = name.utf8.firstIndex(of: UInt8(ascii: " ")) ?? name.endIndex
        let template = Substring(name.utf8[space...].dropFirst())
        guard let method = HTTPRequest.Method(rawValue: String(name[..<space])),
            space == name.endIndex || template.utf8.first == UInt8(ascii: "/")
        else {
            throw RPCError(
                code: .invalidMethod, message: "the method is no HTTP method, nor one and a path")
        }
        var request = RESTRequest(method)
        var parameters: JSONObject?
        switch call.parameters {
        case nil: break
        case .array:
            throw .invalidParameters("the parameters are by position, REST knows them by name only")
        case .object(let object): parameters = object
        }
        let count = parameters?.count
        if !template.isEmpty {
            let template = try PathTemplate(String(template))
            request.path = RESTPath(escaped: try template.expanded(parameters ?? [:]))
            for name in template.names { parameters?[name] = nil }
        }
        if var rest = parameters {
            for (name, value) in Self.take(headerParameters, of: &rest) {
                guard let field = try RESTFields.field(name, value) else { continue }
                request.fields.append(field)
            }
            let cookies = Self.take(cookieParameters, of: &rest)
            if let field = try RESTFields.cookies(cookies) { request.fields.append(field) }
            parameters = rest.isEmpty && rest.count != count ? nil : rest
        }
        return (request, parameters)
    }

    /// Boxes a request. Nothing has been sent where this throws.
    ///
    /// - Throws: `RPCError` with code `invalid-path` or `invalid-params`.
    public func box(_ request: RESTRequest) throws(RPCError) -> BoxedRequest {
        let path = try request.path.encoded()
        var fields = request.fields
        if fields[.accept] == nil { fields[.accept] = "application/json" }
        if let type = request.body.contentType { fields[.contentType] = type }
        return BoxedRequest(
            method: request.method, path: path.isEmpty ? nil : path,
            query: try query(request.query), fields: fields, body: request.body.bytes)
    }

    /// Unboxes a response: the body's JSON, or null where a 2xx has no body.
    ///
    /// - Throws: `RPCError` with code `http-status` (not 2xx), `malformed-reply` (no strict JSON) or
    ///   `reply-too-large`.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(RPCError)
        -> UnboxedResponse
    {
        guard response.body.count <= maximumResponseSize else {
            throw .responseTooLarge(response, limit: maximumResponseSize)
        }
        guard response.isSuccess else { throw .httpStatus(response) }
        guard !response.body.isEmpty else {
            return UnboxedResponse(
                result: RPCResult(validated: Array("null".utf8)), status: response.status,
                fields: response.fields)
        }
        do {
            return UnboxedResponse(
                result: try RPCResult(parsing: response.body), status: response.status,
                fields: response.fields)
        } catch {
            throw .malformedResponse(
                "the body is not strict JSON: \(error.message)", status: response.status)
        }
    }

    // MARK: Helpers

    /// Takes the parameters of some names out of others.
    private static func take(_ names: Set<String>, of parameters: inout JSONObject) -> JSONObject {
        guard !names.isEmpty else { return [:] }
        var taken: JSONObject = [:]
        for (name, value) in parameters where has(names, name) != nil { taken[name] = value }
        for name in taken.memberNames { parameters[name] = nil }
        return taken
    }

    /// Percent-encoded pairs, joined by `&`.
    ///
    /// - Throws: `invalid-params`; also where a member of an exploded object would join the query under
    ///   another parameter's name.
    private func query(_ object: JSONObject) throws(RPCError) -> String? {
        var pairs: [String] = []
        var owners: [RPCMethod: String] = [:]  // keyed by bytes
        for (name, value) in object {
            let style = Self.has(queryStyles.keys, name).flatMap { queryStyles[$0] }
            if style == nil, case .object = value { throw QueryStyle.refusal(name, value) }
            for pair in try (style ?? .formExploded).pairs(name, value) {
                if let owner = owners.updateValue(name, forKey: RPCMethod(pair.name)),
                    !owner.utf8.elementsEqual(name.utf8)
                {
                    throw .invalidParameters(
                        "two parameters join the query by the name \(Printable.name(pair.name))")
                }
                pairs.append(PercentEncoding.encode(pair.name) + "=" + pair.value.encoded)
            }
        }
        return pairs.isEmpty ? nil : pairs.joined(separator: "&")
    }

    /// The one of some names that has the same bytes.
    private static func has(_ names: some Collection<String>, _ name: String) -> String? {
        names.first { $0.utf8.elementsEqual(name.utf8) }
    }
}

import HTTPTypes
import SignetBase
import SignetJSON

/// An adapter that also boxes whole REST requests, not only calls with parameters by name.
public protocol RESTBoxing: PayloadAdapter {
    /// Boxes a request. If this throws, nothing has been sent.
    func box(_ request: RESTRequest) throws(PayloadError) -> BoxedRequest
}

/// Plain REST: a call's method is the HTTP method, its result the response's JSON body.
///
/// A method may include a path below the service's URL, with places for parameters
/// (``PathTemplate``). With POST, PUT and PATCH the other parameters become the body, with other
/// methods the query.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
///
/// let adapter = RESTAdapter()
/// // GET /orders/7/items?limit=20
/// let request = try adapter.box(
///     RPCCall("GET /orders/{id}/items", parameters: .object(["id": 7, "limit": 20])))
/// let response = try adapter.unbox(
///     RawResponse(status: 200, body: Array(#"[{"item":"tea"}]"#.utf8)), to: request)
/// let items = try response.result?.decode([[String: String]].self)
/// ```
public struct RESTAdapter: RESTBoxing {
    /// The encoding of parameters in a body.
    public enum BodyEncoding: Sendable, Hashable {
        /// `application/json`.
        case json
        /// `application/x-www-form-urlencoded`.
        case form
    }

    /// The maximum size of a response's body, in bytes.
    public var maximumResponseSize = 64 << 20
    /// The encoding of parameters that become the body of a POST, PUT or PATCH.
    public var bodyEncoding = BodyEncoding.json
    /// The query styles of parameters, by name. Without a style an array repeats its name, and an
    /// object is refused.
    public var queryStyles: [String: QueryStyle] = [:]
    /// The names of parameters that become part of the query with every method.
    public var queryParameters: Set<String> = []
    /// The names of parameters that become fields of the request. An array's values are separated
    /// by commas (OpenAPI's style `simple`).
    public var headerParameters: Set<String> = []
    /// The names of parameters that become cookies (RFC 6265, section 4.2), unescaped.
    public var cookieParameters: Set<String> = []

    /// Creates an adapter.
    public init() {}

    /// Boxes a call. If this throws, nothing has been sent.
    ///
    /// Names and values in the query are percent-encoded, except for unreserved characters (RFC
    /// 3986, section 2.3).
    ///
    /// - Throws: `PayloadError` with code `invalid-method` (not a token of RFC 9110, section
    ///   5.6.2), `invalid-path`, `invalid-params` (parameters by position, an object or null for
    ///   the query, or a value that is invalid in a field or cookie) or `unsupported-call` (a
    ///   notification).
    public func box(_ call: RPCCall) throws(PayloadError) -> BoxedRequest {
        var request = RESTRequest(.get)
        let parameters = try rest(of: call, after: &request)
        switch (request.method, parameters) {
        case (_, nil): break
        case (.post, var rest?), (.put, var rest?), (.patch, var rest?):
            request.query = Self.remove(queryParameters, from: &rest)
            request.body =
                switch bodyEncoding {
                // If all parameters went to the query, there is no body.
                case _ where rest.isEmpty && !request.query.isEmpty: .none
                case .json: .json(.object(rest))
                case .form: try .form(rest)
                }
        case (_, let rest?): request.query = rest
        }
        return try box(request)
    }

    /// Returns a call's request with a body of its own. All parameters that don't belong to the
    /// path, a field or a cookie become part of the query, whatever the method.
    ///
    /// - Throws: As `box(_:)` of a call.
    public func request(
        for call: RPCCall, body: RESTBody = .none
    ) throws(PayloadError) -> RESTRequest {
        var request = RESTRequest(.get)
        request.query = try rest(of: call, after: &request) ?? [:]
        request.body = body
        return request
    }

    /// Gives a request a call's method, path and fields, and returns the remaining parameters; nil
    /// if there were none, or if the path, fields and cookies used them all.
    private func rest(
        of call: RPCCall, after request: inout RESTRequest
    ) throws(PayloadError) -> JSONObject? {
        guard !call.isNotification else {
            throw PayloadError(.unsupportedCall, "REST has no notifications")
        }
        let name = call.method.name
        let space = name.utf8.firstIndex(of: UInt8(ascii: " ")) ?? name.endIndex
        let template = Substring(name.utf8[space...].dropFirst())
        guard let method = HTTPRequest.Method(rawValue: String(name[..<space])),
            space == name.endIndex || template.utf8.first == UInt8(ascii: "/")
        else {
            throw PayloadError(
                .invalidMethod, "the method is neither an HTTP method nor one with a path")
        }
        request.method = method
        request.responseContent = call.responseContent
        var parameters = try call.parameters?.members(for: "for REST")
        let count = parameters?.count
        if !template.isEmpty {
            let template = try PathTemplate(String(template))
            request.path = RESTPath(escaped: try template.expanded(parameters ?? [:]))
            for name in template.names { parameters?[name] = nil }
        }
        if var rest = parameters {
            for (name, value) in Self.remove(headerParameters, from: &rest) {
                guard let field = try RESTFields.field(named: name, value: value) else { continue }
                request.fields.append(field)
            }
            let cookies = Self.remove(cookieParameters, from: &rest)
            if let field = try RESTFields.cookies(cookies) { request.fields.append(field) }
            parameters = rest.isEmpty && rest.count != count ? nil : rest
        }
        return parameters
    }

    /// Boxes a request. If this throws, nothing has been sent.
    ///
    /// - Throws: `PayloadError` with code `invalid-path` or `invalid-params`.
    public func box(_ request: RESTRequest) throws(PayloadError) -> BoxedRequest {
        let path = try request.path.encoded()
        var fields = request.fields
        if fields[.accept] == nil {
            fields[.accept] = request.responseContent == .json ? "application/json" : "*/*"
        }
        if let type = request.body.contentType { fields[.contentType] = type }
        return BoxedRequest(
            method: request.method, path: path.isEmpty ? nil : path,
            query: try query(request.query), fields: fields, body: request.body.bytes,
            expected: BoxedRequest.Expected(content: request.responseContent))
    }

    /// Unboxes a response. The result is the body's JSON, or null if a 2xx response has no body.
    ///
    /// If the caller can read any content, a body that isn't JSON is not an error, and the result
    /// is nil.
    ///
    /// - Throws: `PayloadError` with code `http-status` (not 2xx), `malformed-response` (not strict
    ///   JSON) or `response-too-large`.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(PayloadError)
        -> UnboxedResponse
    {
        try response.requireSize(atMost: maximumResponseSize)
        guard response.isSuccess || response.status == 304 && request.expected.content == .message
        else { throw .httpStatus(response) }
        let body = response.json
        let result: RPCResult?
        do {
            result = try body.isEmpty ? RPCResult(.null) : RPCResult(parsing: body)
        } catch {
            guard request.expected.content != .json else {
                throw .malformedResponse(
                    "the body is not strict JSON: \(error.message)", status: response.status)
            }
            result = nil
        }
        return UnboxedResponse(result: result, raw: response)
    }

    // MARK: Helpers

    /// Removes the parameters with some names and returns them.
    private static func remove(
        _ names: Set<String>, from parameters: inout JSONObject
    ) -> JSONObject {
        guard !names.isEmpty else { return [:] }
        let removed = JSONObject(parameters.filter { match(of: $0.name, in: names) != nil })
        for name in removed.memberNames { parameters[name] = nil }
        return removed
    }

    /// Returns percent-encoded pairs, joined by `&`; nil if there aren't any.
    ///
    /// - Throws: `invalid-params`, also if a member of an exploded object would get another
    ///   parameter's name in the query.
    private func query(_ object: JSONObject) throws(PayloadError) -> String? {
        var pairs: [String] = []
        var owners: [ByteName: String] = [:]
        for (name, value) in object {
            let style = Self.match(of: name, in: queryStyles.keys).flatMap { queryStyles[$0] }
            if style == nil, case .object = value { throw QueryStyle.refusal(of: value, in: name) }
            for pair in try (style ?? .formExploded).pairs(for: name, value: value) {
                if let owner = owners.updateValue(name, forKey: ByteName(pair.name)),
                    !sameBytes(owner, name)
                {
                    throw .invalidParameters(
                        "two parameters have the name \(quoted(pair.name)) in the query")
                }
                pairs.append(PercentCoding.encoded(pair.name) + "=" + pair.encoded)
            }
        }
        return pairs.isEmpty ? nil : pairs.joined(separator: "&")
    }

    /// Returns the one of `names` that has the same bytes as `name`.
    private static func match(of name: String, in names: some Collection<String>) -> String? {
        names.first { sameBytes($0, name) }
    }
}

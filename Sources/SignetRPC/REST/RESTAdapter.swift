import HTTPTypes
import SignetJSON

/// An adapter that takes whole REST requests beside calls with parameters by name.
public protocol RESTBoxing: PayloadAdapter {
    /// Boxes a request. Nothing has been sent where this throws.
    func box(_ request: RESTRequest) throws(RPCError) -> BoxedRequest
}

/// Plain REST: the call's method is the HTTP method, the result is the reply's JSON body.
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

    /// The largest body of a reply, in bytes.
    public var maximumReplySize = 64 << 20
    /// What parameters become with POST, PUT and PATCH.
    public var bodyEncoding = BodyEncoding.json
    /// How parameters of these names join the query. Of others an array repeats its name, and an object is
    /// refused.
    public var queryStyles: [String: QueryStyle] = [:]
    /// Names of parameters that join the query with every method.
    public var queryParameters: Set<String> = []

    /// Makes an adapter.
    public init() {}

    /// Boxes a call. Nothing has been sent where this throws.
    ///
    /// In the query names and values are percent-encoded (RFC 3986, section 2.3: all but unreserved
    /// characters).
    ///
    /// - Throws: `RPCError` with code `invalid-method` (no token of RFC 9110, section 5.6.2),
    ///   `invalid-path`, `invalid-params` (by position; an object or null for the query) or
    ///   `unsupported-call` (a notification).
    public func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest {
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
        var parameters: JSONObject?
        switch call.parameters {
        case nil: break
        case .array:
            throw .invalidParameters("the parameters are by position, REST knows them by name only")
        case .object(let object): parameters = object
        }
        var path: String?
        if !template.isEmpty {
            let template = try PathTemplate(String(template))
            path = try template.expanded(parameters ?? [:])
            for name in template.names { parameters?[name] = nil }
            // The path's own were all there were.
            if !template.names.isEmpty, parameters?.isEmpty == true { parameters = nil }
        }
        return try request(method, path, parameters)
    }

    /// Boxes a request. Nothing has been sent where this throws.
    ///
    /// - Throws: `RPCError` with code `invalid-path` or `invalid-params`.
    public func box(_ request: RESTRequest) throws(RPCError) -> BoxedRequest {
        let path = try request.path.encoded()
        return boxed(
            request.method, path.isEmpty ? nil : path, try query(request.query), request.body)
    }

    /// Unboxes a reply: the body's JSON, or null where a 2xx has no body.
    ///
    /// - Throws: `RPCError` with code `http-status` (not 2xx), `malformed-reply` (no strict JSON) or
    ///   `reply-too-large`.
    public func unbox(_ reply: RawReply, to request: BoxedRequest) throws(RPCError) -> UnboxedReply
    {
        guard reply.body.count <= maximumReplySize else {
            throw .replyTooLarge(reply, limit: maximumReplySize)
        }
        guard reply.isSuccess else { throw .httpStatus(reply) }
        guard !reply.body.isEmpty else {
            return UnboxedReply(
                result: RPCResult(validated: Array("null".utf8)), status: reply.status,
                fields: reply.fields)
        }
        do {
            return UnboxedReply(
                result: try RPCResult(parsing: reply.body), status: reply.status,
                fields: reply.fields)
        } catch {
            throw .malformedReply(
                "the body is no strict JSON: \(error.message)", status: reply.status)
        }
    }

    // MARK: Helpers

    private func request(
        _ method: HTTPRequest.Method, _ path: String?, _ parameters: JSONObject?
    ) throws(RPCError) -> BoxedRequest {
        guard var parameters else { return boxed(method, path, nil, .none) }
        switch method {
        case .post, .put, .patch:
            var asked: JSONObject = [:]
            for (name, value) in parameters where Self.has(queryParameters, name) != nil {
                asked[name] = value
            }
            for name in asked.memberNames { parameters[name] = nil }
            let body: RESTBody =
                switch bodyEncoding {
                // Where all went to the query there is no body left.
                case _ where parameters.isEmpty && !asked.isEmpty: .none
                case .json: .json(.object(parameters))
                case .form: try .form(parameters)
                }
            return boxed(method, path, try query(asked), body)
        default: return boxed(method, path, try query(parameters), .none)
        }
    }

    private func boxed(
        _ method: HTTPRequest.Method, _ path: String?, _ query: String?, _ body: RESTBody
    ) -> BoxedRequest {
        var fields: HTTPFields = [.accept: "application/json"]
        fields[.contentType] = body.contentType
        return BoxedRequest(
            method: method, path: path, query: query, fields: fields, body: body.bytes)
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

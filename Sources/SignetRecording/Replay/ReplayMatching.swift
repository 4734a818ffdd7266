public import HTTPTypes

/// The rules by which a request is the same as a recorded one.
///
/// Nothing of them is stored in a recording, so another rule needs no other recording.
///
/// ```swift
/// var matching = ReplayMatching()
/// matching.parts.insert(.field(.accept))
/// matching.masks.append(.member("sequence"))
/// ```
public struct ReplayMatching: Sendable, Hashable {
    /// A part of requests that is compared.
    public enum Part: Sendable, Hashable {
        /// The method.
        case method
        /// Scheme, host and port.
        case host
        /// The path.
        case path
        /// The parameters of the query; their order doesn't count.
        case query
        /// The body. JSON, forms and multipart bodies are compared by their members.
        case body
        /// A field.
        case field(HTTPField.Name)
    }

    /// The parts that are compared. Defaults to method, host, path, query and body.
    public var parts: Set<Part> = [.method, .host, .path, .query, .body]
    /// The values that may differ. Defaults to ``ReplayMask/standard``.
    public var masks: [ReplayMask] = ReplayMask.standard

    /// The defaults.
    public init() {}
}

/// A rule for values that are others in each request, and so aren't compared.
public struct ReplayMask: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
        case rpcIDs
        case uuids
        case names(Names)
    }

    /// Names in lower case, by the places where they are masked.
    struct Names: Sendable, Hashable {
        /// Parameters, members and fields.
        var everywhere: Set<String> = []
        /// Parameters of queries. Elsewhere, such as in `{"state":"open"}`, they are business data.
        var inQueries: Set<String> = []
        /// Fields.
        var inFields: Set<String> = []
    }

    let rule: Rule

    /// The ids of JSON-RPC calls. Responses get the ids of the requests that they answer.
    public static let rpcIDs = ReplayMask(rule: .rpcIDs)

    /// Nonces and salts, by the names of parameters, members and fields; `state` in queries alone.
    public static let nonces = named(
        "nonce", "noncestr", "nonce_str", "salt", "jti", "cnonce", "code_challenge", "requestid",
        "request_id", "request-id", "x-request-id", "traceparent", "tracestate", "idempotency-key",
        "idempotencykey", "signaturenonce", "x-acs-signature-nonce", inQueries: ["state"])

    /// The times of requests, by the names of parameters, members and fields; `expires` and `_` in
    /// queries alone, `Date` as a field alone. Values that look like dates under other names are
    /// compared.
    public static let dates = named(
        "timestamp", "ts", "iat", "exp", "nbf", "x-amz-date", "x-tc-timestamp", "x-acs-date",
        "webhook-timestamp", "x-slack-request-timestamp", "x-amz-expires",
        inQueries: ["expires", "_"], inFields: ["date"])

    /// Signatures, by the names of parameters, members and fields.
    public static let signatures = named(
        "sig", "sign", "signature", "hmac", "mac", "x-amz-signature", "x-goog-signature",
        "signature-input", "signet-signature", "authorization", "x-amz-security-token",
        "webhook-signature", "stripe-signature", "content-digest")

    /// Every text that is a UUID, under any name.
    public static let uuids = ReplayMask(rule: .uuids)

    /// The masks for ids, nonces, dates and signatures.
    public static let standard = [rpcIDs, nonces, dates, signatures]

    /// The parameters, members and fields of a name, at any depth. Letter case doesn't count.
    public static func member(_ name: String) -> ReplayMask { named(name) }

    private static func named(
        _ names: String..., inQueries: Set<String> = [], inFields: Set<String> = []
    ) -> ReplayMask {
        ReplayMask(
            rule: .names(
                Names(
                    everywhere: Set(names.map { $0.lowercased() }), inQueries: inQueries,
                    inFields: inFields)))
    }
}

extension ReplayMatching {
    /// The names that are masked, of all masks.
    var names: ReplayMask.Names {
        var names = ReplayMask.Names()
        for case .names(let more) in masks.map(\.rule) {
            names.everywhere.formUnion(more.everywhere)
            names.inQueries.formUnion(more.inQueries)
            names.inFields.formUnion(more.inFields)
        }
        return names
    }
}

extension ReplayMask.Names {
    /// Whether a member or a parameter of a body is masked.
    func contain(member name: String) -> Bool { everywhere.contains(name.lowercased()) }

    /// Whether a parameter of a query is masked.
    func contain(inQuery name: String) -> Bool {
        contain(member: name) || inQueries.contains(name.lowercased())
    }

    /// Whether a field is masked.
    func contain(field name: String) -> Bool {
        contain(member: name) || inFields.contains(name.lowercased())
    }
}

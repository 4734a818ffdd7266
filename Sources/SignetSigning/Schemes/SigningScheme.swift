import SignetBase
import SignetCrypto
public import SignetJSON

/// A signature scheme, either built in or defined by your own document.
///
/// ```swift
/// let standard = SigningScheme.rfc9421
/// let partner = try SigningScheme(named: "aws-sigv4")
/// let weak = try SigningScheme.Insecure.scheme(named: "wechat-v2")  // MD5, for old partners only
/// print(standard, partner, weak)
/// ```
public struct SigningScheme: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case rfc9421, saltedHMAC
        case document(CompiledScheme)
    }

    /// The name in configurations and in the tool's option `--scheme`.
    public let name: String
    let kind: Kind

    /// HTTP Message Signatures (RFC 9421).
    public static let rfc9421 = SigningScheme(name: "rfc9421", kind: .rfc9421)
    /// A salted HMAC with SHA-256 or SHA-512 over netstrings, in the field Signet-Signature.
    public static let saltedHMAC = SigningScheme(name: "salted-hmac-v1", kind: .saltedHMAC)

    /// The names of the built-in schemes, in the order of listings.
    public static let names =
        [rfc9421.name, saltedHMAC.name] + BuiltInSchemes.documents.map(\.name)

    /// The JSON Schema (2020-12) of scheme documents, for editors and generators.
    ///
    /// ``init(document:)`` refuses every document that the schema refuses. It also checks rules
    /// that concern several members of a document.
    public static let documentSchema: [UInt8] = PackageResources.signet_scheme_schema_json

    private init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// Creates a built-in scheme by name.
    ///
    /// - Throws: `SigningError`: `unknown-scheme`, with a list of the names; `insecure-scheme` if
    ///   the scheme signs with MD5 or SHA-1 (see ``Insecure``).
    public init(named name: String) throws(SigningError) {
        try self.init(named: name, insecure: false)
    }

    /// Creates a scheme from a document of the scheme language.
    ///
    /// ```swift
    /// let document = #"""
    ///     {
    ///       "signet-scheme": 1,
    ///       "name": "tea-trade",
    ///       "settings": {"app": {"required": true}},
    ///       "inject": [{"header": "X-Tea-Time", "value": "{time}"}],
    ///       "text": "{set.app}\n{time}\n{method}\n{target}\n{body}",
    ///       "sign": {"hmac": "sha256"},
    ///       "place": [{"header": "X-Tea-Sign", "value": "{keyid}:{signature}"}]
    ///     }
    ///     """#
    /// var options = MessageSigner.Options()
    /// options.settings = ["app": "shop"]
    /// let signer = try MessageSigner(
    ///     scheme: SigningScheme(document: Array(document.utf8)),
    ///     key: KeySource("tea-trade-keys.json").load().key(id: "shop-7"), options: options)
    /// var message = try SignableMessage(
    ///     parsing: Array("GET /orders?tea=oolong HTTP/1.1\nHost: api.example.com\n\n".utf8))
    /// let signed = try signer.sign(&message, now: 1_767_225_600)
    /// print(signed.addedFields.map(\.name))  // X-Tea-Time and X-Tea-Sign
    /// ```
    ///
    /// A verifier takes the same document and the same settings:
    ///
    /// ```swift
    /// import Foundation
    ///
    /// let file = try Data(contentsOf: URL(filePath: "tea-trade.json"))
    /// var policy = VerificationPolicy()
    /// policy.settings = ["app": "shop"]
    /// let verifier = try Verifier(
    ///     scheme: SigningScheme(document: Array(file)),
    ///     keys: KeySource("tea-trade-keys.json").load(), policy: policy)
    /// let message = try SignableMessage(parsing: Array(FileHandle.standardInput.availableData))
    /// let verified = try await verifier.verify(message)
    /// print(verified.keyID, verified.covered.map(\.identifier))
    /// ```
    ///
    /// - Parameter document: JSON, at most 256 KiB.
    /// - Throws: `SigningError`: `malformed-scheme`, with the path of the member; `insecure-scheme`
    ///   if the scheme signs with MD5 or SHA-1 (see ``Insecure``).
    public init(document: [UInt8]) throws(SigningError) {
        try self.init(document: document, insecure: false)
    }

    /// Creates schemes including those that sign with MD5 or SHA-1, for partners who support
    /// nothing else.
    public enum Insecure {
        /// Creates a built-in scheme by name, also an insecure one.
        public static func scheme(named name: String) throws(SigningError) -> SigningScheme {
            try SigningScheme(named: name, insecure: true)
        }

        /// Creates a scheme from a document, also an insecure one.
        public static func scheme(document: [UInt8]) throws(SigningError) -> SigningScheme {
            try SigningScheme(document: document, insecure: true)
        }
    }

    /// Returns the error for an unknown name, with the nearest known one.
    ///
    /// - Parameter more: Further things that the name may be.
    static func unknown(_ name: String, otherwise more: String = "") -> SigningError {
        SigningError(
            .unknownScheme,
            "found \"\(printable(name))\", expected one of " + names.joined(separator: ", ") + more
                + NearestName.suggestion(for: name, among: names))
    }

    init(named name: String, insecure: Bool) throws(SigningError) {
        for scheme in [Self.rfc9421, .saltedHMAC] where sameBytes(scheme.name, name) {
            self = scheme
            return
        }
        guard let found = BuiltInSchemes.documents.first(where: { $0.name == name }) else {
            throw Self.unknown(name)
        }
        try self.init(document: found.bytes, insecure: insecure)
    }

    init(document: [UInt8], insecure: Bool) throws(SigningError) {
        guard document.count <= 256 << 10 else {
            throw SigningError(
                .malformedScheme,
                "the scheme: found \(document.count) bytes, expected at most \(256 << 10)")
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: document, maximumDepth: 32)
        } catch {
            throw SigningError(.malformedScheme, "the scheme is not JSON: \(error.message)")
        }
        guard let object = value.object else {
            throw SchemeValue(json: value, path: "$").wrong(expected: "an object")
        }
        if let engine = object["engine"]?.string {
            self = try Self.withEngine(engine, document: object)
            return
        }
        let plan = CompiledScheme(try SchemeParser(object))
        if let algorithm = plan.insecureAlgorithm, !insecure {
            throw SigningError(
                .insecureScheme,
                "the scheme \(plan.name) signs with \(algorithm); to use it anyway, "
                    + "pass --insecure-scheme-ok (in Swift: SigningScheme.Insecure)")
        }
        self.init(name: plan.name, kind: .document(plan))
    }

    /// Returns the scheme of a document that only names `rfc9421` or `salted-hmac-v1`.
    private static func withEngine(
        _ name: String, document object: JSONObject
    ) throws(SigningError) -> SigningScheme {
        for scheme in [rfc9421, saltedHMAC] where scheme.document == object { return scheme }
        throw SigningError(
            .malformedScheme,
            "$.engine: found it in another document, expected it only in those of rfc9421 and "
                + "salted-hmac-v1")
    }

    /// The document. Passing it to `init(document:)` creates this scheme again.
    public var document: JSONObject {
        switch kind {
        case .document(let plan): return plan.document
        case .rfc9421:
            return [
                "signet-scheme": 1, "name": "rfc9421",
                "about":
                    "HTTP Message Signatures; its structured fields have an engine of their own.",
                "source": "https://www.rfc-editor.org/rfc/rfc9421", "engine": "rfc9421",
            ]
        case .saltedHMAC:
            return [
                "signet-scheme": 1, "name": "salted-hmac-v1",
                "about": "An HMAC under a key derived with a salt, over netstrings.",
                "engine": "salted-hmac-v1",
            ]
        }
    }

    /// The name.
    public var description: String { name }
}

extension CompiledScheme: Hashable {
    static func == (left: CompiledScheme, right: CompiledScheme) -> Bool {
        left === right || left.document == right.document
    }

    func hash(into hasher: inout Hasher) { hasher.combine(document) }
}

/// The documents of the built-in schemes.
enum BuiltInSchemes {
    static let documents: [(name: String, bytes: [UInt8])] = [
        ("aws-sigv4", PackageResources.aws_sigv4_json),
        ("tencent-tc3", PackageResources.tencent_tc3_json),
        ("alibaba-acs3", PackageResources.alibaba_acs3_json),
        ("wechatpay-v3", PackageResources.wechatpay_v3_json),
        ("standard-webhooks", PackageResources.standard_webhooks_json),
        ("stripe", PackageResources.stripe_json),
        ("github", PackageResources.github_json),
        ("slack-v0", PackageResources.slack_v0_json),
        ("shopify", PackageResources.shopify_json),
        ("twilio", PackageResources.twilio_json),
        ("square", PackageResources.square_json),
        ("sendgrid", PackageResources.sendgrid_json),
        ("ctnetworking-get", PackageResources.ctnetworking_get_json),
        ("ctnetworking-restful-get", PackageResources.ctnetworking_restful_get_json),
        ("ctnetworking-post", PackageResources.ctnetworking_post_json),
        ("ctnetworking-restful-post", PackageResources.ctnetworking_restful_post_json),
        ("wechat-v2", PackageResources.wechat_v2_json),
    ]
}

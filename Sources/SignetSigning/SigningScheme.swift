internal import SignetCrypto
public import SignetJSON

/// A way to sign: built in, by its name, or of a document of one's own.
public struct SigningScheme: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case rfc9421, saltedHMAC
        case document(SchemePlan)
    }

    /// The name that configurations and the tool's `--scheme` use.
    public let name: String
    let kind: Kind

    /// HTTP Message Signatures (RFC 9421).
    public static let rfc9421 = SigningScheme(name: "rfc9421", kind: .rfc9421)
    /// A salted HMAC with SHA-256 or SHA-512 over netstrings, in the field Signet-Signature.
    public static let saltedHMAC = SigningScheme(name: "salted-hmac-v1", kind: .saltedHMAC)

    /// The names of all that is built in, in the order in which they are listed.
    public static let names =
        [rfc9421.name, saltedHMAC.name] + BuiltInSchemes.documents.map(\.name)

    /// The JSON Schema (2020-12) of scheme documents, for editors and for whoever makes documents.
    ///
    /// A document that it refuses is refused by ``init(document:)`` too. What one part of a document
    /// says of another is checked by the latter alone.
    public static let documentSchema: [UInt8] = PackageResources.signet_scheme_schema_json

    private init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// Finds a scheme by name.
    ///
    /// - Throws: `SigningError` with `unknown-scheme`, naming those that can be used, and with
    ///   `insecure-scheme` for one that signs with MD5 or SHA-1 (see ``Insecure``).
    public init(named name: String) throws(SigningError) {
        try self.init(named: name, insecure: false)
    }

    /// Reads a document of the scheme language.
    ///
    /// - Parameter document: JSON, at most 256 KiB.
    /// - Throws: `SigningError` with `malformed-scheme`, naming the member, and with `insecure-scheme`
    ///   for one that signs with MD5 or SHA-1 (see ``Insecure``).
    public init(document: [UInt8]) throws(SigningError) {
        try self.init(document: document, insecure: false)
    }

    /// The door to schemes that sign with MD5 or SHA-1, for partners that know no other.
    public enum Insecure {
        /// Finds a scheme by name, also a weak one.
        public static func scheme(named name: String) throws(SigningError) -> SigningScheme {
            try SigningScheme(named: name, insecure: true)
        }

        /// Reads a document, also of a weak scheme.
        public static func scheme(document: [UInt8]) throws(SigningError) -> SigningScheme {
            try SigningScheme(document: document, insecure: true)
        }
    }

    private init(named name: String, insecure: Bool) throws(SigningError) {
        for scheme in [Self.rfc9421, .saltedHMAC] where scheme.name.utf8.elementsEqual(name.utf8) {
            self = scheme
            return
        }
        guard let found = BuiltInSchemes.documents.first(where: { $0.name == name }) else {
            throw SigningError(
                .unknownScheme,
                "no scheme has this name: wanted one of " + Self.names.joined(separator: ", "))
        }
        try self.init(document: found.bytes, insecure: insecure)
    }

    private init(document: [UInt8], insecure: Bool) throws(SigningError) {
        guard document.count <= 256 << 10 else {
            throw SigningError(
                .malformedScheme,
                "the scheme: found \(document.count) bytes, wanted at most \(256 << 10)")
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: document, maximumDepth: 32)
        } catch {
            throw SigningError(.malformedScheme, "the scheme is not JSON: \(error.message)")
        }
        guard let object = value.object else {
            throw SchemeReader.wrong(value, at: "$", wanted: "an object")
        }
        if let engine = object["engine"]?.string {
            self = try Self.withEngine(engine, document: object)
            return
        }
        let plan = SchemePlan(try SchemeParts(object))
        if let hash = plan.brokenHash, !insecure {
            throw SigningError(
                .insecureScheme,
                "the scheme \(plan.name) signs with \(hash.rawValue), which is broken: to use it anyway, "
                    + "pass --insecure-scheme-ok (in Swift: SigningScheme.Insecure)")
        }
        self.init(name: plan.name, kind: .document(plan))
    }

    /// A document that only names one of the two schemes with an engine of their own.
    private static func withEngine(
        _ name: String, document object: JSONObject
    ) throws(SigningError) -> SigningScheme {
        for scheme in [rfc9421, saltedHMAC] where scheme.document == object { return scheme }
        throw SigningError(
            .malformedScheme,
            "$.engine: found one in another document than those of rfc9421 and salted-hmac-v1, "
                + "wanted none")
    }

    /// The document, which `init(document:)` reads again.
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

extension SchemePlan: Hashable {
    static func == (left: SchemePlan, right: SchemePlan) -> Bool {
        left === right || left.document == right.document
    }

    func hash(into hasher: inout Hasher) { hasher.combine(document) }
}

/// The documents that come with the package.
enum BuiltInSchemes {
    static let documents: [(name: String, bytes: [UInt8])] = [
        ("aws-sigv4", PackageResources.aws_sigv4_json),
        ("tencent-tc3", PackageResources.tencent_tc3_json),
        ("alibaba-acs3", PackageResources.alibaba_acs3_json),
        ("wechatpay-v3", PackageResources.wechatpay_v3_json),
        ("standard-webhooks", PackageResources.standard_webhooks_json),
        ("stripe", PackageResources.stripe_json),
        ("github", PackageResources.github_json),
        ("ctnetworking-get", PackageResources.ctnetworking_get_json),
        ("ctnetworking-restful-get", PackageResources.ctnetworking_restful_get_json),
        ("ctnetworking-post", PackageResources.ctnetworking_post_json),
        ("ctnetworking-restful-post", PackageResources.ctnetworking_restful_post_json),
        ("wechat-v2", PackageResources.wechat_v2_json),
    ]
}

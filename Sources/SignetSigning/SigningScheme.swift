/// A way to sign, by its name.
public struct SigningScheme: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable { case rfc9421, saltedHMAC }

    /// The name that configurations and the tool's `--scheme` use.
    public let name: String
    let kind: Kind

    /// HTTP Message Signatures (RFC 9421) with hmac-sha256.
    public static let rfc9421 = SigningScheme(name: "rfc9421", kind: .rfc9421)
    /// A salted HMAC with SHA-256 or SHA-512 over netstrings, in the field Signet-Signature.
    public static let saltedHMAC = SigningScheme(name: "salted-hmac-v1", kind: .saltedHMAC)

    /// All schemes that can be used, in the order in which they are listed.
    public static let all = [rfc9421, saltedHMAC]

    /// Names that are kept for partner schemes.
    static let reserved: Set<String> = [
        "aws-sigv4", "tencent-tc3", "alibaba-acs3", "wechatpay-v3", "standard-webhooks", "stripe",
        "github", "ctnetworking-get", "ctnetworking-restful-get", "ctnetworking-post",
        "ctnetworking-restful-post", "wechat-v2",
    ]

    private init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// Finds a scheme by name.
    ///
    /// - Throws: `SigningError` with `unknown-scheme`, naming those that can be used.
    public init(named name: String) throws(SigningError) {
        guard let scheme = Self.all.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            let known = Self.all.map(\.name).joined(separator: ", ")
            throw SigningError(
                .unknownScheme,
                Self.reserved.contains(name)
                    ? "the scheme \(name) is not available yet: wanted one of \(known)"
                    : "no scheme has this name: wanted one of \(known)")
        }
        self = scheme
    }

    /// The name.
    public var description: String { name }
}

import SignetJSON
import SignetSigning
import SignetVault

extension ServiceConfiguration {
    /// The signature of a service's requests.
    public struct Signing: Sendable, Hashable {
        /// The scheme: a name of `signet schemes list`, or, with a slash or a point in it, the path
        /// of a scheme's document (string `services.NAME.signing.scheme`).
        public var scheme: String
        /// The key's id in the key set, or that of one of `NetworkSystem.Options.externalSigners`
        /// (string `services.NAME.signing.key`).
        public var keyID: String
        /// The components or fields that are covered (array of strings
        /// `services.NAME.signing.covers`); nil for the scheme's default.
        public var covered: [String]?
        /// Further settings of the scheme, such as SigV4's `region` (object of strings
        /// `services.NAME.signing.settings`); for `rfc9421` the types of fields, as
        /// `"sf.FIELD":"dictionary"`.
        public var settings: [String: String]
        /// The purpose of the signature (`rfc9421`; string `services.NAME.signing.tag`).
        public var tag: String?
        /// Whether the scheme may sign with MD5 or SHA-1 (boolean
        /// `services.NAME.signing.insecureSchemeOk`).
        public private(set) var allowsInsecureScheme = false

        /// Makes a signing rule; a scheme that signs with MD5 or SHA-1 is refused.
        public init(
            scheme: String, keyID: String, covered: [String]? = nil,
            settings: [String: String] = [:], tag: String? = nil
        ) {
            self.scheme = scheme
            self.keyID = keyID
            self.covered = covered
            self.settings = settings
            self.tag = tag
        }

        /// Makes a signing rule that also accepts a scheme which signs with MD5 or SHA-1, for
        /// partners that know no other.
        public static func insecure(
            scheme: String, keyID: String, settings: [String: String] = [:]
        ) -> Signing {
            var signing = Signing(scheme: scheme, keyID: keyID, settings: settings)
            signing.allowsInsecureScheme = true
            return signing
        }
    }
}

extension ServiceConfiguration.Signing {
    /// Reads `signing.…`; nil if the service's requests aren't signed.
    ///
    /// - Throws: The reader's code: for a value without a scheme, for one of another form, and if a
    ///   fetched value names a file or allows a weak scheme.
    init?(_ reader: SettingsReader) throws(ClientError) {
        guard let scheme = try reader.read("signing.scheme", as: String.self) else {
            for name in reader.names(after: reader.prefix + "signing.") {
                throw reader.invalid(
                    "signing.\(name)", reason: "has a value without signing.scheme")
            }
            return nil
        }
        guard let keyID = try reader.read("signing.key", as: String.self) else {
            throw reader.invalid("signing.key", reason: "has no value, but signing.scheme has one")
        }
        if SigningScheme.isFile(scheme), reader.isFetched("signing.scheme") {
            throw reader.invalid(
                "signing.scheme", reason: "can't be a file in a fetched value")
        }
        self.init(
            scheme: scheme, keyID: keyID,
            covered: try reader.read("signing.covers", as: [String].self),
            tag: try reader.read("signing.tag", as: String.self))
        for (name, value) in try reader.read("signing.settings", as: JSONObject.self) ?? [:] {
            guard let text = value.string else {
                throw reader.invalid(
                    "signing.settings", reason: "contains a value that is not a string")
            }
            settings[name] = text
        }
        if try reader.read("signing.insecureSchemeOk", as: Bool.self) == true {
            guard !reader.isFetched("signing.insecureSchemeOk") else {
                throw reader.invalid(
                    "signing.insecureSchemeOk", reason: "can't be true in a fetched value")
            }
            allowsInsecureScheme = true
        }
    }
}

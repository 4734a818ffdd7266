public import SignetCrypto
import SignetVault

extension ServiceConfiguration {
    /// The encryption of the bodies of a service's requests and responses: each is a JWE in compact
    /// serialization (RFC 7516, section 7.1), whatever adapter makes and reads the bodies.
    ///
    /// A request without a body, such as a GET, is sent as it is: its path and query aren't sealed.
    /// A response that isn't sealed is an error, but for one without content (204, 205, 304, to a
    /// HEAD, or to a notification).
    ///
    /// ```swift
    /// var service = ServiceConfiguration(
    ///     baseURL: "https://api.bank.example/payments", payloadProtocol: .rest)
    /// service.sealing = .init(
    ///     .ecdhESA256KW, keyIDs: ["bank-2026", "bank-2027"], responseKeyIDs: ["ours-2026"])
    /// ```
    public struct Sealing: Sendable, Hashable {
        /// The order of signature and encryption.
        public enum SignaturePlace: String, Sendable, Hashable, CaseIterable {
            /// The signature covers the sealed body, which anyone on the way can check.
            case outside
            /// The signature covers the body before it is sealed, so the server opens it first.
            case inside
        }

        /// The algorithm of the keys (string `services.NAME.sealing.algorithm`, such as
        /// `RSA-OAEP-256`).
        public var algorithm: JWEKeyAlgorithm
        /// The algorithm of the content (string `services.NAME.sealing.encryption`, `A256GCM` or
        /// `A128GCM`).
        public var encryption: JWEContentEncryption
        /// The ids of the keys that requests are sealed for (array of strings
        /// `services.NAME.sealing.keys`). The first one that is valid now is used, so that keys
        /// with `nbf` and `exp` replace each other by themselves.
        public var keyIDs: [String]
        /// The ids of the keys that open responses (array of strings
        /// `services.NAME.sealing.responseKeys`); a response names one of them by its `kid`. Empty
        /// means the keys of `keyIDs`, which is possible for shared secrets alone. Then a peer
        /// that ends TLS without having the secret can send a sealed request back as a response.
        public var responseKeyIDs: [String]
        /// The order of signature and encryption (string `services.NAME.sealing.signature`,
        /// `outside` or `inside`).
        public var signature: SignaturePlace
        /// The media type of a sealed body (string `services.NAME.sealing.mediaType`).
        public var mediaType: String

        /// Makes a rule for a service's bodies.
        public init(
            _ algorithm: JWEKeyAlgorithm, _ encryption: JWEContentEncryption = .a256GCM,
            keyIDs: [String], responseKeyIDs: [String] = [],
            signature: SignaturePlace = .outside, mediaType: String = "application/jose"
        ) {
            self.algorithm = algorithm
            self.encryption = encryption
            self.keyIDs = keyIDs
            self.responseKeyIDs = responseKeyIDs
            self.signature = signature
            self.mediaType = mediaType
        }
    }
}

extension ServiceConfiguration.Sealing {
    /// Reads `sealing.…`; nil if the service's bodies aren't sealed.
    ///
    /// - Throws: The reader's code: for a value without an algorithm, for an unknown one, and for
    ///   fetched values.
    init?(_ reader: SettingsReader) throws(ClientError) {
        let reader = reader.below("sealing")
        for name in reader.names() where reader.isFetched(name) {
            throw reader.invalid(
                name, reason: "can't be fetched, because it decides what is sealed")
        }
        guard
            let algorithm = try reader.choice("algorithm", of: JWEKeyAlgorithm.self)
        else {
            guard let stray = reader.names().first else { return nil }
            throw reader.invalid(stray, reason: "has a value without sealing.algorithm")
        }
        guard let keys = try reader.read("keys", as: [String].self) else {
            throw reader.invalid("keys", reason: "has no value, but sealing.algorithm has one")
        }
        self.init(algorithm, keyIDs: keys)
        encryption =
            try reader.choice("encryption", of: JWEContentEncryption.self) ?? encryption
        responseKeyIDs = try reader.read("responseKeys", as: [String].self) ?? []
        signature = try reader.choice("signature", of: SignaturePlace.self) ?? signature
        mediaType = try reader.read("mediaType", as: String.self) ?? mediaType
    }
}

internal import SignetCrypto

/// Why a message was not signed or not verified.
///
/// The message says what was found, what was wanted and where; it never holds a key, a tag or the
/// value of a field. Whoever sent a message that does not verify is told
/// ``SigningError/publicMessage`` and nothing else.
public struct SigningError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is; more kinds may come.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name that scripts rely on, in kebab-case.
        public let name: String

        private init(_ name: String) { self.name = name }

        /// The name.
        public var description: String { name }

        // What was asked for, or the message itself, is not well-formed.
        /// The text of a message is not HTTP/1.1, or its target or Host is none of RFC 3986.
        public static let malformedMessage = Code("malformed-message")
        /// The fields that carry a signature cannot be read.
        public static let malformedSignature = Code("malformed-signature")
        /// Content-Digest cannot be read.
        public static let malformedDigest = Code("malformed-digest")
        /// What is to be covered is not named as RFC 9421 names it.
        public static let malformedComponent = Code("malformed-component")
        /// The file of a body cannot be read.
        public static let unreadableBody = Code("unreadable-body")
        /// The scheme signs the body itself, and the message holds digests of it only.
        public static let bodyNotHeld = Code("body-not-held")
        /// The body ended before all of it came, or went on behind its end.
        public static let bodyCut = Code("body-cut")
        /// A component is to be covered twice.
        public static let duplicateComponent = Code("duplicate-component")
        /// A component is not known, or cannot be covered by this scheme.
        public static let unsupportedComponent = Code("unsupported-component")
        /// No scheme has the name.
        public static let unknownScheme = Code("unknown-scheme")
        /// The document of a scheme is not of the scheme language, or contradicts itself.
        public static let malformedScheme = Code("malformed-scheme")
        /// The scheme signs with a hash that is broken, and nobody said that this is known.
        public static let insecureScheme = Code("insecure-scheme")
        /// The scheme wants a setting that was not given.
        public static let missingOption = Code("missing-option")
        /// The message has a field or parameter already that the signature would add.
        public static let duplicateField = Code("duplicate-field")
        /// The scheme has no such option.
        public static let unsupportedOption = Code("unsupported-option")
        /// A nonce, a tag, a label or a key id cannot be written in a field.
        public static let invalidValue = Code("invalid-value")
        /// A time lies before 1970, or the end before the beginning.
        public static let invalidTime = Code("invalid-time")
        /// The message has a signature of that label already.
        public static let duplicateLabel = Code("duplicate-label")
        /// OpenSSL could not do its work.
        public static let cryptoFailed = Code("crypto-failed")

        /// A peer's Accept-Signature asks for what this signer cannot give.
        public static let unanswerableRequest = Code("unanswerable-request")
        /// What is to be signed changed between the preparation and the signature.
        public static let messageChanged = Code("message-changed")
        /// A signature made elsewhere cannot be one of the algorithm.
        public static let invalidSignature = Code("invalid-signature")

        // The message lacks what is to be covered, or holds what cannot be.
        /// The message lacks what is to be covered.
        public static let missingComponent = Code("missing-component")
        /// A covered value is not ASCII, which a signature base must be.
        public static let nonASCIIValue = Code("non-ascii-value")
        /// A covered value is not UTF-8 where it must be.
        public static let nonUTF8Value = Code("non-utf8-value")
        /// A field that is covered in its strict spelling is no structured field of its type.
        public static let malformedField = Code("malformed-field")
        /// A field is to be covered in its strict spelling, and its type is not known.
        public static let unknownFieldType = Code("unknown-field-type")
        /// The query has several parameters of a covered name.
        public static let repeatedParameter = Code("repeated-parameter")
        /// Content-Digest does not fit the body.
        public static let digestMismatch = Code("digest-mismatch")
        /// Content-Digest holds a deprecated algorithm, or none that is known.
        public static let unsupportedDigest = Code("unsupported-digest")

        // Policy.
        /// The message has no signature, or none with the wanted tag.
        public static let noSignature = Code("no-signature")
        /// Several signatures could be meant.
        public static let ambiguousSignature = Code("ambiguous-signature")
        /// What must be covered is not.
        public static let notCovered = Code("not-covered")
        /// The signature does not say when it was made.
        public static let missingCreated = Code("missing-created")
        /// The signature does not name its key.
        public static let missingKeyID = Code("missing-keyid")
        /// The signature has no nonce, and one is wanted.
        public static let missingNonce = Code("missing-nonce")
        /// The signature has another nonce than the one that was asked for.
        public static let nonceMismatch = Code("nonce-mismatch")
        /// The key's algorithm is not one that the policy allows.
        public static let algorithmNotAllowed = Code("algorithm-not-allowed")
        /// The signature has a parameter that is not known.
        public static let unsupportedParameter = Code("unsupported-parameter")

        // Time.
        /// The signature was made later than now.
        public static let createdInFuture = Code("created-in-future")
        /// The signature was made too long ago.
        public static let tooOld = Code("too-old")
        /// The signature says that it is over.
        public static let expired = Code("expired")

        // Keys.
        /// No key has the id.
        public static let unknownKey = Code("unknown-key")
        /// The key is revoked.
        public static let keyRevoked = Code("key-revoked")
        /// The time is at or behind the end of the key.
        public static let keyExpired = Code("key-expired")
        /// The time is before the beginning of the key.
        public static let keyNotYetValid = Code("key-not-yet-valid")
        /// The key is bound to another use.
        public static let wrongKeyUse = Code("wrong-key-use")
        /// The key is bound to another algorithm.
        public static let algorithmMismatch = Code("algorithm-mismatch")

        /// The key for HMAC has fewer than 16 bytes.
        public static let keyTooShort = Code("key-too-short")

        // The signature, and its one use.
        /// The signature is not that of the message under the key.
        public static let signatureMismatch = Code("signature-mismatch")
        /// The nonce has been used before.
        public static let replayedNonce = Code("replayed-nonce")
        /// There is no room for another nonce.
        public static let nonceStoreFull = Code("nonce-store-full")
        /// The nonce could not be remembered.
        public static let nonceStoreFailed = Code("nonce-store-failed")
        /// The machine that remembers nonces does not answer, or not as it should.
        public static let nonceStoreUnavailable = Code("nonce-store-unavailable")
    }

    /// What the sender of a message that does not verify may be told: the same for every reason.
    public static let publicMessage = "the message is not verified"

    /// The kind of failure.
    public let code: Code
    /// One line for the log; control characters of what somebody else wrote are escaped in it.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = printable(message)
    }

    /// The code's name and the message.
    public var description: String { "\(code.name): \(message)" }

    /// Whether the message may be as good as it gets, and the verifier's own side failed: a nonce store
    /// that is full, broken or away, or OpenSSL. A server answers 503 then, not 401.
    public var isOwnFailure: Bool {
        switch code {
        case .nonceStoreFull, .nonceStoreFailed, .nonceStoreUnavailable, .cryptoFailed: true
        default: false
        }
    }

    /// Whether the text of the message or of its signature is at fault, which no key or clock mends.
    public var isSyntax: Bool {
        switch code {
        case .malformedMessage, .malformedSignature, .malformedDigest: true
        default: false
        }
    }
}

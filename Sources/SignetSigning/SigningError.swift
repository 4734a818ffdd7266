public import SignetBase
import SignetCrypto

/// The reason why a message was not signed or not verified.
///
/// ```swift
/// let keys = try KeySource("client-keys.json").load()
/// do throws(SigningError) {
///     let scheme = try SigningScheme(named: "aws-sigv4")
///     var options = MessageSigner.Options()
///     options.settings = ["region": "eu-central-1", "service": "execute-api"]
///     _ = try MessageSigner(scheme: scheme, key: keys.keys[0], options: options)
/// } catch {
///     switch error.code {
///     case .unknownScheme: print("choose one of", SigningScheme.names)
///     case .keyExpired, .keyRevoked: print("use the next key:", error.message)
///     default: print(error)
///     }
/// }
/// ```
///
/// The message says what was found, what was expected and where. It never contains a key, a MAC or
/// the value of a field. Send only ``SigningError/publicMessage`` to the sender of a message that
/// isn't verified.
public struct SigningError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    /// The only text to send to the sender of a message that isn't verified. It is the same for
    /// every reason.
    public static let publicMessage = "the message is not verified"

    /// The kind of failure.
    public let code: Code
    /// One line for the log. Control characters are escaped, because parts may come from the
    /// sender.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = printable(message)
    }

    /// The code's name and the message.
    public var description: String { "\(code.name): \(message)" }

    /// Whether verification failed because of the verifier itself, not the message: a full, broken
    /// or unreachable nonce store, or OpenSSL. Respond with status 503, not 401.
    public var isVerifierFailure: Bool {
        [.nonceStoreFull, .nonceStoreFailed, .nonceStoreUnavailable, .cryptoFailed].contains(code)
    }

    /// Whether the message or its signature is malformed, so that no other key or time would help.
    public var isSyntax: Bool {
        [.malformedMessage, .malformedSignature, .malformedDigest].contains(code)
    }
}

extension SignetErrorCode {
    /// The message is not HTTP/1.1, or its target or Host is not valid by RFC 3986.
    public static let malformedMessage = usage("malformed-message")
    /// The fields of the signature cannot be parsed.
    public static let malformedSignature = usage("malformed-signature")
    /// Content-Digest cannot be parsed.
    public static let malformedDigest = usage("malformed-digest")
    /// A component's name or parameters are not valid by RFC 9421.
    public static let malformedComponent = usage("malformed-component")
    /// The file of a body cannot be read.
    public static let unreadableBody = usage("unreadable-body")
    /// The scheme signs the body itself, but the message holds only digests of it.
    public static let bodyNotHeld = usage("body-not-held")
    /// The body is shorter or longer than declared.
    public static let bodyCut = usage("body-cut")
    /// A component is listed twice.
    public static let duplicateComponent = usage("duplicate-component")
    /// A component is unknown, or the scheme cannot cover it.
    public static let unsupportedComponent = usage("unsupported-component")
    /// No scheme has the name.
    public static let unknownScheme = usage("unknown-scheme")
    /// The scheme document is invalid.
    public static let malformedScheme = usage("malformed-scheme")
    /// The scheme signs with a broken hash, and insecure schemes weren't allowed.
    public static let insecureScheme = usage("insecure-scheme")
    /// The scheme requires a setting that is missing.
    public static let missingOption = usage("missing-option")
    /// The message already has the field or parameter that the signature would add.
    public static let duplicateField = usage("duplicate-field")
    /// The scheme doesn't support the option.
    public static let unsupportedOption = usage("unsupported-option")
    /// A nonce, a tag, a label or a key id cannot be written into a field.
    public static let invalidValue = usage("invalid-value")
    /// A time is out of range, or the expiration is not after the time of the signature.
    public static let invalidTime = usage("invalid-time")
    /// The message already has a signature with this label.
    public static let duplicateLabel = usage("duplicate-label")
    /// An Accept-Signature requests what this signer cannot provide.
    public static let unanswerableRequest = usage("unanswerable-request")
    /// A covered value changed between the preparation and the signature.
    public static let messageChanged = usage("message-changed")
    /// An external signature has the wrong length for its algorithm.
    public static let invalidSignature = usage("invalid-signature")
    /// The message lacks a covered component.
    public static let missingComponent = usage("missing-component")
    /// A covered value is not ASCII. A signature base must be ASCII.
    public static let nonASCIIValue = usage("non-ascii-value")
    /// A covered value is not UTF-8 although it must be.
    public static let nonUTF8Value = usage("non-utf8-value")
    /// A field that is covered with `;sf` or `;key` is not a structured field of its type.
    public static let malformedField = usage("malformed-field")
    /// The type of a field that is covered with `;sf` is unknown.
    public static let unknownFieldType = usage("unknown-field-type")
    /// The query has several parameters with the covered name.
    public static let repeatedParameter = usage("repeated-parameter")
    /// Content-Digest doesn't match the body.
    public static let digestMismatch = usage("digest-mismatch")
    /// Content-Digest contains a deprecated algorithm, or no supported one.
    public static let unsupportedDigest = usage("unsupported-digest")
    /// The message has no signature, or none with the required tag.
    public static let noSignature = checkFailed("no-signature")
    /// The message has several signatures, and the policy doesn't select one.
    public static let ambiguousSignature = checkFailed("ambiguous-signature")
    /// The signature doesn't cover a required component.
    public static let notCovered = checkFailed("not-covered")
    /// The signature has no `created`.
    public static let missingCreated = checkFailed("missing-created")
    /// The signature has no `keyid`.
    public static let missingKeyID = checkFailed("missing-keyid")
    /// The signature has no nonce although one is required.
    public static let missingNonce = checkFailed("missing-nonce")
    /// The nonce is not the requested one.
    public static let nonceMismatch = checkFailed("nonce-mismatch")
    /// The policy doesn't allow the key's algorithm.
    public static let algorithmNotAllowed = checkFailed("algorithm-not-allowed")
    /// The signature has an unknown parameter.
    public static let unsupportedParameter = usage("unsupported-parameter")
    /// `created` is in the future.
    public static let createdInFuture = checkFailed("created-in-future")
    /// The signature is too old.
    public static let tooOld = checkFailed("too-old")
    /// The signature has expired.
    public static let signatureExpired = checkFailed("expired")
    /// The key is bound to another algorithm.
    public static let algorithmMismatch = usage("algorithm-mismatch")
    /// The key for HMAC is shorter than 16 bytes.
    public static let keyTooShort = checkFailed("key-too-short")
    /// The signature is not valid for the message and the key.
    public static let signatureMismatch = checkFailed("signature-mismatch")
    /// The nonce was used before.
    public static let replayedNonce = checkFailed("replayed-nonce")
    /// The nonce store is full.
    public static let nonceStoreFull = usage("nonce-store-full")
    /// The nonce store failed.
    public static let nonceStoreFailed = usage("nonce-store-failed")
    /// The server of the nonce store doesn't answer, or not as expected.
    public static let nonceStoreUnavailable = noResponse("nonce-store-unavailable")
}

// Every code that can reach a user of the network system. The kind stands in ClientError.Code.kind.
extension ClientError.Code {
    // MARK: Ours: the program, its configuration or this machine

    /// The call was cancelled: by its task, its owner or the system's `cancel`.
    public static let cancelled = Self("cancelled")
    /// The system isn't running: it was shut down.
    public static let notRunning = Self("not-running")
    /// Another call of the same identity replaced this one (`LaunchPolicy.replace`).
    public static let replaced = Self("replaced")
    /// A call of the same identity is running (`LaunchPolicy.refuse`).
    public static let alreadyRunning = Self("already-running")
    /// The configuration doesn't have the service.
    public static let unknownService = Self("unknown-service")
    /// The configuration of a service can't be used.
    public static let invalidService = Self("invalid-service")
    /// A key that the network system reads has a value that it can't use.
    public static let invalidConfiguration = Self("invalid-configuration")
    /// The configuration says nothing of the scenario that a call names.
    public static let unknownScenario = Self("unknown-scenario")
    /// An option of a call has a value that can't be used.
    public static let invalidOptions = Self("invalid-options")
    /// The plan for fetching values can't work with the configuration's defaults and launch values.
    public static let invalidPlan = Self("invalid-plan")
    /// The system was started without what the call needs.
    public static let notConfigured = Self("not-configured")
    /// The URL is invalid, or no rule of the configuration allows it.
    public static let refusedURL = Self("refused-url")
    /// The host is pinned, and the engine doesn't check pins.
    public static let engineCannotPin = Self("engine-cannot-pin")
    /// An interceptor threw an error that isn't a `ClientError`.
    public static let interceptorFailed = Self("interceptor-failed")
    /// A credential source threw an error that isn't a `ClientError`. Nothing was sent.
    public static let credentialFailed = Self("credential-failed")

    // MARK: Refused by the server

    /// The server responded with an RPC error; `serverError` holds it.
    public static let rpcError = Self("rpc-error")
    /// The status isn't 2xx and the body isn't a response of the protocol.
    public static let httpStatus = Self("http-status")
    /// The response's business code means failure.
    public static let businessCode = Self("business-code")

    // MARK: Malformed responses

    /// The response isn't valid, or it is ambiguous and therefore refused.
    public static let malformedResponse = Self("malformed-reply")
    /// The response is larger than the limit.
    public static let responseTooLarge = Self("reply-too-large")
    /// The parameters or the result don't fit the type.
    public static let typeMismatch = Self("type-mismatch")
    /// The downloaded bytes don't have the expected digest.
    public static let wrongDigest = Self("wrong-digest")
    /// The next page's link isn't an http or https URL of the service's origin.
    public static let pagingRefused = Self("paging-refused")
    /// A list leads back to a page that was read before.
    public static let pagingLoop = Self("paging-loop")
    /// A list has more pages than the limit.
    public static let tooManyPages = Self("too-many-pages")

    // MARK: No response

    /// The deadline of an attempt or of the call passed.
    public static let timeout = Self("timeout")

    // MARK: The transport's

    /// The host's name could not be resolved.
    public static let name = Self("name")
    /// The connection failed.
    public static let connect = Self("connect")
    /// TLS failed: the handshake, CA, dates or host name.
    public static let tls = Self("tls")
    /// No certificate of the verified chain has a pinned key.
    public static let pinMismatch = Self("pin-mismatch")
    /// The policy doesn't list the host.
    public static let unlistedHost = Self("unlisted-host")
    /// The policy's rule for the host has expired.
    public static let policyExpired = Self("policy-expired")
    /// The URL of a pinned host has the scheme http.
    public static let cleartextToPinnedHost = Self("cleartext-to-pinned-host")
    /// The connection ended before the response did.
    public static let cutOff = Self("cut-off")
    /// The response's body has an unknown content coding, or more than one.
    public static let unsupportedEncoding = Self("unsupported-encoding")
    /// libcurl doesn't use the program's OpenSSL, or is older than 7.87.0.
    public static let unsupportedLibcurl = Self("unsupported-libcurl")
    /// The request is invalid. Nothing was sent.
    public static let invalidRequest = Self("invalid-request")
    /// A streamed body is shorter or longer than its length. The request wasn't sent completely.
    public static let bodyLength = Self("body-length")
    /// The source of a streamed body failed. The request wasn't sent completely.
    public static let bodyFailed = Self("body-failed")
    /// A file changed while it was sent. The request wasn't sent completely.
    public static let bodyChanged = Self("body-changed")
    /// A body that can be read only once would have to be sent again.
    public static let bodyNotReplayable = Self("body-not-replayable")
    /// The CA file can't be read, or contains no certificate.
    public static let trustStore = Self("trust-store")
    /// The system provided no memory, thread or socket.
    public static let resources = Self("resources")
    /// The redirect policy refuses a redirect.
    public static let redirectRefused = Self("redirect-refused")
    /// A redirect leads to a URL that the call has requested before.
    public static let redirectLoop = Self("redirect-loop")
    /// There were more redirects than the policy allows.
    public static let tooManyRedirects = Self("too-many-redirects")
    /// The proxy could not be found, reached or trusted, or didn't respond as a proxy.
    public static let proxy = Self("proxy")
    /// The proxy refused to connect to the host.
    public static let proxyRefused = Self("proxy-refused")
    /// The proxy requires credentials, or rejected those it got.
    public static let proxyAuthentication = Self("proxy-authentication")

    // MARK: The adapters'

    /// A call of a batch has no response.
    public static let batchIncomplete = Self("batch-incomplete")
    /// The protocol cannot express the parameters; nothing has been sent.
    public static let invalidParameters = Self("invalid-params")
    /// The protocol cannot express the method; nothing has been sent.
    public static let invalidMethod = Self("invalid-method")
    /// The method begins with `rpc.`, which is reserved; nothing has been sent.
    public static let reservedMethod = Self("reserved-method")
    /// An additional member has the name of one of the protocol's members; nothing has been sent.
    public static let reservedMember = Self("reserved-member")
    /// The generator's id is out of range, or the generator repeated one; nothing has been sent.
    public static let invalidID = Self("invalid-id")
    /// The batch contains no call; nothing has been sent.
    public static let emptyBatch = Self("empty-batch")
    /// The batch contains more calls than the limit; nothing has been sent.
    public static let batchTooLarge = Self("batch-too-large")
    /// The protocol doesn't have this kind of call, for example REST has no notifications; nothing has been sent.
    public static let unsupportedCall = Self("unsupported-call")
    /// A path, or a value in it, is invalid or would name another resource; nothing has been sent.
    public static let invalidPath = Self("invalid-path")

    // MARK: Signed pin policies'

    /// The bytes aren't in the expected format.
    public static let malformedInput = Self("malformed-input")
    /// The bytes aren't a valid signed policy.
    public static let malformedUpdate = Self("malformed-update")
    /// The signature doesn't verify.
    public static let tampered = Self("tampered")
    /// The signed policy has expired.
    public static let updateExpired = Self("update-expired")
    /// The signed policy isn't valid yet.
    public static let updateNotYetValid = Self("update-not-yet-valid")
    /// The signed policy is older than the one in use.
    public static let rolledBack = Self("rolled-back")
    /// The file of the newest signed policy was changed by something else.
    public static let stateTampered = Self("state-tampered")
    /// No key has the id that the signed policy names.
    public static let unknownKey = Self("unknown-key")
    /// The key is revoked.
    public static let keyRevoked = Self("key-revoked")
    /// The key has expired.
    public static let keyExpired = Self("key-expired")
    /// The key isn't valid yet.
    public static let keyNotYetValid = Self("key-not-yet-valid")
    /// The key is for another use.
    public static let wrongKeyUse = Self("wrong-key-use")
    /// A file can't be read.
    public static let unreadableFile = Self("unreadable-file")
    /// A file can't be written.
    public static let unwritableFile = Self("unwritable-file")
    /// Another process is changing the file.
    public static let fileBusy = Self("file-busy")
    /// An OpenSSL operation failed.
    public static let cryptography = Self("crypto-failure")

    // MARK: The signer's

    /// The message is not HTTP/1.1, or its target or Host is not valid by RFC 3986.
    public static let malformedMessage = Self("malformed-message")
    /// The fields of the signature cannot be parsed.
    public static let malformedSignature = Self("malformed-signature")
    /// Content-Digest cannot be parsed.
    public static let malformedDigest = Self("malformed-digest")
    /// A component's name or parameters are not valid by RFC 9421.
    public static let malformedComponent = Self("malformed-component")
    /// The file of a body cannot be read.
    public static let unreadableBody = Self("unreadable-body")
    /// The scheme signs the body itself, but the message holds only digests of it.
    public static let bodyNotHeld = Self("body-not-held")
    /// The body is shorter or longer than declared.
    public static let bodyCut = Self("body-cut")
    /// A component is listed twice.
    public static let duplicateComponent = Self("duplicate-component")
    /// A component is unknown, or the scheme cannot cover it.
    public static let unsupportedComponent = Self("unsupported-component")
    /// No scheme has the name.
    public static let unknownScheme = Self("unknown-scheme")
    /// The scheme document is invalid.
    public static let malformedScheme = Self("malformed-scheme")
    /// The scheme signs with a broken hash, and insecure schemes weren't allowed.
    public static let insecureScheme = Self("insecure-scheme")
    /// The scheme requires a setting that is missing.
    public static let missingOption = Self("missing-option")
    /// The message already has the field or parameter that the signature would add.
    public static let duplicateField = Self("duplicate-field")
    /// The scheme doesn't support the option.
    public static let unsupportedOption = Self("unsupported-option")
    /// A nonce, a tag, a label or a key id cannot be written into a field.
    public static let invalidValue = Self("invalid-value")
    /// A time is out of range, or the expiration is not after the time of the signature.
    public static let invalidTime = Self("invalid-time")
    /// The message already has a signature with this label.
    public static let duplicateLabel = Self("duplicate-label")
    /// OpenSSL failed.
    public static let cryptoFailed = Self("crypto-failed")
    /// An Accept-Signature requests what this signer cannot provide.
    public static let unanswerableRequest = Self("unanswerable-request")
    /// A covered value changed between the preparation and the signature.
    public static let messageChanged = Self("message-changed")
    /// An external signature has the wrong length for its algorithm.
    public static let invalidSignature = Self("invalid-signature")
    /// The message lacks a covered component.
    public static let missingComponent = Self("missing-component")
    /// A covered value is not ASCII. A signature base must be ASCII.
    public static let nonASCIIValue = Self("non-ascii-value")
    /// A covered value is not UTF-8 although it must be.
    public static let nonUTF8Value = Self("non-utf8-value")
    /// A field that is covered with `;sf` or `;key` is not a structured field of its type.
    public static let malformedField = Self("malformed-field")
    /// The type of a field that is covered with `;sf` is unknown.
    public static let unknownFieldType = Self("unknown-field-type")
    /// The query has several parameters with the covered name.
    public static let repeatedParameter = Self("repeated-parameter")
    /// Content-Digest doesn't match the body.
    public static let digestMismatch = Self("digest-mismatch")
    /// Content-Digest contains a deprecated algorithm, or no supported one.
    public static let unsupportedDigest = Self("unsupported-digest")
    /// The key is bound to another algorithm.
    public static let algorithmMismatch = Self("algorithm-mismatch")
    /// The key for HMAC is shorter than 16 bytes.
    public static let keyTooShort = Self("key-too-short")

    // MARK: Keys'

    /// The input isn't a JWK Set that this package accepts. None of its keys is used.
    public static let malformedKeys = Self("malformed-keys")
    /// The key file belongs to another user, or others than its owner have access to it.
    public static let keyFilePermissions = Self("key-file-permissions")

    // MARK: The configuration's and its dump's

    /// The schema isn't of the schema's form, or a rule is invalid.
    public static let malformedSchema = Self("malformed-schema")
    /// An input has a key that the schema lacks.
    public static let unknownConfigKey = Self("unknown-config-key")
    /// A value is of another type than the schema says.
    public static let wrongType = Self("wrong-type")
    /// A value is below the minimum, above the maximum, or outside the range of its type.
    public static let outOfRange = Self("out-of-range")
    /// A whole text doesn't match the schema's pattern.
    public static let patternMismatch = Self("pattern-mismatch")
    /// A value isn't one of those that the schema lists.
    public static let notInList = Self("not-in-list")
    /// An input sets a key that the schema doesn't let it set.
    public static let sourceNotAllowed = Self("source-not-allowed")
    /// A value of a public key looks like a key, a token or a password.
    public static let publicValueLooksSecret = Self("public-value-looks-secret")
    /// A key that the program needs has no value in any input.
    public static let missingValue = Self("missing-value")
    /// A key that the program reads publicly is secret in the schema.
    public static let notPublic = Self("not-public")
    /// The commitment doesn't match: the key is another one, or the dump's header was changed.
    public static let wrongKey = Self("wrong-key")
    /// The dump is for a newer version than the running one.
    public static let newerVersion = Self("newer-version")
    /// The dump is for an older version, which is not on the list of accepted ones.
    public static let olderVersion = Self("older-version")
    /// The dump is for a version that has no order with the running one.
    public static let otherVersion = Self("other-version")
    /// The dump belongs to another app.
    public static let wrongApp = Self("wrong-app")
    /// The dump belongs to another network system.
    public static let wrongSystem = Self("wrong-system")
    /// The bytes aren't a sealed dump.
    public static let malformedDump = Self("malformed-dump")
    /// A passphrase is too short to seal with.
    public static let weakPassphrase = Self("weak-passphrase")
    /// A root can't be removed while other dumps are sealed under it.
    public static let locksOutOthers = Self("locks-out-others")
}

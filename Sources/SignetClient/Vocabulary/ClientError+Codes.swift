import SignetBase
import SignetPinning
import SignetRPC
import SignetSigning
import SignetTransport
import SignetVault

// Every code that can reach a user of the network system. ClientError.Code.kind decides the kind.
extension ClientError.Code {
    // MARK: Ours: the program, its configuration or this machine

    /// The call was cancelled: by its task, its owner or the system's `cancel`.
    public static let cancelled = Self(TransportError.Code.cancelled.value)
    /// The system isn't running: it was shut down.
    public static let notRunning = Self(.notRunning)
    /// Another call of the same identity replaced this one (`DuplicatePolicy.replace`).
    public static let replaced = Self(.noResponse("replaced"))
    /// A call of the same identity is running (`DuplicatePolicy.refuse`).
    public static let alreadyRunning = Self(.noResponse("already-running"))
    /// The configuration doesn't have the service.
    public static let unknownService = Self(.usage("unknown-service"))
    /// The configuration of a service can't be used.
    public static let invalidService = Self(.usage("invalid-service"))
    /// A key that the network system reads has a value that it can't use.
    public static let invalidConfiguration = Self(.usage("invalid-configuration"))
    /// The configuration doesn't define the scenario that a call names.
    public static let unknownScenario = Self(.usage("unknown-scenario"))
    /// An option of a call has a value that can't be used.
    public static let invalidOptions = Self(.usage("invalid-options"))
    /// The plan for fetching values can't work with the configuration's defaults and launch values.
    public static let invalidPlan = Self(.usage("invalid-plan"))
    /// The system was started without what the call needs.
    public static let notConfigured = Self(.usage("not-configured"))
    /// No response is stored, and the call's ``RequestOptions/cacheMode`` forbids to ask the
    /// server.
    public static let notCached = Self(.checkFailed("not-cached"))
    /// The URL is invalid, or no rule of the configuration allows it.
    public static let refusedURL = Self(.usage("refused-url"))
    /// The host is pinned or has CAs of its own, and the engine doesn't check pins.
    public static let engineCannotPin = Self(.usage("engine-cannot-pin"))
    /// An interceptor or a stub threw an error that isn't a `ClientError`.
    public static let interceptorFailed = Self(.noResponse("interceptor-failed"))
    /// A conversion of the program's own (`success(from:)`, a reformer) threw an error that is
    /// neither a `ClientError` nor a `JSONError`.
    public static let conversionFailed = Self(.noResponse("conversion-failed"))
    /// A blocking call was made in a task, whose thread it would block.
    public static let wouldBlock = Self(.usage("would-block"))
    /// A credential source threw an error that isn't a `ClientError`. Nothing was sent.
    public static let credentialFailed = Self(.noResponse("credential-failed"))
    /// An external signer threw an error that isn't a `ClientError`. Nothing was sent.
    public static let signerFailed = Self(.noResponse("signer-failed"))

    /// A project file belongs to another user, or others than its owner may write it.
    public static let projectFilePermissions = Self(.usage("project-file-permissions"))

    // MARK: Refused by the server

    /// The server responded with an RPC error; `serverError` holds it.
    public static let rpcError = Self(PayloadError.Code.rpcError.value)
    /// The status isn't 2xx and the body isn't a response of the protocol.
    public static let httpStatus = Self(PayloadError.Code.httpStatus.value)
    /// The response's business code means failure.
    public static let businessCode = Self(.usage("business-code", kind: .refused))

    // MARK: Malformed responses

    /// The response isn't valid, or it is ambiguous and therefore refused.
    public static let malformedResponse = Self(.malformedResponse)
    /// The bodies of the service are sealed, and the response isn't.
    public static let notSealed = Self(.checkFailed("not-sealed", kind: .malformed))
    /// The response is larger than the limit.
    public static let responseTooLarge = Self(.responseTooLarge)
    /// The parameters or the result don't fit the type.
    public static let typeMismatch = Self(.typeMismatch)
    /// The downloaded bytes don't have the expected digest.
    public static let wrongDigest = Self(.checkFailed("wrong-digest", kind: .malformed))
    /// The next page's link isn't an http or https URL of the service's origin.
    public static let pagingRefused = Self(.usage("paging-refused", kind: .malformed))
    /// A list leads back to a page that was read before.
    public static let pagingLoop = Self(.usage("paging-loop", kind: .malformed))
    /// A list has more pages than the limit.
    public static let tooManyPages = Self(.usage("too-many-pages", kind: .malformed))

    // MARK: No response

    /// The deadline of an attempt or of the call passed.
    public static let timeout = Self(.timeout)

    // MARK: The transport's

    /// The host's name could not be resolved.
    public static let name = Self(TransportError.Code.name.value)
    /// The name could not be resolved or the host not be reached, and this machine has no route to
    /// other networks.
    public static let offline = Self(TransportError.Code.offline.value)
    /// The connection failed.
    public static let connect = Self(.connect)
    /// TLS failed: the handshake, CA, dates or host name.
    public static let tls = Self(TransportError.Code.tls.value)
    /// No certificate of the verified chain has a pinned key.
    public static let pinMismatch = Self(.pinMismatch)
    /// The policy doesn't list the host.
    public static let unlistedHost = Self(.unlistedHost)
    /// The policy's rule for the host has expired.
    public static let policyExpired = Self(.policyExpired)
    /// The URL of a pinned host has the scheme http.
    public static let cleartextToPinnedHost = Self(.cleartextToPinnedHost)
    /// The connection ended before the response did.
    public static let cutOff = Self(.cutOff)
    /// The response's body has an unknown content coding, or more than one.
    public static let unsupportedEncoding = Self(TransportError.Code.unsupportedEncoding.value)
    /// The engine can't perform a TLS handshake without sending a request.
    public static let unsupportedProbe = Self(TransportError.Code.unsupportedProbe.value)
    /// libcurl doesn't use the program's OpenSSL, or is older than 7.87.0.
    public static let unsupportedLibcurl = Self(TransportError.Code.unsupportedLibcurl.value)
    /// The request is invalid. Nothing was sent.
    public static let invalidRequest = Self(TransportError.Code.invalidRequest.value)
    /// A streamed body is shorter or longer than its length. The request wasn't sent completely.
    public static let bodyLength = Self(TransportError.Code.bodyLength.value)
    /// The source of a streamed body failed. The request wasn't sent completely.
    public static let bodyFailed = Self(TransportError.Code.bodyFailed.value)
    /// A file changed while it was sent. The request wasn't sent completely.
    public static let bodyChanged = Self(TransportError.Code.bodyChanged.value)
    /// A body that can be read only once would have to be sent again.
    public static let bodyNotReplayable = Self(TransportError.Code.bodyNotReplayable.value)
    /// The request has trailers, which can't be sent over HTTP/2 or by the engine. Nothing was
    /// sent.
    public static let unsupportedTrailers = Self(TransportError.Code.unsupportedTrailers.value)
    /// The CA file can't be read, or contains no certificate.
    public static let trustStore = Self(TransportError.Code.trustStore.value)
    /// The system provided no memory, thread or socket.
    public static let resources = Self(TransportError.Code.resources.value)
    /// The client certificate can't be read, isn't valid now or isn't its key's, or the engine
    /// can't use one. Nothing was sent.
    public static let clientCertificate = Self(TransportError.Code.clientCertificate.value)
    /// The redirect policy refuses a redirect.
    public static let redirectRefused = Self(TransportError.Code.redirectRefused.value)
    /// There were more redirects than the policy allows.
    public static let tooManyRedirects = Self(TransportError.Code.tooManyRedirects.value)
    /// The proxy could not be found, reached or trusted, or didn't respond as a proxy.
    public static let proxy = Self(TransportError.Code.proxy.value)
    /// The proxy refused to connect to the host.
    public static let proxyRefused = Self(TransportError.Code.proxyRefused.value)
    /// The proxy requires credentials, or rejected those it got.
    public static let proxyAuthentication = Self(TransportError.Code.proxyAuthentication.value)

    // MARK: The adapters'

    /// A call of a batch has no response.
    public static let batchIncomplete = Self(PayloadError.Code.batchIncomplete.value)
    /// The protocol cannot express the parameters; nothing has been sent.
    public static let invalidParameters = Self(PayloadError.Code.invalidParameters.value)
    /// The protocol cannot express the method; nothing has been sent.
    public static let invalidMethod = Self(PayloadError.Code.invalidMethod.value)
    /// The method begins with `rpc.`, which is reserved; nothing has been sent.
    public static let reservedMethod = Self(PayloadError.Code.reservedMethod.value)
    /// An additional member has the name of one of the protocol's members; nothing has been sent.
    public static let reservedMember = Self(PayloadError.Code.reservedMember.value)
    /// The generator's id is out of range, or the generator repeated one; nothing has been sent.
    public static let invalidID = Self(PayloadError.Code.invalidID.value)
    /// The batch contains no call; nothing has been sent.
    public static let emptyBatch = Self(PayloadError.Code.emptyBatch.value)
    /// The batch contains more calls than the limit; nothing has been sent.
    public static let batchTooLarge = Self(PayloadError.Code.batchTooLarge.value)
    /// The protocol doesn't have this kind of call, for example REST has no notifications; nothing
    /// has been sent.
    public static let unsupportedCall = Self(PayloadError.Code.unsupportedCall.value)
    /// A path, or a value in it, is invalid or would name another resource; nothing has been sent.
    public static let invalidPath = Self(PayloadError.Code.invalidPath.value)

    // MARK: Signed pin policies'

    /// The bytes aren't in the expected format.
    public static let malformedInput = Self(.malformedInput)
    /// The bytes aren't a valid signed policy.
    public static let malformedUpdate = Self(PinError.Code.malformedUpdate.value)
    /// The pin policy in a signed document is invalid.
    public static let malformedPolicy = Self(PinError.Code.malformedPolicy.value)
    /// The signature doesn't verify.
    public static let tampered = Self(.tampered)
    /// The signed policy has expired.
    public static let updateExpired = Self(PinError.Code.updateExpired.value)
    /// The signed policy isn't valid yet.
    public static let updateNotYetValid = Self(PinError.Code.updateNotYetValid.value)
    /// The signed policy is older than the one in use.
    public static let rolledBack = Self(.rolledBack)
    /// The file of the newest signed policy was changed by something else.
    public static let stateTampered = Self(.stateTampered)
    /// No key has the id that the signed policy names.
    public static let unknownKey = Self(.unknownKey)
    /// The key is revoked.
    public static let keyRevoked = Self(.keyRevoked)
    /// The key has expired.
    public static let keyExpired = Self(.keyExpired)
    /// The key isn't valid yet.
    public static let keyNotYetValid = Self(.keyNotYetValid)
    /// The key is for another use.
    public static let wrongKeyUse = Self(.wrongKeyUse)
    /// A file can't be read.
    public static let unreadableFile = Self(.unreadableFile)
    /// A file can't be written.
    public static let unwritableFile = Self(.unwritableFile)
    /// Another process is changing the file.
    public static let fileBusy = Self(.fileBusy)

    // MARK: The signer's

    /// The message is not HTTP/1.1, or its target or Host is not valid by RFC 3986.
    public static let malformedMessage = Self(SigningError.Code.malformedMessage.value)
    /// The fields of the signature cannot be parsed.
    public static let malformedSignature = Self(SigningError.Code.malformedSignature.value)
    /// Content-Digest cannot be parsed.
    public static let malformedDigest = Self(SigningError.Code.malformedDigest.value)
    /// A component's name or parameters are not valid by RFC 9421.
    public static let malformedComponent = Self(SigningError.Code.malformedComponent.value)
    /// The file of a body cannot be read.
    public static let unreadableBody = Self(SigningError.Code.unreadableBody.value)
    /// The scheme signs the body itself, but the message holds only digests of it.
    public static let bodyNotHeld = Self(SigningError.Code.bodyNotHeld.value)
    /// The body is shorter or longer than declared.
    public static let bodyCut = Self(SigningError.Code.bodyCut.value)
    /// A component is listed twice.
    public static let duplicateComponent = Self(SigningError.Code.duplicateComponent.value)
    /// A component is unknown, or the scheme cannot cover it.
    public static let unsupportedComponent = Self(SigningError.Code.unsupportedComponent.value)
    /// No scheme has the name.
    public static let unknownScheme = Self(SigningError.Code.unknownScheme.value)
    /// The scheme document is invalid.
    public static let malformedScheme = Self(SigningError.Code.malformedScheme.value)
    /// The scheme signs with a broken hash, and insecure schemes weren't allowed.
    public static let insecureScheme = Self(SigningError.Code.insecureScheme.value)
    /// The scheme requires a setting that is missing.
    public static let missingOption = Self(SigningError.Code.missingOption.value)
    /// The message already has the field or parameter that the signature would add.
    public static let duplicateField = Self(SigningError.Code.duplicateField.value)
    /// The scheme doesn't support the option.
    public static let unsupportedOption = Self(SigningError.Code.unsupportedOption.value)
    /// A nonce, a tag, a label or a key id cannot be written into a field.
    public static let invalidValue = Self(SigningError.Code.invalidValue.value)
    /// A time is out of range, or the expiration is not after the time of the signature.
    public static let invalidTime = Self(SigningError.Code.invalidTime.value)
    /// The message already has a signature with this label.
    public static let duplicateLabel = Self(SigningError.Code.duplicateLabel.value)
    /// OpenSSL failed.
    public static let cryptoFailed = Self(.cryptoFailed)
    /// An Accept-Signature requests what this signer cannot provide.
    public static let unanswerableRequest = Self(SigningError.Code.unanswerableRequest.value)
    /// A covered value changed between the preparation and the signature.
    public static let messageChanged = Self(SigningError.Code.messageChanged.value)
    /// An external signature has the wrong length for its algorithm.
    public static let invalidSignature = Self(SigningError.Code.invalidSignature.value)
    /// The message lacks a covered component.
    public static let missingComponent = Self(SigningError.Code.missingComponent.value)
    /// A covered value is not ASCII. A signature base must be ASCII.
    public static let nonASCIIValue = Self(SigningError.Code.nonASCIIValue.value)
    /// A covered value is not UTF-8 although it must be.
    public static let nonUTF8Value = Self(SigningError.Code.nonUTF8Value.value)
    /// A field that is covered with `;sf` or `;key` is not a structured field of its type.
    public static let malformedField = Self(SigningError.Code.malformedField.value)
    /// The type of a field that is covered with `;sf` is unknown.
    public static let unknownFieldType = Self(SigningError.Code.unknownFieldType.value)
    /// The query has several parameters with the covered name.
    public static let repeatedParameter = Self(SigningError.Code.repeatedParameter.value)
    /// Content-Digest doesn't match the body.
    public static let digestMismatch = Self(SigningError.Code.digestMismatch.value)
    /// Content-Digest contains a deprecated algorithm, or no supported one.
    public static let unsupportedDigest = Self(SigningError.Code.unsupportedDigest.value)
    /// The key is bound to another algorithm.
    public static let algorithmMismatch = Self(SigningError.Code.algorithmMismatch.value)
    /// The key for HMAC is shorter than 16 bytes.
    public static let keyTooShort = Self(SigningError.Code.keyTooShort.value)

    // MARK: Keys'

    /// The input isn't a JWK Set that this package accepts. None of its keys is used.
    public static let malformedKeys = Self(.malformedKeys)
    /// The key file belongs to another user, or others than its owner have access to it.
    public static let keyFilePermissions = Self(.keyFilePermissions)

    // MARK: The configuration's and its dump's

    /// The schema isn't of the schema's form, or a rule is invalid.
    public static let malformedSchema = Self(VaultError.Code.malformedSchema.value)
    /// An input has a key that the schema lacks.
    public static let unknownConfigKey = Self(VaultError.Code.unknownConfigKey.value)
    /// A value is of another type than the schema says.
    public static let wrongType = Self(VaultError.Code.wrongType.value)
    /// A value is below the minimum, above the maximum, or outside the range of its type.
    public static let outOfRange = Self(.outOfRange)
    /// A whole text doesn't match the schema's pattern.
    public static let patternMismatch = Self(VaultError.Code.patternMismatch.value)
    /// A value isn't one of those that the schema lists.
    public static let notInList = Self(VaultError.Code.notInList.value)
    /// An input sets a key that the schema doesn't let it set.
    public static let sourceNotAllowed = Self(VaultError.Code.sourceNotAllowed.value)
    /// A value of a public key looks like a key, a token or a password.
    public static let publicValueLooksSecret = Self(VaultError.Code.publicValueLooksSecret.value)
    /// A key that the program needs has no value in any input.
    public static let missingValue = Self(VaultError.Code.missingValue.value)
    /// A key that the program reads publicly is secret in the schema.
    public static let notPublic = Self(VaultError.Code.notPublic.value)
    /// The commitment doesn't match: the key is another one, or the dump's header was changed.
    public static let wrongKey = Self(VaultError.Code.wrongKey.value)
    /// The dump is for a newer version than the running one.
    public static let newerVersion = Self(VaultError.Code.newerVersion.value)
    /// The dump is for an older version, which is not on the list of accepted ones.
    public static let olderVersion = Self(VaultError.Code.olderVersion.value)
    /// The dump is for a version that has no order with the running one.
    public static let otherVersion = Self(VaultError.Code.otherVersion.value)
    /// The dump belongs to another app.
    public static let wrongApp = Self(VaultError.Code.wrongApp.value)
    /// The dump belongs to another network system.
    public static let wrongSystem = Self(VaultError.Code.wrongSystem.value)
    /// The bytes aren't a sealed dump.
    public static let malformedDump = Self(VaultError.Code.malformedDump.value)
    /// Sealing the dump again would lose changes that it contains.
    public static let wouldLoseChanges = Self(VaultError.Code.wouldLoseChanges.value)
    /// The dump has values that the configuration to be sealed lacks.
    public static let wouldLoseValues = Self(VaultError.Code.wouldLoseValues.value)
    /// A passphrase is too short to seal with.
    public static let weakPassphrase = Self(VaultError.Code.weakPassphrase.value)
    /// A root can't be removed while other dumps are sealed under it.
    public static let locksOutOthers = Self(VaultError.Code.locksOutOthers.value)
}

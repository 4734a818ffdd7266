public import SignetBase

/// The codes that only the network system has; others are those of the modules below it.
extension SignetErrorCode {
    /// Another call of the same identity replaced this one (`DuplicatePolicy.replace`).
    public static let replaced = noResponse("replaced")
    /// A call of the same identity is running (`DuplicatePolicy.refuse`).
    public static let alreadyRunning = noResponse("already-running")
    /// The configuration doesn't have the service.
    public static let unknownService = usage("unknown-service")
    /// The configuration of a service can't be used.
    public static let invalidService = usage("invalid-service")
    /// A key that the network system reads has a value that it can't use.
    public static let invalidConfiguration = usage("invalid-configuration")
    /// The configuration doesn't define the scenario that a call names.
    public static let unknownScenario = usage("unknown-scenario")
    /// An option of a call has a value that can't be used.
    public static let invalidOptions = usage("invalid-options")
    /// The plan for fetching values can't work with the configuration's defaults and launch values.
    public static let invalidPlan = usage("invalid-plan")
    /// The system was started without what the call needs.
    public static let notConfigured = usage("not-configured")
    /// No response is stored, and the call's ``RequestOptions/cacheMode`` forbids to ask the
    /// server.
    public static let notCached = checkFailed("not-cached")
    /// The URL is invalid, or no rule of the configuration allows it.
    public static let refusedURL = usage("refused-url")
    /// The host is pinned or has CAs of its own, and the engine doesn't check pins.
    public static let engineCannotPin = usage("engine-cannot-pin")
    /// An interceptor or a stub threw an error that isn't a `ClientError`.
    public static let interceptorFailed = noResponse("interceptor-failed")
    /// A conversion of the program's own (`success(from:)`, a reformer) threw an error that is
    /// neither a `ClientError` nor a `JSONError`.
    public static let conversionFailed = noResponse("conversion-failed")
    /// A blocking call was made in a task, whose thread it would block.
    public static let wouldBlock = usage("would-block")
    /// A credential source threw an error that isn't a `ClientError`. Nothing was sent.
    public static let credentialFailed = noResponse("credential-failed")
    /// An external signer threw an error that isn't a `ClientError`. Nothing was sent.
    public static let signerFailed = noResponse("signer-failed")
    /// The bodies of the service are sealed, and the response isn't.
    public static let notSealed = checkFailed("not-sealed", kind: .malformed)
    /// The response's business code means failure.
    public static let businessCode = usage("business-code", kind: .refused)
    /// The downloaded bytes don't have the expected digest.
    public static let wrongDigest = checkFailed("wrong-digest", kind: .malformed)
    /// The next page's link isn't an http or https URL of the service's origin.
    public static let pagingRefused = usage("paging-refused", kind: .malformed)
    /// A list leads back to a page that was read before.
    public static let pagingLoop = usage("paging-loop", kind: .malformed)
    /// A list has more pages than the limit.
    public static let tooManyPages = usage("too-many-pages", kind: .malformed)
}

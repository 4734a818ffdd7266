/// The codes that the errors of several modules have.
extension SignetErrorCode {
    // MARK: Keys

    /// A key file or key set is malformed.
    public static let malformedKeys = usage("malformed-keys")
    /// A key file belongs to another user, or others than its owner can read or write it.
    public static let keyFilePermissions = usage("key-file-permissions")
    /// No key has the id, or no key fits.
    public static let unknownKey = checkFailed("unknown-key")
    /// The key was revoked.
    public static let keyRevoked = checkFailed("key-revoked")
    /// The key's time has ended.
    public static let keyExpired = checkFailed("key-expired")
    /// The key's time hasn't begun.
    public static let keyNotYetValid = checkFailed("key-not-yet-valid")
    /// The key is for another use, or of another type.
    public static let wrongKeyUse = checkFailed("wrong-key-use")
    /// OpenSSL failed.
    public static let cryptoFailed = usage("crypto-failed")

    // MARK: Files and other inputs

    /// An input is malformed.
    public static let malformedInput = usage("malformed-input")
    /// A number is outside its limits, or a type can't hold it exactly.
    public static let outOfRange = usage("out-of-range")
    /// A value has another type than the expected one.
    public static let typeMismatch = usage("type-mismatch", kind: .malformed)
    /// A file can't be read.
    public static let unreadableFile = usage("unreadable-file")
    /// A file can't be written.
    public static let unwritableFile = usage("unwritable-file")
    /// Another process holds a file's lock.
    public static let fileBusy = usage("file-busy")
    /// A document's seal or signature doesn't fit: it was changed, or made with another key.
    public static let tampered = checkFailed("tampered")
    /// A document is for another app.
    public static let wrongApp = checkFailed("wrong-app")
    /// A document is older than one that was accepted before.
    public static let rolledBack = checkFailed("rolled-back")
    /// The file that remembers the last accepted document was changed.
    public static let stateTampered = checkFailed("state-tampered")

    // MARK: Hosts and pins

    /// A text isn't a host, or its canonical form is ambiguous.
    public static let badHost = usage("bad-host")
    /// The policy doesn't list the host, and doesn't set `"unlisted":"allow"`.
    public static let unlistedHost = checkFailed("unlisted-host", kind: .noResponse)
    /// The policy's rule for the host has expired, and doesn't set `"afterExpiry":"allow"`.
    public static let policyExpired = checkFailed("policy-expired", kind: .noResponse)
    /// The call to a pinned host doesn't use TLS.
    public static let cleartextToPinnedHost = checkFailed(
        "cleartext-to-pinned-host", kind: .noResponse)
    /// No certificate of the verified chain has a pinned key.
    public static let pinMismatch = checkFailed("pin-mismatch", kind: .noResponse)

    // MARK: Calls

    /// The system or the engine isn't running: it was shut down.
    public static let notRunning = noResponse("not-running")
    /// The caller's task was cancelled.
    public static let cancelled = noResponse("cancelled")
    /// The connection failed.
    public static let connect = noResponse("connect", kind: .noResponse)
    /// The deadline passed.
    public static let timeout = noResponse("timeout", kind: .noResponse)
    /// The connection ended before the response did.
    public static let cutOff = noResponse("cut-off", kind: .noResponse)
    /// The response isn't valid, or it is ambiguous and therefore refused.
    public static let malformedResponse = noResponse("malformed-response", kind: .malformed)
    /// The response's body or header is larger than the limit.
    public static let responseTooLarge = noResponse("response-too-large", kind: .malformed)
}

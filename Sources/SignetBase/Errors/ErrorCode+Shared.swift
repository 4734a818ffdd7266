/// The codes that more than one error type has. Each type documents what the code means there.
extension ErrorCode {
    // Keys.
    package static let malformedKeys = usage("malformed-keys")
    package static let keyFilePermissions = usage("key-file-permissions")
    package static let unknownKey = checkFailed("unknown-key")
    package static let keyRevoked = checkFailed("key-revoked")
    package static let keyExpired = checkFailed("key-expired")
    package static let keyNotYetValid = checkFailed("key-not-yet-valid")
    package static let wrongKeyUse = checkFailed("wrong-key-use")
    package static let cryptoFailed = usage("crypto-failed")

    // Files and other inputs.
    package static let malformedInput = usage("malformed-input")
    package static let outOfRange = usage("out-of-range")
    package static let typeMismatch = usage("type-mismatch", kind: .malformed)
    package static let unreadableFile = usage("unreadable-file")
    package static let unwritableFile = usage("unwritable-file")
    package static let fileBusy = usage("file-busy")
    package static let tampered = checkFailed("tampered")
    package static let wrongApp = checkFailed("wrong-app")
    package static let rolledBack = checkFailed("rolled-back")
    package static let stateTampered = checkFailed("state-tampered")

    // Pins.
    package static let badHost = usage("bad-host")
    package static let unlistedHost = checkFailed("unlisted-host", kind: .noResponse)
    package static let policyExpired = checkFailed("policy-expired", kind: .noResponse)
    package static let cleartextToPinnedHost = checkFailed(
        "cleartext-to-pinned-host", kind: .noResponse)
    package static let pinMismatch = checkFailed("pin-mismatch", kind: .noResponse)

    // Calls.
    package static let notRunning = noResponse("not-running")
    package static let connect = noResponse("connect", kind: .noResponse)
    package static let timeout = noResponse("timeout", kind: .noResponse)
    package static let cutOff = noResponse("cut-off", kind: .noResponse)
    package static let malformedResponse = noResponse("malformed-response", kind: .malformed)
    package static let responseTooLarge = noResponse("response-too-large", kind: .malformed)
}

import SignetBase
import SignetTransport

/// The codes of failures that a recording can have.
enum ReplayedFailure {
    private static let codes: [String: SignetErrorCode] = Dictionary(
        uniqueKeysWithValues: [
            .unresolvedHost, .offline, .connect, .tls, .timeout, .cutOff, .malformedResponse,
            .responseTooLarge, .unsupportedEncoding, .cancelled, .proxy, .proxyRefused,
            .proxyAuthentication, .resources, .pinMismatch, .unlistedHost, .policyExpired,
            .cleartextToPinnedHost,
        ].map { ($0.name, $0) })

    static func isKnown(_ name: String) -> Bool { codes[name] != nil }

    /// Returns the code of a name, or `connect`.
    static func code(named name: String) -> SignetErrorCode { codes[name] ?? .connect }
}

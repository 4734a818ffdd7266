import SignetBase
import SignetTransport

/// The codes of failures that a recording can have.
enum ReplayedFailure {
    private static let codes: [String: SignetErrorCode] = Dictionary(
        uniqueKeysWithValues: [
            .unresolvedHost, .offline, .connect, .tls, .timeout, .cutOff, .malformedResponse,
            .responseTooLarge, .unsupportedEncoding, .cancelled, .proxy, .proxyRefused,
            .proxyAuthentication, .resources,
        ].map { ($0.name, $0) })

    /// Returns the code of a name, or `connect`.
    static func code(named name: String) -> SignetErrorCode { codes[name] ?? .connect }
}

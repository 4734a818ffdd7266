import SignetCrypto
public import SignetPinning
public import SignetTransport

/// The source of signed pin policies, which `signet pins sign` makes.
///
/// The web server that has them is not trusted. A policy is accepted if it is signed by a key that
/// the program contains, its serial number is not lower than the last one, and it is valid now.
public struct PinUpdatePlan: Sendable {
    /// An https URL of the document.
    public var url: String
    /// The verifier of the documents, with the public keys that the program contains and its app
    /// id.
    public var verifier: PinUpdateVerifier
    /// The file that keeps the newest policy across restarts. It stays in use until a newer one
    /// comes, even after it has expired (then ``NetworkSystem/lastPinUpdate`` has the finding
    /// `expired`).
    public var file: String
    /// The pins of the document's host; nil leaves it to the policy in use, which an update can
    /// then make unreachable.
    public var hostPolicy: PinPolicy?
    /// The certificate for the document's host if it asks for one.
    public var clientCertificate: ClientCertificate?
    /// The serial number up to which the program's own pins are as new: documents up to this number
    /// are not used, whether they are fetched or kept. Set it in a release whose own pins were
    /// brought up to date.
    public var builtInSerial: Int64 = 0
    /// The time between two requests for a newer policy, a tenth more or less, so that programs do
    /// not ask at the same moment.
    public var interval: Duration = .seconds(6 * 3600)
    /// The pause after a failure; it doubles with each further one, up to `interval`.
    public var retryPause: Duration = .seconds(30)
    /// The time for one request; the system's start waits no longer than this.
    public var timeout: Duration = .seconds(10)

    /// Plans updates.
    public init(url: String, verifier: PinUpdateVerifier, file: String) {
        self.url = url
        self.verifier = verifier
        self.file = file
    }

    /// Returns the pause before the next fetch.
    ///
    /// - Parameters:
    ///   - failures: The number of failures in a row.
    ///   - random: From 0 up to 1.
    package func pause(afterFailures failures: Int, random: Double) -> Duration {
        let usual = max(interval, .milliseconds(1))
        guard failures > 0 else { return usual * (0.9 + random / 5) }
        var pause = max(retryPause, .milliseconds(1))
        for _ in 1..<min(failures, 32) where pause < usual { pause = pause * 2 }
        return min(pause, usual) * (0.5 + random / 2)
    }
}

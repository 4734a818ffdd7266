public import SignetPinning

/// How the addresses of services are measured, and where lists of them are fetched from.
///
/// A service has addresses in its configuration (``ServiceConfiguration/addresses``), or a list
/// that is fetched once a day. They are measured by a TCP and a TLS handshake, without a request,
/// when the system starts, when the network changes and after one has failed.
public struct AddressOptions: Sendable {
    /// The longest time for which measuring delays the start of the system. What is slower is
    /// measured while the system runs; until then calls go to the host's name. Defaults to half a
    /// second.
    public var startLimit = Duration.milliseconds(500)
    /// The time for one measurement. Defaults to 2 seconds.
    public var timeout = Duration.seconds(2)
    /// The lists to fetch, by the names of the services that they are for. They replace the
    /// addresses of the configuration.
    public var lists: [ServiceName: AddressListPlan] = [:]

    /// Creates the defaults.
    public init() {}
}

/// The source of a list of addresses, which is fetched once a day and stored.
///
/// The document is a JSON object `{"addresses":["192.0.2.1","[2001:db8::1]:8443"]}` with at most 64
/// addresses. With ``verifier`` it is a signed document instead ([RFC 7515, section
/// 7.2.2](https://www.rfc-editor.org/rfc/rfc7515#section-7.2.2)), whose payload also names the
/// service, its host and the times at which it was issued and expires. A list that has expired is
/// used no longer, and one that is older than the last one is refused.
///
/// A list decides only where connections go: the host's name, its pins, CAs and signature stay
/// those of the service's URL, so a false list can make calls slower, but can't make them reach
/// another server.
public struct AddressListPlan: Sendable {
    /// An https URL of the list.
    public var url: String
    /// The file that keeps the list for further starts. It need not exist yet. A list of another
    /// URL isn't used.
    public var file: String
    /// Verifies signed lists; nil for a list that isn't signed.
    public var verifier: AddressListVerifier?
    /// The pins of the list's host; nil leaves it to the policy of the system.
    public var hostPolicy: PinPolicy?
    /// The time for a request. Defaults to 10 seconds.
    public var timeout = Duration.seconds(10)
    /// The pause after a failure; it doubles with each further one, up to a day. Defaults to a
    /// minute.
    public var retryPause = Duration.seconds(60)

    /// Plans fetches.
    public init(url: String, file: String, verifier: AddressListVerifier? = nil) {
        (self.url, self.file, self.verifier) = (url, file, verifier)
    }
}

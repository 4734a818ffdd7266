import SignetPinning
import SignetTransport

/// A host that the system calls for itself: that of signed pin policies, or a collector of pin
/// reports.
struct SystemHost: Sendable {
    /// The name that identities of calls show.
    let name: ServiceName
    let service: PreparedService
    /// The pins that hold in place of the snapshot's policy.
    var policy: PinPolicy?
    /// Whether the call sends a pin report. It is sent while the system stops too, and makes no
    /// report.
    let isReport: Bool

    /// Prepares a host that is called without a signature, once, and whose redirects are not
    /// followed.
    init(
        _ name: ServiceName, url: String, timeout: Duration, policy: PinPolicy?,
        clientCertificate: ClientCertificate? = nil, isReport: Bool = false
    ) throws(ClientError) {
        var configuration = ServiceConfiguration(
            baseURL: url, payloadProtocol: .rest, timeout: timeout, attempts: 1)
        configuration.redirects = .never
        configuration.options.connectTimeout = timeout
        configuration.clientCertificate = clientCertificate
        self.name = name
        self.service = try PreparedService(
            name, configuration: configuration, options: RequestOptions(), keys: nil,
            maximumResponseSize: .max)
        self.policy = policy
        self.isReport = isReport
    }
}

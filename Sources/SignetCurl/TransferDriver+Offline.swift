import CSignetCurl
import SignetPinning
import SignetTransport

extension TransferDriver {
    /// Returns the error of a call whose host was not found, or to whose host the kernel had no
    /// route.
    ///
    /// The error is `offline` if the machine has no route to other networks. Otherwise only this
    /// name or this host's network is unavailable, and the error is `code`. A connection that a
    /// host refuses has reached that host, so it is never `offline`.
    func unreachable(
        _ code: TransportError.Code, of plan: RequestPlan, reason: String
    ) -> TransportError {
        let host = "\(plan.host.uriText):\(plan.port)"
        guard Self.needsNetwork(plan.host), !hasRoute() else {
            return TransportError(code, "\(host): \(reason)")
        }
        return TransportError(
            .offline, "\(host): \(reason); this machine has no route to other networks")
    }

    /// Whether a host can only be reached over a network. `invalid` never exists and `localhost` is
    /// this machine (RFC 6761, section 6.4).
    static func needsNetwork(_ host: HostName) -> Bool {
        let last = host.text.split(separator: ".").last ?? ""
        return last != "invalid" && last != "localhost"
    }

    /// Whether the kernel has a route to other networks.
    static let hasRoute: @Sendable () -> Bool = { signet_has_route() }
}

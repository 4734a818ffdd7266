import SignetBase

extension NetworkSystem {
    /// The addresses of a service as they were measured last, in the order of its list; empty if
    /// the service has none.
    public func addresses(of service: ServiceName) -> [MeasuredAddress] {
        addresses.report(of: service)
    }

    /// Gets lists of addresses that aren't of today, and measures the addresses of all services.
    /// Returns after a limit, whatever is still under way.
    func beginAddresses() async { await addresses.begin(after: lists?.begin()) }
}

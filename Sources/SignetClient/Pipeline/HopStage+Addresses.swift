import SignetBase
import SignetRPC
import SignetTransport

extension HopStage {
    /// Failures of a connection to one address, after which another may work.
    private static let failures: Set<TransportError.Code> = [
        .connect, .tls, .pinMismatch, .cutOff, .timeout,
    ]

    /// The largest number of addresses that one request tries, and the time for their connections
    /// together.
    private static let (most, longest) = (3, Duration.seconds(1))

    /// Sends a request to a service's addresses, one after another while nothing was sent, and at
    /// last to its host's name: after three addresses, or after a second.
    ///
    /// The engine checks the pins before each of them gets a byte of the request.
    ///
    /// - Parameter entry: Gets the address that the request was sent to.
    func send(
        _ request: EngineRequest, on ways: [AddressWay], to engine: any HTTPEngine,
        in context: CallContext, noting entry: ExchangeEntry
    ) async throws(ClientError) -> EngineResponse {
        let service = context.identity.service
        let start = clock.instant()
        var failed: [String] = []
        for way in ways.prefix(Self.most) {
            let address = way.address
            let passed = clock.instant() - start
            guard passed < min(Self.longest, request.timeout) else { break }
            var attempt = request
            attempt.connectTo = [way.connection] + request.connectTo
            attempt.timeout = request.timeout - passed
            let patience = min(way.limit, Self.longest)
            let limit = min(
                patience, Self.longest - passed, request.connectTimeout ?? patience)
            attempt.connectTimeout = limit
            // A short time of the call's own says nothing of the address.
            let isPatient = limit >= patience && attempt.timeout >= patience
            let use = AddressUse(
                address: address.description, reason: failed.isEmpty ? .fastest : .next,
                failed: failed)
            entry.change { $0.address = use }
            do throws(TransportError) {
                return try await send(attempt, through: engine, in: context)
            } catch {
                guard error.isUnsent, Self.failures.contains(error.code), !context.hasEnded else {
                    throw ClientError(error)
                }
                if error.code != .timeout || isPatient {
                    addresses.noteFailure(
                        of: address, for: service,
                        isRefused: error.code == .pinMismatch || error.code == .tls)
                }
                failed.append(address.description)
            }
        }
        let use = AddressUse(address: nil, reason: .name, failed: failed)
        entry.change { $0.address = use }
        var last = request
        last.timeout = request.timeout - (clock.instant() - start)
        guard last.timeout > .zero else {
            throw ClientError(.timeout, "the time for the call has passed with its addresses")
        }
        do throws(TransportError) {
            return try await send(last, through: engine, in: context)
        } catch {
            throw ClientError(error)
        }
    }
}

import SignetBase
import SignetRPC
import SignetTransport

extension HopStage {
    /// Failures of a connection to one address, after which another may work.
    private static let failures: Set<TransportError.Code> = [
        .connect, .tls, .pinMismatch, .cutOff, .timeout,
    ]

    /// Sends a request to a service's addresses, one after another while nothing was sent, and at
    /// last to its host's name.
    ///
    /// The engine checks the pins before each of them gets a byte of the request.
    ///
    /// - Parameter hop: Gets the address that the request was sent to.
    func send(
        _ request: EngineRequest, on ways: [AddressWay], to engine: any HTTPEngine,
        in context: CallContext, noting hop: inout CallRecord.Exchange
    ) async throws(ClientError) -> EngineResponse {
        let service = context.identity.service
        let start = clock.instant()
        var failed: [String] = []
        for way in ways {
            let address = way.address
            var attempt = request
            attempt.connectTo = [way.connection] + request.connectTo
            attempt.timeout = request.timeout - (clock.instant() - start)
            attempt.connectTimeout = min(way.limit, request.connectTimeout ?? way.limit)
            guard attempt.timeout > .zero else { break }
            hop.address = AddressUse(
                address: address.description, reason: failed.isEmpty ? .fastest : .next,
                failed: failed)
            do throws(TransportError) {
                return try await send(attempt, through: engine)
            } catch {
                guard error.isUnsent, Self.failures.contains(error.code), !context.hasEnded else {
                    throw ClientError(error)
                }
                addresses.noteFailure(
                    of: address, for: service,
                    isRefused: error.code == .pinMismatch || error.code == .tls)
                failed.append(address.description)
            }
        }
        hop.address = AddressUse(address: nil, reason: .name, failed: failed)
        var last = request
        last.timeout = request.timeout - (clock.instant() - start)
        guard last.timeout > .zero else {
            throw ClientError(.timeout, "the time for the call has passed with its addresses")
        }
        do throws(TransportError) {
            return try await send(last, through: engine)
        } catch {
            throw ClientError(error)
        }
    }
}

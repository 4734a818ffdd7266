import SignetClient
import Synchronization

/// The token that receipts need. The system asks for one before the first call and after a 401, once for all
/// calls that wait, and sends a call that was rejected once more.
struct Session: CredentialSource {
    let system: NetworkSystem
    /// The program acts for one user.
    let scope = "shop"

    func credential(
        replacing old: Credential?, for call: CallIdentity
    ) async throws -> Credential {
        struct Renewal: Decodable, Sendable { var token: String }
        let renewal: Renewal = try await system.send(Orders.renewSession)
        return .bearer(renewal.token)
    }
}

/// Counts the responses of all attempts by their status. An interceptor could also change a request, or
/// respond itself.
final class RequestCounter: AttemptInterceptor {
    private let counts = Mutex<[Int: Int]>([:])

    func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
        let response = try await next(call)
        counts.withLock { $0[response.response.status.code, default: 0] += 1 }
        return response
    }

    /// The counts, such as `8 x 200, 1 x 404`.
    var summary: String {
        counts.withLock { $0 }.sorted { $0.key < $1.key }
            .map { "\($0.value) x \($0.key)" }.joined(separator: ", ")
    }
}

/// Converts a list of orders, from either service, into the lines that a person reads.
struct OrderLines: Reformer {
    func reform(_ response: UnboxedResponse) throws -> [String] {
        try response.decode([Order].self).map(\.description)
    }
}

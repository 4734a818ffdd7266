#if Storage
import HTTPTypes
import SignetBase
import SignetClient
import SignetJSON
import SignetRPC
import SignetStorage
import SignetTransport
import Synchronization

/// Makes the call of a batch, and judges its outcome.
struct BatchCalls: Sendable {
    enum Outcome {
        case arrived
        /// The server won't take it, now or later, or no call can carry it.
        case refused(ClientError)
        /// It may not have arrived. The server asked for a pause, or for none (zero).
        case delayed(ClientError, wait: Duration)
    }

    private let destination: OutboxDestination
    private let options: RequestOptions
    private let clock: SystemClock

    /// The longest pause that a server may ask for.
    private static let longestWait = Duration.seconds(3600)
    /// The statuses of 400 to 499 that tell of the moment, not of the batch: a timeout, too early
    /// and too many requests (RFC 9110, section 15.5.9; RFC 8470, section 5.2; RFC 6585, section
    /// 4).
    private static let passing = [408, 425, 429]
    /// The codes of calls that can't be made because of their own contents. Others, such as
    /// `unknown-service`, come from a configuration, and another one may correct them.
    private static let hopeless: Set<ClientError.Code> = [
        .invalidParameters, .invalidMethod, .reservedMethod, .reservedMember, .invalidPath,
        .unknownMethod, .invalidRequest,
    ]
    /// The field of draft-ietf-httpapi-idempotency-key-header.
    private static let idempotencyKey = HTTPField.Name("Idempotency-Key")

    init(to destination: OutboxDestination, options: RequestOptions, clock: SystemClock) {
        self.destination = destination
        var own = RequestOptions(idempotency: .always, tags: ["outbox"])
        own.cache = .never
        self.options = own.merging(options)
        self.clock = clock
    }

    func send(_ batch: OutboxBatch, through system: NetworkSystem) async -> Outcome {
        var options = options
        let note = RetryAfterNote(clock)
        options.attemptInterceptors.append(note)
        if let name = Self.idempotencyKey { options.fields[name] = "\"\(batch.id)\"" }
        let call = call(Self.parameters(of: batch))
        do throws(ClientError) {
            _ = try await system.call(
                call, on: destination.service, path: destination.path, options: options)
            return .arrived
        } catch {
            return Self.isRefusal(error)
                ? .refused(error)
                : .delayed(error, wait: min(note.wait ?? .zero, Self.longestWait))
        }
    }

    /// Checks that batches can be sent: the configuration has the service, and its protocol has
    /// such calls. Sends nothing.
    func check(with system: NetworkSystem) throws(ClientError) {
        try system.check(
            call(["batch": "0", "records": []]), on: destination.service, path: destination.path)
    }

    private func call(_ parameters: JSONObject) -> RPCCall {
        var call = RPCCall(destination.method, parameters: .object(parameters))
        // A server may respond to a POST with any content, or none.
        if destination.path != nil { call.responseContent = .any }
        return call
    }

    static func parameters(of batch: OutboxBatch) -> JSONObject {
        var object: JSONObject = [
            "batch": .string(batch.id),
            // They were encoded by the outbox, and their digests are right.
            "records": .array(batch.records.compactMap { try? JSONValue(parsing: $0) }),
        ]
        if !batch.dropped.isEmpty {
            object["dropped"] = .array(
                batch.dropped.map { drop in
                    [
                        "reason": .string(drop.reason),
                        "records": drop.count > 0 ? .number(JSONNumber(drop.count)) : .null,
                    ]
                })
        }
        return object
    }

    /// Whether a server refused the batch itself, so that it would refuse it again, or no call can
    /// carry it.
    static func isRefusal(_ error: ClientError) -> Bool {
        if hopeless.contains(error.code) { return true }
        guard error.kind == .refused else { return false }
        // A status that tells of the moment counts more than an error in its body.
        if let status = error.status, passing.contains(status) || status >= 500 { return false }
        if let server = error.serverError {
            return ![.internalError, .serverError].contains(server.kind)
        }
        guard let status = error.status else { return true }
        // 200 to 299 with a business code.
        return (200..<300).contains(status) || (400..<500).contains(status)
    }
}

/// Notes how long a response asks to wait.
private final class RetryAfterNote: AttemptInterceptor {
    private let clock: SystemClock
    private let noted = Mutex<Duration?>(nil)

    init(_ clock: SystemClock) { self.clock = clock }

    var wait: Duration? { noted.withLock { $0 } }

    func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
        let response = try await next(call)
        let wait = clock.retryAfter(response.response, clock.now())
        noted.withLock { $0 = wait }
        return response
    }
}
#endif

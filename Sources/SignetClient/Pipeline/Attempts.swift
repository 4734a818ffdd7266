internal import HTTPTypes
internal import Logging
internal import SignetRPC
internal import SignetTransport
internal import Synchronization

extension NetworkSystem {
    /// Stage 5: makes attempts until one succeeds, or none is worth another.
    func attempts(
        _ call: OutgoingCall, into reader: any ResponseReader, for admission: Admission
    ) async throws(ClientError) -> RawResponse {
        var (number, hasRenewed) = (1, false)
        var cause: RetryBudget.Cause?
        let host = call.request.authority ?? ""
        while true {
            let attempt = Attempt(number)
            let failure: ClientError?
            var response: RawResponse?
            do throws(ClientError) {
                switch try await self.attempt(attempt, of: call, into: reader, for: admission) {
                case .whole(let whole): (failure, response) = (nil, whole)
                case .unfinished: continue
                case .partial(let error):
                    // Bytes came, so there is no pause.
                    guard number < admission.rules.attempts,
                        retryBudget.withdraw(for: .failed, from: host)
                    else { throw error }
                    cause = .failed
                    logger.info("continuing a download", metadata: ["after": "\(error.code)"])
                    number += 1
                    continue
                }
            } catch {
                failure = error
            }
            if !hasRenewed, attempt.header?.status == .unauthorized, call.body.isReplayable,
                try await renewed(after: attempt, for: admission)
            {
                hasRenewed = true
                continue
            }
            guard let retry = retry(after: attempt, failure: failure, of: call, for: admission)
            else {
                if let response {
                    let isFailure =
                        response.status >= 500
                        || admission.rules.retry.statusCodes.contains(response.status)
                    if !isFailure {
                        retryBudget.deposit(after: cause, to: host)
                    }
                    return response
                }
                throw failure ?? .cancelledByCaller
            }
            // A call that has no time for another attempt takes no tokens from the others.
            guard admission.rules.end.map({ .now + retry.pause < $0 }) ?? true,
                retryBudget.withdraw(for: retry.cause, from: host)
            else {
                if let response { return response }
                throw failure ?? .cancelledByCaller
            }
            guard await waits(retry, after: attempt, failure: failure, for: admission) else {
                retryBudget.deposit(after: retry.cause, to: host)
                throw failure ?? .cancelledByCaller
            }
            cause = retry.cause
            number += 1
        }
    }

    /// Gets a new credential after the server rejected the attempt's.
    ///
    /// - Returns: Whether there is a new one.
    private func renewed(
        after attempt: Attempt, for admission: Admission
    ) async throws(ClientError) -> Bool {
        guard let source = admission.options.credentials, let key = admission.credentialKey,
            let rejected = attempt.credential
        else { return false }
        let new = try await credentials.credential(
            of: source, for: key, replacing: rejected, by: admission.identity)
        return new != nil
    }

    /// Makes one attempt and reads its response.
    private func attempt(
        _ attempt: Attempt, of call: OutgoingCall, into reader: any ResponseReader,
        for admission: Admission
    ) async throws(ClientError) -> ResponseReading {
        if let source = admission.options.credentials, let key = admission.credentialKey {
            attempt.credential = try await credentials.credential(
                of: source, for: key, by: admission.identity)
        }
        admission.log.beginAttempt()
        admission.call.send(.attempt(admission.identity, number: attempt.number), to: hub)
        let call = call.with(attempt: attempt.number).with(attempt.credential)
        do throws(ClientError) {
            let response = try await intercepted(
                call, by: admission.options.attemptInterceptors[...]
            ) { changed throws(ClientError) in
                try await self.follow(
                    self.unmoved(changed, from: call, for: admission), with: reader,
                    noting: attempt, for: admission)
            }
            attempt.header = response.response
            if let key = admission.credentialKey, response.response.status != .unauthorized {
                credentials.noteAccepted(attempt.credential, for: key)
            }
            let reading = try await reader.read(response, answering: attempt.method)
            if case .partial(let error) = reading {
                attempt.endHop(failure: error.code.name, in: admission.log)
            } else {
                attempt.endHop(in: admission.log)
            }
            return reading
        } catch {
            attempt.endHop(failure: error.code.name, in: admission.log)
            throw error
        }
    }

    /// Decides whether another attempt follows, and after which pause; nil if none does.
    private func retry(
        after attempt: Attempt, failure: ClientError?, of call: OutgoingCall,
        for admission: Admission
    ) -> Retry? {
        let (rules, number) = (admission.rules, attempt.number)
        guard number < rules.attempts else { return nil }
        let isIdempotent =
            rules.isIdempotent
            ?? (RetryPolicy.isIdempotent(call.request.method) && attempt.isIdempotent)
        guard call.body.isReplayable else { return nil }
        if let failure, failure.neverReachedTheServer {
            // Of requests before the last one: those that were redirected, or that an interceptor repeated.
            guard isIdempotent || !attempt.mayHaveArrived else { return nil }
            return Retry(
                cause: .unsent, pause: rules.retry.pause(after: number, random: options.random()))
        }
        guard isIdempotent else { return nil }
        if failure?.code == .cutOff {
            return Retry(
                cause: .failed, pause: rules.retry.pause(after: number, random: options.random()))
        }
        guard let header = attempt.header, failure == nil || failure?.code == .httpStatus,
            let pause = rules.retry.pause(
                after: number, status: header.status.code,
                wait: options.retryAfter(header, options.clock()), random: options.random())
        else { return nil }
        return Retry(
            cause: header.status == .tooManyRequests ? .throttled : .failed, pause: pause)
    }

    /// Waits before another attempt.
    ///
    /// - Returns: Whether it may be made: not by a call that was ended.
    private func waits(
        _ retry: Retry, after attempt: Attempt, failure: ClientError?, for admission: Admission
    ) async -> Bool {
        let reason =
            failure?.code.name ?? attempt.header.map { "\($0.status.code)" } ?? "unknown"
        admission.call.send(
            .retrying(admission.identity, reason: reason, pause: retry.pause), to: hub)
        do { try await options.sleep(retry.pause) } catch { return false }
        logger.info(
            "retrying",
            metadata: [
                "call": "\(admission.identity.id)", "attempt": "\(attempt.number)",
                "after": "\(reason)",
            ])
        return true
    }
}

/// Another attempt that is worth making.
private struct Retry {
    let cause: RetryBudget.Cause
    let pause: Duration
}

/// One attempt: the first request and those that redirects lead to.
final class Attempt: Sendable {
    private struct State {
        var header: HTTPResponse?
        var opened: OpenedReply?
        var method = HTTPRequest.Method.get
        var isIdempotent = true
        var mayHaveArrived = false
        var credential: NumberedCredential?
    }

    let number: Int
    private let state = Mutex(State())

    init(_ number: Int) { self.number = number }

    /// The header that the interceptors handed on.
    var header: HTTPResponse? {
        get { state.withLock { $0.header } }
        set { state.withLock { $0.header = newValue } }
    }

    /// The credential that the attempt carries.
    var credential: NumberedCredential? {
        get { state.withLock { $0.credential } }
        set { state.withLock { $0.credential = newValue } }
    }

    /// The method of the last request.
    var method: HTTPRequest.Method { state.withLock { $0.method } }

    /// Whether all requests had idempotent methods; an interceptor may change a method.
    var isIdempotent: Bool { state.withLock { $0.isIdempotent } }

    /// Whether a server may have seen one of the requests.
    var mayHaveArrived: Bool { state.withLock { $0.mayHaveArrived } }

    /// Notes a request that will be sent.
    func begin(_ method: HTTPRequest.Method) {
        state.withLock { $0.isIdempotent = $0.isIdempotent && RetryPolicy.isIdempotent(method) }
    }

    func begin(_ opened: OpenedReply, method: HTTPRequest.Method) {
        state.withLock { state in
            state.opened = opened
            state.method = method
            state.mayHaveArrived = true
        }
    }

    /// Notes why a request has no response.
    func noteFailure(_ error: ClientError) {
        if !error.neverReachedTheServer { state.withLock { $0.mayHaveArrived = true } }
    }

    /// Writes down the request whose response is open, if there is one.
    func endHop(failure: String? = nil, in log: CallLog) {
        let opened = state.withLock { $0.opened.take() }
        if let opened { log.add(opened.hop(failure: failure)) }
    }
}

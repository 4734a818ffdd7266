internal import HTTPTypes
internal import SignetBase
internal import SignetRPC
internal import SignetTransport
internal import Synchronization

extension NetworkSystem {
    /// Stage 5: makes attempts until one succeeds, or no further one is allowed.
    func attempts(
        _ call: OutgoingCall, into reader: any ResponseReader, for context: CallContext
    ) async throws(ClientError) -> RawResponse {
        let call = try call.compressed(by: context.options.compression)
        var (number, hasRenewed) = (1, false)
        var cause: RetryBudget.Cause?
        let host = call.request.authority ?? ""
        while true {
            guard !context.hasEnded else { throw .cancelledByCaller }
            let attempt = Attempt(number)
            let failure: ClientError?
            var response: RawResponse?
            do throws(ClientError) {
                switch try await self.attempt(
                    attempt, of: call, into: reader, mayRenew: !hasRenewed, for: context)
                {
                case .whole(let whole): (failure, response) = (nil, whole)
                case .unfinished: continue
                case .partial(let error):
                    // The server sent bytes, so there is no pause.
                    guard number < context.rules.attempts,
                        retryBudget.withdraw(for: .failed, from: host)
                    else { throw error }
                    cause = .failed
                    logRetry(
                        of: context.identity, after: number, reason: error.code.name, pause: .zero
                    )
                    number += 1
                    continue
                }
            } catch {
                failure = error
            }
            if !reader.hasHandedOut, !hasRenewed, isRejected(attempt, of: call, for: context),
                try await renewed(after: attempt, for: context)
            {
                hasRenewed = true
                continue
            }
            guard !reader.hasHandedOut,
                let retry = retry(after: attempt, failure: failure, of: call, for: context)
            else {
                if let response {
                    let isFailure =
                        response.status >= 500
                        || context.rules.retry.statusCodes.contains(response.status)
                    if !isFailure {
                        retryBudget.deposit(after: cause, to: host)
                    }
                    return response
                }
                throw failure ?? .cancelledByCaller
            }
            // A call that has no time for another attempt takes no tokens from the others.
            guard context.rules.end.map({ .now + retry.pause < $0 }) ?? true,
                retryBudget.withdraw(for: retry.cause, from: host)
            else {
                if let response { return response }
                throw failure ?? .cancelledByCaller
            }
            guard await waits(retry, after: attempt, failure: failure, for: context) else {
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
        after attempt: Attempt, for context: CallContext
    ) async throws(ClientError) -> Bool {
        guard let source = context.options.credentials, let key = context.credentialKey,
            let rejected = attempt.credential
        else { return false }
        let stage = context.log.begin(.credentials)
        defer { context.log.end(stage) }
        let new = try await credentials.credential(
            of: source, for: key, replacing: rejected, by: context.identity)
        return new != nil
    }

    /// Makes one attempt and reads its response.
    private func attempt(
        _ attempt: Attempt, of call: OutgoingCall, into reader: any ResponseReader, mayRenew: Bool,
        for context: CallContext
    ) async throws(ClientError) -> ResponseReading {
        let log = context.log
        if let source = context.options.credentials, let key = context.credentialKey {
            let stage = log.begin(.credentials)
            defer { log.end(stage) }
            attempt.credential = try await credentials.credential(
                of: source, for: key, by: context.identity)
        }
        let start = ContinuousClock.now
        log.beginAttempt()
        let stage = log.begin(.attempt)
        defer { log.end(stage) }
        context.send { .attempt($0, number: attempt.number) }
        let call = call.with(attempt: attempt.number).with(attempt.credential)
        do throws(ClientError) {
            let response = try await self.response(
                to: attempt, of: call, with: reader, for: context)
            attempt.header = response.response
            let status = response.response.status.code
            context.send { .readingResponse($0, status: status) }
            logResponse(
                to: context.identity, attempt: attempt.number, status: status,
                after: .now - start)
            if let key = context.credentialKey, response.response.status != .unauthorized {
                credentials.noteAccepted(attempt.credential, for: key)
            }
            let stage = log.begin(.reading)
            defer { log.end(stage) }
            var reader = reader
            if reader is StreamReader,
                isPreliminary(attempt, of: call, mayRenew: mayRenew, for: context)
            {
                reader = MemoryReader(system: self, limit: reader.limit)
            }
            let reading = try await reader.read(response, answering: attempt.method)
            if case .partial(let error) = reading {
                attempt.endHop(failure: error.code.name, in: context.log)
            } else {
                attempt.endHop(in: context.log)
            }
            return reading
        } catch {
            attempt.endHop(failure: error.code.name, in: context.log)
            throw error
        }
    }

    /// Stages 5a to 5c: sends an attempt through its interceptors.
    private func response(
        to attempt: Attempt, of call: OutgoingCall, with reader: any ResponseReader,
        for context: CallContext
    ) async throws(ClientError) -> EngineResponse {
        let interceptors = context.options.attemptInterceptors
        let stage = interceptors.isEmpty ? nil : context.log.begin(.attemptInterceptors)
        defer { if let stage { context.log.end(stage) } }
        return try await intercepted(call, by: interceptors[...]) { changed throws(ClientError) in
            try await self.follow(
                self.unmoved(changed, from: call, for: context), with: reader, noting: attempt,
                for: context)
        }
    }

    /// Whether another attempt may replace a response, which is therefore not handed out as a
    /// stream.
    private func isPreliminary(
        _ attempt: Attempt, of call: OutgoingCall, mayRenew: Bool, for context: CallContext
    ) -> Bool {
        if mayRenew, isRejected(attempt, of: call, for: context) { return true }
        return retry(after: attempt, failure: nil, of: call, for: context) != nil
    }

    /// Whether a 401 rejected the attempt's credential, so that the call may be sent with another
    /// one.
    ///
    /// If the call isn't idempotent, servers must have refused every request of the attempt: after
    /// a redirect or an interceptor's first request, the call may have been processed, whatever the
    /// last response is.
    private func isRejected(
        _ attempt: Attempt, of call: OutgoingCall, for context: CallContext
    ) -> Bool {
        attempt.header?.status == .unauthorized && attempt.credential != nil
            && attempt.isWithinOrigin && call.body.isReplayable
            && (attempt.wasRefused || isIdempotent(attempt, of: call, for: context))
    }

    private func isIdempotent(
        _ attempt: Attempt, of call: OutgoingCall, for context: CallContext
    ) -> Bool {
        context.rules.isIdempotent
            ?? (RetryPolicy.isIdempotent(call.request.method) && attempt.isIdempotent)
    }

    /// Decides whether another attempt follows, and after which pause; nil if none does.
    private func retry(
        after attempt: Attempt, failure: ClientError?, of call: OutgoingCall,
        for context: CallContext
    ) -> Retry? {
        let (rules, number) = (context.rules, attempt.number)
        guard number < rules.attempts else { return nil }
        let isIdempotent = isIdempotent(attempt, of: call, for: context)
        guard call.body.isReplayable else { return nil }
        if let failure, failure.neverReachedTheServer {
            // Of requests before the last one: those that were redirected, or that an interceptor
            // repeated.
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
        _ retry: Retry, after attempt: Attempt, failure: ClientError?, for context: CallContext
    ) async -> Bool {
        let reason =
            failure?.code.name ?? attempt.header.map { "\($0.status.code)" } ?? "unknown"
        context.send { .retrying($0, reason: reason, pause: retry.pause) }
        logRetry(
            of: context.identity, after: attempt.number, reason: reason, pause: retry.pause)
        let stage = context.log.begin(.pause)
        defer { context.log.end(stage) }
        do { try await options.sleep(retry.pause) } catch { return false }
        return !context.hasEnded
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
        var opened: OpenedResponse?
        var method = HTTPRequest.Method.get
        var isIdempotent = true
        var isWithinOrigin = true
        /// The number of requests that a server may have seen, and of those that it refused with
        /// 401.
        var (requests, refused) = (0, 0)
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
    var mayHaveArrived: Bool { state.withLock { $0.requests > 0 } }

    /// Whether servers refused with 401 every request that they may have seen.
    var wasRefused: Bool { state.withLock { $0.requests == $0.refused } }

    /// Whether the last request was within the call's origin, so that it carried the credential.
    var isWithinOrigin: Bool { state.withLock { $0.isWithinOrigin } }

    /// Notes a request that will be sent.
    func begin(_ method: HTTPRequest.Method, isWithinOrigin: Bool) {
        state.withLock { state in
            state.isIdempotent = state.isIdempotent && RetryPolicy.isIdempotent(method)
            state.isWithinOrigin = isWithinOrigin
            state.requests += 1
        }
    }

    func begin(_ opened: OpenedResponse, method: HTTPRequest.Method) {
        state.withLock { state in
            state.opened = opened
            state.method = method
            if opened.response.response.status == .unauthorized { state.refused += 1 }
        }
    }

    /// Notes why a request has no response.
    func noteFailure(_ error: ClientError) {
        if error.neverReachedTheServer { state.withLock { $0.requests -= 1 } }
    }

    /// Writes down the request whose response is open, if there is one.
    func endHop(failure: String? = nil, in log: CallLog) {
        let opened = state.withLock { $0.opened.take() }
        if let opened { log.add(opened.hop(failure: failure), since: opened.start) }
    }
}

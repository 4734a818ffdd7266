import HTTPTypes
import SignetBase
import SignetRPC
import SignetSystem
import SignetTransport

/// Makes attempts until one succeeds, or no further one is allowed.
struct AttemptStage: Sendable {
    let budget: RetryBudget
    let credentials: CredentialStore
    var hops: HopStage
    let clock: SystemClock
    let log: CallLogger

    /// The decision after an attempt.
    private enum Step {
        /// The call has this outcome.
        case done(Result<RawResponse, ClientError>)
        /// The request is sent again at once, and no attempt is counted.
        case again
        /// The same, with a new credential.
        case renewed
        /// Another attempt.
        case next(RetryBudget.Cause)
    }

    /// The attempts of a call so far.
    private struct Progress {
        /// The number of the attempt, from 1.
        var number = 1
        /// Whether a credential was renewed, which happens once.
        var hasRenewed = false
        /// Why the attempt is not the first one.
        var cause: RetryBudget.Cause?
    }

    func run(
        _ call: OutgoingCall, into reader: any ResponseReader, in context: CallContext
    ) async throws(ClientError) -> RawResponse {
        // The request of merged calls is made for each attempt.
        let call = try context.joint?.batch == nil ? compressed(call, in: context) : call
        var progress = Progress()
        while true {
            guard !context.hasEnded else { throw .cancelledByCaller }
            switch try await step(progress, of: call, into: reader, in: context) {
            case .done(let outcome): return try outcome.get()
            case .again: continue
            case .renewed: progress.hasRenewed = true
            case .next(let cause):
                progress.cause = cause
                progress.number += 1
            }
        }
    }

    private func compressed(
        _ call: OutgoingCall, in context: CallContext
    ) throws(ClientError) -> OutgoingCall {
        // Compression before encryption would tell of the content, and no server expects it after.
        try call.compressed(
            by: context.service.sealer == nil ? context.options.compression : nil)
    }

    /// Returns the request of merged calls: that of those which still wait.
    private func present(
        _ batch: JointRequest, in context: CallContext
    ) throws(ClientError) -> OutgoingCall {
        let (present, count) = try batch.make { boxed, base throws(ClientError) in
            try context.request(BoxedCall(request: boxed, base: base))
        }
        context.log.setMerged(count)
        context.log.setRequest(present.request, bodySize: present.body.length)
        return try compressed(present, in: context)
    }

    /// Makes one attempt, and decides what follows.
    private func step(
        _ progress: Progress, of call: OutgoingCall, into reader: any ResponseReader,
        in context: CallContext
    ) async throws(ClientError) -> Step {
        let attempt = Attempt(progress.number)
        let host = call.request.authority ?? ""
        let outcome: Result<RawResponse, ClientError>
        do throws(ClientError) {
            switch try await self.attempt(
                attempt, of: call, into: reader, mayRenew: !progress.hasRenewed, in: context)
            {
            case .whole(let response): outcome = .success(response)
            case .unfinished: return .again
            case .partial(let error):
                // The server sent bytes, so there is no pause.
                guard attempt.number < context.limits.attempts,
                    budget.withdraw(for: .failed, from: host)
                else { return .done(.failure(error)) }
                log.retry(
                    of: context.identity, after: attempt.number, reason: error.code.name,
                    pause: .zero)
                return .next(.failed)
            }
        } catch {
            outcome = .failure(error)
        }
        if !attempt.wasRefused { context.joint?.batch?.fix() }
        if !reader.hasHandedOut, !progress.hasRenewed, isRejected(attempt, of: call, in: context),
            try await renew(after: attempt, in: context)
        {
            return .renewed
        }
        if let failure = outcome.failure, context.options.waitsForConnectivity == true,
            !reader.hasHandedOut, await waitForNetwork(attempt, failure, of: call, in: context)
        {
            return .again
        }
        guard !reader.hasHandedOut,
            let retry = nextAttempt(after: attempt, failure: outcome.failure, of: call, in: context)
        else {
            if case .success(let response) = outcome,
                !context.limits.retry.isFailure(response.status)
            {
                budget.deposit(after: progress.cause, to: host)
            }
            return .done(outcome)
        }
        // A call that has no time for another attempt takes no tokens from the others.
        guard context.limits.end.map({ clock.instant() + retry.pause < $0 }) ?? true,
            budget.withdraw(for: retry.cause, from: host)
        else { return .done(outcome) }
        guard await wait(retry, after: attempt, failure: outcome.failure, in: context) else {
            budget.deposit(after: retry.cause, to: host)
            return .done(.failure(outcome.failure ?? .cancelledByCaller))
        }
        return .next(retry.cause)
    }

    /// Gets a new credential after the server rejected the attempt's.
    ///
    /// - Returns: Whether there is a new one.
    private func renew(
        after attempt: Attempt, in context: CallContext
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
        in context: CallContext
    ) async throws(ClientError) -> ResponseReading {
        if let source = context.options.credentials, let key = context.credentialKey {
            let stage = context.log.begin(.credentials)
            defer { context.log.end(stage) }
            attempt.credential = try await credentials.credential(
                of: source, for: key, by: context.identity)
        }
        let start = MonotonicTime.now
        context.log.beginAttempt()
        let stage = context.log.begin(.attempt, at: start)
        defer { context.log.end(stage) }
        context.send { .attempt($0, number: attempt.number) }
        var call =
            try context.joint?.batch.map { batch throws(ClientError) in
                try present(batch, in: context)
            } ?? call
        call.attempt = attempt.number
        call.add(attempt.credential)
        do throws(ClientError) {
            let response =
                context.options.attemptInterceptors.isEmpty
                ? try await hops.run(call, with: reader, noting: attempt, in: context)
                : try await intercepted(attempt, of: call, with: reader, in: context)
            attempt.noteOutcome(response)
            let status = response.status
            context.send { .readingResponse($0, status: status) }
            log.response(
                to: context.identity, attempt: attempt.number, status: status,
                after: .now - start)
            if let key = context.credentialKey, status != 401 {
                credentials.noteAccepted(attempt.credential, for: key)
            }
            let stage = context.log.begin(.reading)
            defer { context.log.end(stage) }
            var reader = reader
            if let preliminary = reader.preliminary,
                isPreliminary(attempt, of: call, mayRenew: mayRenew, in: context)
            {
                reader = preliminary
            }
            let reading = try await reader.read(response, answering: attempt.method)
            if case .partial(let error) = reading {
                attempt.endHop(error, in: context.log)
            } else {
                attempt.endHop(in: context.log)
            }
            return reading
        } catch {
            attempt.endHop(error, in: context.log)
            throw error
        }
    }

    /// Sends an attempt through its interceptors.
    private func intercepted(
        _ attempt: Attempt, of call: OutgoingCall, with reader: any ResponseReader,
        in context: CallContext
    ) async throws(ClientError) -> EngineResponse {
        let stage = context.log.begin(.attemptInterceptors)
        defer { context.log.end(stage) }
        let chain = AttemptInterceptorChain(around: call, in: context) {
            changed throws(ClientError) in
            try await hops.run(changed, with: reader, noting: attempt, in: context)
        }
        let response = try await chain.run(call)
        let (isSent, last) = chain.outcome
        if !isSent {
            context.log.contents?.note(.attemptInterceptors) {
                ($0.message(call.request, body: call.body), $0.message(response.response))
            }
        }
        if let last {
            if !response.isSame(as: last) {
                context.log.noteChange()
                context.log.contents?.note(.attemptInterceptors) {
                    ($0.message(last.response), $0.message(response.response))
                }
            }
        } else {
            // No server responded, whatever the interceptor says.
            let source = response.source ?? .interceptor
            context.log.noteOwnResponse(from: source == .server ? .interceptor : source)
        }
        return response
    }

    /// Whether another attempt may replace a response, which is therefore not handed out as a
    /// stream.
    private func isPreliminary(
        _ attempt: Attempt, of call: OutgoingCall, mayRenew: Bool, in context: CallContext
    ) -> Bool {
        if mayRenew, isRejected(attempt, of: call, in: context) { return true }
        return nextAttempt(after: attempt, failure: nil, of: call, in: context) != nil
    }

    /// Whether a 401 rejected the attempt's credential, so that the call may be sent with another
    /// one.
    ///
    /// If the call isn't idempotent, servers must have refused every request of the attempt: after
    /// a redirect or an interceptor's first request, the call may have been processed, whatever the
    /// last response is.
    private func isRejected(
        _ attempt: Attempt, of call: OutgoingCall, in context: CallContext
    ) -> Bool {
        attempt.status == 401 && attempt.credential != nil
            && attempt.isWithinOrigin && call.body.isReplayable
            && (attempt.wasRefused || isIdempotent(attempt, of: call, in: context))
    }

    private func isIdempotent(
        _ attempt: Attempt, of call: OutgoingCall, in context: CallContext
    ) -> Bool {
        switch context.limits.idempotency {
        case .always: true
        case .never: false
        case .byMethod: RetryStrategy.isIdempotent(call.request.method) && attempt.isIdempotent
        }
    }

    /// Decides whether another attempt follows, and after which pause; nil if none does.
    private func nextAttempt(
        after attempt: Attempt, failure: ClientError?, of call: OutgoingCall,
        in context: CallContext
    ) -> Retry? {
        let (limits, number) = (context.limits, attempt.number)
        guard number < limits.attempts else { return nil }
        if failure == nil, let status = attempt.status, !limits.retry.statusCodes.contains(status) {
            return nil
        }
        let isIdempotent = isIdempotent(attempt, of: call, in: context)
        guard call.body.isReplayable else { return nil }
        if let failure, failure.neverReachedTheServer {
            // Of requests before the last one: those that were redirected, or that an interceptor
            // repeated.
            guard isIdempotent || !attempt.mayHaveArrived else { return nil }
            return Retry(
                cause: .unsent, pause: limits.retry.pause(after: number, random: clock.random()))
        }
        guard isIdempotent else { return nil }
        if failure?.code == .cutOff {
            return Retry(
                cause: .failed, pause: limits.retry.pause(after: number, random: clock.random()))
        }
        guard let header = attempt.header, let status = attempt.status,
            failure == nil || failure?.code == .httpStatus,
            limits.retry.statusCodes.contains(status),
            let pause = limits.retry.pause(
                after: number, status: status,
                wait: clock.retryAfter(header, clock.now()), random: clock.random())
        else { return nil }
        return Retry(
            cause: status == 429 ? .throttled : .failed, pause: pause)
    }

    /// Waits before another attempt.
    ///
    /// - Returns: Whether it may be made: not by a call that was ended.
    private func wait(
        _ retry: Retry, after attempt: Attempt, failure: ClientError?, in context: CallContext
    ) async -> Bool {
        let reason =
            failure?.code.name ?? attempt.status.map { "\($0)" } ?? "unknown"
        context.send { .retrying($0, reason: reason, pause: retry.pause) }
        log.retry(
            of: context.identity, after: attempt.number, reason: reason, pause: retry.pause)
        let stage = context.log.begin(.pause)
        defer { context.log.end(stage) }
        let (clock, pause) = (clock, retry.pause)
        let connectivity = hops.connectivity
        // The network may be why a response was cut off, too.
        let isWoken = retry.cause == .unsent || failure?.code == .cutOff
        let hasPassed = await context.call.separately {
            do {
                if isWoken {
                    let spread = Connectivity.spread(clock.random())
                    try await connectivity.wakeUp(spread: spread) { try await clock.sleep(pause) }
                } else {
                    try await clock.sleep(pause)
                }
                return true
            } catch { return false }
        }
        return hasPassed == true && !context.hasEnded
    }

    /// Waits until the machine is online, if that is why an attempt failed and the call may be sent
    /// again.
    ///
    /// - Returns: Whether it is online now and was not before.
    private func waitForNetwork(
        _ attempt: Attempt, _ failure: ClientError, of call: OutgoingCall, in context: CallContext
    ) async -> Bool {
        // A server in the same network may be down, although there is no route to other ones.
        guard [.offline, .unresolvedHost].contains(failure.code), call.body.isReplayable,
            !attempt.mayHaveArrived || isIdempotent(attempt, of: call, in: context)
        else { return false }
        let (connectivity, clock) = (hops.connectivity, clock)
        let left = context.limits.end.map { $0 - clock.instant() } ?? context.limits.timeout
        guard left > .zero,
            await context.call.separately({ await connectivity.state.isOnline }) == false,
            !context.hasEnded
        else { return false }
        context.send { .retrying($0, reason: failure.code.name, pause: left) }
        log.retry(
            of: context.identity, after: attempt.number, reason: failure.code.name, pause: left)
        let stage = context.log.begin(.connectivity)
        defer { context.log.end(stage) }
        let spread = Connectivity.spread(clock.random())
        let isOnline = await context.call.separately {
            await connectivity.waitUntilOnline(spread: spread) { try await clock.sleep(left) }
        }
        return isOnline == true && !context.hasEnded
    }
}

/// Another attempt that is worth making.
private struct Retry {
    let cause: RetryBudget.Cause
    let pause: Duration
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

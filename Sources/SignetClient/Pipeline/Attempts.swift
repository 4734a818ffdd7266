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
        var number = 1
        while true {
            let attempt = Attempt(number)
            do throws(ClientError) {
                switch try await self.attempt(attempt, of: call, into: reader, for: admission) {
                case .whole(let response):
                    guard await continues(after: attempt, nil, of: call, for: admission) else {
                        return response
                    }
                case .unfinished: continue
                case .partial(let error):
                    guard number < admission.rules.attempts else { throw error }
                    logger.info("continuing a download", metadata: ["after": "\(error.code)"])
                }
            } catch {
                guard await continues(after: attempt, error, of: call, for: admission) else {
                    throw error
                }
            }
            number += 1
        }
    }

    /// Makes one attempt and reads its response.
    private func attempt(
        _ attempt: Attempt, of call: OutgoingCall, into reader: any ResponseReader,
        for admission: Admission
    ) async throws(ClientError) -> ResponseReading {
        admission.log.beginAttempt()
        let call = call.with(attempt: attempt.number)
        do throws(ClientError) {
            let response = try await intercepted(
                call, by: admission.options.attemptInterceptors[...]
            ) { changed throws(ClientError) in
                try await self.follow(
                    self.unmoved(changed, from: call, for: admission), with: reader,
                    noting: attempt, for: admission)
            }
            attempt.header = response.response
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

    /// Says whether another attempt is made, and waits before it.
    ///
    /// A call that may have reached the server is repeated only if it is idempotent.
    private func continues(
        after attempt: Attempt, _ error: ClientError?, of call: OutgoingCall,
        for admission: Admission
    ) async -> Bool {
        let rules = admission.rules
        guard attempt.number < rules.attempts else { return false }
        let isIdempotent =
            rules.isIdempotent ?? RetryPolicy.isIdempotent(call.request.method)
        let pause: Duration
        if let error, error.neverReachedTheServer {
            // A server that redirected has seen the call.
            guard isIdempotent || !attempt.isRedirected else { return false }
            pause = rules.retry.pause(after: attempt.number)
        } else if let header = attempt.header,
            error?.status ?? header.status.code == header.status.code
        {
            guard isIdempotent, call.body.isReplayable,
                let asked = rules.retry.pause(after: attempt.number, response: header)
            else { return false }
            pause = asked
        } else {
            return false
        }
        if let end = rules.end, .now + pause >= end { return false }
        do { try await Task.sleep(for: pause) } catch { return false }
        logger.info(
            "retrying",
            metadata: [
                "call": "\(admission.identity.id)", "attempt": "\(attempt.number)",
                "after": "\(error?.code.name ?? attempt.header.map { "\($0.status.code)" } ?? "")",
            ])
        return true
    }
}

/// One attempt: the first request and those that redirects lead to.
final class Attempt: Sendable {
    private struct State {
        var header: HTTPResponse?
        var opened: OpenedReply?
        var method = HTTPRequest.Method.get
        var isRedirected = false
    }

    let number: Int
    private let state = Mutex(State())

    init(_ number: Int) { self.number = number }

    /// The header that the interceptors handed on.
    var header: HTTPResponse? {
        get { state.withLock { $0.header } }
        set { state.withLock { $0.header = newValue } }
    }

    /// The method of the last request.
    var method: HTTPRequest.Method { state.withLock { $0.method } }

    /// Whether a redirect was followed.
    var isRedirected: Bool { state.withLock { $0.isRedirected } }

    func begin(_ opened: OpenedReply, method: HTTPRequest.Method) {
        state.withLock { state in
            state.opened = opened
            state.method = method
        }
    }

    func noteRedirect() { state.withLock { $0.isRedirected = true } }

    /// Writes down the request whose response is open, if there is one.
    func endHop(failure: String? = nil, in log: CallLog) {
        let opened = state.withLock { $0.opened.take() }
        if let opened { log.add(opened.hop(failure: failure)) }
    }
}

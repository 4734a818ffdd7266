import HTTPTypes
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// The retry cases of AWS's SDKs through the whole pipeline, under a clock that doesn't wait.
///
/// The cases speak of AWS's own errors and fields, which this adapter maps to those of HTTP:
/// - The error `Throttling` has the status 429, so that another attempt takes the tokens of a
///   throttled call.
/// - Its pauses begin at 1 s instead of `firstPause`, which the adapter asks for with
///   `Retry-After`.
/// - `x-amz-retry-after` is read in place of `Retry-After`.
/// - The status 500 is worth another attempt: `statusCodes` has it in addition.
/// - The random number is 1, as the cases' `exponential_base`: each pause is the longest possible
///   one.
@Suite struct AWSRetryTests {
    private static let waitsItself =
        "a call without tokens ends at once; a program that polls waits between its calls itself"
    private static let holds = "nothing waits, which holds without a word about long polls"
    /// The cases of long polls, each with the reason for its outcome.
    static let answered = [
        "Long-polling backoff after transient error when token bucket empty": waitsItself,
        "Long-polling backoff after throttling error when token bucket empty": waitsItself,
        "Long-polling max attempts exceeded must NOT delay": holds,
        "Long-polling success must NOT delay": holds,
        "Long-polling non-retryable errors must NOT delay": holds,
    ]

    private static let cases = ((try? AWSRetryVectors.all.get()) ?? []).filter {
        answered[$0.name] != waitsItself
    }
    private static let host = "api.example.com"

    @Test(.enabled(if: SharedVectors.directory != nil)) func allCasesAreKnown() throws {
        let all = try AWSRetryVectors.all.get()
        #expect(all.count == 19)
        let polls = all.filter { $0.group == "newStandardRetryLongPollingTestCases" }
        #expect(Set(polls.map(\.name)) == Set(Self.answered.keys))
        #expect(all.allSatisfy { one in one.threads.allSatisfy { !$0.isEmpty } })
    }

    @Test(
        .enabled(if: SharedVectors.directory != nil), arguments: cases)
    func theCasesOfAWSHold(_ one: AWSRetryVectors.Case) async throws {
        let engine = RespondingEngine(one.threads)
        let notes = Notes()
        let system = try await Self.system(one, engine, notes)
        notes.budget = system.pipeline.attempts.budget
        notes.drain(to: one.tokens)
        if one.threads.count == 1 {
            await Self.run(0, engine, notes, system)
        } else {
            // The order in which the case counts: the first thread up to its second pause, all of
            // the second, the rest of the first.
            notes.gate = Gate(thread: 0, pause: 2)
            async let first: Void = Self.run(0, engine, notes, system)
            #expect(try await eventually { notes.gate?.isReached == true })
            await Self.run(1, engine, notes, system)
            notes.gate?.open()
            await first
        }
        for (thread, steps) in one.threads.enumerated() {
            let seen = notes.seen(by: thread)
            #expect(seen.count == steps.count)
            for (step, seen) in zip(steps, seen) {
                #expect(seen.isRetried == (step.outcome == "retry_request"), "\(step) \(seen)")
                #expect(seen.isSuccess == (step.outcome == "success"), "\(step) \(seen)")
                if let quota = step.quota { #expect(seen.quota == quota, "\(step) \(seen)") }
                guard let delay = step.delay else { continue }
                #expect(
                    seen.pause == .milliseconds(Int((delay * 1000).rounded())), "\(step) \(seen)")
            }
        }
        if let quota = one.finalQuota { #expect(notes.quota == quota) }
        await system.shutdown()
    }

    // MARK: The system

    private static func system(
        _ one: AWSRetryVectors.Case, _ engine: RespondingEngine, _ notes: Notes
    ) async throws -> NetworkSystem {
        try await Pipeline.system(engine) { options in
            options.clock.random = { 1 }
            options.clock.sleep = { pause in
                notes.add(.init(quota: notes.quota, pause: pause), by: Notes.thread)
                await notes.gate?.pass(Notes.thread)
            }
            options.clock.retryAfter = { response, now in
                response.headerFields[.awsRetryAfter].flatMap { Int($0) }.map { .milliseconds($0) }
                    ?? RetryStrategy.wait(response, now: now)
            }
        } changeService: { service in
            service.attempts = one.attempts
            var retry = RetryStrategy()
            retry.shortensWaits = true
            retry.statusCodes = [429, 500, 502, 503, 504]
            retry.firstPause = .milliseconds(50)
            if let seconds = one.longestPause {
                retry.longestPause = .milliseconds(Int((seconds * 1000).rounded()))
            }
            service.options.retry = retry
            service.options.attemptInterceptors = [AWSErrors()]
        }
    }

    /// Makes calls until the thread's responses are used up.
    private static func run(
        _ thread: Int, _ engine: RespondingEngine, _ notes: Notes, _ system: NetworkSystem
    ) async {
        await Notes.$thread.withValue(thread) {
            while !engine.isUsedUp(thread) {
                let code = await Pipeline.code { () async throws(ClientError) in
                    try await system.call(RESTRequest(.get, "/\(thread)"), on: "a")
                }
                notes.add(
                    .init(quota: notes.quota, isRetried: false, isSuccess: code == nil), by: thread)
            }
        }
    }

    /// Puts AWS's names of errors into the terms of HTTP, as a service's own interceptor would.
    private struct AWSErrors: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var response = try await next(call)
            guard response.response.headerFields[.awsErrorType] == "Throttling" else {
                return response
            }
            response.response.status = .tooManyRequests
            // The base of the back-off after an error of throttling.
            response.response.headerFields[.retryAfter] = "1"
            return response
        }
    }

    /// Responds to each thread with its responses.
    private final class RespondingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "responding", pinsPublicKeys: true, speaksHTTP2: false)
        private let rest: Mutex<[ArraySlice<AWSRetryVectors.Step>]>

        init(_ threads: [[AWSRetryVectors.Step]]) { rest = Mutex(threads.map { $0[...] }) }

        func isUsedUp(_ thread: Int) -> Bool { rest.withLock { $0[thread].isEmpty } }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let thread = request.request.path.flatMap { Int($0.dropFirst("/v1/".count)) } ?? 0
            guard let step = rest.withLock({ $0[thread].popFirst() }) else {
                throw TransportError(.invalidRequest, "no response is left")
            }
            var fields = HTTPFields()
            fields[.awsErrorType] = step.errorCode
            fields[.awsRetryAfter] = step.retryAfter
            return EngineResponse(
                response: HTTPResponse(status: .init(code: step.status), headerFields: fields),
                body: HTTPResponseBody(bytes: Array("{}".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    /// The outcome of the pipeline for the responses.
    private final class Notes: Sendable {
        struct Seen: Sendable {
            var quota: Int
            var pause: Duration?
            var isRetried = true
            var isSuccess = false
        }

        private struct State {
            var budget: RetryBudget?
            var gate: Gate?
            var seen: [Int: [Seen]] = [:]
        }

        /// The thread that makes this call.
        @TaskLocal static var thread = 0
        private let state = Mutex(State())

        var budget: RetryBudget? {
            get { state.withLock { $0.budget } }
            set { state.withLock { $0.budget = newValue } }
        }

        var gate: Gate? {
            get { state.withLock { $0.gate } }
            set { state.withLock { $0.gate = newValue } }
        }

        var quota: Int { budget?.tokens(for: .failed, of: AWSRetryTests.host) ?? -1 }

        func add(_ seen: Seen, by thread: Int) {
            state.withLock { $0.seen[thread, default: []].append(seen) }
        }

        func seen(by thread: Int) -> [Seen] { state.withLock { $0.seen[thread] ?? [] } }

        /// Takes tokens until so many are left.
        func drain(to tokens: Int) {
            while quota > tokens {
                let cause: RetryBudget.Cause = (quota - tokens) % 5 == 0 ? .throttled : .failed
                _ = budget?.withdraw(for: cause, from: AWSRetryTests.host)
            }
        }
    }

    /// Holds one thread at one of its pauses.
    private final class Gate: Sendable {
        private struct State {
            var count = 0
            var isOpen = false
            var isReached = false
            var waiting: CheckedContinuation<Void, Never>?
        }

        private let thread: Int
        private let pause: Int
        private let state = Mutex(State())

        init(thread: Int, pause: Int) {
            self.thread = thread
            self.pause = pause
        }

        var isReached: Bool { state.withLock { $0.isReached } }

        func pass(_ thread: Int) async {
            guard thread == self.thread else { return }
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    state.count += 1
                    guard state.count == pause, !state.isOpen else { return true }
                    state.waiting = continuation
                    state.isReached = true
                    return false
                }
                if passes { continuation.resume() }
            }
        }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume()
        }
    }
}

extension HTTPField.Name {
    /// AWS's `x-amz-retry-after`, in milliseconds.
    fileprivate static let awsRetryAfter = HTTPField.Name("x-amz-retry-after")!
    fileprivate static let awsErrorType = HTTPField.Name("x-amzn-errortype")!
}

import HTTPTypes
import SignetRPC
import SignetSystem
import SignetTransport
import Synchronization

/// The log of one call so far, from which its record is made. It has no reference to its call.
final class CallLog: Sendable {
    private struct Entry {
        let name: CallRecord.Stage.Name
        let start: MonotonicTime
        var end: MonotonicTime?
    }

    private struct State {
        var request = CallRecord.Request()
        var response: CallRecord.Response?
        var cache: CacheUse?
        var raw: RawResponse?
        var keepsRaw = false
        var entries: [Entry] = []
        /// The stage that contains no other but nested ones, and ends when the next one begins.
        var current: Int?
        var attempts: [LoggedAttempt] = []
        /// Whether something of the program changed the response of the last attempt.
        var isChanged = false
        /// The origin of the response that an interceptor of attempts made; nil if none did.
        var ownSource: ResponseSource?
        var stubs: [CallRecord.StubUse] = []
        var joined: (id: CallIdentity.ID, log: CallLog)?
        /// The code that a response check found in the response.
        var serverCode: String?
        /// The number of calls whose request this is; 0 unless they were merged.
        var mergedCount = 0
        /// When and how the call ended.
        var end: (instant: MonotonicTime, error: ClientError?)?
        var record: CallRecord?
    }

    let identity: CallIdentity
    private let start: MonotonicTime
    private let mode: RunMode
    private let limits: CallRecord.Limits
    private let scenario: Scenario?
    /// The contents of the call's stages; nil if they aren't kept.
    let contents: ContentsLog?
    private let state = Mutex(State())

    init(
        _ identity: CallIdentity, since start: MonotonicTime, mode: RunMode,
        limits: CallRecord.Limits, scenario: Scenario?, contents: ContentsLog? = nil
    ) {
        self.identity = identity
        self.start = start
        self.mode = mode
        self.limits = limits
        self.scenario = scenario
        self.contents = contents
        state.withLock { state in
            // The stages of a call with one attempt.
            state.entries.reserveCapacity(8)
            state.entries.append(Entry(name: .admission, start: start))
            state.current = 0
        }
    }

    /// Creates a log for work that several calls share.
    convenience init(sharedBy first: CallLog, keepsContents: Bool = true) {
        let contents = keepsContents ? first.contents : nil
        self.init(
            first.identity, since: .now, mode: first.mode, limits: first.limits,
            scenario: first.scenario, contents: contents.map(ContentsLog.init(for:)))
        state.withLock { state in
            state.entries = []
            state.current = nil
        }
    }

    /// The URL without its query; nil before the request was built.
    var url: String? {
        let (own, joined) = state.withLock { ($0.request.url, $0.joined?.log) }
        return own ?? joined?.url
    }

    /// The response that was read last; nil unless it is kept.
    var raw: RawResponse? {
        let (own, joined) = state.withLock { ($0.raw, $0.joined?.log) }
        return own ?? joined?.raw
    }

    /// The attempts so far.
    var attempts: [CallRecord.Attempt] { attempts(since: start) }

    private func attempts(since start: MonotonicTime) -> [CallRecord.Attempt] {
        let (own, joined) = state.withLock { ($0.attempts, $0.joined?.log) }
        // A call that an interceptor repeats may go alone after it shared work.
        return (joined?.attempts(since: start) ?? []) + own.map { $0.recorded(since: start) }
    }

    /// The record of a call that has ended, made when it is first read; nil before.
    var record: CallRecord? {
        let (record, end) = state.withLock { ($0.record, $0.end) }
        if let record { return record }
        guard let end else { return nil }
        let made = makeRecord(until: end.instant, error: end.error)
        return state.withLock { state in
            state.record = state.record ?? made
            return state.record
        }
    }

    /// The parts of the record for a recording; nil before the call has ended. The record isn't
    /// made for them, unless the work was shared.
    var summary: CallSummary? {
        let summary = state.withLock { state -> CallSummary? in
            guard let end = state.end, state.joined == nil else { return nil }
            let server = end.error?.serverError
            return CallSummary(
                identity: identity, mode: mode, outcome: .init(end.error?.code),
                message: end.error?.message,
                serverCode: state.serverCode ?? server.map { $0.textCode ?? $0.code.text },
                duration: end.instant - start, source: Self.response(in: state)?.source,
                cache: state.cache, joinedCall: nil,
                isSimulated: state.attempts.contains(where: \.isSimulated),
                stubs: state.stubs, stages: Self.stages(in: state, until: end.instant, from: start),
                contents: contents?.contents ?? [])
        }
        return summary ?? record.map(CallSummary.init)
    }

    /// Notes something, unless the call has ended: work that was given up may still run.
    private func note(_ change: (inout State) -> Void) {
        state.withLock { if $0.end == nil { change(&$0) } }
    }

    // MARK: What was asked, and what came back

    /// Keeps the response that is read from now on. A trace would otherwise hold the bodies of all
    /// its calls.
    func keepRaw() { state.withLock { $0.keepsRaw = true } }

    func setRaw(_ raw: RawResponse) { note { if $0.keepsRaw { $0.raw = raw } } }

    func setRequest(_ head: HTTPRequest, bodySize: Int64?) {
        let location = CallRecord.Location(head)
        note { state in
            state.request.method = head.method
            state.request.location = location
            state.request.bodySize = bodySize
        }
    }

    /// - Parameters:
    ///   - bodySize: The size of the body; nil if it isn't in memory.
    func setResponse(status: Int, bodySize: Int?) {
        note { state in
            let received =
                state.ownSource == nil
                ? state.attempts.last?.lastResponse : nil
            var response = CallRecord.Response(
                status: status, httpVersion: received?.httpVersion, bodySize: bodySize,
                source: state.cache?.isServed == true
                    ? .cache : state.ownSource ?? received?.source ?? .interceptor)
            response.isChanged = state.isChanged && received != nil
            state.response = response
        }
    }

    /// Notes that an interceptor of attempts or a stub after the engine changed the response.
    func noteChange() { note { $0.isChanged = true } }

    /// Notes that an interceptor of attempts made the response, and sent nothing that responded.
    func noteOwnResponse(from source: ResponseSource) { note { $0.ownSource = source } }

    /// Notes the response that interceptors around the call returned in place of the one that they
    /// got.
    ///
    /// - Parameter isOwn: Whether they got none.
    func setChanged(status: Int, bodySize: Int, isOwn: Bool) {
        let joined = state.withLock { $0.joined?.log }
        let received = isOwn ? nil : response(of: joined ?? self)
        note { state in
            var response =
                received
                ?? CallRecord.Response(
                    status: status, httpVersion: nil, bodySize: nil, source: .interceptor)
            (response.status, response.bodySize) = (status, bodySize)
            response.isChanged = received != nil
            state.response = response
        }
    }

    func setCache(_ use: CacheUse) { note { $0.cache = use } }

    func setServerCode(_ code: String) { note { $0.serverCode = code } }

    func setMerged(_ count: Int) { note { $0.mergedCount = count } }

    // MARK: Stages

    /// Begins one of the stages that follow each other, and ends the one before; nil begins none.
    func enter(_ name: CallRecord.Stage.Name?) {
        let now = MonotonicTime.now
        note { state in
            if let current = state.current { state.entries[current].end = now }
            state.current = nil
            guard let name else { return }
            state.current = state.entries.count
            state.entries.append(Entry(name: name, start: now))
        }
    }

    /// Begins a stage within another.
    ///
    /// - Returns: The stage's number, which ends it.
    func begin(_ name: CallRecord.Stage.Name, at start: MonotonicTime = .now) -> Int {
        let entry = Entry(name: name, start: start)
        return state.withLock { state in
            if state.end == nil { state.entries.append(entry) }
            return state.entries.count - 1
        }
    }

    /// Ends a stage that `begin` began.
    func end(_ stage: Int) {
        let now = MonotonicTime.now
        note { $0.entries[stage].end = now }
    }

    /// Makes the log of shared work a part of this one.
    func join(_ log: CallLog, of call: CallIdentity.ID) {
        enter(.joining)
        let keepsRaw = state.withLock { state in
            state.joined = (call, log)
            return state.keepsRaw
        }
        if keepsRaw { log.keepRaw() }
    }

    // MARK: Attempts

    func beginAttempt() {
        note { state in
            state.attempts.append(LoggedAttempt())
            (state.isChanged, state.ownSource) = (false, nil)
        }
    }

    func add(_ entry: ExchangeEntry) { change { $0.exchanges.append(entry) } }

    func add(_ stub: CallRecord.StubUse) { note { $0.stubs.append(stub) } }

    func add(_ redirect: CallRecord.Redirect) { change { $0.redirects.append(redirect) } }

    private func change(_ change: (inout LoggedAttempt) -> Void) {
        note { state in
            if state.attempts.isEmpty { state.attempts.append(LoggedAttempt()) }
            change(&state.attempts[state.attempts.count - 1])
        }
    }

    // MARK: The record

    /// Ends the log.
    ///
    /// - Parameter error: The call's error; nil for a success.
    func finish(_ error: ClientError?) {
        let end = MonotonicTime.now
        let isShared = state.withLock { state in
            state.end = (end, error)
            return state.joined != nil
        }
        // The shared work may continue for other calls.
        if isShared { _ = record }
    }

    private func makeRecord(
        until end: MonotonicTime, error: ClientError?
    ) -> CallRecord {
        let (joined, ownResponse, ownCode) = state.withLock {
            ($0.joined, $0.response, $0.serverCode)
        }
        let server = error?.serverError
        return CallRecord(
            CallRecord.Contents(
                identity: identity, request: request(of: joined?.log ?? self),
                work: work(until: end, joined: joined),
                response: ownResponse ?? response(of: joined?.log ?? self),
                outcome: .init(error?.code), message: error?.message,
                serverCode: ownCode ?? server.map { $0.textCode ?? $0.code.text },
                duration: end - start, ordinal: contents?.ordinal,
                contents: (joined?.log.contents?.contents ?? []) + (contents?.contents ?? []),
                everything: SecretContents(
                    (joined?.log.contents?.everything?.contents ?? [])
                        + (contents?.everything?.contents ?? []))))
    }

    private func request(of log: CallLog) -> CallRecord.Request {
        var request = log.state.withLock { $0.request }
        request.scenario = scenario
        return request
    }

    /// The response. If the call failed while the response was read, the last request's data about
    /// it.
    private func response(of log: CallLog) -> CallRecord.Response? {
        log.state.withLock { Self.response(in: $0) }
    }

    private static func response(in state: State) -> CallRecord.Response? {
        state.response ?? state.attempts.lazy.reversed().compactMap(\.lastResponse).first
    }

    private func work(
        until end: MonotonicTime, joined: (id: CallIdentity.ID, log: CallLog)?
    ) -> CallRecord.Processing {
        var work = CallRecord.Processing(mode: mode, limits: limits)
        work.stages = stages(until: end, from: start)
        work.stubs = state.withLock { $0.stubs }
        work.cache = (joined?.log ?? self).state.withLock { $0.cache }
        work.attempts = attempts
        guard let joined else { return work }
        if joined.id != identity.id { work.joinedCall = joined.id }
        work.mergedCount = joined.log.state.withLock { $0.mergedCount }
        work.stubs += joined.log.state.withLock { $0.stubs }
        work.stages += joined.log.stages(until: end, from: start)
        work.stages.sort { $0.start < $1.start }
        return work
    }

    private func stages(
        until end: MonotonicTime, from start: MonotonicTime
    ) -> [CallRecord.Stage] {
        state.withLock { Self.stages(in: $0, until: end, from: start) }
    }

    private static func stages(
        in state: State, until end: MonotonicTime, from start: MonotonicTime
    ) -> [CallRecord.Stage] {
        state.entries.map { entry in
            CallRecord.Stage(
                name: entry.name, start: entry.start - start,
                duration: (entry.end ?? end) - entry.start)
        }
    }
}

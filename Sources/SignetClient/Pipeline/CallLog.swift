internal import SignetRPC
internal import SignetTransport
internal import Synchronization

/// The log of one call so far, from which its record, its error and its trace are made.
final class CallLog: Sendable {
    private struct State {
        var url: String?
        var status: Int?
        var raw: RawResponse?
    }

    /// The call's own trace, and the one that the caller gave.
    private let traces: [CallTrace]
    private let state = Mutex(State())

    init(_ trace: CallTrace?) {
        self.traces = [CallTrace()] + (trace.map { [$0] } ?? [])
    }

    /// The call's URL without its query.
    var url: String? { state.withLock { $0.url } }

    /// The status of the last response.
    var status: Int? { state.withLock { $0.status } }

    /// The response that was read last.
    var raw: RawResponse? { state.withLock { $0.raw } }

    /// The attempts so far.
    var attempts: [CallTrace.Attempt] { traces[0].attempts }

    func setURL(_ url: String) { state.withLock { $0.url = url } }

    func setRaw(_ raw: RawResponse) { state.withLock { $0.raw = raw } }

    func beginAttempt() { for trace in traces { trace.begin() } }

    func add(_ hop: CallTrace.Hop) {
        if let status = hop.status { state.withLock { $0.status = status } }
        for trace in traces { trace.add(hop) }
    }

    func add(_ redirect: Redirect) { for trace in traces { trace.add(redirect) } }
}

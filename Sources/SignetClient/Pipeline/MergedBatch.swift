import SignetRPC
import SignetTransport
import Synchronization

/// The calls of a batch, and the request that contains them.
///
/// The request is made for each attempt of the calls that still wait then, so that one that has
/// ended isn't sent. Once a request may have been processed, further attempts repeat it as it was:
/// its server may know it by its ids.
final class MergedBatch: Sendable {
    typealias Outcome = Result<UnboxedResponse, ClientError>

    private struct Made {
        /// The calls in the order of the request.
        let numbers: [Int]
        let boxed: BoxedRequest
        let request: OutgoingCall
    }

    private struct State {
        var left: Set<Int> = []
        var made: Made?
        var isFixed = false
    }

    /// The calls in the order in which they came.
    let calls: [(number: Int, call: MergedCall)]
    /// How the response is received, for those whose own rules cache it.
    let receipt = CacheReceipt()
    private let state = Mutex(State())

    init(_ calls: [(number: Int, call: MergedCall)]) { self.calls = calls }

    /// The request, as the attempts see it.
    var joint: JointRequest {
        JointRequest(
            make: { finish throws(ClientError) in try self.request(by: finish) },
            fix: { self.state.withLock { $0.isFixed = true } }, receipt: receipt)
    }

    /// The calls that wait.
    var waiting: [(number: Int, call: MergedCall)] {
        let left = state.withLock { $0.left }
        return calls.filter { !left.contains($0.number) && !$0.call.context.call.isEnding }
    }

    /// Notes that a call waits no longer.
    func leave(_ number: Int) { state.withLock { _ = $0.left.insert(number) } }

    /// Returns the request for the next attempt, and the number of its calls.
    ///
    /// - Throws: `cancelled` if no call waits; an error of the adapter or the sealing.
    func request(
        by finish: JointRequest.Finish
    ) throws(ClientError) -> (call: OutgoingCall, count: Int) {
        let (made, isFixed) = state.withLock { ($0.made, $0.isFixed) }
        let waiting = waiting
        if let made, isFixed || made.numbers == waiting.map(\.number) {
            return (made.request, made.numbers.count)
        }
        guard let first = waiting.first?.call else { throw .cancelledByCaller }
        let boxed = try ClientError.rpc { () throws(PayloadError) in
            try first.adapter.box(batch: waiting.map(\.call.call))
        }
        let request = try finish(boxed, first.boxed.base)
        state.withLock {
            $0.made = Made(numbers: waiting.map(\.number), boxed: boxed, request: request)
        }
        return (request, waiting.count)
    }

    /// Reads the response to the request that was made last.
    ///
    /// - Returns: The outcomes by the numbers of the calls.
    func outcomes(
        in received: RawResponse, to context: CallContext
    ) throws(ClientError) -> [Int: Outcome] {
        guard let made = state.withLock({ $0.made }), let first = calls.first?.call else {
            throw .cancelledByCaller
        }
        let raw = try context.opened(received, to: made.boxed)
        let response = try ClientError.rpc { () throws(PayloadError) in
            try first.adapter.unboxBatch(raw, to: made.boxed)
        }
        var outcomes: [Int: Outcome] = [:]
        for (number, outcome) in zip(made.numbers, response.outcomes) {
            outcomes[number] = Result { () throws(ClientError) in
                try outcome.response(status: response.status)
            }
        }
        return outcomes
    }
}

package import HTTPTypes
package import SignetTransport
import Synchronization

/// Sees each request as an engine gets it, and its response as it is read, without changing a byte.
package protocol ExchangeObserver: Sendable {
    /// A request is handed to an engine.
    ///
    /// - Parameters:
    ///   - request: The request with its signature.
    ///   - body: The body. It must not be read if it can be read only once: an observation gets its
    ///     pieces.
    ///   - call: The call, or the first of those that share the work.
    ///   - attempt: The number of the attempt, from 1.
    /// - Returns: The observation of this exchange; nil to leave it out.
    func observe(
        _ request: HTTPRequest, body: HTTPRequestBody, of call: CallIdentity, attempt: Int
    ) -> (any ExchangeObservation)?
}

/// The observation of one request and its response. Its functions run on the thread of the call.
package protocol ExchangeObservation: Sendable {
    /// The engine begins to read a body that isn't in memory, perhaps again.
    func beginBody()
    /// The engine read a piece of a body that isn't in memory.
    func send(_ piece: [UInt8])
    /// The engine read a body that isn't in memory to its end.
    func endBody()
    /// The header of the response has arrived.
    func receive(_ response: EngineResponse)
    /// A piece of the response's body was read.
    func receive(_ piece: [UInt8])
    /// The response's body was read to its end.
    func endResponse()
    /// The response was read to its end, or it was left, or there was none.
    func end(_ exchange: CallRecord.Exchange)
}

/// An engine that records what it sends.
package protocol RecordingHTTPEngine: HTTPEngine {
    /// Refuses to record in a run mode.
    func requireRecordable(in mode: RunMode) throws(TransportError)
}

/// The observers of a system's exchanges, which may be added and removed while it runs.
package final class ExchangeObservers: Sendable {
    private struct State {
        var observers: [(number: Int, observer: any ExchangeObserver)] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let count = Atomic(0)

    /// Adds an observer for the requests from now on.
    ///
    /// - Returns: Its number.
    package func add(_ observer: any ExchangeObserver) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.observers.append((state.lastNumber, observer))
            count.store(state.observers.count, ordering: .releasing)
            return state.lastNumber
        }
    }

    /// Removes an observer. Exchanges that it observes already reach their ends.
    package func remove(_ number: Int) {
        // Freed after the lock was released.
        _ = state.withLock { state in
            let removed = state.observers.filter { $0.number == number }
            state.observers.removeAll { $0.number == number }
            count.store(state.observers.count, ordering: .releasing)
            return removed
        }
    }

    /// Begins the observations of a request; empty if nothing observes.
    func observe(
        _ request: HTTPRequest, body: HTTPRequestBody, of call: @autoclosure () -> CallIdentity,
        attempt: Int
    ) -> [any ExchangeObservation] {
        guard count.load(ordering: .acquiring) > 0 else { return [] }
        let call = call()
        return state.withLock { $0.observers }
            .compactMap { $0.observer.observe(request, body: body, of: call, attempt: attempt) }
    }
}

extension [any ExchangeObservation] {
    /// Observes what the engine reads of a request's body.
    func tap(_ request: inout EngineRequest) {
        guard !isEmpty, request.body.bytes == nil else { return }
        request.body = request.body.tapped(
            restarting: { for observation in self { observation.beginBody() } },
            by: { piece in for observation in self { observation.send(piece) } },
            ending: { for observation in self { observation.endBody() } })
    }

    /// Ends the observations.
    func end(_ exchange: CallRecord.Exchange) {
        for observation in self { observation.end(exchange) }
    }

    /// Observes a response and what is read of its body.
    func tap(_ response: inout EngineResponse) {
        guard !isEmpty else { return }
        for observation in self { observation.receive(response) }
        response.body = response.body.tapped(
            by: { piece in for observation in self { observation.receive(piece) } },
            ending: { for observation in self { observation.endResponse() } })
    }
}

import HTTPTypes
import SignetTransport
import Synchronization

/// One attempt: the first request and those that redirects lead to.
final class Attempt: Sendable {
    private struct State {
        var header: HTTPResponse?
        var status: Int?
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
    var header: HTTPResponse? { state.withLock { $0.header } }
    /// Its status.
    var status: Int? { state.withLock { $0.status } }

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
    func noteRequest(_ method: HTTPRequest.Method, isWithinOrigin: Bool) {
        state.withLock { state in
            state.isIdempotent = state.isIdempotent && RetryStrategy.isIdempotent(method)
            state.isWithinOrigin = isWithinOrigin
            state.requests += 1
        }
    }

    /// Notes the response to the last request.
    func noteResponse(_ opened: OpenedResponse, to method: HTTPRequest.Method) {
        state.withLock { state in
            state.opened = opened
            state.method = method
            if opened.response.status == 401 { state.refused += 1 }
        }
    }

    /// Notes the response that the interceptors handed on.
    func noteOutcome(_ response: EngineResponse) {
        state.withLock { ($0.header, $0.status) = (response.response, response.status) }
    }

    /// Notes why a request has no response.
    func noteFailure(_ error: ClientError) {
        if error.neverReachedTheServer { state.withLock { $0.requests -= 1 } }
    }

    /// Writes down the request whose response is open, if there is one.
    func endHop(_ error: ClientError? = nil, in log: CallLog) {
        let opened = state.withLock { $0.opened.take() }
        if let opened { log.add(opened.end(error)) }
    }
}

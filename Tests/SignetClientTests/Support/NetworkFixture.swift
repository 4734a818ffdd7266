import HTTPTypes
import SignetClient
import SignetSystem
import SignetTransport
import Synchronization
import TestSupport

/// Links of a test's own, which a system follows.
struct NetworkFixture {
    let namespace: NetworkNamespace
    let watcher: NetworkWatcher

    init() async throws {
        let namespace = try await NetworkNamespace()
        self.namespace = namespace
        watcher = NetworkWatcher { namespace.perform { NetworkWatcher.openSocket() } ?? -1 }
    }

    /// Pulls the cable out, or puts it in.
    func setLink(up: Bool) async throws {
        try await namespace.ip("link set far \(up ? "up" : "down")")
    }
}

/// An engine that fails with a code while it has one.
final class FailingEngine: HTTPEngine {
    let capabilities = EngineCapabilities(name: "failing", pinsPublicKeys: true, speaksHTTP2: false)
    private let state: Mutex<(code: TransportError.Code?, count: Int)>

    init(_ code: TransportError.Code?) { state = Mutex((code, 0)) }

    var count: Int { state.withLock { $0.count } }

    var code: TransportError.Code? {
        get { state.withLock { $0.code } }
        set { state.withLock { $0.code = newValue } }
    }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let code = state.withLock { state in
            state.count += 1
            return state.code
        }
        if let code { throw TransportError(code, "down") }
        return EngineResponse(
            response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: Array("1".utf8)),
            httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}
}

import HTTPTypes
import SignetTransport
import Synchronization

/// An engine that doesn't respond until a test releases it or its task is cancelled.
final class WaitingEngine: HTTPEngine {
    let capabilities: EngineCapabilities
    private let waiting = AsyncStream<Void>.makeStream()
    private let asked = Mutex(0)
    /// Whether the engine ignores the cancellation of its tasks.
    let isStubborn: Bool
    private let held = Mutex<[CheckedContinuation<Void, Never>]>([])

    init(isStubborn: Bool = false, pins: Bool = true) {
        self.isStubborn = isStubborn
        capabilities = EngineCapabilities(
            name: "waiting", pinsPublicKeys: pins, speaksHTTP2: false)
    }

    var count: Int { asked.withLock { $0 } }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        if isStubborn {
            await withCheckedContinuation { continuation in
                held.withLock { $0.append(continuation) }
                asked.withLock { $0 += 1 }
            }
        } else {
            asked.withLock { $0 += 1 }
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                throw TransportError(.cancelled, "cancelled")
            }
        }
        return EngineResponse(
            response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: Array("1".utf8)),
            httpVersion: .init(major: 1, minor: 1))
    }

    func letGo() {
        let waiting = held.withLock { held in
            defer { held = [] }
            return held
        }
        for continuation in waiting { continuation.resume() }
    }

    func shutdown() async {}
}

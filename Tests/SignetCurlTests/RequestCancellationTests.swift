import HTTPTypes
import SignetCurl
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Requests that end although their tasks aren't cancelled.
@Suite(.timeLimit(.minutes(2))) struct RequestCancellationTests {
    private final class Cancellation: RequestCancellation {
        private struct State {
            var actions: [@Sendable () -> Void] = []
            var isCancelled = false
        }

        private let state = Mutex(State())

        func onCancel(_ action: @escaping @Sendable () -> Void) {
            let isNow = state.withLock { state in
                if !state.isCancelled { state.actions.append(action) }
                return state.isCancelled
            }
            if isNow { action() }
        }

        func cancel() {
            let actions = state.withLock { state in
                state.isCancelled = true
                return state.actions
            }
            for action in actions { action() }
        }
    }

    private static let header = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

    private static func request(_ server: ScriptedServer) -> EngineRequest {
        EngineRequest(
            get(server.port, host: "127.0.0.1", scheme: "http"), timeout: .seconds(300))
    }

    @Test func endsAWaitForTheHeader() async throws {
        let server = try await ScriptedServer([.head, .stall])
        let (engine, cancellation) = (try engine(http2: false), Cancellation())
        let call = Task {
            try await engine.send(Self.request(server), cancelledBy: cancellation)
        }
        #expect(try await eventually { server.gotBytes })
        cancellation.cancel()
        let error = await #expect(throws: TransportError.self) { try await call.value }
        #expect(error?.code == .cancelled)
        await engine.shutdown()
    }

    @Test func endsABody() async throws {
        let server = try await ScriptedServer([.head, .send(Self.header + "abc"), .stall])
        let (engine, cancellation) = (try engine(http2: false), Cancellation())
        let response = try await engine.send(Self.request(server), cancelledBy: cancellation)
        cancellation.cancel()
        let error = await #expect(throws: TransportError.self) {
            try await response.body.collect()
        }
        #expect(error?.code == .cancelled)
        await engine.shutdown()
    }

    @Test func sendsNothingAfterACancellation() async throws {
        let server = try await ScriptedServer([.head, .stall])
        let (engine, cancellation) = (try engine(http2: false), Cancellation())
        cancellation.cancel()
        let error = await #expect(throws: TransportError.self) {
            try await engine.send(Self.request(server), cancelledBy: cancellation)
        }
        #expect(error?.code == .cancelled && !server.gotBytes)
        await engine.shutdown()
    }
}

import Foundation
import SignetCurl
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Tasks that run on the engine's thread.
@Suite struct ExecutorTests {
    private static func thread() -> String {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return String(name?.dropLast() ?? "")
    }

    private static func server() async throws -> ScriptedServer {
        try await ScriptedServer([.head, .ok("hello"), .again])
    }

    @Test func callersStayOnTheEnginesThread() async throws {
        let server = try await Self.server()
        let engine = try engine()
        let port = server.port
        let executor = try #require(engine.executor)
        let threads = try await withTaskExecutorPreference(executor) {
            await Task.yield()
            var threads = [Self.thread()]
            for _ in 0..<3 {
                let (_, body) = try await engine.fetch(
                    EngineRequest(get(port, host: "127.0.0.1", scheme: "http")))
                #expect(body == Array("hello".utf8))
                threads.append(Self.thread())
            }
            return threads
        }
        #expect(Set(threads) == ["signet-curl"])
        await engine.shutdown()
    }

    @Test func manyCallersShareTheThread() async throws {
        let server = try await Self.server()
        let engine = try engine()
        let port = server.port
        let executor = try #require(engine.executor)
        let calls = (0..<64).map { index in
            // Every other one is an ordinary task.
            Task(executorPreference: index.isMultiple(of: 2) ? executor : nil) {
                let request = EngineRequest(
                    get(port, host: "127.0.0.1", scheme: "http"), timeout: .seconds(300))
                let body = try await engine.fetch(request).body
                return body == Array("hello".utf8)
                    && (Self.thread() == "signet-curl") == index.isMultiple(of: 2)
            }
        }
        for call in calls { #expect(try await call.value) }
        await engine.shutdown()
    }

    private final class End: Sendable {
        private let flag = Atomic(false)
        var hasCome: Bool { flag.load(ordering: .relaxed) }
        func come() { flag.store(true, ordering: .relaxed) }
    }

    /// Each job replaces the one before, so there are always some.
    @Test func noJobIsLostAtTheShutdown() async throws {
        let engine = try engine()
        let executor = try #require(engine.executor)
        let end = End()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask(executorPreference: executor) {
                    while !end.hasCome { await Task.yield() }
                }
            }
            await engine.shutdown()
            end.come()
        }
        let after = await withTaskExecutorPreference(executor) {
            await Task.yield()
            return Self.thread()
        }
        #expect(after != "signet-curl")
    }

    @Test func aTaskOnTheThreadShutsTheEngineDown() async throws {
        let engine = try engine()
        let code = await withTaskExecutorPreference(engine.executor) {
            await engine.shutdown()
            return await engine.failure(EngineRequest(get(freePort())))?.code
        }
        #expect(code == .notRunning)
    }

    @Test func aTaskOutlivesItsEngine() async throws {
        var engine: CurlEngine? = try engine()
        let executor = try #require(engine?.executor)
        let task = Task(executorPreference: executor) {
            for _ in 0..<100 { await Task.yield() }
            return true
        }
        engine = nil
        #expect(await task.value)
        #expect(engine == nil)
    }

    @Test func aCallIsCancelledOnTheThread() async throws {
        let server = try await ScriptedServer([.head, .stall])
        let engine = try engine()
        let port = server.port
        let call = Task(executorPreference: engine.executor) {
            let request = EngineRequest(
                get(port, host: "127.0.0.1", scheme: "http"), timeout: .seconds(300))
            return await engine.failure(request)?.code
        }
        #expect(try await eventually { server.gotBytes })
        call.cancel()
        #expect(await call.value == .cancelled)
        await engine.shutdown()
    }
}

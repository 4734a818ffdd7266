import Foundation
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Responses over HTTP/2 without a length, whose last bytes come while libcurl's buffer for them is nearly full,
/// and after which the server sends nothing more.
@Suite struct ResponseEndTests {
    private static func call(_ server: ScriptedServer, _ path: String = "/") -> EngineRequest {
        var request = EngineRequest(get(server.port, path))
        request.timeout = .seconds(20)
        return request
    }

    /// One byte of HPACK's static table, `accept-encoding: gzip, deflate`, becomes 32 bytes for libcurl.
    @Test(arguments: [100, 250])
    func endsAResponseWhoseHeaderGrows(_ fields: Int) async throws {
        let size = 16_000 - fields
        let server = try await http2Server(
            """
            begin(c)
            for kind, flags, stream, payload in frames(c):
                if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
                if kind == 1:
                    head = frame(1, 4, stream, b'\\x88' + b'\\x90' * \(fields))
                    c.sendall(head + frame(0, 1, stream, b'x' * \(size)))
            """)
        let engine = try engine()
        for _ in 0..<3 {
            let (_, body) = try await engine.fetch(Self.call(server))
            #expect(body.count == size)
        }
        await engine.shutdown()
    }

    /// Five calls whose responses have all arrived before libcurl reads the first byte, so that the first call
    /// reads the bytes of the others; its own come last. The last byte of each body ends a TLS record.
    @Test(arguments: [20_000, 70_000, 130_000])
    func endsResponsesThatAnotherCallReads(_ size: Int) async throws {
        let directory = try TemporaryDirectory()
        let go = directory.path("go")
        let server = try await http2Server(
            """
            begin(c)
            streams = []
            for kind, flags, stream, payload in frames(c):
                if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
                if kind != 1: continue
                streams.append(stream)
                if len(streams) == 5: break
            print('CALLS', flush=True)
            import os
            while not os.path.exists('\(go)'): time.sleep(0.01)
            for stream in reversed(streams):
                c.sendall(head_of(stream))
                left = \(size)
                while left:
                    count = min(left, 10000)
                    left -= count
                    c.sendall(frame(0, 0 if left else 1, stream, b'x' * count))
            print('SENT', flush=True)
            for _ in frames(c): pass
            """)
        let engine = try engine()
        let executor = try #require(engine.executor)
        let calls = (0..<5).map { _ in
            Task { try await engine.fetch(Self.call(server)).body.count }
        }
        #expect(try await eventually { server.server.stdout.contains("CALLS") })
        // Occupies the thread that reads.
        await Task(executorPreference: executor) {
            _ = FileManager.default.createFile(atPath: go, contents: nil)
            for _ in 0..<10_000 where !server.server.stdout.contains("SENT") { usleep(1000) }
        }.value
        for call in calls { #expect(try await call.value == size) }
        await engine.shutdown()
    }
}

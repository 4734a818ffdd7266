import Foundation
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Responses over HTTP/2 without a length, whose last bytes come while libcurl's buffer for them is
/// nearly full, and after which the server sends nothing more.
@Suite struct ResponseEndTests {
    private static func call(_ server: ScriptedServer, _ path: String = "/") -> EngineRequest {
        var request = EngineRequest(get(server.port, path))
        request.timeout = .seconds(20)
        return request
    }

    /// One byte of HPACK's static table, `accept-encoding: gzip, deflate`, becomes 32 bytes for
    /// libcurl.
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

    /// Five calls whose responses have all arrived before libcurl reads the first byte, so that the
    /// first call reads the bytes of the others. In one of the rounds its own come last. The last
    /// byte of each body ends a TLS record.
    @Test(arguments: [20_000, 70_000, 130_000])
    func endsResponsesThatAnotherCallReads(_ size: Int) async throws {
        let directory = try TemporaryDirectory()
        let go = directory.path("go")
        let server = try await http2Server(
            """
            import os
            begin(c)
            streams = []
            for kind, flags, stream, payload in frames(c):
                if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
                if kind != 1: continue
                streams.append(stream)
                if len(streams) % 5: continue
                number = len(streams) // 5
                print('CALLS', number, flush=True)
                while not os.path.exists('\(go)%d' % number): time.sleep(0.01)
                waiting = streams[-5:]
                for stream in waiting[number - 1:] + waiting[:number - 1]:
                    c.sendall(head_of(stream))
                    left = \(size)
                    while left:
                        count = min(left, 10000)
                        left -= count
                        c.sendall(frame(0, 0 if left else 1, stream, b'x' * count))
                print('SENT', number, flush=True)
            """)
        let engine = try engine()
        let executor = try #require(engine.executor)
        for number in 1...5 {
            let calls = (0..<5).map { _ in
                Task { try await engine.fetch(Self.call(server)).body.count }
            }
            #expect(try await eventually { server.server.stdout.contains("CALLS \(number)") })
            // Occupies the thread that reads.
            await Task(executorPreference: executor) {
                _ = FileManager.default.createFile(atPath: "\(go)\(number)", contents: nil)
                for _ in 0..<10_000 where !server.server.stdout.contains("SENT \(number)") {
                    usleep(1000)
                }
            }.value
            for call in calls { #expect(try await call.value == size) }
        }
        await engine.shutdown()
    }

    /// A server that responds to each call with one of several sizes, in frames of the calls by
    /// turns and in records that may end anywhere.
    private static let mixed = """
        import random
        chance = random.Random(7)
        begin(c)
        left, received = {}, bytearray()
        while True:
            if not left or select.select([c], [], [], 0)[0] or c.pending():
                more = c.recv(65536)
                if not more: return
                received += more
            while len(received) >= 9:
                end = 9 + int.from_bytes(received[:3], 'big')
                if len(received) < end: break
                kind, flags, stream = received[3], received[4], int.from_bytes(received[5:9], 'big')
                del received[:end]
                if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
                if kind == 3: left.pop(stream, None)
                if kind == 1:
                    c.sendall(frame(1, 4, stream, b'\\x88' + b'\\x90' * chance.choice([1, 20, 200])))
                    left[stream] = chance.choice([1, 500, 16000, 16384, 40000, 100000, 300000])
            frames = bytearray()
            for stream in list(left):
                count = min(left[stream], chance.choice([100, 5000, 10000, 16384]))
                left[stream] -= count
                frames += frame(0, 0 if left[stream] else 1, stream, b'x' * count)
                if not left[stream]: del left[stream]
                if chance.random() < 0.3:
                    c.sendall(frames)
                    frames.clear()
            if frames: c.sendall(frames)
        """

    /// After each wave of calls, the server has nothing to send. Some bodies are left unread, some
    /// wait for their reader.
    @Test(arguments: ["", "http", "https"])
    func endsEachWaveOfCalls(_ proxyKind: String) async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await http2Server(Self.mixed)
        let proxy =
            proxyKind.isEmpty
            ? nil : try await ProxyServer(tls: proxyKind == "https" ? authority.leaf : nil)
        var request = Self.call(server)
        if let proxy {
            request.proxy = try Proxy(parsing: "\(proxyKind)://localhost:\(proxy.port)")
            request.proxy?.caFile = proxyKind == "https" ? authority.caFile : nil
        }
        let engine = try engine()
        for wave in 0..<60 {
            try await withThrowingTaskGroup(of: Void.self) { [request] group in
                for number in 0..<(1 + wave % 13) {
                    group.addTask {
                        let response = try await engine.send(request)
                        if (wave + number) % 9 == 0 { return }
                        for _ in 0..<100 where (wave + number) % 7 == 0 { await Task.yield() }
                        _ = try await response.body.collect()
                    }
                }
                try await group.waitForAll()
            }
        }
        await engine.shutdown()
    }
}

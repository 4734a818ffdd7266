import HTTPTypes
import SignetTransport
import TestSupport
import Testing

@testable import SignetCurl

/// Bodies that no caller reads, uploads that no server reads, and the other calls on their
/// connections.
@Suite struct FlowTests {
    private static let mebibyte = 1 << 20

    /// The first `waiting` calls get `late` once the bodies of the next `bodies` calls are sent or
    /// given up. Those bodies have `size` bytes each and come as fast as the windows of HTTP/2 and
    /// the connection allow. All other calls get `ok`. The server prints the bytes that it sent,
    /// each connection, call and reset.
    private static let sendingBodies = """
        print('CONNECTION', flush=True)
        begin(c)
        window, initial, windows, left = 65535, 65535, {}, {}
        queue = bytearray()
        def take(kind, flags, stream, payload):
            nonlocal window, initial
            if kind == 4 and not flags & 1:
                for i in range(0, len(payload), 6):
                    name, value = struct.unpack('>HI', payload[i:i + 6])
                    if name == 4: initial = value
                queue.extend(frame(4, 1, 0))
            elif kind == 8:
                change = int.from_bytes(payload, 'big')
                if stream == 0: window += change
                elif stream in windows: windows[stream] += change
            elif kind == 3:
                left.pop(stream, None)
                print('RESET', flush=True)
            elif kind == 1:
                threading.calls += 1
                print('CALL', flush=True)
                if threading.calls <= threading.waiting: threading.waits = stream
                elif threading.calls <= threading.waiting + threading.bodies:
                    windows[stream], left[stream] = initial, threading.size
                    queue.extend(head_of(stream))
                else: queue.extend(response(stream, b'ok'))
        incoming = bytearray()
        c.setblocking(False)
        exactly_sent = 0
        while True:
            wants_read = wants_write = False
            try:
                more = c.recv(1 << 16)
                if not more: return
                incoming.extend(more)
            except ssl.SSLWantReadError: wants_read = True
            while len(incoming) >= 9 and len(incoming) >= 9 + int.from_bytes(incoming[:3], 'big'):
                end = 9 + int.from_bytes(incoming[:3], 'big')
                take(incoming[3], incoming[4], int.from_bytes(incoming[5:9], 'big'), bytes(incoming[9:end]))
                del incoming[:end]
            if not queue:
                for stream in list(left):
                    count = min(16384, left[stream], windows[stream], window)
                    if count <= 0: continue
                    left[stream] -= count; windows[stream] -= count; window -= count
                    queue.extend(frame(0, 0 if left[stream] else 1, stream, b'x' * count))
                    if not left[stream]: del left[stream]
                if threading.waits and not left and threading.calls > threading.bodies:
                    queue.extend(response(threading.waits, b'late'))
                    threading.waits = 0
            if queue:
                try:
                    count = c.send(bytes(queue[:1 << 18]))
                    del queue[:count]
                    exactly_sent += count
                    wants_read = False
                except ssl.SSLWantWriteError: wants_write = True
            if wants_read or wants_write:
                ready = select.select([c], [c] if queue else [], [], 0.5)
                if not ready[0] and not ready[1]: print('SENT %d' % exactly_sent, flush=True)
        """

    private static func bodies(
        _ bodies: Int = 20, size: Int = 20_000_000, waiting: Int = 0
    ) async throws -> ScriptedServer {
        try await http2Server(
            """
            if not hasattr(threading, 'calls'):
                threading.calls, threading.waits, threading.waiting = 0, 0, \(waiting)
                threading.bodies, threading.size = \(bodies), \(size)

            """ + sendingBodies)
    }

    private static func sent(_ server: ScriptedServer) -> Int {
        server.server.stdout.split(separator: "\n").compactMap { line in
            line.hasPrefix("SENT ") ? Int(line.dropFirst(5)) : nil
        }.max() ?? 0
    }

    private static func connections(_ server: ScriptedServer) -> Int {
        server.server.stdout.split(separator: "\n").count { $0 == "CONNECTION" }
    }

    private static func call(_ server: ScriptedServer) -> EngineRequest {
        var request = EngineRequest(get(server.port))
        request.timeout = .seconds(300)
        request.maximumBodySize = 100 * mebibyte
        return request
    }

    private static func unread(
        _ engine: CurlEngine, _ server: ScriptedServer, bodies: Int = 20, timeout: Int = 300
    ) async throws -> [EngineResponse] {
        try await withThrowingTaskGroup(of: EngineResponse.self) { group in
            for _ in 0..<bodies {
                var request = call(server)
                request.timeout = .seconds(timeout)
                group.addTask { try await engine.send(request) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Waits until the server can send nothing more: a connection says so twice, with the same
    /// number of bytes, and none says more.
    private static func waitForRest(_ server: ScriptedServer) async throws {
        let before = server.server.stdout.count
        let rests = try await eventually {
            let sent = server.server.stdout.dropFirst(before).split(separator: "\n").compactMap {
                $0.hasPrefix("SENT ") ? Int($0.dropFirst(5)) : nil
            }
            return sent.count { $0 == sent.max() } > 1
        }
        #expect(rests)
    }

    private static func waitForCall(_ server: ScriptedServer) async throws {
        #expect(try await eventually { server.server.stdout.contains("CALL") })
    }

    @Test func movesCallsAwayFromUnreadBodies() async throws {
        let server = try await Self.bodies()
        let engine = try engine()
        var unread = try await Self.unread(engine, server)
        try await Self.waitForRest(server)
        for _ in 0..<50 {
            let (_, body) = try await engine.fetch(Self.call(server))
            #expect(body == Array("ok".utf8))
        }
        try await Self.waitForRest(server)
        #expect(Self.sent(server) < 40 * Self.mebibyte, "\(Self.sent(server))")
        #expect(Self.connections(server) == 2)
        // They can be read, and left.
        unread.removeLast(18)
        for response in unread {
            #expect(try await response.body.collect().count == 20_000_000)
        }
        #expect(Self.connections(server) == 2)
        await engine.shutdown()
    }

    @Test func endsUnreadBodiesThatBlockACall() async throws {
        let server = try await Self.bodies(waiting: 1)
        let engine = try engine()
        let request = Self.call(server)
        async let waiting = engine.fetch(request)
        try await Self.waitForCall(server)
        let unread = try await Self.unread(engine, server)
        #expect(try await waiting.body == Array("late".utf8))
        #expect(Self.sent(server) < 250 * Self.mebibyte, "\(Self.sent(server))")
        var ended = 0
        for response in unread {
            do throws(TransportError) {
                #expect(try await response.body.collect().count == 20_000_000)
            } catch {
                #expect(error.code == .resources, "\(error)")
                ended += 1
            }
        }
        #expect((1..<20).contains(ended))
        #expect(Self.connections(server) == 1)
        await engine.shutdown()
    }

    /// AddressSanitizer finds the part of a body that libcurl leaks if it ends the transfer itself.
    @Test func endsAnUnreadBodyAtItsDeadline() async throws {
        // More than a stream's window, so that the server can't send all of it.
        let server = try await Self.bodies(1, size: 60_000_000, waiting: 1)
        let engine = try engine()
        let request = Self.call(server)
        async let waiting = engine.fetch(request)
        try await Self.waitForCall(server)
        let unread = try await Self.unread(engine, server, bodies: 1, timeout: 5)
        // The server sends `late` after the body is given up.
        #expect(try await waiting.body == Array("late".utf8))
        #expect(try await eventually { server.server.stdout.contains("RESET") })
        await #expect {
            _ = try await unread[0].body.collect()
        } throws: {
            ($0 as? TransportError)?.code == .timeout
        }
        #expect(Self.connections(server) == 1)
        await engine.shutdown()
    }

    // MARK: Uploads that wait

    /// A server whose window for uploads is closed, and opened by a line of `opening` after the
    /// request has arrived.
    private static func closed(_ opening: String) async throws -> ScriptedServer {
        try await http2Server(
            """
            begin(c, 0)
            got = 0
            for kind, flags, stream, payload in frames(c):
                if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
                if kind == 1:
                    print('REQUEST', flush=True)
                    \(opening)
                if kind == 0:
                    got += len(payload)
                    if flags & 1: c.sendall(response(stream, str(got).encode()))
                    elif payload:
                        more = struct.pack('>I', len(payload))
                        c.sendall(frame(8, 0, 0, more) + frame(8, 0, stream, more))
            """)
    }

    private static let uploads: [@Sendable () -> RequestBody] = [
        { RequestBody([UInt8](repeating: 7, count: 300_000)) },
        { .stream(Producer { $0 < 30 ? [UInt8](repeating: 7, count: 10_000) : nil }) },
    ]

    @Test(arguments: uploads.indices)
    func restsWhileAServersWindowIsClosed(_ index: Int) async throws {
        let server = try await Self.closed("pass")
        let engine = try engine()
        var request = EngineRequest(get(server.port), body: Self.uploads[index]())
        request.request.method = .post
        request.timeout = .seconds(2)
        let error = await engine.failure(request)
        #expect(error?.code == .timeout)
        #expect(try await eventually { server.server.stdout.contains("REQUEST") })
        #expect(engine.libcurlCalls < 300, "\(engine.libcurlCalls)")
        await engine.shutdown()
    }

    @Test(arguments: uploads.indices)
    func goesOnWhenAServerOpensItsWindow(_ index: Int) async throws {
        let server = try await Self.closed(
            "time.sleep(0.5); c.sendall(frame(8, 0, stream, struct.pack('>I', 65535)))")
        let engine = try engine()
        var request = EngineRequest(get(server.port), body: Self.uploads[index]())
        request.request.method = .post
        request.timeout = .seconds(300)
        let (_, body) = try await engine.fetch(request)
        #expect(body == Array("300000".utf8))
        #expect(engine.libcurlCalls < 1_000, "\(engine.libcurlCalls)")
        await engine.shutdown()
    }
}

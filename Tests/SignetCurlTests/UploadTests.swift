import Foundation
import HTTPTypes
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetCurl

/// A server of `Servers/uploads.py`.
private func server(_ behaviour: String, tls: Bool = false) async throws -> ScriptedServer {
    try await ScriptedServer(
        "uploads", behaviour, tls: tls ? TestAuthority.trusted.get().leaf : nil)
}

private func request(
    _ port: Int, _ method: HTTPRequest.Method, _ path: String, scheme: String = "http",
    _ body: HTTPRequestBody
) -> EngineRequest {
    var request = EngineRequest(get(port, path, scheme: scheme), body: body)
    request.request.method = method
    request.timeout = .seconds(300)
    return request
}

private func request(
    _ port: Int, _ method: HTTPRequest.Method, scheme: String = "http", _ body: HTTPRequestBody
) -> EngineRequest { request(port, method, "/", scheme: scheme, body) }

private func request(_ port: Int, scheme: String = "http", _ body: HTTPRequestBody) -> EngineRequest
{
    request(port, .post, "/", scheme: scheme, body)
}

private func block(_ index: Int, count: Int = 65_536) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: count)
}

/// Request bodies from streams and files: their lengths, their pace, their failures, and when they
/// are sent again.
@Suite struct UploadTests {
    @Test(arguments: [false, true])
    func sendsStreamsOverHTTP1(withLength: Bool) async throws {
        let server = try await server("mirror")
        let engine = try engine(http2: false)
        // Sizes around every buffer on the way, an empty chunk among them.
        let sizes = [1, 0, 65_535, 65_536, 65_537, 300_000, 3]
        let chunks = sizes.enumerated().map { block($0, count: $1) }
        let total = sizes.reduce(0, +)
        let body = HTTPRequestBody.stream(
            length: withLength ? Int64(total) : nil, Producer.of(chunks))
        let (_, echo) = try await engine.fetch(request(server.port, body))
        let head = String(decoding: echo, as: UTF8.self).lowercased()
        #expect(head.contains("transfer-encoding: chunked") != withLength)
        #expect(head.contains("content-length: \(total)") == withLength)
        #expect(!head.contains("expect:"))
        // The connection is good for another.
        _ = try await engine.fetch(request(server.port, .put, .stream(Producer.of([[1, 2]]))))
        #expect(
            try await eventually {
                server.server.stdout.components(separatedBy: "BODY").contains {
                    $0.hasPrefix(" 2 ")
                }
            })
        #expect(server.server.stdout.contains("BODY \(total) "))
        #expect(!server.server.stdout.contains("cut"))
        await engine.shutdown()
    }

    @Test(arguments: [false, true])
    func sendsStreamsAndFilesOverHTTP2(withLength: Bool) async throws {
        let folder = try TemporaryDirectory()
        let host = try await OrdersHost.start(
            directives:
                "location /put/ { root \(folder.path); dav_methods PUT; create_full_put_path on; "
                + "client_max_body_size 0; dav_access all:rw; }")
        let engine = try engine()
        let chunks = (0..<20).map { block($0, count: 50_000) }
        let body = HTTPRequestBody.stream(length: withLength ? 1_000_000 : nil, Producer.of(chunks))
        let (response, _) = try await engine.fetch(
            request(host.port, .put, "/put/a", scheme: "https", body))
        #expect(response.httpVersion.major == 2)
        #expect(response.response.status == .created)
        #expect(try folder.read("put/a") == chunks.flatMap { $0 })
        let path = try folder.write(chunks[3] + chunks[4], to: "file")
        _ = try await engine.fetch(
            request(host.port, .put, "/put/b", scheme: "https", .file(path)))
        #expect(try folder.read("put/b") == chunks[3] + chunks[4])
        // A stream that fails leaves nothing on the server, and its connection serves on.
        let error = await engine.failure(
            request(
                host.port, .put, "/put/c", scheme: "https",
                .stream(Producer { $0 < 3 ? block(1) : try { throw Broken() }() })))
        #expect(error?.code == .bodyFailed)
        #expect(await engine.failure(request(host.port, .get, scheme: "https", [])) == nil)
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: folder.path("put")).contains("c"))
        await engine.shutdown()
    }

    struct Broken: Error, CustomStringConvertible { var description: String { "the well is dry" } }

    /// The length, the chunks, and the error.
    private static let wrong:
        [(name: String, length: Int64?, chunks: [[UInt8]], fails: Bool, code: TransportError.Code)] =
            [
                ("short", 10, [[1, 2, 3]], false, .bodyLength),
                ("none", 10, [], false, .bodyLength),
                ("long", 2, [[1, 2, 3]], false, .bodyLength),
                ("long by a chunk", 2, [[1, 2], [3]], false, .bodyLength),
                ("long behind nothing", 2, [[1, 2], [], [3]], false, .bodyLength),
                ("fails at once", 10, [], true, .bodyFailed),
                ("fails at its end", 2, [[1, 2]], true, .bodyFailed),
                ("fails, chunked", nil, [[1, 2]], true, .bodyFailed),
                (
                    "short after much", 1 << 20, [[UInt8](repeating: 1, count: 1 << 19)], false,
                    .bodyLength
                ),
            ]

    @Test(arguments: wrong.indices, [false, true])
    func neverCompletesAWrongBody(_ index: Int, tls: Bool) async throws {
        let (name, length, chunks, fails, code) = Self.wrong[index]
        let server = try await server("mirror", tls: tls)
        let engine = try engine(http2: false)
        let producer = Producer { index in
            if index < chunks.count { return chunks[index] }
            if fails { throw Broken() }
            return nil
        }
        let error = await engine.failure(
            request(
                server.port, scheme: tls ? "https" : "http",
                .stream(length: length, producer)))
        #expect(error?.code == code, "\(name): \(error?.message ?? "no error")")
        if fails { #expect(error?.message.hasSuffix("Broken") == true) }
        #expect(try await eventually { server.server.stdout.contains("BODY") })
        #expect(!server.server.stdout.contains("whole"), "\(name)")
        await engine.shutdown()
    }

    @Test func refusesBeforeAnyConnection() async throws {
        let server = try await ScriptedServer([.say("GOT connection")])
        let engine = try engine()
        let none = await engine.failure(
            request(server.port, .stream(length: 0, Producer.of([[1]]))))
        #expect(none?.code == .bodyLength)
        let head = await engine.failure(request(server.port, .head, .stream(Producer.of([]))))
        #expect(head?.code == .invalidRequest)
        let negative = await engine.failure(
            request(server.port, .stream(length: -1, Producer.of([]))))
        #expect(negative?.code == .invalidRequest)
        for (name, value) in [("Content-Length", "3"), ("Transfer-Encoding", "chunked")] {
            var one = request(server.port, .stream(Producer.of([[1, 2, 3]])))
            one.request.headerFields[try #require(.init(name))] = value
            #expect(await engine.failure(one)?.code == .invalidRequest)
        }
        await engine.shutdown()
        #expect(!server.gotBytes)
    }

    @Test func neverReadsTheBodyIfThePinIsWrong() async throws {
        let server = try await OpenSSLServer(TestAuthority.trusted.get().identity, responds: false)
        let engine = try engine()
        let producer = Producer.of([[1]])
        var one = request(server.port, scheme: "https", .stream(producer))
        one.policy = try pinned(wrongPin)
        #expect(await engine.failure(one)?.code == .pinMismatch)
        #expect(producer.log.asked == 0)
        #expect(server.received.isEmpty)
        await engine.shutdown()
    }

    @Test func pullsOnlyAsFastAsTheServerTakes() async throws {
        let server = try await server("reads_after_go")
        let engine = try engine()
        let producer = Producer { $0 < 1_024 ? block($0) : nil }  // 64 MiB
        let port = server.port
        let call = Task {
            try await engine.fetch(request(port, .stream(producer))).body
        }
        #expect(try await eventually { server.gotBytes && producer.log.bytes > 65_536 })
        for _ in 0..<2_000 { await Task.yield() }
        // The bytes that two sockets and our buffer hold; a producer without back-pressure has made
        // all of them by now.
        #expect(producer.log.bytes < 32 << 20)
        _ = try await engine.fetch(EngineRequest(get(port, "/go", scheme: "http")))
        #expect(try await call.value == Array("done".utf8))
        #expect(server.server.stdout.contains("BODY \(64 << 20) "))
        await engine.shutdown()
    }

    @Test(arguments: [false, true])
    func deliversARefusalWhileSending(stalls: Bool) async throws {
        let server = try await server("refuses")
        let engine = try engine(http2: false)
        let producer =
            stalls ? Producer.stalling(after: [block(0)]) : Producer { block($0) }
        let (response, body) = try await engine.fetch(
            request(server.port, .stream(producer)))
        #expect(response.response.status.code == 413)
        #expect(body == Array("too much".utf8))
        #expect(try await eventually { producer.log.hasEnded })
        #expect(try await eventually { server.server.stdout.contains("LEFT") })
        await engine.shutdown()
    }

    @Test func stopsTheProducerOfACancelledCall() async throws {
        let server = try await server("mirror")
        let engine = try engine()
        for ends in [false, true] {
            let producer = Producer.stalling(after: [[1], [2]])
            var one = request(server.port, .stream(producer))
            if ends { one.timeout = .seconds(1) }
            let sent = one
            let call = Task { await engine.failure(sent) }
            #expect(try await eventually { producer.log.bytes == 2 })
            if !ends { call.cancel() }
            #expect(await call.value?.code == (ends ? .timeout : .cancelled))
            #expect(try await eventually { producer.log.hasEnded })
        }
        #expect(!server.server.stdout.contains("whole"))
        await engine.shutdown()
    }

    /// A method, a body and the outcome if a pooled connection ends during the request.
    enum Replay: CaseIterable {
        case postBytes, putBytes, postStream, putStream, putReplayable, postReplayable, putFile
    }

    @Test(arguments: Replay.allCases)
    func sendsNothingTwiceThatMustNotBe(_ replay: Replay) async throws {
        // The first connection ends after it has read its second request: libcurl retries only
        // then.
        let server = try await server("ends_under_the_second")
        let engine = try engine(http2: false)
        let folder = try TemporaryDirectory()
        let path = try folder.write(block(5, count: 300_000), to: "file")
        _ = try await engine.fetch(request(server.port, [1]))
        let chunks = [block(1), block(2), block(3), block(4)]
        let (method, body, code): (HTTPRequest.Method, HTTPRequestBody, TransportError.Code?) =
            switch replay {
            case .postBytes: (.post, HTTPRequestBody(block(1, count: 300_000)), .cutOff)
            case .putBytes: (.put, HTTPRequestBody(block(1, count: 300_000)), nil)
            case .postStream: (.post, .stream(Producer.of(chunks)), .cutOff)
            case .putStream: (.put, .stream(Producer.of(chunks)), .bodyNotReplayable)
            case .putReplayable: (.put, .replayable { Producer.of(chunks) }, nil)
            case .postReplayable: (.post, .replayable { Producer.of(chunks) }, .cutOff)
            case .putFile: (.put, try .file(path), nil)
            }
        #expect(body.isReplayable == ![.postStream, .putStream].contains(replay))
        let error = await engine.failure(request(server.port, method, body))
        // The received bytes, as soon as so many of them have been reported.
        var bodies: [String] = []
        _ = try await eventually {
            bodies = server.server.stdout.split(separator: "\n").filter {
                $0.hasPrefix("BODY") && !$0.hasPrefix("BODY 0 ")
            }
            .map(String.init)
            return bodies.count >= (code == nil ? 3 : 2)
        }
        if code != nil {
            #expect(error?.code == .cutOff || error?.code == .bodyNotReplayable)
            #expect(bodies.count == 2, "the first request and this one, once")
        } else {
            #expect(error == nil, "\(error?.message ?? "")")
            #expect(bodies.count == 3 && bodies[1] == bodies[2], "the same again, whole")
        }
        await engine.shutdown()
    }

    @Test func refusesAFileThatChanges() async throws {
        let server = try await server("mirror")
        let engine = try engine(http2: false)
        let folder = try TemporaryDirectory()
        for change in [block(2, count: 100_000), block(2, count: 300_001), []] {
            let path = try folder.write(block(1, count: 300_000), to: "file")
            let body = try HTTPRequestBody.file(path)
            #expect(body.length == 300_000 && body.isReplayable)
            var reader = try body.makeReader()
            _ = try await reader.next()
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: change)
            try file.close()
            let error = await #expect(throws: TransportError.self) {
                while try await reader.next() != nil {}
            }
            #expect(error?.code == .bodyChanged)
            #expect(await engine.failure(request(server.port, body))?.code == .bodyChanged)
        }
        #expect(!server.server.stdout.contains("whole"))
        for path in [folder.path, folder.path("nothing"), ""] {
            let error = #expect(throws: TransportError.self) { try HTTPRequestBody.file(path) }
            #expect(error?.code == .bodyFailed)
        }
        await engine.shutdown()
    }

    @Test func readsAStreamOnce() async throws {
        let body = HTTPRequestBody.stream(Producer.of([[1]]))
        #expect(!body.isReplayable && body.length == nil && body.bytes == nil)
        var reader = try body.makeReader()
        #expect(try await reader.next() == [1])
        #expect(try await reader.next() == nil)
        let error = #expect(throws: TransportError.self) { _ = try body.makeReader() }
        #expect(error?.code == .bodyNotReplayable)
        let held: HTTPRequestBody = [1, 2]
        #expect(held.isReplayable && held.length == 2 && held.bytes == [1, 2])
    }
}

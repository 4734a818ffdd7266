import Foundation
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Bodies that are far too large: the server is held back while the caller does not read, and a
/// body over the limit is refused.
@Suite struct BodyAttackTests {
    private static let isWhole = ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil
    private static let gigabyte = 1 << 30

    @Test func refusesAGigabyteByItsLength() async throws {
        let server = try await ScriptedServer("gigabyte")
        let engine = try engine()
        var request = EngineRequest(get(server.port, scheme: "http"))
        request.timeout = .seconds(300)
        #expect(await engine.failure(request)?.code == .responseTooLarge)
        await engine.shutdown()
    }

    /// The reader stops: so does the server, after the sockets and one buffer are full.
    @Test func stopsAServerWhileTheBodyIsUnread() async throws {
        let server = try await ScriptedServer("gigabyte")
        let engine = try engine()
        var request = EngineRequest(get(server.port, scheme: "http"))
        request.timeout = .seconds(600)
        request.maximumBodySize = 2 * Self.gigabyte
        let response = try await engine.send(request)
        #expect(try await eventually { server.server.stdout.contains("HELD ") })
        let held = server.server.stdout.split(separator: " ").last?.split(separator: ".").first
        let sent = try #require(held.flatMap { Int($0) })
        #expect(sent < 64 << 20, "\(sent) bytes were taken that nobody read")
        // A late reader gets the rest of the body; this test reads only the next chunk.
        var count = 0
        for try await chunk in response.body {
            count += chunk.count
            if !Self.isWhole, count > 8 << 20 { break }
        }
        #expect(Self.isWhole ? count == Self.gigabyte : count > 8 << 20)
        await engine.shutdown()
    }

    /// A thousand small chunks a second must not grow anything, and a slow reader gets each byte
    /// once.
    @Test func takesManySmallChunks() async throws {
        let server = try await ScriptedServer("chunks", "20000")
        let engine = try engine()
        var request = EngineRequest(get(server.port, scheme: "http"))
        request.timeout = .seconds(300)
        let (_, body) = try await engine.fetch(request)
        #expect(body == (0..<20000).map { UInt8($0 % 251) })
        await engine.shutdown()
    }

    private static let lies: [(String, String, Set<TransportError.Code>)] = [
        (
            "a chunk of endless size",
            "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc",
            [.malformedResponse, .cutOff]
        ),
        (
            "a chunk that is no number", "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc",
            [.malformedResponse, .cutOff]
        ),
        ("a negative length", "Content-Length: -1\r\n\r\nabc", [.malformedResponse]),
        (
            "a length that is no number", "Content-Length: ten\r\n\r\nabc",
            [.malformedResponse]
        ),
        (
            "a length beyond all numbers",
            "Content-Length: 99999999999999999999999\r\n\r\nabc",
            [.malformedResponse, .responseTooLarge]
        ),
    ]

    @Test(arguments: lies.indices)
    func refusesAnInvalidContentLength(_ index: Int) async throws {
        let (name, rest, codes) = Self.lies[index]
        let server = try await ScriptedServer([.head, .send("HTTP/1.1 200 OK\r\n" + rest)])
        let engine = try engine()
        var request = EngineRequest(get(server.port, scheme: "http"))
        request.timeout = .seconds(300)
        let error = await engine.failure(request)
        #expect(
            error.map { codes.contains($0.code) } == true,
            "\(name): \(error?.code.name ?? "no error") \(error?.message ?? "")")
        await engine.shutdown()
    }
}

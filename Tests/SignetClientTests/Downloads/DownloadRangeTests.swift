import Foundation
import HTTPTypes
import SignetClient
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Partial responses (206) from a server whose resource has changed or whose total length is
/// unknown.
@Suite struct DownloadRangeTests {
    private static let whole = (0..<200_000).map { UInt8($0 * 7 % 251) }
    private static let other = (0..<200_000).map { UInt8($0 * 5 % 241) }

    /// The file's content after the second run, and the byte from which that run requested it.
    private static let cases: [(path: String, wanted: [UInt8], asks: [String])] = [
        // A server without If-Range sends a part of another version, which its date shows.
        ("/date", other, ["90000", "None"]),
        // A part has the tag of the whole file (RFC 9110, section 15.3.7); without a tag, it can't
        // be compared.
        ("/untagged", other, ["90000", "None"]),
        // Without the total length, no part is known to be the last one.
        ("/endless", whole, ["90000", "None"]),
        // If the server sends the whole file instead of a part, the limit is that of the file.
        ("/grown", Array(other[..<120_000]), ["90000"]),
    ]

    @Test(arguments: cases.indices)
    func restartsIfAPartMayBeOfAnotherVersion(_ index: Int) async throws {
        let (path, wanted, asks) = Self.cases[index]
        let (server, port) = try await SocketServer.start("ranges")
        let system = try await NetworkSystem.start(
            services: [
                "files": ServiceConfiguration(
                    baseURL: "http://127.0.0.1:\(port)", payloadProtocol: .rest,
                    timeout: .seconds(300), attempts: 1)
            ], policy: .allowingAll())
        let folder = try TemporaryDirectory()
        var options = Download()
        options.maximumSize = path == "/grown" ? 120_000 : 200_000
        let cut = await #expect(throws: ClientError.self) {
            try await system.download("files", target: path, to: folder.path("file"), with: options)
        }
        #expect(cut?.code.name == "cut-off")
        let result = try await system.download(
            "files", target: path, to: folder.path("file"), with: options)
        #expect(result.resumedFrom == 0 && result.status == 200)
        #expect(try folder.read("file") == wanted)
        #expect(try folder.contents() == ["file"])
        let asked = server.stdout.split(separator: "\n").filter { $0.hasPrefix("REQ ") }
        #expect(asked.map { String($0.dropFirst(4)) } == ["None"] + asks)
        await system.shutdown()
        try await server.stop()
    }

    /// An engine that sends one byte with each response.
    private final class DrippingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "dripping", pinsPublicKeys: true, speaksHTTP2: false)
        private let sent = Mutex(0)
        var count: Int { sent.withLock { $0 } }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let first = sent.withLock { sent in
                defer { sent += 1 }
                return sent
            }
            var fields: HTTPFields = [.eTag: "\"a\""]
            if request.request.headerFields[.range] == "bytes=\(first)-" {
                fields[.contentRange] = "bytes \(first)-\(first)/100000"
            } else {
                fields[.contentLength] = "100000"
            }
            return EngineResponse(
                response: HTTPResponse(
                    status: first == 0 ? .ok : .partialContent, headerFields: fields),
                body: HTTPResponseBody(bytes: [7]), httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    @Test func aServerCannotMakeEndlesslyManyParts() async throws {
        let engine = DrippingEngine()
        let system = try await Pipeline.system(engine)
        let folder = try TemporaryDirectory()
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.download("a", target: "/x", to: folder.path("file"))
        }
        #expect(code == .malformedResponse)
        // The whole, which was cut off, and a hundred parts and one.
        #expect(engine.count == 102)
        await system.shutdown()
    }
}

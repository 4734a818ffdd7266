import Foundation
import SignetBase
import SignetClient
import SignetCrypto
import SignetSystem
import SignetTransport
import TestSupport
import Testing

/// Downloads into a file, from nginx and from a faulty server.
@Suite struct DownloadTests {
    private static let service: ServiceName = "files"

    private func system(_ url: String, caFile: String? = nil) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.caFile = caFile
        return try await NetworkSystem.start(
            services: [
                Self.service: ServiceConfiguration(
                    baseURL: url, payloadProtocol: .rest, timeout: .seconds(300), attempts: 1)
            ], policy: .allowingAll(), options: options)
    }

    private func failure(
        _ system: NetworkSystem, _ target: String, to path: String, _ options: Download = .init()
    ) async -> ClientError? {
        do throws(ClientError) {
            _ = try await system.download(Self.service, target: target, to: path, with: options)
            return nil
        } catch {
            return error
        }
    }

    private static let whole = (0..<200_000).map { UInt8($0 * 7 % 251) }
    private static let other = (0..<150_000).map { UInt8($0 * 5 % 241) }

    private func badServer() async throws -> (server: ServerProcess, url: String) {
        let (server, port) = try await SocketServer.start("bad-ranges")
        return (server, "http://127.0.0.1:\(port)")
    }

    /// The outcome and the request of a second run, after one that ended at byte 90,000.
    private static let resumed: [(path: String, code: String?, from: Int64, asks: [String])] = [
        ("/good", nil, 90_000, ["90000 \"a\""]),
        ("/date", nil, 90_000, ["90000 Sun, 06 Nov 1994 08:49:37 GMT"]),
        ("/olddates", nil, 90_000, ["90000 Sunday, 06-Nov-94 08:49:37 GMT"]),
        ("/units", nil, 90_000, ["90000 \"a\""]),
        ("/coded", "unsupported-encoding", 0, ["90000 \"a\""]),
        ("/weak", nil, 0, ["None "]), ("/soon", nil, 0, ["None "]),
        ("/changed", nil, 0, ["90000 \"a\""]),
        ("/othertag", nil, 0, ["90000 \"a\"", "None "]),
        ("/othertotal", nil, 0, ["90000 \"a\"", "None "]),
        ("/notthere", nil, 0, ["90000 \"a\"", "None "]),
        ("/pieces", nil, 90_000, ["90000 \"a\"", "140000 \"a\"", "190000 \"a\""]),
        ("/early", nil, 0, ["90000 \"a\"", "None "]),
        ("/block", nil, 90_000, ["90000 \"a\""]),
        ("/late", "malformed-response", 0, ["90000 \"a\""]),
        ("/norange", "malformed-response", 0, ["90000 \"a\""]),
        ("/odd", "malformed-response", 0, ["90000 \"a\""]),
        ("/backwards", "malformed-response", 0, ["90000 \"a\""]),
        ("/more", "malformed-response", 0, ["90000 \"a\""]),
        ("/less", "cut-off", 0, ["90000 \"a\""]),
        ("/error", "http-status", 0, ["90000 \"a\""]),
        ("/never", "http-status", 0, ["90000 \"a\"", "None "]),
    ]

    @Test(.features("002-17"), arguments: resumed.indices)
    func continuesAfterTheReceivedBytes(_ index: Int) async throws {
        let (path, code, from, asks) = Self.resumed[index]
        let (server, url) = try await badServer()
        let system = try await system(url)
        let folder = try TemporaryDirectory()
        let target = try folder.write("old", to: "file")
        #expect(await failure(system, path, to: target)?.code.name == "cut-off")
        #expect(try folder.read("file") == Array("old".utf8))
        #expect(try folder.contents().count == 3)  // the part and its state
        do {
            let result = try await system.download(Self.service, target: path, to: target)
            #expect(code == nil)
            #expect(result.resumedFrom == from)
            #expect(!result.isDigestChecked)
            let wanted = path == "/changed" ? Self.other : Self.whole
            #expect(result.byteCount == Int64(wanted.count))
            #expect(try folder.read("file") == wanted)
            #expect(try folder.contents() == ["file"])
        } catch let error as ClientError {
            #expect(error.code.name == code, "\(error)")
            #expect((try? folder.read("file")) == Array("old".utf8))
        }
        let asked = server.stdout.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("REQ ")
        }
        #expect(asked == (["None "] + asks).map { "REQ \(path) \($0)" })
        await system.shutdown()
        try await server.stop()
    }

    @Test(
        arguments: [
            ("/unasked", "malformed-response"), ("/missing", "http-status"),
            ("/nothing", "http-status"),
            ("/mislabelled", "wrong-digest"),
        ])
    func refusesAndLeavesNoFile(_ path: String, _ code: String) async throws {
        let (server, url) = try await badServer()
        let system = try await system(url)
        let folder = try TemporaryDirectory()
        #expect(await failure(system, path, to: folder.path("file"))?.code.name == code)
        #expect(try folder.contents() == [])
        await system.shutdown()
        try await server.stop()
    }

    /// The coding of a stored archive, whether it was asked for or not.
    @Test func storesABodyWithACodingAsItIs() async throws {
        let (server, url) = try await badServer()
        let system = try await system(url)
        let folder = try TemporaryDirectory()
        let result = try await system.download(
            Self.service, target: "/encoded", to: folder.path("file"))
        #expect(result.fields[.contentEncoding] == "gzip" && result.byteCount == 200_000)
        #expect(try folder.read("file") == Self.whole)
        _ = await failure(system, "/coded", to: folder.path("part"))
        let error = await failure(system, "/coded", to: folder.path("part"))
        #expect(error?.message.contains("http://127.0.0.1:") == true)
        #expect(error?.message.contains("\"gzip\"") == true)
        await system.shutdown()
        try await server.stop()
    }

    @Test func demandsTheDigestAndTheLimit() async throws {
        let (server, url) = try await badServer()
        let system = try await system(url)
        let folder = try TemporaryDirectory()
        let target = folder.path("file")
        var options = Download()
        options.sha256 = try Digest.of(Self.whole)
        options.mode = 0o640
        // A cut response, then a rest with another last byte: the digest covers the whole file on
        // the disk.
        #expect(await failure(system, "/slip", to: target, options)?.code.name == "cut-off")
        #expect(await failure(system, "/slip", to: target, options)?.code.name == "wrong-digest")
        #expect(try folder.contents() == [])
        let result = try await system.download(
            Self.service, target: "/slip", to: target, with: options)
        #expect(result.isDigestChecked && result.resumedFrom == 0)
        #expect(try folder.read("file") == Self.whole)
        let attributes = try FileManager.default.attributesOfItem(atPath: target)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
        options.sha256 = nil
        options.maximumSize = 199_999
        #expect(
            await failure(system, "/good", to: target, options)?.code.name == "response-too-large")
        #expect(
            try await system.download(Self.service, target: "/empty", to: target).byteCount == 0)
        #expect(try folder.contents() == ["file"])
        await system.shutdown()
        try await server.stop()
    }

    @Test func fetchesTheResponseToACall() async throws {
        let folder = try TemporaryDirectory()
        let engine = RecordingEngine(responses: [.init(body: "whole"), .init(body: "whole")])
        let system = try await Pipeline.system(engine)
        let id = "a/b"
        let result = try await system.download(
            .get("/files/\(id)", on: "a", query: ["n": 1]), to: folder.path("file"))
        #expect(result.byteCount == 5 && engine.requests.count == 1)
        // Below the service's base URL, unlike the target of the other form.
        #expect(engine.requests[0].request.path == "/v1/files/a%2Fb?n=1")
        #expect(engine.requests[0].request.headerFields[.acceptEncoding] == "identity")
        for (call, code) in [
            (.post("/files", on: "a"), "unsupported-call"),
            (.get("/files?n=1", on: "a"), "invalid-path"),
            (.get("/files", on: "b"), "unknown-service"),
        ] as [(RESTCall, String)] {
            let error = await #expect(throws: ClientError.self) {
                try await system.download(call, to: folder.path("other"))
            }
            #expect(error?.code.name == code)
        }
        #expect(try folder.contents() == ["file"] && engine.requests.count == 1)
        await system.shutdown()
    }

    @Test func resumesOnlyItsOwnPart() async throws {
        let (server, url) = try await badServer()
        let system = try await system(url)
        let folder = try TemporaryDirectory()
        let target = folder.path("file")
        // A part of one URL is not used for another URL.
        #expect(await failure(system, "/good", to: target)?.code.name == "cut-off")
        #expect(await failure(system, "/good?x", to: target)?.code.name == "cut-off")
        var fresh = Download()
        fresh.resumes = false
        #expect(
            try await system.download(Self.service, target: "/good?x", to: target, with: fresh)
                .resumedFrom == 0)
        #expect(!server.stdout.contains("90000"))
        // A part that others may write to, or a link, is refused.
        let part = ".file.signet-\(getuid()).part"
        try folder.write("planted", to: part, mode: 0o666)
        #expect(await failure(system, "/good", to: target)?.code.name == "unwritable-file")
        try FileManager.default.removeItem(atPath: folder.path(part))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(part), withDestinationPath: target)
        #expect(await failure(system, "/good", to: target)?.code.name == "unwritable-file")
        try FileManager.default.removeItem(atPath: folder.path(part))
        #expect(
            await failure(system, "/good", to: folder.path("no/file"))?.code.name
                == "unwritable-file")
        #expect(await failure(system, "/good", to: folder.path)?.code.name == "unwritable-file")
        // One at a time.
        let held = try PartFile(for: target)
        #expect(await failure(system, "/good", to: target)?.code.name == "file-busy")
        _ = consume held
        #expect(
            try await system.download(Self.service, target: "/good", to: target).byteCount
                == 200_000)
        await system.shutdown()
        try await server.stop()
    }

    @Test(.features("002-05")) func resumesFromNginxAndNoticesItsChange() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.whole, to: "data")
        let host = try await OrdersHost.start(directives: "location /data { root \(folder.path); }")
        let system = try await system(
            host.url, caFile: TestAuthority.trusted.get().caFile)
        let place = try TemporaryDirectory()
        let target = place.path("file")
        for changes in [false, true] {
            let response = try await system.exchange(
                Self.service, method: .head, target: "/data", fields: [:], body: [UInt8]())
            // As a run leaves it that was killed after 120,000 bytes.
            let tag = try #require(response.fields[.eTag])
            try leavePart(of: host.url + "/data", tag, in: place)
            if changes { try folder.write(Self.other, to: "data") }
            let result = try await system.download(Self.service, target: "/data", to: target)
            #expect(result.resumedFrom == (changes ? 0 : 120_000))
            #expect(result.status == (changes ? 200 : 206))
            #expect(try place.read("file") == (changes ? Self.other : Self.whole))
        }
        await system.shutdown()
    }

    private func leavePart(of url: String, _ tag: String, in place: TemporaryDirectory) throws {
        let name = ".file.signet-\(getuid()).part"
        let source = Base64.encode(try Digest.of(Array("GET \(url)".utf8)), as: .url)
        try place.write(Self.whole[..<120_000], to: name)
        let quoted = tag.replacingOccurrences(of: "\"", with: "\\\"")
        try place.write(
            #"{"source":"\#(source)","validator":"\#(quoted)","total":200000}"#, to: name + ".state"
        )
    }
}

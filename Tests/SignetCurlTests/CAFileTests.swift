import Foundation
import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// CA files that change while an engine runs: from the next call on, only the new file counts.
@Suite struct CAFileTests {
    private let authority: TestAuthority
    private let other: TestAuthority
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        authority = try TestAuthority.trusted.get()
        other = try TestAuthority.rogue.get()
        folder = try TemporaryDirectory()
        path = folder.path("ca.pem")
        try write(authority)
    }

    /// Writes the file again, in place or by renaming another over it.
    private func write(_ authorities: TestAuthority..., inPlace: Bool = true) throws {
        var all = Data()
        for authority in authorities {
            all += try Data(contentsOf: URL(filePath: authority.caFile))
        }
        try all.write(to: URL(filePath: path), options: inPlace ? [] : .atomic)
    }

    private func engine(http2: Bool = false) throws -> CurlEngine {
        var configuration = EngineSettings()
        configuration.caFile = path
        configuration.offersHTTP2 = http2
        return try CurlEngine(configuration)
    }

    private func request(_ port: Int, _ path: String = "/") -> EngineRequest {
        EngineRequest(get(port, path), timeout: .seconds(300), connectTimeout: .seconds(300))
    }

    @Test(arguments: [false, true], [false, true])
    func aChangedFileDecides(inPlace: Bool, http2: Bool) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let others = try await OpenSSLServer(other.identity)
        let engine = try engine(http2: http2)
        for _ in 0..<3 {
            _ = try await engine.fetch(request(host.port, "/plain"))
            let again = try await engine.send(request(host.port, "/plain"))
            #expect(again.timings.reusedConnection)
            _ = try await again.body.collect()
            #expect(await engine.failure(request(others.port))?.code == .tls)
            try write(other, inPlace: inPlace)
            // Neither a pooled connection nor a session of the old file's.
            #expect(await engine.failure(request(host.port, "/plain?bad"))?.code == .tls)
            _ = try await engine.fetch(request(others.port))
            try write(authority, inPlace: inPlace)
        }
        let requests = try await host.requests(count: 6)
        #expect(requests.count == 6 && !requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }

    /// The loops of old files end with their calls, so that there are never too many of them.
    @Test func aFileMayChangeOften() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let engine = try engine()
        for index in 0..<40 {
            // The sizes differ, so that no change is overlooked.
            if index % 2 == 0 { try write(other, authority) } else { try write(authority) }
            for isReused in [false, true] {
                let response = try await engine.send(request(host.port, "/plain"))
                #expect(response.timings.reusedConnection == isReused)
                _ = try await response.body.collect()
            }
        }
        await engine.shutdown()
    }

    @Test func aRunningCallContinues() async throws {
        let server = try await ScriptedServer("halves", tls: authority.leaf)
        let engine = try engine()
        let first = try await engine.send(request(server.port, "/first"))
        try write(other, authority)
        let (_, body) = try await engine.fetch(request(server.port, "/second"))
        #expect(body == Array("ok".utf8))
        #expect(try await first.body.collect() == Array("halfrest".utf8))
        await engine.shutdown()
    }

    @Test func failsClosedWhileTheFileIsMissingOrBroken() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let engine = try engine()
        _ = try await engine.fetch(request(host.port, "/plain"))
        let whole = try Data(contentsOf: URL(filePath: path))
        let broken: [Data?] = [nil, Data(), Data("no certificate".utf8), whole.prefix(200)]
        for content in broken {
            try FileManager.default.removeItem(atPath: path)
            if let content { try content.write(to: URL(filePath: path)) }
            for _ in 0..<2 {
                let error = await engine.failure(request(host.port, "/plain?bad"))
                #expect(error?.code == .trustStore, "\(error?.message ?? "no error")")
            }
            try write(authority)
            _ = try await engine.fetch(request(host.port, "/plain"))
        }
        let requests = try await host.requests(count: broken.count + 1)
        #expect(!requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }

    /// A file of one call's own, and the engine's with a rule's CAs beside it.
    @Test func looksAtTheFilesOfSingleCallsToo() async throws {
        let server = try await OpenSSLServer(authority.identity)
        let engine = try SignetCurl.CurlEngine(EngineSettings())
        var request = request(server.port)
        request.caFile = path
        _ = try await engine.fetch(request)
        try write(other)
        #expect(await engine.failure(request)?.code == .tls)
        let target = try Authority(parsing: "localhost:\(server.port)")
        #expect(try await !engine.probe(target, caFile: path).isTrusted)
        try write(authority)
        #expect(try await engine.probe(target, caFile: path).isTrusted)
        _ = try await engine.fetch(request)
        await engine.shutdown()
    }

    @Test func looksAtAProxysFileToo() async throws {
        let server = try await OpenSSLServer(authority.identity)
        let proxy = try await ProxyServer(tls: other.leaf)
        let proxysFile = folder.path("proxy.pem")
        let engine = try engine()
        var request = request(server.port)
        request.proxy = try Proxy(parsing: "https://localhost:\(proxy.port)")
        request.proxy?.caFile = proxysFile
        for (authority, code) in [
            (other, nil), (authority, TransportError.Code.proxy), (other, nil),
        ] {
            try Data(contentsOf: URL(filePath: authority.caFile)).write(
                to: URL(filePath: proxysFile))
            let error = await engine.failure(request)
            #expect(error?.code == code, "\(error?.message ?? "no error")")
        }
        await engine.shutdown()
    }
}

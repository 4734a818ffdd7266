import Foundation
import HTTPTypes
import SignetBase
import SignetClient
import SignetCrypto
import SignetPinning
import SignetSigning
import SignetTransport
import TestSupport
import Testing

/// Downloads that are redirected, signed, pinned and resumed.
@Suite struct DownloadRedirectTests {
    private let authority: TestAuthority
    private let folder: TemporaryDirectory
    private let keys: KeySet

    init() throws {
        authority = try TestAuthority.trusted.get()
        folder = try TemporaryDirectory()
        keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"HS","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                    .utf8), source: "test")
    }

    private func system(
        _ server: DownloadServer, policy: PinPolicy? = nil, redirects: RedirectPolicy = .init(),
        attempts: Int = 1
    ) async throws -> NetworkSystem {
        var service = ServiceConfiguration(
            baseURL: server.url, payloadProtocol: .rest,
            signing: .init(scheme: "rfc9421", keyID: "HS"), timeout: .seconds(300),
            attempts: attempts)
        service.redirects = redirects
        var options = NetworkSystem.Options()
        options.caFile = authority.caFile
        return try await NetworkSystem.start(
            services: ["files": service], keys: keys, policy: policy ?? .allowingAll(),
            options: options)
    }

    private func code(
        _ system: NetworkSystem, _ target: String, trace: CallTrace? = nil
    ) async -> String? {
        do throws(ClientError) {
            _ = try await system.download(
                "files", target: target, to: folder.path("file"),
                options: RequestOptions(trace: trace)
            )
            return nil
        } catch {
            return error.code.name
        }
    }

    private static func isSigned(_ request: String) -> Bool {
        request.lowercased().contains("\r\nsignature-input:")
    }

    private func policy(_ pin: String) throws -> PinPolicy {
        try PinPolicy(rules: [PinRule(host: "localhost", pins: [Pin(parsing: pin)])])
    }

    @Test func sendsNoCredentialsToAnotherOrigin() async throws {
        let other = try await DownloadServer(tls: authority.leaf)
        let server = try await DownloadServer(
            ["/a": ["/b?x=1"], "/b": ["\(other.url)/file"]], tls: authority.leaf)
        let system = try await system(server)
        var options = Download()
        options.fields[.authorization] = "topsecret"
        let trace = CallTrace()
        let result = try await system.download(
            "files", target: "/a", to: folder.path("file"), with: options,
            options: RequestOptions(trace: trace))
        #expect(result.byteCount == Int64(DownloadServer.size))
        #expect(try folder.read("file") == DownloadServer.file)
        #expect(server.requests.count == 2 && other.requests.count == 1)
        #expect(server.requests.allSatisfy { Self.isSigned($0) && $0.contains("topsecret") })
        #expect(!Self.isSigned(other.requests[0]) && !other.requests[0].contains("topsecret"))
        let attempt = try #require(trace.attempts.first)
        #expect(trace.attempts.count == 1)
        #expect(attempt.hops.map(\.status) == [302, 302, 200])
        #expect(attempt.hops.map(\.isSigned) == [true, true, false])
        #expect(attempt.redirects.map(\.status) == [302, 302])
        #expect(attempt.hops[1].url == "\(server.url)/b")
        #expect(attempt.hops[2].timings.bytesReceived > Int64(DownloadServer.size))
        #expect(attempt.hops.allSatisfy { $0.timings.total > .zero && $0.failure == nil })
        await system.shutdown()
    }

    /// The source of a first run, which ends at byte 90,000; the redirect of the second run; and
    /// its request.
    private static let ways: [(first: String, second: String, asks: String, resumes: Bool)] = [
        // A signed URL that differs each time.
        ("{other}/file?cut=90000&sig=1", "{other}/file?sig=2", "/file?sig=2 90000", true),
        // The same entity tag at another path, another origin, or at the first place itself.
        ("{other}/file?cut=90000", "{other}/other", "/other -", false),
        ("{other}/file?cut=90000", "{self}/other", "/other -", false),
        ("{other}/file?cut=90000", "", "/a -", false),
        ("", "{other}/other", "/other -", false),
        ("", "", "/a?cut=90000 90000", true),
    ]

    @Test(arguments: ways.indices)
    func continuesOnlyAtTheSourceOfTheBytes(_ index: Int) async throws {
        let way = Self.ways[index]
        let other = try await DownloadServer(tls: authority.leaf)
        let places = [way.first, way.second].map {
            $0.replacingOccurrences(of: "{other}", with: other.url)
                .replacingOccurrences(of: "{self}", with: "")
        }
        let server = try await DownloadServer(["/a": places], tls: authority.leaf)
        let system = try await system(server)
        let target = way.first.isEmpty ? "/a?cut=90000" : "/a"
        #expect(await code(system, target) == "cut-off")
        let result = try await system.download("files", target: target, to: folder.path("file"))
        #expect(result.resumedFrom == (way.resumes ? 90_000 : 0))
        let isOther = way.second.hasSuffix("/other")
        #expect(
            try folder.read("file") == (isOther ? DownloadServer.other : DownloadServer.file))
        let last = way.second.hasPrefix("{other}") ? other.asked.last : server.asked.last
        #expect(last == way.asks)
        #expect(try folder.contents() == ["file"])
        await system.shutdown()
    }

    @Test func refusesWhatCallsRefuseAndLeavesNoFile() async throws {
        let other = try await DownloadServer(tls: TestAuthority.rogue.get().leaf)
        let plain = try await DownloadServer()
        let server = try await DownloadServer(
            [
                "/loop": Array(repeating: "/loop", count: 6), "/plain": ["\(plain.url)/file"],
                "/rogue": ["\(other.url)/file"], "/unlisted": ["https://other.test/file"],
                "/user": ["https://u:p@localhost/file"],
            ], tls: authority.leaf)
        let pinned = try await system(server, policy: policy(authority.root.pin))
        for (target, wanted) in [
            ("/loop", "too-many-redirects"), ("/rogue", "tls"),
            ("/plain", "cleartext-to-pinned-host"), ("/unlisted", "unlisted-host"),
            ("/user", "redirect-refused"),
        ] {
            let trace = CallTrace()
            #expect(await code(pinned, target, trace: trace) == wanted, "\(target)")
            #expect(trace.attempts.first?.hops.first?.status == 302)
            #expect(try folder.contents() == [])
        }
        await pinned.shutdown()
        var none = RedirectPolicy()
        none.maximum = 0
        let moved = try await DownloadServer(["/a": ["/file"]], tls: authority.leaf)
        let still = try await system(moved, redirects: none)
        #expect(await code(still, "/a") == "http-status")
        await still.shutdown()
        #expect(moved.requests.count == 1)
        #expect(other.requests.isEmpty && plain.requests.isEmpty)
    }

    @Test func eachRequestForTheRestIsSignedAndChecked() async throws {
        let server = try await DownloadServer(tls: authority.leaf)
        let system = try await system(server, policy: policy(authority.root.pin))
        #expect(await code(system, "/file?cut=90000") == "cut-off")
        // A wrong key on the way: no byte is sent, and the partial file stays.
        try system.update(policy: policy("sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="))
        #expect(await code(system, "/file?cut=90000") == "pin-mismatch")
        #expect(server.requests.count == 1)
        try system.update(policy: policy(authority.root.pin))
        let result = try await system.download(
            "files", target: "/file?cut=90000", to: folder.path("file"))
        #expect(result.resumedFrom == 90_000)
        #expect(try folder.read("file") == DownloadServer.file)
        #expect(server.asked == ["/file?cut=90000 -", "/file?cut=90000 90000"])
        let verifier = try Verifier(scheme: SigningScheme(named: "rfc9421"), keys: keys)
        for request in server.requests {
            let message = try SignableMessage(parsing: Array(request.utf8))
            _ = try await verifier.verify(message, now: UnixTime.now())
        }
        await system.shutdown()
    }

    @Test func anAttemptContinuesThePreviousOne() async throws {
        let server = try await DownloadServer(tls: authority.leaf)
        let system = try await system(server, attempts: 2)
        let trace = CallTrace()
        let result = try await system.download(
            "files", target: "/file?cut=90000", to: folder.path("file"),
            options: RequestOptions(trace: trace))
        #expect(result.byteCount == Int64(DownloadServer.size) && result.resumedFrom == 0)
        #expect(try folder.read("file") == DownloadServer.file)
        #expect(trace.attempts.flatMap(\.hops).map(\.status) == [200, 206])
        #expect(trace.attempts.flatMap(\.hops).map(\.failure) == ["cut-off", nil])
        await system.shutdown()
    }
}

import Foundation
import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Rules with CAs of their own, which count only for their hosts.
///
/// The engine trusts one CA. A second CA issued certificates for the same names at another port.
@Suite struct TrustStoreTests {
    private let authority: TestAuthority
    private let other: TestAuthority
    private let folder: TemporaryDirectory

    init() throws {
        authority = try TestAuthority.trusted.get()
        other = try TestAuthority.rogue.get()
        folder = try TemporaryDirectory()
    }

    /// A policy in which `b.example.com` has the other authority's root, and pins or none.
    private func policy(
        _ mode: String, file: String? = nil, pins: [String] = []
    ) throws -> PinPolicy {
        let pinned = pins.map { "\"\($0)\"" }.joined(separator: ",")
        let what = pins.isEmpty ? #""exclude":true"# : #""pins":[\#(pinned)]"#
        let text = """
            {"hosts":{"b.example.com":{\(what),"caFile":"\(file ?? other.root.pem)","caMode":"\(mode)"}},
            "unlisted":"allow"}
            """
        return try PinPolicy(parsing: Array(text.utf8), filesIn: folder.url.path)
    }

    private func request(
        _ host: String, _ port: Int, _ path: String = "/plain", policy: PinPolicy?
    ) throws -> EngineRequest {
        var request = EngineRequest(get(port, path, host: host), policy: policy)
        request.timeout = .seconds(300)
        request.connectTo = [
            EngineRequest.ConnectTo(
                host: nil, port: nil, address: try HostName.canonical("127.0.0.1"),
                addressPort: nil)
        ]
        return request
    }

    private static let directives = "location /plain { return 200 'x'; }"

    @Test(arguments: [false, true])
    func aRulesCAIsUsedOnlyForItsHost(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(
            certificate: other.leaf, directives: Self.directives)
        let engine = try engine(http2: overHTTP2)
        for mode in ["replace", "add"] {
            let policy = try policy(mode)
            // The first rounds open connections and sessions that later ones must not ride on.
            for _ in 0..<2 {
                let (response, _) = try await engine.fetch(
                    request("b.example.com", host.port, "/plain?good", policy: policy))
                #expect(response.httpVersion.major == (overHTTP2 ? 2 : 1))
                for name in ["a.example.com", "x.b.example.com", "localhost"] {
                    let error = await engine.failure(
                        try request(name, host.port, "/plain?bad", policy: policy))
                    #expect(error?.code == .tls, "\(name) \(mode)")
                }
                for without in [nil, try PinPolicy(rules: [], unlisted: .allow)] {
                    let error = await engine.failure(
                        try request("b.example.com", host.port, "/plain?bad", policy: without))
                    #expect(error?.code == .tls)
                }
            }
        }
        _ = try await engine.fetch(
            request("b.example.com", host.port, "/plain?last", policy: policy("add")))
        let requests = try await host.requests(count: 5)
        #expect(requests.count == 5 && !requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }

    @Test func replacingLeavesTheUsualCAsOut() async throws {
        let host = try await OrdersHost.start(directives: Self.directives)
        let engine = try engine()
        let usual = try PinPolicy(rules: [], unlisted: .allow)
        // A pooled connection and a session of the usual store come first.
        _ = try await engine.fetch(request("b.example.com", host.port, policy: usual))
        let refused = await engine.failure(
            try request("b.example.com", host.port, "/plain?bad", policy: policy("replace")))
        #expect(refused?.code == .tls)
        _ = try await engine.fetch(request("b.example.com", host.port, policy: policy("add")))
        _ = try await engine.fetch(request("b.example.com", host.port, policy: usual))
        let requests = try await host.requests(count: 3)
        #expect(requests.count == 3 && !requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aSessionOfOneStoreIsNotResumedInAnother(version: String) async throws {
        // s_server -www closes after each response, so the next call resumes the session if it may.
        let server = try await OpenSSLServer(other.identity, options: [version])
        let engine = try engine(http2: false)
        var resumed: [Bool] = []
        for _ in 0..<3 {
            let (_, body) = try await engine.fetch(
                request("b.example.com", server.port, policy: policy("replace")))
            resumed.append(String(decoding: body, as: UTF8.self).contains("Reused, "))
            let error = await engine.failure(
                try request("b.example.com", server.port, policy: nil))
            #expect(error?.code == .tls)
        }
        #expect(resumed == [false, true, true])
        await engine.shutdown()
    }

    @Test func pinsHoldBesidesTheCAs() async throws {
        let server = try await OpenSSLServer(other.identity)
        let engine = try engine(http2: false)
        let right = try policy("replace", pins: [other.root.pin])
        let (response, _) = try await engine.fetch(
            request("b.example.com", server.port, policy: right))
        #expect(response.peerChain.last?.pin.text == other.root.pin)
        let wrong = try policy("replace", pins: [authority.root.pin, wrongPin])
        let error = await engine.failure(
            try request("b.example.com", server.port, policy: wrong))
        #expect(error?.code == .pinMismatch)
        await engine.shutdown()
    }

    @Test func aPolicyKeepsTheFileThatItWasReadWith() async throws {
        let server = try await OpenSSLServer(other.identity)
        let engine = try engine(http2: false)
        let root = try Data(contentsOf: URL(filePath: other.root.pem))
        try folder.write(root, to: "ca.pem")
        let before = try policy("replace", file: "ca.pem")
        try folder.write(Data(contentsOf: URL(filePath: authority.root.pem)), to: "ca.pem")
        let after = try policy("replace", file: "ca.pem")
        #expect(before != after)
        for _ in 0..<2 {
            _ = try await engine.fetch(request("b.example.com", server.port, policy: before))
            let error = await engine.failure(
                try request("b.example.com", server.port, policy: after))
            #expect(error?.code == .tls)
        }
        await engine.shutdown()
    }

    @Test func manyStoresReplaceEachOther() async throws {
        let server = try await OpenSSLServer(other.identity)
        let engine = try engine(http2: false)
        let root = try Data(contentsOf: URL(filePath: other.root.pem))
        for count in 1...40 {
            try folder.write(
                (0..<count).reduce(into: Data()) { all, _ in all += root }, to: "ca.pem")
            _ = try await engine.fetch(
                request(
                    "b.example.com", server.port, policy: policy("replace", file: "ca.pem")))
        }
        let error = await engine.failure(try request("b.example.com", server.port, policy: nil))
        #expect(error?.code == .tls)
        await engine.shutdown()
    }

    @Test(arguments: [false, true]) func manyStoresAtOnceWork(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(
            certificate: other.leaf, directives: Self.directives)
        let engine = try engine(http2: overHTTP2)
        let root = try Data(contentsOf: URL(filePath: other.root.pem))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for count in 1...60 {
                try folder.write(
                    (0..<count).reduce(into: Data()) { all, _ in all += root }, to: "ca.pem")
                let request = try request(
                    "b.example.com", host.port, policy: policy("replace", file: "ca.pem"))
                group.addTask {
                    for _ in 0..<3 {
                        let (response, _) = try await engine.fetch(request)
                        #expect(response.response.status == .ok)
                    }
                }
            }
            try await group.waitForAll()
        }
        await engine.shutdown()
    }

    @Test func aProbeTrustsTheRulesCAs() async throws {
        let server = try await OpenSSLServer(other.identity)
        let engine = try engine()
        let target = try Authority(parsing: "b.example.com:\(server.port)")
        let connectTo = try request("b.example.com", server.port, policy: nil).connectTo
        let trusted = try await engine.probe(
            target, connectTo: connectTo, policy: policy("replace"))
        #expect(trusted.isTrusted)
        let untrusted = try await engine.probe(target, connectTo: connectTo)
        #expect(!untrusted.isTrusted)
        await engine.shutdown()
    }
}

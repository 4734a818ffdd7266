import Foundation
import HTTPTypes
import SignetCrypto
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Client certificates: who is seen by the server, what is never shared, and what a refusal says.
@Suite struct ClientCertificateTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// nginx that demands a client certificate and tells whose it is.
    private func host(keptFor requests: Int = 1000) async throws -> OrdersHost {
        try await OrdersHost.start(
            directives: """
                ssl_client_certificate \(authority.root.pem);
                ssl_verify_client on;
                ssl_verify_depth 3;
                keepalive_requests \(requests);
                location /who { return 200 "$ssl_client_s_dn $ssl_session_reused $server_protocol"; }
                """)
    }

    private func certificate(_ name: String) throws -> ClientCertificate {
        let client = try authority.client(name)
        return try ClientCertificate(.file(client.chain), key: .file(client.key))
    }

    private func request(
        _ port: Int, _ certificate: ClientCertificate?, path: String = "/who"
    ) -> EngineRequest {
        var request = EngineRequest(get(port, path), timeout: .seconds(120))
        request.clientCertificate = certificate
        return request
    }

    /// 1,000 calls of two identities, 40 at once, others one after the other, and one of none:
    /// the server sees each as it is.
    @Test(arguments: [false, true]) func neverMixesIdentities(overHTTP2: Bool) async throws {
        let host = try await host(keptFor: overHTTP2 ? 100 : 7)
        let engine = try engine(http2: overHTTP2)
        let certificates = try [certificate("ann"), certificate("bob")]
        let seen = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            var next = 0
            var seen: [(Int, String)] = []
            func add() {
                let index = next
                next += 1
                let request = request(host.port, certificates[index % 2])
                group.addTask {
                    let (_, body) = try await engine.fetch(request)
                    return (index % 2, text(body))
                }
            }
            for _ in 0..<40 { add() }
            while let one = try await group.next() {
                seen.append(one)
                if next < 1000 { add() }
            }
            // One after the other until all connections have been used up, so that a new one
            // resumes a session.
            while next < 10_000, seen.last?.1.contains(" r ") != true {
                add()
                if let one = try await group.next() { seen.append(one) }
            }
            return seen
        }
        #expect(seen.count >= 1000)
        for (index, text) in seen {
            #expect(text.hasPrefix(index == 0 ? "CN=ann " : "CN=bob "), "\(index): \(text)")
        }
        #expect(seen.contains { $0.1.contains(" r ") }, "no session was resumed")
        #expect(seen.allSatisfy { $0.1.hasSuffix(overHTTP2 ? "HTTP/2.0" : "HTTP/1.1") })
        // Without a certificate there's neither a connection nor a session of the others'.
        let (response, _) = try await engine.fetch(request(host.port, nil))
        #expect(response.response.status.code == 400)
        #expect(response.certificateRequest == .unanswered)
        await engine.shutdown()
    }

    @Test func aCertificateIsReplacedUnderLoad() async throws {
        let host = try await host(keptFor: 20)
        let folder = try TemporaryDirectory()
        func write(_ name: String) async throws {
            let client = try authority.client(name)
            // Key and certificate are replaced one after the other, as a renewal does.
            for (from, to) in [(client.key, "key.pem"), (client.chain, "chain.pem")] {
                try folder.write(Data(contentsOf: URL(filePath: from)), to: "new")
                let moved = try await ChildProcess.run(
                    "/bin/mv", [folder.path("new"), folder.path(to)])
                #expect(moved.exit == 0)
            }
        }
        try await write("first")
        let certificate = try ClientCertificate(
            .file(folder.path("chain.pem")), key: .file(folder.path("key.pem")))
        let engine = try engine()
        for round in 1...5 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    let request = request(host.port, certificate)
                    group.addTask {
                        let (response, body) = try await engine.fetch(request)
                        #expect(response.response.status == .ok, "\(text(body))")
                    }
                }
                group.addTask { try await write("renewed-\(round)") }
                try await group.waitForAll()
            }
            let (_, body) = try await engine.fetch(request(host.port, certificate))
            #expect(text(body).hasPrefix("CN=renewed-\(round) "), "\(text(body))")
        }
        #expect(certificate.subject == "CN=renewed-5")
        await engine.shutdown()
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func saysThatACertificateIsMissing(_ version: String) async throws {
        let server = try await server(version)
        let engine = try engine(http2: false)
        let error = await engine.failure(request(server.port, nil))
        #expect(error?.code == .tls, "\(error?.message ?? "")")
        #expect(error?.message.contains("client certificate") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("--client-cert") == true, "\(error?.message ?? "")")
        await engine.shutdown()
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func saysWhyACertificateIsRefused(_ version: String) async throws {
        let stranger = try TestAuthority.rogue.get().client("stranger")
        let revoked = try authority.client("revoked")
        let good = try authority.client("good")
        let list = try authority.revoking(revoked)
        let cases: [(TestAuthority.Certificate, [String], String)] = [
            (stranger, [], "doesn't know its CA"),
            (revoked, ["-crl_check", "-CRL", list], "revoked"),
            (good, ["-attime", "2540000000"], "expired"),
            (authority.leaf, ["-purpose", "sslclient"], "refuses the client certificate"),
        ]
        for (client, options, expected) in cases {
            let server = try await server(version, options)
            let engine = try engine(http2: false)
            let certificate = try ClientCertificate(.file(client.chain), key: .file(client.key))
            let error = await engine.failure(request(server.port, certificate))
            #expect(
                error?.code == .tls && error?.message.contains(expected) == true,
                "\(expected): \(error?.code.name ?? "") \(error?.message ?? "")")
            #expect(error?.message.contains(certificate.subject) == true, "\(error?.message ?? "")")
            await engine.shutdown()
        }
    }

    private func server(_ version: String, _ options: [String] = []) async throws -> OpenSSLServer {
        try await OpenSSLServer(
            authority.identity,
            options: [
                version, "-Verify", "3", "-verify_return_error", "-CAfile", authority.root.pem,
            ] + options)
    }

    @Test(arguments: [
        ("20200101000000Z", "20210101000000Z", "expired at 2021-01-01"),
        ("20480101000000Z", "20491231235959Z", "valid from 2048-01-01"),
    ])
    func sendsNothingWithACertificateThatIsNotValid(
        _ from: String, _ to: String, _ expected: String
    ) async throws {
        let host = try await host()
        let client = try authority.client("late", from: from, to: to)
        let certificate = try ClientCertificate(.file(client.chain), key: .file(client.key))
        let engine = try engine()
        let error = await engine.failure(request(host.port, certificate, path: "/who?bad"))
        #expect(error?.code == .clientCertificate, "\(error?.message ?? "")")
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
        _ = try await engine.fetch(request(host.port, self.certificate("good")))
        #expect(try await host.requests(count: 1).allSatisfy { !$0.contains("bad") })
        await engine.shutdown()
    }

    /// 200 services, each with a CA and a client certificate of its own, by one loop.
    @Test func twoHundredServicesOfTheirOwnCAs() async throws {
        let folder = try TemporaryDirectory()
        let port = freePort()
        let server = try await ServerProcess.start(
            PythonPeer.path,
            ["-I", PythonPeer.script("many-identities"), "\(port)", folder.path, "200"],
            ready: .listening(port: port))
        defer { withExtendedLifetime(server) {} }
        let engine = try CurlEngine()
        let address = try HostName.canonical("127.0.0.1")
        let requests = try (0..<200).map { number in
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.path("client-\(number).pem"))
            let host = "s\(number).example.test"
            let rule =
                #""\#(host)":{"exclude":true,"caFile":"\#(folder.path("ca-\(number).pem"))","caMode":"replace"}"#
            let policy = try PinPolicy(
                parsing: Array("{\"hosts\":{\(rule)}}".utf8), filesIn: folder.path)
            var request = EngineRequest(
                get(port, host: host), policy: policy, timeout: .seconds(300))
            request.connectTo = [.init(host: nil, port: nil, address: address, addressPort: nil)]
            request.clientCertificate = try ClientCertificate(
                .file(folder.path("client-\(number).pem")))
            return request
        }
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, request) in requests.enumerated() {
                    group.addTask {
                        let (_, body) = try await engine.fetch(request)
                        #expect(text(body) == "client-\(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        #expect(after < threads + 20, "\(threads) threads became \(after)")
        // Another service's CA or certificate is of no use.
        for (one, other) in [(3, 4), (199, 0)] {
            var mixed = requests[one]
            mixed.clientCertificate = requests[other].clientCertificate
            let refusal = await engine.failure(mixed)
            #expect(refusal?.code == .tls, "\(refusal?.message ?? "a response")")
            mixed = requests[one]
            mixed.clientCertificate = nil
            #expect(await engine.failure(mixed) != nil)
        }
        await engine.shutdown()
    }
}

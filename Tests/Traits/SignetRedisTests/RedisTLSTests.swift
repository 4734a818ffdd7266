import SignetRedis
import SignetSigning
import TestSupport
import Testing

/// A Redis through TLS, with trusted and untrusted certificates.
@Suite struct RedisTLSTests {
    private func start(
        _ certificate: TestAuthority.Certificate, _ more: [String] = []
    ) async throws -> (host: RedisHost, options: RedisNonceStore.Options) {
        let authority = try TestAuthority.trusted.get()
        let port = freePort()
        let host = try await RedisHost.start(
            [
                "--tls-port", "\(port)", "--tls-cert-file", certificate.chain,
                "--tls-key-file", certificate.key, "--tls-ca-cert-file", authority.caFile,
                "--tls-auth-clients", "no",
            ] + more)
        var options = RedisNonceStore.Options.patient(.host("127.0.0.1", port: port))
        options.tls = .init()
        options.tls?.authorityFile = authority.caFile
        return (host, options)
    }

    /// By name and by address.
    @Test func connectsToATrustedServer() async throws {
        let (host, options) = try await start(TestAuthority.trusted.get().leaf)
        let store = try RedisNonceStore(options)
        for number in 0..<20 {
            #expect(await store.code("n\(number)") == "no error")
            #expect(await store.code("n\(number)") == "replayed-nonce")
        }
        var named = options
        named.tls?.name = "www.example.com"
        #expect(await (try RedisNonceStore(named)).code("n0") == "replayed-nonce")
        #expect(try await host.ask("DBSIZE") == "20")
        // A connection that ended is noticed over TLS too.
        _ = try await host.ask("CLIENT", "KILL", "TYPE", "normal")
        #expect(await store.code("x") == "no error")
    }

    @Test func sharesFewConnections() async throws {
        let (host, options) = try await start(TestAuthority.trusted.get().leaf)
        let store = try RedisNonceStore(options)
        let count = 300
        let passed = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var passed = 0
                    for number in 0..<count where await store.code("n\(number)") == "no error" {
                        passed += 1
                    }
                    return passed
                }
            }
            return await group.reduce(0, +)
        }
        #expect(passed == count)
        #expect(try await host.ask("DBSIZE") == "\(count)")
    }

    /// Its certificate has an unknown issuer or another name.
    @Test func sendsNoCommandToAnUntrustedServer() async throws {
        let authority = try TestAuthority.trusted.get()
        let rogue = try TestAuthority.rogue.get()
        let expired = try authority.issue(from: "20200101000000Z", to: "20210101000000Z")
        for (certificate, name, wanted) in [
            (rogue.leaf, nil, "unable to get local issuer certificate"),
            (try authority.selfSigned(), nil, "self-signed certificate"),
            (expired, nil, "certificate has expired"),
            (authority.leaf, "example.org", "mismatch"), (authority.leaf, "127.0.0.2", "mismatch"),
            (authority.leaf, "example.co", "mismatch"),
        ] {
            let (host, base) = try await start(certificate)
            var options = base
            options.tls?.name = name
            let store = try RedisNonceStore(options)
            let found = await words { try await store.check() }
            #expect(found.hasPrefix("nonce-store-unavailable: "), "\(found)")
            #expect(found.contains(wanted), "\(found)")
            #expect(await store.code("a") == "nonce-store-unavailable")
            #expect(try await host.ask("DBSIZE") == "0")
        }
    }

    @Test func needsTLSOnBothSides() async throws {
        let (host, options) = try await start(TestAuthority.trusted.get().leaf)
        // Either side may wait for the other.
        var bare = options
        bare.tls = nil
        bare.commandTimeout = .milliseconds(500)
        bare.connectTimeout = .milliseconds(500)
        #expect(await (try RedisNonceStore(bare)).code("a") == "nonce-store-unavailable")
        var wrapped = host.options
        wrapped.tls = options.tls
        wrapped.connectTimeout = .milliseconds(500)
        #expect(await (try RedisNonceStore(wrapped)).code("a") == "nonce-store-unavailable")
        #expect(try await host.ask("DBSIZE") == "0")
    }

    @Test func showsItsCertificate() async throws {
        let authority = try TestAuthority.trusted.get()
        let client = try authority.selfSigned(host: "client")
        let (host, options) = try await start(
            authority.leaf,
            ["--tls-auth-clients", "yes", "--tls-ca-cert-file", client.pem])
        #expect(await (try RedisNonceStore(options)).code("a") == "nonce-store-unavailable")
        var known = options
        known.tls?.certificateFile = client.pem
        known.tls?.keyFile = client.key
        #expect(await (try RedisNonceStore(known)).code("a") == "no error")
        known.tls?.keyFile = authority.root.key
        #expect(await (try RedisNonceStore(known)).code("b") == "nonce-store-unavailable")
        #expect(try await host.ask("DBSIZE") == "1")
    }

    @Test func refusesFilesThatAreNotPEM() async throws {
        let (host, options) = try await start(TestAuthority.trusted.get().leaf)
        let folder = try TemporaryDirectory()
        for path in [folder.path("absent"), try folder.write("no PEM", to: "text"), folder.path] {
            var changed = options
            changed.tls?.authorityFile = path
            #expect(await (try RedisNonceStore(changed)).code("a") == "nonce-store-unavailable")
            changed = options
            changed.tls?.certificateFile = path
            #expect(await (try RedisNonceStore(changed)).code("a") == "nonce-store-unavailable")
        }
        #expect(try await host.ask("DBSIZE") == "0")
    }

    @Test(arguments: [FakeRedis.Manner.isSilent])
    func givesUpOnAnEndlessHandshake(_ manner: FakeRedis.Manner) async throws {
        let fake = try await FakeRedis(manner)
        var options = fake.options
        options.connectTimeout = .milliseconds(200)
        options.tls = .init()
        #expect(
            await words { try await RedisNonceStore(options).check() }.contains("in time"))
    }
}

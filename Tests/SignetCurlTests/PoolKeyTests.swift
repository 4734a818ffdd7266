import SignetPinning
import SignetTransport
import TestSupport
import Testing

@testable import SignetCurl

/// Which calls share connections and sessions.
///
/// The tests examine the key that decides this. A libcurl that separates proxy logins itself
/// (CVE-2026-3784) would hide a mistake of Signet from every test with real connections.
@Suite struct PoolKeyTests {
    private func key(_ proxy: String?, login: String? = nil) throws -> PoolKey {
        var parsed = try proxy.map { text throws in try Proxy(parsing: text) }
        if let login { try parsed?.setCredentials(Array(login.utf8)) }
        return PoolKey(proxy: parsed)
    }

    private func store(_ caFile: String?, _ authorities: PinAuthorities? = nil) -> TrustStore {
        TrustStore(caFile: caFile, authorities: authorities)
    }

    @Test(arguments: ["http://p.test:1", "https://p.test:1"])
    func loginsOfAnHTTPProxyShareNothing(_ proxy: String) throws {
        let own = try key(proxy, login: "u:p")
        let same = try key(proxy.uppercased(), login: "u:p")
        #expect(own == same && own.hashValue == same.hashValue)
        for login in [nil, "u:", ":p", "v:p", "u:P", "u:p ", "up:", "U:p", "u:p:"] {
            #expect(try key(proxy, login: login) != own, "\(login ?? "none")")
        }
        #expect(try key(proxy + "0", login: "u:p") != own)
        #expect(try key("http://q.test:1", login: "u:p") != own)
        #expect(try key(nil) != own)
    }

    @Test func othersShareALoop() throws {
        // Without a login, and of SOCKS with one, libcurl's own pool keeps ways apart.
        for proxy in ["http://p.test:1", "socks5h://p.test:1"] {
            #expect(try key(proxy) == key(nil))
            #expect(try key(proxy).multiplexes)
        }
        #expect(try key("socks5://p.test:1", login: "u:p") == key(nil))
    }

    @Test func anHTTPSProxyHasALoopOfItsOwn() throws {
        let behind = try key("https://p.test:1")
        #expect(try behind != key(nil) && behind == key("https://q.test:2"))
        #expect(!behind.multiplexes)
        #expect(try !key("https://p.test:1", login: "u:p").multiplexes)
    }

    @Test func filesWhoseNamesDifferInBytesAreTwoStores() throws {
        let composed = "/ca/\u{E9}.pem"
        let decomposed = "/ca/e\u{301}.pem"
        #expect(composed == decomposed)  // to Swift, and to no file system here
        #expect(store(composed) != store(decomposed))
        let file = try TestAuthority.trusted.get().caFile
        let added = try PinAuthorities(file: file, mode: .add)
        #expect(store(composed, added) != store(decomposed, added))
        #expect(store(composed) == store(composed))
        #expect(store(composed) != store(nil))
    }

    @Test func authoritiesDifferByContentAndMode() throws {
        let file = try TestAuthority.trusted.get().caFile
        let added = try PinAuthorities(file: file, mode: .add)
        let replacing = try PinAuthorities(file: file, mode: .replace)
        let others = try PinAuthorities(file: TestAuthority.rogue.get().caFile, mode: .add)
        for (one, other) in [(added, replacing), (added, others), (added, nil)] {
            #expect(store(nil, one) != store(nil, other))
        }
        // With "replace" the engine's own file is not looked at.
        #expect(store("/a", replacing) == store("/b", replacing))
        #expect(store("/a", added) != store("/b", added))
    }
}

extension PoolKeyTests {
    @Test func tooManyLoopsUnderWayLackResources() async throws {
        _ = try LibcurlCheck.check()
        let pool = try LoopPool(EngineSettings(), hasRoute: { true })
        func reserve(_ number: Int) throws(TransportError) {
            var proxy = try Proxy(parsing: "http://p.test:1")
            try proxy.setCredentials(Array("user\(number):p".utf8))
            _ = try pool.loop(proxy: proxy)
        }
        // With the engine's own one, these are all the loops that an engine has.
        for number in 1...15 { try reserve(number) }
        try reserve(15)
        let error = #expect(throws: TransportError.self) { try reserve(16) }
        #expect(error?.code == .resources, "\(error?.message ?? "")")
        await pool.shutdown()
    }
}

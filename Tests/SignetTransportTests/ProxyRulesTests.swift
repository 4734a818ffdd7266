import SignetPinning
import SignetTransport
import Testing

/// Valid URLs of proxies, and hosts that are called without one.
@Suite struct ProxyRulesTests {
    @Test(arguments: [
        ("http://proxy.test:3128", "http://proxy.test:3128"),
        ("proxy.test:3128", "http://proxy.test:3128"), ("proxy.test", "http://proxy.test:1080"),
        ("https://Proxy.Test./", "https://proxy.test:443"),
        ("socks5h://[::1]:9050", "socks5h://[::1]:9050"), ("SOCKS4A://p", "socks4a://p:1080"),
        ("socks5://127.1:1", "socks5://127.0.0.1:1"),
    ])
    func reads(_ text: String, _ url: String) throws {
        #expect(try Proxy(parsing: text).url == url)
    }

    @Test(arguments: [
        "", "http://", "ftp://proxy.test", "socks4://proxy.test", "http://proxy.test/path",
        "http://proxy.test:0", "http://proxy.test:65536", "http://pro xy.test",
        "http://proxy.test?x",
        "http://user:s3cr3t@proxy.test:1", "s3cr3t@proxy.test", "http://proxy.test:1\r\nX: s3cr3t",
    ])
    func refuses(_ text: String) {
        let error = #expect(throws: TransportError.self) { try Proxy(parsing: text) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("s3cr3t") == false)
    }

    @Test(arguments: [
        "http://proxy.test\\@evil.test:1", "http://proxy.test\\:s3cr3t@evil.test:1",
        "http://u:s3cr3t@proxy.test\\", "http://proxy.test/@evil.test",
        "http://u:s3/cr3t@proxy.test",
        "http://proxy.test?@evil.test", "http://proxy.test#@evil.test",
        "http://u:s3cr3t@proxy.test\t",
        "http://u:s3cr3t@proxy.test\r\nX: y", "http://u\u{7F}:s3cr3t@proxy.test",
    ])
    func refusesAnEnvironmentsURLWhoseHostIsInDoubt(_ text: String) {
        let error = #expect(throws: TransportError.self) {
            try ProxyRules(environment: ["https_proxy": text])
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("s3") == false && error?.message.contains(".test") == false)
    }

    @Test func credentialsAreInNoDescription() throws {
        var proxy = try Proxy(parsing: "http://us%40er:s3%63r3t@p.test:1", allowsCredentials: true)
        #expect(proxy.credentialBytes() == Array("us@er\0s3cr3t\0".utf8))
        try proxy.setCredentials(Array("a:b:c".utf8))
        #expect(proxy.credentialBytes() == Array("a\0b:c\0".utf8))
        try proxy.setCredentials(Array("ZZZZZZ:ZZZZZZ".utf8))
        var dumped = ""
        dump(proxy, to: &dumped)
        dump(ProxyRules(proxy), to: &dumped)
        for text in ["\(proxy)", String(reflecting: proxy), dumped, "\(ProxyRules(proxy))"] {
            #expect(!text.contains("ZZZZZZ"))
        }
        for bad in ["a:b\r\nX: y", "a\0:b", String(repeating: "u", count: 256)] {
            #expect(throws: TransportError.self) { try proxy.setCredentials(Array(bad.utf8)) }
        }
        #expect(throws: TransportError.self) {
            try Proxy(parsing: "socks4a://u:p@p.test", allowsCredentials: true)
        }
        #expect(throws: TransportError.self) {
            try Proxy(parsing: "http://u%0:p@p.test", allowsCredentials: true)
        }
    }

    @Test(arguments: [
        ("*", "any.test", true), ("example.com", "example.com", true),
        ("example.com", "a.b.example.com", true), (".example.com", "example.com", true),
        ("*.example.com", "a.example.com", true), ("EXAMPLE.com.", "a.example.com", true),
        ("example.com:443", "example.com", true), ("example.com:8443", "example.com", false),
        ("example.com", "notexample.com", false), ("example.com", "example.com.evil.test", false),
        ("a.test, b.test", "b.test", true), ("a.test b.test", "b.test", true),
        ("", "a.test", false),
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("0.0.0.0/0", "8.8.8.8", true), ("127.0.0.1", "127.1", true),
        ("1.2.3.4/33", "1.2.3.4", false),
        ("10.1.2.3/8", "10.200.0.1", true), ("192.168.4.0/22", "192.168.7.255", true),
        ("192.168.4.0/22", "192.168.8.0", false), ("1.2.3.4/32", "1.2.3.4", true),
        ("1.2.3.4/32", "1.2.3.5", false), ("1.2.3.4/31", "1.2.3.5", true),
        ("1.2.3.4/", "1.2.3.4", false), ("1.2.3.4/-1", "1.2.3.4", false),
        ("1.2.3.4/+8", "1.2.3.4", false), ("1.2.3.4/8/8", "1.2.3.4", false),
        ("1.2.3.4/0x8", "1.2.3.4", false), ("/8", "1.2.3.4", false), ("a.test/8", "a.test", false),
        ("fd00::/8", "[fd12:3456::1]", true), ("[fd00::]/8", "[fdff::]", true),
        ("fd00::/8", "[fe00::1]", false), ("2001:db8::/33", "[2001:db8:7fff::1]", true),
        ("2001:db8::/33", "[2001:db8:8000::1]", false), ("::/0", "[2001:db8::1]", true),
        ("::1/128", "[::1]", true), ("::1/128", "[::2]", false), ("::1/129", "[::1]", false),
        ("fe80::%eth0/10", "[fe80::1]", false), ("::/0", "1.2.3.4", false),
        ("0.0.0.0/0", "[::1]", false), ("10.0.0.0/8", "[::ffff:10.0.0.1]", true),
        ("::ffff:0:0/96", "[::ffff:10.0.0.1]", true), ("::ffff:0:0/96", "10.0.0.1", true),
        ("[::ffff:10.0.0.0]/104", "10.255.0.1", true), ("::ffff:10.0.0.0/104", "11.0.0.1", false),
        ("::ffff:0:0/95", "10.0.0.1", false), ("::ffff:0:0/129", "10.0.0.1", false),
        ("fd00::/8", "fd00.test", false),
        ("10.0.0.0/8", "10.example.com", false), ("::1", "[::1]", true), ("[::1]", "[0::1]", true),
        ("<local>,b.test", "b.test", true), ("0.0.1", "10.0.0.1", false), ("test", "a.test", true),
        ("a.test\nb.test", "b.test", true), ("a.test\r\nb.test\r\n", "a.test", true),
    ])
    func excepts(_ list: String, _ host: String, _ isDirect: Bool) throws {
        let exceptions = ProxyExceptions(parsing: list)
        #expect(exceptions.contains(try HostName.canonical(host), port: 443) == isDirect)
    }

    @Test func theEnvironmentIsReadByItsRules() throws {
        func way(_ environment: [String: String], _ url: String = "https") throws -> String? {
            try ProxyRules(environment: environment).proxy(
                for: WebOrigin(scheme: url, authority: "a.test"))?.url
        }
        #expect(try way([:]) == nil)
        #expect(try way(["https_proxy": "p.test:1"]) == "http://p.test:1")
        #expect(try way(["HTTPS_PROXY": "p.test:1"]) == "http://p.test:1")
        #expect(try way(["https_proxy": "", "HTTPS_PROXY": "p.test:1"]) == nil)
        #expect(try way(["https_proxy": "p.test:1"], "http") == nil)
        #expect(try way(["http_proxy": "p.test:1"], "http") == "http://p.test:1")
        #expect(try way(["HTTP_PROXY": "p.test:1"], "http") == nil)
        #expect(try way(["ALL_PROXY": "p.test:1", "all_proxy": "p.test:1"]) == nil)
        #expect(try way(["https_proxy": "p.test:1", "no_proxy": "a.test"]) == nil)
        #expect(try way(["https_proxy": "p.test:1", "NO_PROXY": "a.test"]) == nil)
        #expect(
            try way(["https_proxy": "p.test:1", "NO_PROXY": "a.test", "no_proxy": ""])
                == "http://p.test:1")
        let error = #expect(throws: TransportError.self) {
            try way(["https_proxy": "ftp://u:s3cr3t@p.test"])
        }
        #expect(error?.message.hasPrefix("https_proxy: ") == true)
        #expect(error?.message.contains("s3cr3t") == false)
    }
}

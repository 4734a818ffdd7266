import SignetTransport
import Testing

/// Valid URLs of requests, and their parts.
@Suite struct WebURLTests {
    @Test func readsTheParts() throws {
        let url = try WebURL(parsing: "HTTPS://API.test:443/a/%2E?b=c/d?e")
        #expect(url.origin.description == "https://api.test" && url.authority == "API.test:443")
        #expect(url.path == "/a/%2E" && url.query == "b=c/d?e" && url.target == "/a/%2E?b=c/d?e")
        #expect(try WebURL(parsing: "http://api.test?q").target == "/?q")
        #expect(try WebURL(parsing: "http://api.test").target == "/")
    }

    @Test func isTheSameHoweverItsHostIsWritten() throws {
        let url = try WebURL(parsing: "https://API.test:443/a")
        #expect(try url == WebURL(parsing: "https://api.test/a"))
        #expect(try url.hashValue == WebURL(parsing: "https://api.test/a").hashValue)
        let others = [
            "http://api.test:443/a", "https://b.test/a", "https://api.test:444/a",
            "https://api.test/A", "https://api.test/a?",
        ]
        for other in others { #expect(try url != WebURL(parsing: other), "\(other)") }
    }

    @Test(arguments: [
        "", "api.test", "https:///a", "https://:443/", "https://u:s3cr3t@api.test/",
        "ftp://api.test/",
        "https://api.test/#a", "https://api.test#", "https://b\u{FC}cher.test/", "https://a..test/",
        "https://api.test:0/", "https://api.test:x/", "https://api test/", "https://api.test/a\\b",
        "https://api.test/\n", "https://[::1/",
        "https://api.test/" + String(repeating: "a", count: 65536),
    ])
    func refuses(_ text: String) {
        let error = #expect(throws: TransportError.self) { try WebURL(parsing: text) }
        #expect(error?.code == .invalidRequest && error?.message.contains("s3cr3t") == false)
    }

    @Test func replacesTheTarget() throws {
        let url = try WebURL(parsing: "https://API.test:443/a?b")
        for target in ["/c", "/c?d", "?e", "", "/"] {
            let other = try url.replacing(target: target)
            #expect(try other == WebURL(parsing: "https://api.test\(target)"))
            #expect(other.authority == url.authority)
        }
    }

    @Test(arguments: [
        "a", ".evil.test/", "@evil.test/", ":1/", "#", "/#a", "/a b", "/\\", "/\u{FC}",
    ])
    func refusesATarget(_ target: String) throws {
        let url = try WebURL(parsing: "https://api.test/")
        let error = #expect(throws: TransportError.self) { try url.replacing(target: target) }
        #expect(error?.code == .invalidRequest)
    }
}

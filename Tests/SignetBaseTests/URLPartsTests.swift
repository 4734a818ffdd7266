import SignetBase
import Testing

/// How a whole URL is split, and which URLs are malformed.
@Suite struct URLPartsTests {
    @Test func splitsAURL() throws {
        let parts = try URLParts(parsing: "HTTPS://user@host.test:1/a/b?c?d/e#f?g")
        #expect(parts.scheme == "https" && parts.authority == "user@host.test:1")
        #expect(parts.path == "/a/b" && parts.query == "c?d/e" && parts.fragment == "f?g")
    }

    @Test func splitsAnAuthorityBeforeAQueryOrFragment() throws {
        let query = try URLParts(parsing: "https://host.test?@other.test/")
        #expect(query.authority == "host.test" && query.path.isEmpty)
        #expect(query.query == "@other.test/" && query.fragment == nil)
        let fragment = try URLParts(parsing: "https://host.test#@other.test/")
        #expect(fragment.authority == "host.test" && fragment.query == nil)
        #expect(fragment.fragment == "@other.test/")
    }

    @Test(arguments: [
        "", "host.test", "https:host.test", "https:/host.test", "//host.test",
        "https:\\\\host.test",
        "https://other.test\\@pin.test", "https://host.test\\", "https://host.test/a\\b",
        "https://host.test/?a\\b", "https://host.test/#a\\b", "https://host.test\t",
        "https://ho\tst.test", "ht\ntps://host.test", "https://host.test/\r",
        "https://host.test/\n",
        "https://host.test/\r\n", " https://host.test", "https://host.test ",
        "https://host.test/\0",
        "https://host.test/\u{7F}", "https://host.test/\u{1B}[31m",
    ])
    func refuses(_ text: String) {
        let error = #expect(throws: HostError.self) { try URLParts(parsing: text) }
        #expect(error?.code == .badHost)
        #expect(error?.message.contains("test") == false)
    }
}

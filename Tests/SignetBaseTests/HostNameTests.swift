import SignetBase
import Testing

/// Host names in one canonical form.
@Suite struct HostNameTests {
    @Test(arguments: [
        // Letter case, trailing dot, percent escapes, full-width forms, ideographic dots.
        ("example.com", "example.com"), ("EXAMPLE.com", "example.com"),
        ("example.com.", "example.com"), ("pin%2etest", "pin.test"), ("pin%2Etest.", "pin.test"),
        ("%65xample.com", "example.com"), ("pin。test", "pin.test"), ("pin．test", "pin.test"),
        ("pin｡test", "pin.test"), ("ｐin.test", "pin.test"), ("ＰＩＮ．ＴＥＳＴ", "pin.test"),
        ("%EF%BD%90in.test", "pin.test"), ("a_b.example.com", "a_b.example.com"),
        ("-a-.example.com", "-a-.example.com"), ("localhost", "localhost"),
        // IDN (A-labels as libidn2 makes them) and A-labels unchanged.
        ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"), ("例え.jp", "xn--r8jz45g.jp"),
        ("中国。cn", "xn--fiqs8s.cn"), ("пример.рф", "xn--e1afmkfd.xn--p1ai"),
        ("ПРИМЕР.РФ", "xn--e1afmkfd.xn--p1ai"), ("παράδειγμα.gr", "xn--hxajbheg2az3al.gr"),
        ("한국.kr", "xn--3e0b707e.kr"), ("mañana.com", "xn--maana-pta.com"),
        // IPv4 as inet_aton reads it.
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("2130706433", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"), ("0x7f000001", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"), ("127.0.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"),
        ("１２７.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("4294967295", "255.255.255.255"),
        // IPv4-mapped: the same host.
        ("[::ffff:127.0.0.1]", "127.0.0.1"), ("::FFFF:7f00:1", "127.0.0.1"),
        ("[0:0:0:0:0:ffff:102:fe0c]", "1.2.254.12"), ("[::ffff:0:0]", "0.0.0.0"),
        // IPv6 as RFC 5952 writes it.
        ("::1", "::1"), ("[::1]", "::1"), ("[0:0:0:0:0:0:0:1]", "::1"),
        ("[2001:DB8:0:0:1:0:0:1]", "2001:db8::1:0:0:1"), ("[2001:db8::]", "2001:db8::"),
        ("[::fffe:127.0.0.1]", "::fffe:7f00:1"), ("[::127.0.0.1]", "::7f00:1"),
        ("[::ffff:0:127.0.0.1]", "::ffff:0:7f00:1"), ("[1::ffff:127.0.0.1]", "1::ffff:7f00:1"),
        ("[1:0:2:0:3:0:4:0]", "1:0:2:0:3:0:4:0"),
        ("[::]", "::"), ("[1:2:3:4:5:6:7::]", "1:2:3:4:5:6:7:0"),
    ])
    func bringsToOneForm(_ spelling: String, _ form: String) throws {
        #expect(try HostName.canonical(spelling).text == form)
    }

    @Test(arguments: [
        "", ".", "..", "a..b", ".a", "a..", "user@host", "user:pw@host", "user%40host", "host:443",
        "http://host", "host/path", "host?q", "host#f", "ho st", "ho\tst", "ho\u{0}st", "ho%00st",
        "ho\\st", "%", "%2", "%zz.test", "%ff.test", "*.host", "a*b", "host%2fpath", "host%3a80",
        "[::1", "::1]", "[::1]:443", "[fe80::1%25eth0]", "fe80::1%eth0", "[1::2::3]", "[:::]",
        "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[12345::]", "[::127.0.0.256]", "[::127.0.0.01]",
        "[127.0.0.1]", "[]", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "1.2.65536", "4294967296",
        "0x100000000", "08.1", "1.2.3.08", "a.1", "example.0x1", "example.123",
        "straße.de", "ΣΊΣΥΦΟς.gr", "a\u{200D}b.com", "a\u{0301}.com", "ﬁ.com", "ſ.com", "İ.com",
        "مثال.com", "ไทย.com", "☃.net", "ab--ü.de", "-ü.de", "ü-.de", "ü_.de", "\u{2024}.com",
    ])
    func refuses(_ spelling: String) {
        let error = #expect(throws: HostError.self) { try HostName.canonical(spelling) }
        #expect(error?.code == .badHost)
        #expect(error?.message.contains("pw") == false)
    }

    @Test func refusesLongNames() throws {
        let label = String(repeating: "a", count: 63)
        #expect(try HostName.canonical(label + ".com").text == label + ".com")
        #expect(throws: HostError.self) { try HostName.canonical(label + "a.com") }
        let long = Array(repeating: label, count: 4).joined(separator: ".")
        #expect(throws: HostError.self) { try HostName.canonical(long) }
    }

    @Test func refusesALongLabelBeforeItIsEncoded() {
        let label = String(repeating: "\u{4E00}", count: 64)
        let error = #expect(throws: HostError.self) { try HostName.canonical("\(label).test") }
        // The label's A-label would have another length.
        #expect(error?.message.contains("a label of 64 characters") == true)
    }

    @Test(arguments: ["\u{4E00}", "a", "\u{FF41}", "%E4%B8%80", "\u{4E00}."])
    func refusesALongHostBeforeItsLabelsAreRead(_ piece: String) {
        let host = String(repeating: piece, count: 16384 / piece.utf8.count)
        let error = #expect(throws: HostError.self) { try HostName.canonical(host) }
        #expect(error?.message.contains("bytes; a DNS name has at most 253") == true)
    }

    @Test func readsTheLongestLabelsInAllSpellings() throws {
        let label = String(repeating: "a", count: 63)
        let wide = String(repeating: "\u{FF41}", count: 63)
        let escaped = String(repeating: "%EF%BD%81", count: 63)
        let longest = [label, wide, escaped, String(label.dropLast(2))]
        let form = [label, label, label, String(label.dropLast(2))].joined(separator: ".")
        #expect(try HostName.canonical(longest.joined(separator: "\u{3002}") + ".").text == form)
    }

    @Test func namesASchemeAsOne() {
        for text in ["https://host", "HTTPS://host.example/path", "://host"] {
            let error = #expect(throws: HostError.self) { try HostName.canonical(text) }
            #expect(error?.message.contains("without a scheme") == true)
        }
    }

    @Test func suggestsASpellingForUnmappableNames() {
        let error = #expect(throws: HostError.self) { try HostName.canonical("straße.de") }
        #expect(error?.message.contains("xn--") == true)
    }

    @Test(arguments: [
        ("example.com", "example.com", 443), ("example.com:443", "example.com:443", 443),
        ("Example.com:8443", "example.com:8443", 8443), ("[::1]:80", "[::1]:80", 80),
        ("[::1]", "[::1]", 443), ("example.com:", "example.com", 443),
        ("127.1:1", "127.0.0.1:1", 1),
    ])
    func readsAuthorities(_ text: String, _ form: String, _ port: Int) throws {
        let authority = try Authority(parsing: text)
        #expect(authority.description == form)
        #expect(authority.port(scheme: "https") == port)
    }

    @Test(arguments: [
        "", ":443", "a:0", "a:65536", "a:+1", "a: 1", "a:1:2", "a:x", "u@a", "u:secret@a:1",
        "[::1]x", "[::1]80", "[::1", "::1", "a:000001",
    ])
    func refusesAuthority(_ text: String) {
        let error = #expect(throws: HostError.self) { try Authority(parsing: text) }
        #expect(error?.message.contains("secret") == false)
    }
}

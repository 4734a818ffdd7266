import HTTPTypes
import SignetSigning
import TestSupport
import Testing

/// Messages parsed from HTTP/1.1 text.
@Suite struct MessageParsingTests {
    @Test func readsBothLineEndings() throws {
        let body = "a\nb\r\n\r\nc"
        let lf = try SignableMessage(
            parsing: Array("PUT /x HTTP/1.1\nHost: h\nA:  1 \n\n\(body)".utf8))
        let crlf = try SignableMessage(
            parsing: Array("PUT /x HTTP/1.1\r\nHost: h\r\nA:\t1\r\n\r\n\(body)".utf8))
        #expect(lf == crlf)
        #expect(text(lf.serialized()) == "PUT /x HTTP/1.1\r\nHost: h\r\nA: 1\r\n\r\n\(body)")
        #expect(text(lf.body) == body)
    }

    @Test func splitsTheFirstLineAtTheOuterSpaces() throws {
        let message = try SignableMessage(
            parsing: Array("GET /a b\u{e9}?c d HTTP/1.1\nHost: h\n\n".utf8))
        #expect(text(try #require(message.request).target) == "/a b\u{e9}?c d")
        #expect(message.request?.method == "GET")
    }

    @Test func prefersAnAbsoluteTargetToHost() throws {
        let message = try SignableMessage(
            parsing: Array("GET HTTP://api.example.com:80/a?b HTTP/1.1\nHost: other\n\n".utf8))
        #expect(text(try #require(message.request?.authority)) == "api.example.com:80")
        #expect(message.request?.scheme == .http)
    }

    @Test func assumesHTTPS() throws {
        let bytes = Array("GET / HTTP/1.1\nHost: h\n\n".utf8)
        #expect(try SignableMessage(parsing: bytes).request?.scheme == .https)
        #expect(try SignableMessage(parsing: bytes, plainHTTP: true).request?.scheme == .http)
    }

    @Test func joinsFoldedLinesWithOneSpace() throws {
        let message = try SignableMessage(
            parsing: Array("GET / HTTP/1.1\nHost: h\nX: a  \n\t  b\n c\n\n".utf8))
        #expect(text(message.fields[1].value) == "a b c")
    }

    @Test func joinsThousandsOfLinesInLinearTime() throws {
        let folds = String(repeating: "\n x", count: 60_000)
        let message = try SignableMessage(
            parsing: Array("GET / HTTP/1.1\nHost: h\nX: y\(folds)\n\n".utf8))
        #expect(message.fields[1].value.count == 120_001)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK", 200, "OK"), ("HTTP/1.1 404 Not Found", 404, "Not Found"),
            ("HTTP/1.1 204", 204, ""), ("HTTP/1.1 500 ", 500, ""),
        ])
    func readsStatusLines(_ line: String, _ status: Int, _ reason: String) throws {
        let message = try SignableMessage(parsing: Array("\(line)\n\n".utf8))
        #expect(message.response?.status == status)
        #expect(text(try #require(message.response).reason) == reason)
    }

    @Test(
        arguments: [
            "", "\n", "\n\n", "GET", "GET /\n\n", "GET / HTTP/1.0\n\n", "GET / HTTP/2\n\n",
            "GET / http/1.1\n\n", "GET  HTTP/1.1\n\n", " / HTTP/1.1\n\n", "G(T / HTTP/1.1\n\n",
            "GET / HTTP/1.1", "GET / HTTP/1.1\n", "GET / HTTP/1.1\nHost: h\n",
            "GET / HTTP/1.1\nHost : h\n\n", "GET / HTTP/1.1\n: h\n\n", "GET / HTTP/1.1\nHost\n\n",
            "GET / HTTP/1.1\nHost: h\nHost: h\n\n", "GET / HTTP/1.1\nHost: h\nhOST: i\n\n",
            "GET / HTTP/1.1\rHost: h\n\n", "GET / HTTP/1.1\nX: a\rb\n\n",
            "GET / HTTP/1.1\nX: a\u{0}b\n\n", "GET / HTTP/1.1\nX: a\u{7f}b\n\n",
            "GET / HTTP/1.1\nX: a\u{b}b\n\n", "GET /\u{1} HTTP/1.1\n\n", "GET /\ta\rb HTTP/1.1\n\n",
            "GET / HTTP/1.1\n folded\n\n", "GET / HTTP/1.1\nK\u{e9}y: v\n\n",
            "HTTP/1.1 20 OK\n\n", "HTTP/1.1 2000 OK\n\n", "HTTP/1.1 099 X\n\n",
            "HTTP/1.1200 OK\n\n",
            "HTTP/1.0 200 OK\n\n", "HTTP/1.1 abc\n\n", "HTTP/2 200\n\n", "{\"keys\":[]}",
            "just a body without a header block",
        ])
    func refusesMalformedMessages(_ text: String) {
        #expect(code { _ = try Sample.message(text) } == "malformed-message")
    }

    /// Refuses a field of a megabyte too.
    @Test func refusesAnEndlessHead() {
        let value = String(repeating: "a", count: 1 << 20)
        #expect(
            code { _ = try Sample.message("GET / HTTP/1.1\nX: \(value)\n\n") }
                == "malformed-message")
        #expect(
            code { _ = try SignableMessage(parsing: [UInt8](repeating: 0x41, count: 8 << 20)) }
                == "malformed-message")
    }

    @Test func refusesTooManyFields() throws {
        for (count, wanted) in [
            (65_534, "no error"), (65_535, "malformed-message"), (80_000, "malformed-message"),
        ] {
            for start in ["GET / HTTP/1.1\n", "HTTP/1.1 200 OK\n"] {
                let text = start + String(repeating: "a:\n", count: count) + "\n"
                let found = code {
                    let message = try Sample.message(text)
                    let fields =
                        message.httpRequest?.headerFields ?? message.httpResponse?.headerFields
                    #expect(fields?.count == count)
                }
                #expect(found == wanted, "\(count) fields")
            }
        }
    }

    @Test func namesTheLineAndNeverAValue() {
        #expect {
            _ = try Sample.message("GET / HTTP/1.1\nHost: h\nX: secret\rvalue\n\n")
        } throws: { error in
            let message = (error as? SigningError)?.message ?? ""
            return message.contains("line 3") && !message.contains("secret")
        }
    }

    @Test func refusesControlCharactersAndBadNames() {
        #expect(
            code { _ = try SignableMessage.Field(name: "X Y", value: []) } == "malformed-message")
        #expect(code { _ = try SignableMessage.Field(name: "", value: []) } == "malformed-message")
        for byte in [0x0A, 0x0D, 0x00, 0x7F] as [UInt8] {
            #expect(
                code { _ = try SignableMessage.Field(name: "X", value: [0x61, byte]) }
                    == "malformed-message")
        }
    }

    @Test func refusesASecondHostLater() throws {
        var message = try Sample.message()
        let host = try SignableMessage.Field(name: "hOst", value: [0x61])
        #expect(code { try message.append(host) } == "malformed-message")
    }
}

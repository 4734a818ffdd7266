import FuzzSupport
import HTTPTypes
import SignetJSON
import SignetRPC
import SignetTransport

@testable import SignetClient
@testable import SignetCurl

/// A response of an HTTP server: the head is refused, or is written and read as it was; each of its fields
/// that the client reads, and the body's content coding, is refused with a message or within its limits, in
/// pieces as in one.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    let gzip: [UInt8] = [
        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10,
        0x36, 5, 0, 0, 0,
    ]
    let zlib: [UInt8] = [
        0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 6, 0x2C, 2, 0x15,
    ]
    let start = "HTTP/1.1 200 OK\r\nContent-Encoding: "
    Seeds.write(
        Seeds.texts([
            "HTTP/2 206\r\nContent-Range: bytes 0-9/100\r\nETag: \"a\"\r\n\r\n0123456789",
            "HTTP/1.1 200 OK\r\nLink: <https://h/2>; rel=\"next last\"; title*=UTF-8''a, </a>;rel=prev\r\n"
                + "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:51:37 GMT\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\n\r\n"
                + #"{"type":"about:blank","title":"t","status":404,"detail":"d","x":1}"#,
            "HTTP/1.1 503 x\r\nRetry-After: Sunday, 06-Nov-94 08:49:37 GMT\r\nDate: Sun Nov  6 08:49:37 1994\r\n"
                + "X-Note : folded\r\n\tvalue\r\n \r\n\r\n",
            "HTTP/1.1 302 x\r\nSet-Cookie: a=1; Path=/x; Max-Age=9; Secure\r\nSet-Cookie: __Host-b\r\n"
                + "Set-Cookie: c=\u{E9}; Domain=.test; Expires=Wed, 15-Nov-93 22:13:20 GMT\r\nLocation: /a b\r\n\r\n",
            "HTTP/1.0 416 x\nContent-Range: bytes */7\n\n", "HTTP/3 200 \r\n\r\n",
        ]) + [
            ("gzip", Array("\(start)gzip\r\n\r\n".utf8) + gzip + gzip),
            ("zlib", Array("\(start)deflate\r\n\r\n".utf8) + zlib),
        ])
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    guard let (head, body) = split(input), let read = ResponseHead(head.span) else { return 0 }
    let response = read.response
    var written = "HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase)\r\n"
    var bytes = Array(written.utf8)
    for field in response.headerFields {
        written = field.name.rawName + ": "
        unsafe bytes +=
            Array(written.utf8) + field.withUnsafeBytesOfValue { unsafe Array($0) } + [13, 10]
    }
    guard let again = ResponseHead(bytes.span), again.response == response else {
        broken("a head is not read as it was")
    }
    fields(response)
    for method in [HTTPRequest.Method.get, .head] {
        let whole = decode([body], response, method)
        let pieces = stride(from: 0, to: body.count, by: 7).map {
            Array(body[$0..<min($0 + 7, body.count)])
        }
        let inPieces = decode(pieces, response, method)
        // How much may come out counts by what came, so that a piece alone may be too much.
        if whole != inPieces, whole.code == nil, inPieces.code != .responseTooLarge {
            broken("a body in pieces decodes to something else")
        }
        if whole.code != nil, inPieces.code == nil { broken("a refused body is taken in pieces") }
    }
    problem(body)
    if let state = PartState(body) {
        guard PartState(state.serialized) == state else { broken("a part's state is not its own") }
    }
    return 0
}

/// Head and body, the empty line with neither.
private func split(_ input: [UInt8]) -> (head: [UInt8], body: [UInt8])? {
    for index in input.indices where input[index] == 10 && index + 1 < input.count {
        if input[index + 1] == 10 {
            return (Array(input[...index]), Array(input[(index + 2)...]))
        }
        if input[index + 1] == 13, index + 2 < input.count, input[index + 2] == 10 {
            return (Array(input[...index]), Array(input[(index + 3)...]))
        }
    }
    return nil
}

private func fields(_ response: HTTPResponse) {
    for field in response.headerFields {
        let isPlain = unsafe field.withUnsafeBytesOfValue {
            unsafe $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 }
        }
        if !isPlain { broken("a control character in a field") }
    }
    do throws(PayloadError) {
        let links = try LinkField(response.headerFields)
        for link in links.links {
            for relation in link.relations { _ = try? links.target(of: relation) }
        }
    } catch {
        checkMessage(error.message, of: "Link")
    }
    cookies(response)
    if let wait = RetryStrategy.wait(response, now: 1_700_000_000), wait < .zero {
        broken("a pause below zero")
    }
    if let validator = PartState.validator(response.headerFields), validator.isEmpty {
        broken("an empty validator")
    }
}

/// What the next request would have of the response's cookies, from a page below `/x`.
private func cookies(_ response: HTTPResponse) {
    guard let url = try? WebURL(parsing: "https://shop.test/x/y") else { broken("no URL") }
    for bytes in values(of: .setCookie, in: response.headerFields) {
        guard let cookie = Cookie(parsing: bytes, from: url, now: 0) else { continue }
        if !(1...4096).contains(cookie.byteCount) { broken("a cookie of no or too many bytes") }
        if cookie.name.contains(0x3D) || cookie.pair.contains(0x3B) {
            broken("a cookie that is read as another")
        }
    }
    let store = CookieStore()
    store.take(response, from: url, at: 0)
    if store.count > CookieStore.maximumCount { broken("too many cookies") }
    var request = HTTPRequest(method: .get, scheme: "https", authority: "shop.test", path: "/x/y")
    store.add(to: &request, of: url, at: 0)
    for bytes in values(of: .cookie, in: request.headerFields)
    where bytes.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) {
        broken("a control character in a cookie")
    }
}

private func values(of name: HTTPField.Name, in fields: HTTPFields) -> [[UInt8]] {
    fields[fields: name].map { field in
        unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }
    }
}

/// The decoded body, or the error.
private func decode(
    _ pieces: [[UInt8]], _ response: HTTPResponse, _ method: HTTPRequest.Method
) -> (bytes: [UInt8], code: TransportError.Code?) {
    var limits = ContentDecoding()
    limits.maximumSize = 1 << 20
    limits.ratioFreeSize = 1 << 12
    var bytes: [UInt8] = []
    do throws(TransportError) {
        var decoder = try ContentDecoder(response, answering: method, limits: limits)
        for piece in pieces where !piece.isEmpty {
            decoder.push(piece)
            while let decoded = try decoder.next() {
                bytes += decoded
                if bytes.count > limits.maximumSize { broken("more came out than may") }
            }
        }
        try decoder.finish()
        return (bytes, nil)
    } catch {
        checkMessage(error.message, of: "a body")
        return (bytes, error.code)
    }
}

private func problem(_ body: [UInt8]) {
    guard let problem = try? ProblemDetails(parsing: body) else { return }
    checkMessage(problem.description + ".", of: "a problem")
    guard let again = try? ProblemDetails(parsing: JSONValue.object(problem.object).serialized()),
        again == problem
    else { broken("a problem is not read as it was") }
}

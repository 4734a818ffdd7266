import HTTPTypes
import SignetCache
import Testing

/// Parts of contents: RFC 9110, section 14, and RFC 9111, sections 3.3 and 3.4.
@Suite struct PartTests {
    let client = SimulatedClient(now: DecisionTests.start)

    /// An origin that serves one range of `0123456789`.
    func serve(
        tag: String? = "\"1\"", directives: String = "max-age=100", ignoresIfRange: Bool = false
    ) {
        client.origin = { request in
            let content = Array("0123456789".utf8)
            var response = HTTPResponse(status: .ok)
            response.headerFields[.cacheControl] = directives
            response.headerFields[.eTag] = tag
            let condition = request.headerFields[.ifRange]
            guard let text = request.headerFields[.range]?.dropFirst(6),
                condition == nil || condition == tag || ignoresIfRange
            else { return OriginReply(response: response, content: content) }
            let bounds = text.split(separator: "-", omittingEmptySubsequences: false)
            let last = Int(bounds[1]) ?? 9
            let first = Int(bounds[0]) ?? 10 - last
            let end = bounds[0].isEmpty ? 9 : last
            response.status = .partialContent
            response.headerFields[.contentRange] = "bytes \(first)-\(end)/10"
            return OriginReply(response: response, content: Array(content[first...end]))
        }
    }

    func get(_ fields: [String: String] = [:]) -> ClientReply {
        client.send(DecisionTests.request(fields))
    }

    @Test(arguments: [
        ("bytes=0-1", 206, "01", "bytes 0-1/10"), ("bytes=8-", 206, "89", "bytes 8-9/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"), ("bytes=-30", 206, "0123456789", "bytes 0-9/10"),
        ("BYTES=9-99", 206, "9", "bytes 9-9/10"), ("bytes=10-", 416, "", "bytes */10"),
        ("bytes=-0", 416, "", "bytes */10"), ("bytes=2-1", 200, "0123456789", nil),
        ("bytes=0-1,3-4", 200, "0123456789", nil), ("lines=0-1", 200, "0123456789", nil),
        ("bytes=", 200, "0123456789", nil), ("bytes=-", 200, "0123456789", nil),
        ("bytes=+1-2", 200, "0123456789", nil), ("bytes=0 - 1", 200, "0123456789", nil),
        ("bytes=0-99999999999999999999", 200, "0123456789", nil),
    ])
    func servesRangesOfAWholeContent(
        _ range: String, status: Int, content: String, position: String?
    ) {
        serve()
        _ = get()
        let reply = get(["Range": range])
        #expect(client.forwarded.count == 1)
        #expect(reply.response.status.code == status)
        #expect(reply.text == content)
        #expect(reply.response.headerFields[.contentRange] == position)
    }

    @Test(arguments: [
        ("\"1\"", 206), ("\"2\"", 200), ("W/\"1\"", 200), ("yesterday", 200),
    ])
    func honoursIfRange(_ condition: String, status: Int) {
        serve()
        _ = get()
        let reply = get(["Range": "bytes=0-1", "If-Range": condition])
        #expect(reply.response.status.code == status)
        #expect(client.forwarded.count == 1)
    }

    @Test func servesWhatIsInsideAStoredPart() {
        serve(tag: nil)
        _ = get(["Range": "bytes=4-9"])
        #expect(get(["Range": "bytes=6-8"]).text == "678")
        #expect(get(["Range": "bytes=6-"]).text == "6789")
        #expect(get(["Range": "bytes=-1"]).text == "9")
        #expect(client.forwarded.count == 1)
        #expect(get(["Range": "bytes=3-5"]).text == "345")
        // Parts without a strong validator are never joined.
        #expect(get().text == "0123456789")
        #expect(client.forwarded.count == 3)
        #expect(client.forwarded.last?.headerFields[.range] == nil)
    }

    @Test(arguments: [("bytes=0-3", "bytes=4-"), ("bytes=4-9", "bytes=0-3")])
    func completesAStoredPart(_ first: String, missing: String) {
        serve()
        _ = get(["Range": first])
        let reply = get()
        #expect(reply.text == "0123456789")
        #expect(reply.response.status == .ok)
        #expect(client.forwarded.last?.headerFields[.range] == missing)
        #expect(client.forwarded.last?.headerFields[.ifRange] == "\"1\"")
        #expect(get().text == "0123456789")
        #expect(client.forwarded.count == 2)
    }

    @Test func joinsAdjacentParts() {
        serve()
        _ = get(["Range": "bytes=2-3"])
        _ = get(["Range": "bytes=4-6"])
        _ = get(["Range": "bytes=0-1"])
        #expect(get(["Range": "bytes=1-5"]).text == "12345")
        #expect(client.forwarded.count == 3)
        #expect(client.store.count == 1)
    }

    @Test func takesAnotherContentWhole() {
        serve()
        _ = get(["Range": "bytes=0-3"])
        serve(tag: "\"2\"")
        #expect(get().text == "0123456789")
        #expect(client.forwarded.count == 2)
    }

    @Test func joinsNoPartOfAnotherContent() {
        serve()
        _ = get(["Range": "bytes=0-3"])
        // This origin ignores If-Range, and sends a part of another content.
        serve(tag: "\"2\"", ignoresIfRange: true)
        let reply = get()
        #expect(reply.text == "0123456789")
        #expect(client.forwarded.count == 3)
        #expect(client.forwarded.last?.headerFields[.range] == nil)
    }

    @Test func keepsAWholeContentBesideItsPart() {
        serve()
        _ = get()
        _ = get(["Range": "bytes=0-1", "Cache-Control": "max-stale, no-cache"])
        #expect(get().text == "0123456789")
        #expect(client.forwarded.count == 2)
    }

    @Test(arguments: [
        "bytes 4-9/10", "bytes 4-2/10", "bytes 4-8/5", "bytes 4-8/*", "bytes */10", "4-8/10",
        "bytes 4-8", "bytes 4--8/10", "bytes -4-8/10", "items 4-8/10", "",
    ])
    func storesNoContradiction(_ range: String) {
        client.origin = { _ in
            var response = HTTPResponse(status: .partialContent)
            response.headerFields[.cacheControl] = "max-age=100"
            response.headerFields[.contentRange] = range
            return OriginReply(response: response, content: Array("01234".utf8))
        }
        _ = get(["Range": "bytes=4-8"])
        #expect(client.store.count == 0)
    }

    @Test(arguments: [("\"1\"", true), ("W/\"1\"", false), (nil, false)])
    func keepsWhatArrivedBeforeTheConnectionEnded(_ tag: String?, isKept: Bool) {
        client.origin = { _ in
            var response = HTTPResponse(status: .ok)
            response.headerFields[.cacheControl] = "max-age=100"
            response.headerFields[.eTag] = tag
            response.headerFields[.contentLength] = "10"
            return OriginReply(
                response: response, content: Array("0123".utf8), isWhole: false)
        }
        _ = get()
        #expect(client.store.count == (isKept ? 1 : 0))
        serve(tag: tag)
        #expect(get().text == "0123456789")
        #expect(client.forwarded.last?.headerFields[.range] == (isKept ? "bytes=4-" : nil))
    }
}

import HTTPTypes
import SignetRPC
import Testing

/// Link fields (RFC 8288) and the link to the next page.
struct LinkFieldTests {
    private func links(_ values: String...) throws -> LinkField {
        var fields: HTTPFields = [:]
        let name = try #require(HTTPField.Name("Link"))
        for value in values { fields.append(HTTPField(name: name, value: value)) }
        return try LinkField(fields)
    }

    @Test(
        arguments: [
            (#"<https://a.example/?page=2>; rel="next""#, "https://a.example/?page=2"),
            ("</?page=2>;rel=next", "/?page=2"), ("<?p=2> ; REL = NEXT", "?p=2"),
            (#"<a>; rel="prev", <b>; rel="last next""#, "b"),
            (#"<a>; title="x, <y>; rel=\"next\""; rel=prev, <b>; rel=next"#, "b"),
            ("<a>; rel=prev; rel=next, <b>; rel=next", "b"), ("<a>; rel=prev", nil),
            (#"<a>; rel="next"; anchor="/other""#, nil), ("", nil), (",, ,", nil), ("<a>", nil),
            ("<a>; rel=next;", "a"), ("<a>; rel=next; type", "a"), ("<>; rel=next", ""),
            ("<a>; rel=next, <a>; rel=next", "a"), (#"<a>; rel="""#, nil),
            ("<a,b;c>; rel=next", "a,b;c"),
        ] as [(String, String?)])
    func findsTheNext(_ value: String, _ target: String?) throws {
        #expect(try links(value).target(of: "next") == target)
    }

    @Test func takesAllFields() throws {
        #expect(try links("<a>; rel=prev", "<b>; rel=next").target(of: "Next") == "b")
    }

    @Test(arguments: [
        "a; rel=next", "<a; rel=next", "<a> rel=next", #"<a>; rel="next"#, "<a>; rel=next <b>",
        #"<a>; rel="next" x"#, "https://a.example/?page=2",
    ])
    func anUnreadableFieldIsNotTheEnd(_ value: String) {
        let error = #expect(throws: PayloadError.self) { try links(value).target(of: "next") }
        #expect(error?.code == .malformedResponse)
    }

    @Test func refusesTwoLinks() {
        #expect(throws: PayloadError.self) {
            try links("<a>; rel=next, <b>; rel=next").target(of: "next")
        }
    }
}

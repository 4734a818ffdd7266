import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport
import Testing

/// Queries in OpenAPI's styles, and bodies of every kind.
struct RESTBodyTests {
    private func object(_ json: String) throws -> JSONObject {
        try #require(try JSONValue(parsing: bytes(json)).object)
    }

    private func query(_ style: QueryStyle, _ json: String) throws -> String? {
        var adapter = RESTAdapter()
        adapter.queryStyles = ["color": style]
        return try adapter.box(RESTRequest(.get, query: object(json))).query
    }

    static let array = #"{"color":["blue","black","brown"]}"#
    static let members = #"{"color":{"R":100,"G":200,"B":150}}"#

    /// The table of the OpenAPI Specification 3.1.1, section 4.8.12.3 (Style Examples).
    @Test(
        arguments: [
            (.form, array, "color=blue,black,brown"), (.form, members, "color=R,100,G,200,B,150"),
            (.formExploded, array, "color=blue&color=black&color=brown"),
            (.formExploded, members, "R=100&G=200&B=150"),
            (.spaceDelimited, array, "color=blue%20black%20brown"),
            (.spaceDelimited, members, "color=R%20100%20G%20200%20B%20150"),
            (.pipeDelimited, array, "color=blue%7Cblack%7Cbrown"),
            (.pipeDelimited, members, "color=R%7C100%7CG%7C200%7CB%7C150"),
            (.deepObject, members, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
            (.form, #"{"color":""}"#, "color="), (.deepObject, #"{"color":"x"}"#, "color=x"),
            (.form, #"{"color":["a,b","c&d"]}"#, "color=a%2Cb,c%26d"),
            (.deepObject, #"{"color":{"a&b":"c]=d"}}"#, "color%5Ba%26b%5D=c%5D%3Dd"),
            (.form, #"{"color":[]}"#, nil), (.form, #"{"color":{}}"#, nil),
            (.formExploded, #"{"a":1,"color":{"b":2}}"#, "a=1&b=2"),
        ] as [(QueryStyle, String, String?)])
    func stylesAreThoseOfOpenAPI(_ style: QueryStyle, _ json: String, _ wanted: String?) throws {
        #expect(try query(style, json) == wanted)
    }

    @Test(
        arguments: [
            (.spaceDelimited, #"{"color":["a b"]}"#), (.pipeDelimited, #"{"color":["a|b"]}"#),
            (.pipeDelimited, #"{"color":{"a|b":1}}"#), (.deepObject, array),
            (.deepObject, #"{"color":{"a]":1}}"#), (.deepObject, #"{"color":{"a":[1]}}"#),
            (.deepObject, #"{"color":{"a":{"b":1}}}"#), (.form, #"{"color":null}"#),
            (.form, #"{"color":[null]}"#), (.form, #"{"color":[[1]]}"#),
            (.form, #"{"other":{"a":1}}"#),
            // A member that would pass for another parameter.
            (.formExploded, #"{"role":"user","color":{"role":"admin"}}"#),
            (.formExploded, #"{"color":{"role":"admin"},"role":"user"}"#),
        ] as [(QueryStyle, String)])
    func aStyleThatCannotSayAValueRefusesIt(_ style: QueryStyle, _ json: String) {
        let error = #expect(throws: PayloadError.self) { try query(style, json) }
        #expect(error?.code == .invalidParameters)
    }

    @Test(
        arguments: [
            (nil, nil, .formExploded), ("form", false, .form),
            ("spaceDelimited", nil, .spaceDelimited),
            ("spaceDelimited", true, .formExploded), ("pipeDelimited", false, .pipeDelimited),
            ("deepObject", true, .deepObject), ("matrix", nil, nil), ("", nil, nil),
        ] as [(String?, Bool?, QueryStyle?)])
    func stylesByName(_ name: String?, _ explodes: Bool?, _ wanted: QueryStyle?) {
        #expect(QueryStyle(openAPI: name, explodes: explodes) == wanted)
    }

    @Test(arguments: [
        (#"{"a":"x"}"#, "a=x"), (#"{"a b":"c d+e&f=g"}"#, "a+b=c+d%2Be%26f%3Dg"),
        (#"{"a":[1,2]}"#, "a=1&a=2"), (#"{"a":"*-._~é"}"#, "a=*-._%7E%C3%A9"), ("{}", ""),
        (#"{"a":"\r\n%"}"#, "a=%0D%0A%25"),
    ])
    func formsAreEncoded(_ json: String, _ wanted: String) throws {
        let body = try RESTBody.form(object(json))
        #expect(text(body.bytes) == wanted)
        #expect(body.contentType == "application/x-www-form-urlencoded")
        var adapter = RESTAdapter()
        adapter.bodyEncoding = .form
        let boxed = try adapter.box(RPCCall("POST", parameters: .object(object(json))))
        #expect(text(boxed.body) == wanted)
        #expect(boxed.fields[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test(arguments: [#"{"a":null}"#, #"{"a":{}}"#, #"{"a":[[]]}"#])
    func refusesInvalidForms(_ json: String) throws {
        let fields = try object(json)
        #expect(throws: PayloadError.self) { try RESTBody.form(fields) }
    }

    @Test func parametersOfTheQueryDoNotJoinTheBody() throws {
        var adapter = RESTAdapter()
        adapter.queryParameters = ["page"]
        let both = try adapter.box(RPCCall("POST", parameters: .object(["page": 2, "a": 1])))
        #expect(both.query == "page=2")
        #expect(text(both.body) == #"{"a":1}"#)
        let one = try adapter.box(RPCCall("POST", parameters: .object(["page": 2])))
        #expect(one.query == "page=2" && one.body.isEmpty && one.fields[.contentType] == nil)
    }

    @Test func rawBytesKeepTheirTypeAndAreNotTouched() throws {
        let body = try RESTBody.bytes([0, 255, 13], contentType: "image/png; q=1")
        let boxed = try RESTAdapter().box(RESTRequest(.put, "/logo", body: body))
        #expect(boxed.body == [0, 255, 13])
        #expect(boxed.fields[.contentType] == "image/png; q=1")
        #expect(boxed.path == "/logo")
        for type in ["", "png", "a/b\r\nX: y", "a b/c", "/", "a/"] {
            #expect(throws: PayloadError.self, "\(type)") {
                try RESTBody.bytes([], contentType: type)
            }
        }
    }

    // MARK: Multipart

    private func multipart(_ form: MultipartForm) throws -> (boundary: String, text: String) {
        let body = try RESTBody.multipart(form)
        let type = try #require(body.contentType)
        let prefix = "multipart/form-data; boundary="
        #expect(type.hasPrefix(prefix))
        return (String(type.dropFirst(prefix.count)), text(body.bytes))
    }

    @Test func aFormOfSeveralPartsIsAsTheRFCWritesIt() throws {
        var form = MultipartForm()
        form.append("Joe & co", named: "field1")
        form.append(
            file: bytes("<a>\r\n"), named: "file", fileName: "ä.html", contentType: "text/html")
        let (boundary, text) = try multipart(form)
        #expect(boundary.utf8.count <= 70)
        #expect(
            text.replacing(boundary, with: "B")
                == "--B\r\nContent-Disposition: form-data; name=\"field1\"\r\n\r\nJoe & co\r\n"
                + "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"ä.html\"\r\n"
                + "Content-Type: text/html\r\n\r\n<a>\r\n\r\n--B--\r\n")
    }

    @Test func everyFormHasABoundaryOfItsOwn() throws {
        let form = MultipartForm([.init(name: "a", content: bytes("b"))])
        let boundaries = try (0..<100).map { _ in try multipart(form).boundary }
        #expect(Set(boundaries).count == 100)
    }

    @Test(arguments: [
        ("a\"; filename=\"x", "a%22; filename=%22x"), ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"),
        ("a\\", "a\\"), ("é", "é"), ("", ""),
    ])
    func namesInjectNothing(_ name: String, _ wanted: String) throws {
        let (_, text) = try multipart(
            MultipartForm([.init(name: name, fileName: name, content: [])]))
        #expect(text.contains("form-data; name=\"\(wanted)\"; filename=\"\(wanted)\"\r\n\r\n"))
    }

    @Test(arguments: [
        MultipartForm.Part(name: "a\0", content: []), .init(name: "a\u{7F}", content: []),
        .init(name: "a", fileName: "\u{1B}[2J", content: []),
        .init(name: "a", contentType: "text/plain\r\nX: y", content: []),
        .init(name: "a", contentType: "text", content: []),
    ])
    func refusesInvalidParts(_ part: MultipartForm.Part) {
        let error = #expect(throws: PayloadError.self) {
            try RESTBody.multipart(MultipartForm([part]))
        }
        #expect(error?.code == .invalidParameters)
    }
}

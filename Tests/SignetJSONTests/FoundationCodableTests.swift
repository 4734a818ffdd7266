import Foundation
import SignetJSON
import TestSupport
import Testing

/// Foundation's `Decimal`, `URL` and `Data` at every place of a JSON text.
struct FoundationCodableTests {
    /// One of each at every place.
    struct Invoice: Codable, Equatable {
        var total: Decimal
        var discount: Decimal?
        var rates: [Decimal]
        var taxes: [String: Decimal]
        var page: URL
        var icon: URL?
        var pages: [URL]
        var sites: [String: URL]
        var scan: Data
        var stamp: Data?
        var scans: [Data]
        var files: [String: Data?]
    }

    static let invoice = #"""
        {"total":0.1,"discount":-12.5,"rates":[1,90071992547409.93],"taxes":{"a":100},\#
        "page":"https://example.com/a?b=c#d","icon":"e%20f","pages":["mailto:a@example.com"],\#
        "sites":{"a":"https://[::1]:8443/"},"scan":"AP8=","stamp":"","scans":["Zg==","Zm9v"],\#
        "files":{"a":"+/+/"}}
        """#

    @Test func foundationTypesAtEveryPlace() throws {
        let text = bytes(Self.invoice)
        let invoice = try StrictJSONDecoder().decode(Invoice.self, from: text)
        #expect(invoice.total == Decimal(string: "0.1"))
        #expect(invoice.rates.last == Decimal(string: "90071992547409.93"))
        #expect(invoice.taxes == ["a": 100])
        #expect(invoice.sites["a"]?.port == 8443)
        #expect(invoice.scan == Data([0, 255]))
        #expect(invoice.stamp == Data())
        #expect(invoice.files == ["a": Data([0xfb, 0xff, 0xbf])])
        #expect(try StrictJSONEncoder().encode(invoice) == text)
        let value = try StrictJSONEncoder().encodeValue([invoice, invoice])
        #expect(try StrictJSONDecoder().decode([Invoice].self, from: value) == [invoice, invoice])
        var smaller = invoice
        (smaller.discount, smaller.icon, smaller.stamp) = (nil, nil, nil)
        let fewer = try StrictJSONEncoder().encode(smaller)
        #expect(try StrictJSONDecoder().decode(Invoice.self, from: fewer) == smaller)
    }

    @Test func foundationTypesAtTheRootAndAlone() throws {
        struct Alone<Value: Codable & Equatable>: Codable, Equatable {
            var value: Value
            init(from decoder: any Decoder) throws {
                value = try decoder.singleValueContainer().decode(Value.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }
        func comesBack<Value: Codable>(_ type: Value.Type, _ text: String) throws {
            let value = try StrictJSONDecoder().decode(type, from: bytes(text))
            #expect(try StrictJSONEncoder().encode(value) == bytes(text))
            #expect(try StrictJSONEncoder().encodeValue(value) == JSONValue(parsing: text))
        }
        try comesBack(Decimal.self, "-0.00000000000000000000000000000000000001")
        try comesBack(Decimal?.self, "null")
        try comesBack([Decimal?].self, "[1,null,2.5]")
        try comesBack(Alone<Decimal>.self, "340282366920938463463374607431768211455")
        try comesBack(URL.self, #""https://example.com/""#)
        try comesBack([[URL]].self, #"[["a"],[]]"#)
        try comesBack(Alone<URL>.self, #""../a""#)
        try comesBack(Data.self, #""AAECAw==""#)
        try comesBack([Alone<Data>?].self, #"["AA==",null]"#)
        try comesBack(Date.self, #""2001-01-01T00:00:01.500Z""#)
    }

    @Test(arguments: [
        ("123456789012345678901234567890123456789.5", JSONError.Code.outOfRange),
        ("1e400", .outOfRange), ("1e-129", .outOfRange), ("1e99999999999999999999", .outOfRange),
        (#""1""#, .typeMismatch), ("true", .typeMismatch), ("null", .typeMismatch),
        ("[]", .typeMismatch), ("[1]", .typeMismatch), ("{}", .typeMismatch),
        (
            #"{"exponent":0,"length":1,"isNegative":false,"isCompact":true,"#
                + #""mantissa":[1,0,0,0,0,0,0,0]}"#,
            .typeMismatch
        ),
    ])
    func refusesAsDecimal(_ text: String, _ code: JSONError.Code) {
        refuses(Decimal.self, text, code)
    }

    @Test(arguments: [
        "1", "true", "null", "[]", "{}", #"{"relative":"https://example.com"}"#, #""""#, #""a b""#,
        #""https://example.com/\u00e9""#, #""https://example.com/%zz""#, #""http://[::1""#,
        #""https://example.com:x/""#, #""https://example.com/\n""#, #"["https://example.com"]"#,
    ])
    func refusesAsURL(_ text: String) { refuses(URL.self, text, .typeMismatch) }

    @Test(arguments: [
        "1", "true", "null", "{}", "[]", "[0,255]", #""=""#, #""A""#, #""AA""#, #""AA=""#,
        #""AAA""#, #""AA==\n""#, #"" AA==""#, #""A A==""#, #""AAAA\r\nAAAA""#, #""AB==""#,
        #""AAB=""#,
        #""AA===""#, #""AA==AA==""#, #""-_-_""#, #""AA=A""#, #""\u212aAAA""#, #""AAA\u0000""#,
    ])
    func refusesAsData(_ text: String) { refuses(Data.self, text, .typeMismatch) }

    struct Member<Value: Codable>: Codable { var a: Value }
    struct OptionalMember<Value: Codable>: Codable { var a: Value? }

    private func refuses<Value: Codable>(
        _ type: Value.Type, _ text: String, _ code: JSONError.Code
    ) {
        func refuses<Whole: Decodable>(_ type: Whole.Type, _ before: String, _ path: String) {
            let after = before.last == "[" ? "]" : before.isEmpty ? "" : "}"
            let error = #expect(throws: JSONError.self) {
                try StrictJSONDecoder().decode(type, from: bytes(before + text + after))
            }
            #expect(error?.code == code)
            #expect(error?.offset == before.utf8.count)
            let place = "at \(path) (byte \(before.utf8.count)): found "
            #expect(error?.message.hasPrefix(place) == true, "\(error?.message ?? "")")
        }
        refuses(type, "", "$")
        refuses([Value].self, "[", "$[0]")
        refuses([String: Value].self, #"{"n":"#, "$.n")
        refuses(Member<Value>.self, #"{"a":"#, "$.a")
        if text != "null" { refuses(OptionalMember<Value>.self, #"{"a":"#, "$.a") }
    }

    @Test func refusesToEncodeAnInvalidDecimal() {
        func refuses(_ value: some Encodable, _ path: String) {
            for encode in [
                { _ = try StrictJSONEncoder().encode(value) },
                { _ = try StrictJSONEncoder().encodeValue(value) },
            ] {
                let error = #expect(throws: JSONError.self) { try encode() }
                #expect(error?.code == .notFinite)
                #expect(error?.message.hasPrefix("at \(path): ") == true)
            }
        }
        refuses(Decimal.nan, "$")
        refuses([1, Decimal.nan], "$[1]")
        refuses(["a": ["b": Decimal.nan]], "$.a.b")
        refuses([Decimal.nan as Decimal?], "$[0]")
    }
}

import Foundation
import SignetJSON
import TestSupport
import Testing

/// Numbers, which keep their text until a program asks for a type.
struct NumberTests {
    struct ECMAScript: Decodable, Sendable {
        let bits: String
        let text: String?
    }

    struct Text: Decodable, Sendable {
        let input: String
        let canonical: String
    }

    @Test(arguments: try VectorFile<ECMAScript>.load("rfc8785-numbers", in: .module))
    func writesAsECMAScriptDoes(_ vector: ECMAScript) throws {
        let value = Double(bitPattern: try #require(UInt64(vector.bits, radix: 16)))
        #expect(JSONNumber(value)?.text == vector.text)
        if let text = vector.text, value != 0 { #expect(Double(text) == value) }
    }

    @Test(arguments: try VectorFile<Text>.load("rfc8785-texts", in: .module))
    func writesTheCanonicalForm(_ vector: Text) throws {
        let value = try JSONValue(parsing: bytes(vector.input))
        #expect(try value.canonicalized() == bytes(vector.canonical))
    }

    struct Document: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let input: String
        let canonical: String
        var testDescription: String { name }
    }

    @Test(arguments: try VectorFile<Document>.load("canonicalization", in: .module))
    func writesTheCanonicalFormOfDocuments(_ vector: Document) throws {
        let canonical = try JSONValue(parsing: bytes(vector.input)).canonicalized()
        #expect(canonical == bytes(vector.canonical))
        #expect(try JSONValue(parsing: canonical).canonicalized() == canonical)
    }

    /// RFC 7493, section 2.1; the neighbouring code points are valid.
    @Test(arguments: [0xfdd0, 0xfdef, 0xfffe, 0xffff, 0x1fffe, 0x10fffe, 0x10ffff] as [UInt32])
    func noCanonicalFormOfNoncharacters(_ number: UInt32) throws {
        let scalar = String(try #require(Unicode.Scalar(number)))
        for value in [["a": [.string("x" + scalar)]], [scalar: 1]] as [JSONValue] {
            let error = #expect(throws: JSONError.self) { try value.canonicalized() }
            #expect(error?.code == .refusedByType)
            #expect(error?.message.contains(scalar) == false)
        }
        for other in [0xfdcf, 0xfdf0, 0xfffd, 0x1fffd, 0x10fffd, 0x10000] as [UInt32] {
            let text = String(try #require(Unicode.Scalar(other)))
            #expect(try JSONValue.string(text).canonicalized() == bytes("\"\(text)\""))
        }
    }

    @Test func vectorsAreThere() throws {
        #expect(try VectorFile<ECMAScript>.load("rfc8785-numbers", in: .module).count == 27)
        #expect(try VectorFile<Text>.load("rfc8785-texts", in: .module).count == 2)
    }

    @Test func noCanonicalFormBeyondBinary64() throws {
        let value = try JSONValue(parsing: "[1e400]")
        let error = #expect(throws: JSONError.self) { try value.canonicalized() }
        #expect(error?.code == .notFinite)
        #expect(value.serialized(.canonical) == bytes("[1e400]"))
    }

    @Test(arguments: [
        "", "-", "+1", "01", "-01", "1.", ".1", "1e", "1e+", "0x1", " 1", "1 ", "1a", "NaN", "inf",
        "Infinity", "1_0", "１", "1,0", "--1", "\u{2212}1", "1e1.5", "1\u{0}",
    ])
    func isNoNumber(_ text: String) { #expect(JSONNumber(text: text) == nil) }

    @Test(arguments: ["0", "-0", "1e400", "1E-400", "-12.50e+07", "99999999999999999999"])
    func keepsItsText(_ text: String) throws {
        #expect(JSONNumber(text: text)?.text == text)
        #expect(try JSONValue(parsing: text).text == text)
    }

    @Test(arguments: ["1.0", "1e2", "9223372036854775808", "-9223372036854775809", "0.5", "1E0"])
    func isNoInt64(_ text: String) { #expect(JSONNumber(text: text)?.int64 == nil) }

    @Test(arguments: [
        ("0", Int64(0)), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
        ("9007199254740993", 9_007_199_254_740_993),
    ])
    func isAnInt64(_ text: String, _ value: Int64) {
        #expect(JSONNumber(text: text)?.int64 == value)
    }

    @Test func unsignedAndDouble() {
        #expect(JSONNumber(text: "18446744073709551615")?.uint64 == .max)
        #expect(JSONNumber(text: "18446744073709551616")?.uint64 == nil)
        #expect(JSONNumber(text: "-1")?.uint64 == nil)
        #expect(JSONNumber(text: "1e400")?.double == nil)
        #expect(JSONNumber(text: "-1e400")?.double == nil)
        #expect(JSONNumber(text: "1e-400")?.double == 0)
        #expect(JSONNumber(text: "0.1")?.double == 0.1)
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(-Double.infinity) == nil)
        #expect(JSONNumber(UInt64.max).text == "18446744073709551615")
    }

    @Test(arguments: [
        "123456789012345678901234567890123456789.5", "0.1234567890123456789012345678901234567891",
        "340282366920938463463374607431768211456", "-340282366920938463463374607431768211456",
        "1e400", "-1e400", "1e166", "35e165", "1e-129", "-15e-129", "0.5e-128",
        "1e9223372036854775807", "10e9223372036854775807", "1e-9223372036854775808",
        "0.1e-9223372036854775808", "1e99999999999999999999", "1e-99999999999999999999",
        "1000000000000000000000000000000000000000000000000000000000000000001",
    ])
    func isNoDecimal(_ text: String) throws {
        #expect(try #require(JSONNumber(text: text)).decimal == nil)
    }

    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("0.000", "0"), ("0e99999999999999999999", "0"), ("-0e5", "0"),
        ("1", "1"), ("-1.50", "-1.5"), ("0.1", "0.1"), ("1E+2", "100"), ("120e-3", "0.12"),
        ("0.0000001e+07", "1"), ("9007199254740993", "9007199254740993"),
        ("1000.0000", "1000"), ("102030405060708090.10", "102030405060708090.1"),
        ("0.10000000000000000000000000000000000000000000000000", "0.1"),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        ("-340282366920938463463374607431768211455", "-340282366920938463463374607431768211455"),
        ("1e-128", "0." + String(repeating: "0", count: 127) + "1"),
        ("1e127", "1" + String(repeating: "0", count: 127)),
        ("1e165", "1" + String(repeating: "0", count: 165)),
    ])
    func isADecimal(_ text: String, _ digits: String) throws {
        let value = try #require(JSONNumber(text: text)?.decimal)
        #expect(value.description == digits)
        #expect(!value.isNaN)
        #expect(value == Decimal(string: text.hasPrefix("-0") ? "0" : digits))
    }

    @Test func decimalsOfAnySizeComeBack() throws {
        var random = SplitMix(seed: 7)
        let limits: [Decimal] = [
            .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude,
        ]
        let others = (0..<2000).map { _ in
            Decimal(
                sign: Bool.random(using: &random) ? .minus : .plus,
                exponent: Int.random(in: -60...60, using: &random),
                significand: Decimal(UInt64.random(in: 0...(.max), using: &random)))
        }
        for value in limits + others {
            let number = try #require(JSONNumber(text: value.description))
            #expect(number.decimal == value)
        }
    }
}

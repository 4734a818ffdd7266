import Foundation
import SignetJSON
import TestSupport
import Testing

/// `StrictJSONDecoder` and `StrictJSONEncoder` with types of all kinds.
struct CodableTests {
    enum Colour: String, Codable { case red, green }

    struct Order: Codable, Equatable {
        struct Line: Codable, Equatable {
            var sku: String
            var quantity: Int
            var price: Double?
        }

        var id: UInt64
        var paid: Bool
        var note: String?
        var colour: Colour
        var lines: [Line]
        var tags: [String: Int8]
        var matrix: [[Float]]
        var extra: JSONValue
        var exact: JSONNumber
    }

    static let order = Order(
        id: .max, paid: true, note: nil, colour: .green,
        lines: [.init(sku: "tea \u{0}é", quantity: .min, price: 0.1), .init(sku: "", quantity: 0)],
        tags: ["a": -128, "b": 127], matrix: [[1.5, .leastNonzeroMagnitude], []],
        extra: ["deep": [nil, 1]], exact: JSONNumber(text: "1e400") ?? JSONNumber(0))

    @Test func roundTrip() throws {
        let text = try StrictJSONEncoder().encode(Self.order)
        #expect(try StrictJSONDecoder().decode(Order.self, from: text) == Self.order)
        let value = try StrictJSONEncoder().encodeValue(Self.order)
        #expect(try StrictJSONDecoder().decode(Order.self, from: value) == Self.order)
        #expect(value["exact"]?.number?.text == "1e400")
        #expect(value["note"] == nil)
    }

    @Test func membersInAnyOrderAndUnknownOnesToo() throws {
        let text = #"{"x":{"quantity":9},"price":null,"\u0071uantity":2,"sku":"a","y":[]}"#
        let line = try StrictJSONDecoder().decode(Order.Line.self, from: bytes(text))
        #expect(line == .init(sku: "a", quantity: 2, price: nil))
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let text: String
        let code: JSONError.Code
        let path: String
        let offset: Int
        var testDescription: String { text }
    }

    @Test(arguments: [
        Refused(text: #"{"sku":"a"}"#, code: .missingMember, path: "$.quantity", offset: 0),
        Refused(text: #"{"sku":1,"quantity":1}"#, code: .typeMismatch, path: "$.sku", offset: 7),
        Refused(
            text: #"{"sku":null,"quantity":1}"#, code: .typeMismatch, path: "$.sku", offset: 7),
        Refused(
            text: #"{"sku":"","quantity":"1"}"#, code: .typeMismatch, path: "$.quantity",
            offset: 21),
        Refused(
            text: #"{"sku":"","quantity":1.0}"#, code: .typeMismatch, path: "$.quantity",
            offset: 21),
        Refused(
            text: #"{"sku":"","quantity":1e2}"#, code: .typeMismatch, path: "$.quantity",
            offset: 21),
        Refused(
            text: #"{"sku":"","quantity":true}"#, code: .typeMismatch, path: "$.quantity",
            offset: 21),
        Refused(
            text: #"{"sku":"","quantity":9223372036854775808}"#, code: .outOfRange,
            path: "$.quantity", offset: 21),
        Refused(
            text: #"{"sku":"","quantity":-9223372036854775809}"#, code: .outOfRange,
            path: "$.quantity", offset: 21),
        Refused(
            text: #"{"sku":"","quantity":1,"price":1e999}"#, code: .notFinite, path: "$.price",
            offset: 31),
        Refused(
            text: #"{"sku":"","quantity":1,"price":"1"}"#, code: .typeMismatch, path: "$.price",
            offset: 31),
        Refused(
            text: #"{"sku":"","quantity":1,"price":false}"#, code: .typeMismatch, path: "$.price",
            offset: 31),
        Refused(text: "[]", code: .typeMismatch, path: "$", offset: 0),
        Refused(text: "1", code: .typeMismatch, path: "$", offset: 0),
        Refused(text: #"{"sku":"","quantity":1,}"#, code: .malformedJSON, path: "$", offset: 23),
    ])
    func namesPathAndOffset(_ vector: Refused) {
        let error = #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode(Order.Line.self, from: bytes(vector.text))
        }
        #expect(error?.code == vector.code)
        #expect(error?.offset == vector.offset)
        #expect(error?.path == vector.path)
        let place = "at \(vector.path) (byte \(vector.offset)): "
        #expect(error?.message.hasPrefix(place) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["1", "0", "\"true\"", "null", "[]"])
    func boolComesFromBoolOnly(_ text: String) {
        #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode(Bool.self, from: bytes(text))
        }
    }

    @Test(arguments: ["128", "-129", "1.0", "\"1\"", "true"])
    func int8IsExact(_ text: String) {
        #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode([Int8].self, from: bytes("[\(text)]"))
        }
    }

    @Test(arguments: ["-1", "256", "300", "99999999999999999999999999"])
    func uint8IsExact(_ text: String) {
        let error = #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode([UInt8].self, from: bytes("[0,\(text)]"))
        }
        #expect(error?.code == .outOfRange)
        #expect(error?.message.contains("$[1]") == true)
    }

    @Test func floatsAreTheNearest() throws {
        for text in [
            "0.1", "-0.3", "123456789012345", "1234567.12345678", "9007199254740993", "1e23", "-0",
            "5e-324", "2.2250738585072011e-308", "0.30000000000000004", "179769313486231570e291",
        ] {
            let value = try StrictJSONDecoder().decode(Double.self, from: bytes(text))
            #expect(value == Double(text))
        }
        #expect(try StrictJSONDecoder().decode(Float.self, from: bytes("16777217")) == 16_777_216)
        #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode(Float.self, from: bytes("1e39"))
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func refusesToEncodeNonFiniteNumbers(_ value: Double) {
        let order = ["a": [Order.Line(sku: "", quantity: 1, price: value)]]
        let error = #expect(throws: JSONError.self) { try StrictJSONEncoder().encode(order) }
        #expect(error?.code == .notFinite)
        #expect(error?.message.contains("$.a[0].price") == true)
        #expect(throws: JSONError.self) { try StrictJSONEncoder().encode([Float(value)]) }
        #expect(throws: JSONError.self) { try StrictJSONEncoder().encode(value) }
    }

    @Test func largeDictionariesAndNames() throws {
        var numbers: [String: Int] = [:]
        for index in 0..<20_000 { numbers["n\(index)"] = index }
        let text = try StrictJSONEncoder().encode(numbers)
        #expect(try StrictJSONDecoder().decode([String: Int].self, from: text) == numbers)
    }

    /// Elements that are skipped, each with an unreported error deep in the text.
    @Test func errorsThatAreSwallowedCostLittle() throws {
        struct Lossy: Decodable {
            var count = 0
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    if let inner = try? container.decode(Lossy.self) {
                        count += inner.count
                    } else {
                        #expect(throws: JSONError.self) { try container.decode(Int.self) }
                        _ = try container.decode(String.self)
                        count += 1
                    }
                }
            }
        }
        let elements = [String](repeating: "\"x\"", count: 5000).joined(separator: ",")
        let depth = 200
        let text =
            String(repeating: "[", count: depth) + elements + String(repeating: "]", count: depth)
        #expect(try StrictJSONDecoder().decode(Lossy.self, from: bytes(text)).count == 5000)
        let wanted = String(repeating: "[0]", count: 32)
        let error = #expect(throws: JSONError.self) {
            try StrictJSONDecoder().decode(
                Deep.self, from: bytes(text.replacing("\"x\",", with: "")))
        }
        #expect(
            error?.message.contains("$\(wanted)… (byte 200)") == true, "\(error?.message ?? "")")
    }

    /// Arrays in arrays around a number.
    indirect enum Deep: Decodable {
        case number(Int)
        case deeper([Deep])

        init(from decoder: any Decoder) throws {
            if (try? decoder.unkeyedContainer()) != nil {
                self = .deeper(try [Deep](from: decoder))
            } else {
                self = .number(try Int(from: decoder))
            }
        }
    }

    /// Encoding leaves each object and returns to it for its next member.
    @Test func objectsInManyMembers() throws {
        var lines: [String: [String: Order.Line]] = [:]
        for index in 0..<2000 {
            lines["n\(index)"] = ["a": .init(sku: "s\(index)", quantity: index, price: 0.5)]
        }
        let text = try StrictJSONEncoder().encode(lines)
        let decoded = try StrictJSONDecoder().decode(
            [String: [String: Order.Line]].self, from: text)
        #expect(decoded == lines)
    }

    @Test func scalarsAtTheRoot() throws {
        #expect(try StrictJSONEncoder().encode("a\"b") == bytes(#""a\"b""#))
        #expect(try StrictJSONEncoder().encode(Optional<Int>.none) == bytes("null"))
        #expect(try StrictJSONEncoder().encode(Float(0.1)) == bytes("0.1"))
        #expect(try StrictJSONEncoder().encode(1.0) == bytes("1"))
        #expect(try StrictJSONDecoder().decode(Int?.self, from: bytes("null")) == nil)
        #expect(try StrictJSONDecoder().decode(String.self, from: bytes("\"é\"")) == "é")
    }

    class Base: Codable {
        var one = 1
    }

    final class Derived: Base {
        var two = 2

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            try super.init(from: container.superDecoder())
            two = try container.decode(Int.self, forKey: .two)
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try super.encode(to: container.superEncoder())
            try container.encode(two, forKey: .two)
            var nested = container.nestedUnkeyedContainer(forKey: .list)
            try nested.encode(1)
            var inner = nested.nestedContainer(keyedBy: Key.self)
            try inner.encode(true, forKey: .two)
        }

        enum Key: CodingKey { case two, list }
    }

    struct Unruly: Encodable {
        enum Key: CodingKey { case a, b, c }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode([1, 2], forKey: .a)
            var nested = container.nestedContainer(keyedBy: Key.self, forKey: .b)
            try container.encode("last", forKey: .a)  // twice: the last value, the first place
            try? container.encode(Double.nan, forKey: .c)  // thrown and swallowed: no member
            try? container.encode([[Double.nan]], forKey: .c)
            try nested.encode(true, forKey: .c)  // filled after its parent continued
            var again = encoder.container(keyedBy: Key.self)
            try nested.encode(1, forKey: .a)
            if encoder.codingPath.isEmpty { try again.encodeNil(forKey: .b) }
        }
    }

    @Test func theLastValueOfAMemberCounts() throws {
        #expect(try StrictJSONEncoder().encode(Unruly()) == bytes(#"{"a":"last","b":null}"#))
        #expect(
            try StrictJSONEncoder().encode([Unruly()])
                == bytes(#"[{"a":"last","b":{"c":true,"a":1}}]"#))
        let pretty = try StrictJSONEncoder(style: .pretty).encode([1])
        #expect(pretty == bytes("[\n  1\n]"))
    }

    @Test func anEmptyEncodingIsAnEmptyObject() throws {
        struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
        struct Around: Encodable {
            let first = Nothing()
            let second = 1
            let third = [Nothing(), Nothing()]
            let last = Nothing()
        }
        let around = #"{"first":{},"second":1,"third":[{},{}],"last":{}}"#
        #expect(try StrictJSONEncoder().encode(Nothing()) == bytes("{}"))
        #expect(try StrictJSONEncoder().encode([Nothing()]) == bytes("[{}]"))
        #expect(try StrictJSONEncoder().encode(Around()) == bytes(around))
        #expect(
            try StrictJSONEncoder().encode([Around(), Around()]) == bytes("[\(around),\(around)]"))
    }

    @Test func superclassesAndNestedContainers() throws {
        let text = try StrictJSONEncoder().encode(Derived())
        #expect(text == bytes(#"{"super":{"one":1},"two":2,"list":[1,{"two":true}]}"#))
        #expect(try StrictJSONDecoder().decode(Derived.self, from: text).one == 1)
    }
}

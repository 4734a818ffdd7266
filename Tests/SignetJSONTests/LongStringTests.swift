import SignetJSON
import TestSupport
import Testing

/// Strings that are scanned in words and in blocks: an invalid byte is found at every position.
struct LongStringTests {
    private static let count = 230

    /// `["aaa…`, with some bytes from a place on, up to `…aaa"]`.
    private func text(_ insert: [UInt8], at place: Int) -> [UInt8] {
        var inside = [UInt8](repeating: 0x61, count: Self.count)
        inside.replaceSubrange(place..<min(place + insert.count, Self.count), with: insert)
        return bytes("[\"") + inside + bytes("\"]")
    }

    @Test func acceptsAllAllowedCharacters() throws {
        for place in 0..<Self.count {
            for insert in [
                "b", "\u{7f}", "é", "€", "😀", " ", "\\n", "\\\"", "\\u0041", "/", "[", "~",
            ] {
                let text = text(bytes(insert), at: place)
                let value = try JSONValue(parsing: text)
                let string = try #require(value[0]?.string)
                var wanted = [UInt8](repeating: 0x61, count: place)
                let undone =
                    ["\\n": "\n", "\\\"": "\"", "\\u0041": "A"][insert] ?? insert
                wanted += bytes(undone)
                let rest = Self.count - place - bytes(insert).count
                wanted += [UInt8](repeating: 0x61, count: max(0, rest))
                #expect(Array(string.utf8) == wanted, "\(insert) at \(place)")
            }
        }
    }

    @Test func refusesOtherBytesWithTheirOffset() {
        for place in 0..<Self.count - 6 {
            for (insert, offset) in [
                ([0x00], 0), ([0x0a], 0), ([0x1f], 0), ([0x80], 0), ([0xbf], 0), ([0xff], 0),
                ([0xc0, 0x80], 0), ([0xc3, 0x61], 0), ([0xed, 0xa0, 0x80], 0),
                ([0xf4, 0x90, 0x80, 0x80], 0), (bytes("\\x"), 0), (bytes("\\ud800"), 0),
                (bytes("\"x"), 1),
            ] as [([UInt8], Int)] {
                let error = #expect(throws: JSONError.self) {
                    try JSONValue(parsing: text(insert, at: place))
                }
                #expect(error?.offset == place + 2 + offset, "\(insert) at \(place)")
            }
        }
    }

    @Test func aStringThatDoesNotEndIsRefusedAtEachLength() {
        for count in 0..<Self.count {
            let text = bytes("\"") + [UInt8](repeating: 0x61, count: count)
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
            #expect(error?.offset == count + 1)
        }
    }
}

extension JSONValue {
    fileprivate subscript(index: Int) -> JSONValue? { array?[index] }
}

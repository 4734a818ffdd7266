import SignetJSON
import TestSupport
import Testing

/// Arrays decoded as arrays of each element type, of any length, and elements that don't fit.
struct ListTests {
    private struct Point: Codable, Hashable { var x: Int }

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try StrictJSONDecoder().decode(type, from: bytes(text))
    }

    /// A text of `count` elements.
    private func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[" + (0..<count).map(element).joined(separator: ",") + "]"
    }

    @Test(arguments: [0, 1, 2, 255, 256, 257, 1000])
    func decodesAsManyAsThereAre(_ count: Int) throws {
        let numbers = Array(0..<count)
        #expect(try decode([Int].self, list(count) { "\($0)" }) == numbers)
        #expect(try decode([UInt16].self, list(count) { "\($0)" }) == numbers.map { UInt16($0) })
        #expect(
            try decode([Double].self, list(count) { "\($0).5" }) == numbers.map { Double($0) + 0.5 }
        )
        #expect(
            try decode([String].self, list(count) { "\"no \($0)\"" }) == numbers.map { "no \($0)" })
        #expect(
            try decode([Bool].self, list(count) { "\($0 % 2 == 0)" }) == numbers.map { $0 % 2 == 0 }
        )
        #expect(
            try decode([Point].self, list(count) { #"{"x":\#($0)}"# })
                == numbers.map { Point(x: $0) })
        #expect(try decode(Set<Point>.self, list(count) { #"{"x":\#($0)}"# }).count == count)
        #expect(
            try decode([[Int]].self, list(count) { "[\($0),1]" }) == numbers.map { [$0, 1] })
        #expect(
            try decode([Int?].self, list(count) { $0 == 3 ? "null" : "\($0)" })
                == numbers.map { $0 == 3 ? nil : $0 })
        #expect(
            try decode([JSONValue].self, list(count) { "\($0)" })
                == numbers.map { .number(JSONNumber($0)) })
        #expect(
            try decode([String: [Point]].self, #"{"all":\#(list(count) { #"{"x":\#($0)}"# })}"#)
                == ["all": numbers.map { Point(x: $0) }])
    }

    @Test func saysWhichElementDoesNotFit() {
        func check<Value: Decodable>(
            _ type: Value.Type, _ text: String, _ code: JSONError.Code, _ path: String
        ) {
            let error = #expect(throws: JSONError.self) { try decode(type, text) }
            #expect(error?.code == code)
            #expect(error?.message.hasPrefix("at \(path) (byte ") == true, "\(error as Any)")
        }
        check([Int].self, "[1,2,true]", .typeMismatch, "$[2]")
        check([Int].self, "[1,1.5]", .typeMismatch, "$[1]")
        check([Int].self, list(300) { $0 == 299 ? "\"\"" : "1" }, .typeMismatch, "$[299]")
        check([Int].self, "[9223372036854775808]", .outOfRange, "$[0]")
        check([String].self, "[\"a\",null]", .typeMismatch, "$[1]")
        check([Double].self, "[1,1e999]", .notFinite, "$[1]")
        check([Point].self, #"[{"x":1},{"y":1}]"#, .missingMember, "$[1].x")
        check([Point].self, #"[{"x":1},[]]"#, .typeMismatch, "$[1]")
        check([[Int]].self, "[[1],[2,\"\"]]", .typeMismatch, "$[1][1]")
        check([[Int]].self, "[[1],2]", .typeMismatch, "$[1]")
        check([Int].self, "{}", .typeMismatch, "$")
        check([Point].self, "1", .typeMismatch, "$")
        check(Point.self, "[]", .typeMismatch, "$")
    }

    /// Types that nest their own kind, decoded before the members that follow.
    @Test func comesBackToAnObjectLeftHalfWay() throws {
        struct Tree: Codable, Equatable {
            var name: String
            var children: [Tree]
            var weight: Int
        }
        let text = #"""
            {"name":"a","children":[{"name":"b","children":[],"weight":1},{"weight":2,"name":"c",
            "children":[{"children":[],"name":"d","weight":4}]}],"weight":3}
            """#
        let tree = try decode(Tree.self, text)
        #expect(tree.weight == 3 && tree.children.map(\.weight) == [1, 2])
        #expect(tree.children[1].children == [Tree(name: "d", children: [], weight: 4)])
        #expect(
            try decode(Tree.self, String(decoding: StrictJSONEncoder().encode(tree), as: UTF8.self))
                == tree)
    }
}

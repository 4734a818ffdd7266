import SignetJSON
import TestSupport
import Testing

/// Arrays of objects with the same member names, for which the encoder reuses text, and objects
/// that differ after the first names.
struct SimilarObjectsEncodingTests {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    /// A value of members in an order, whose names may come twice.
    private indirect enum Value: Encodable {
        case number(Int)
        case array([Value])
        case object([(name: String, value: Value)])

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .number(let number):
                var container = encoder.singleValueContainer()
                try container.encode(number)
            case .array(let values):
                var container = encoder.unkeyedContainer()
                for value in values { try container.encode(value) }
            case .object(let members):
                var container = encoder.container(keyedBy: Key.self)
                for (name, value) in members {
                    if case .number(let number) = value {
                        try container.encode(number, forKey: Key(name))
                    } else {
                        try container.encode(value, forKey: Key(name))
                    }
                }
            }
        }
    }

    private func text(_ value: Value) throws -> String {
        String(decoding: try StrictJSONEncoder().encode(value), as: UTF8.self)
    }

    private func objects(_ objects: [[String]]) -> Value {
        .array(
            objects.map { names in
                .object(names.enumerated().map { (name: $1, value: .number($0)) })
            })
    }

    @Test func writesEachNameByItsBytes() throws {
        #expect(
            try text(objects([["a", "b"], ["a", "b"], ["a", "c"], ["b"], [], ["a", "b"]]))
                == #"[{"a":0,"b":1},{"a":0,"b":1},{"a":0,"c":1},{"b":0},{},{"a":0,"b":1}]"#)
        // The sign for kelvin is K to Swift, and the two forms of é are one.
        #expect(
            try text(
                objects([["K"], ["\u{212a}"], ["K"], ["\u{e9}"], ["e\u{301}"], [";"], ["\u{37e}"]]))
                == "[{\"K\":0},{\"\u{212a}\":0},{\"K\":0},{\"\u{e9}\":0},{\"e\u{301}\":0},{\";\":0},{\"\u{37e}\":0}]"
        )
        #expect(
            try text(objects([["a\"", "b"], ["a\"", "b"], ["a\n", "b"]]))
                == #"[{"a\"":0,"b":1},{"a\"":0,"b":1},{"a\n":0,"b":1}]"#)
    }

    /// A name that comes twice has its last value, in its first place.
    @Test func findsADuplicateName() throws {
        #expect(
            try text(objects([["a", "b"], ["a", "b", "a"]])) == #"[{"a":0,"b":1},{"a":2,"b":1}]"#)
        #expect(try text(objects([["a", "b"], ["a", "a"]])) == #"[{"a":0,"b":1},{"a":1}]"#)
        #expect(
            try text(objects([["a", "b", "c"], ["a", "c", "b"], ["a", "c", "b", "c"]]))
                == #"[{"a":0,"b":1,"c":2},{"a":0,"c":1,"b":2},{"a":0,"c":3,"b":2}]"#)
    }

    @Test func agreesWithTheTree() throws {
        var random = SplitMix(seed: 7049)
        let pool = [
            "a", "b", "id", "item", "quantity", "a-longer-name-than-two-words", "K", "\u{212a}",
            "\u{e9}", "e\u{301}", "with \"quotes\"", "line\nfeed", "", "fifteen--------",
        ]
        for _ in 0..<400 {
            let order = Array(
                pool.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)))
            let value = array(order, pool, level: 0, &random)
            let tree = try StrictJSONEncoder().encodeValue(value)
            #expect(try StrictJSONEncoder().encode(value) == tree.serialized())
        }
    }

    private func array(
        _ order: [String], _ pool: [String], level: Int, _ random: inout SplitMix
    ) -> Value {
        var values: [Value] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            var names = order
            if Int.random(in: 0..<6, using: &random) == 0 { names.shuffle(using: &random) }
            if Int.random(in: 0..<6, using: &random) == 0, !names.isEmpty { names.removeLast() }
            if Int.random(in: 0..<10, using: &random) == 0 { names += pool.prefix(2) }
            var members: [(name: String, value: Value)] = []
            for name in names {
                let isNested = level < 3 && Int.random(in: 0..<5, using: &random) == 0
                members.append(
                    (
                        name,
                        isNested
                            ? array(order, pool, level: level + 1, &random) : .number(members.count)
                    ))
            }
            let object = Value.object(members)
            values.append(
                Int.random(in: 0..<8, using: &random) == 0
                    ? .object([(name: "inner", value: object)]) : object)
        }
        return .array(values)
    }

    /// The room of a text goes to the next one, from whichever task, and nothing else of it.
    @Test func textsKnowNothingOfOneAnother() async throws {
        func object(_ names: [String]) -> String {
            "{\(names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ","))}"
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<100 {
                        let all = [["n\(task)", "n\(round)x", "n"], ["n\(task)", "n"], ["n"]]
                        let wanted = "[\(all.map(object).joined(separator: ","))]"
                        let written = try self.text(self.objects(all))
                        #expect(written == wanted)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private final class Keeper: Encodable {
        var kept: KeyedEncodingContainer<Key>?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: Key("a"))
            kept = container
        }
    }

    @Test func aContainerThatOutlivesItsTextWritesNowhere() throws {
        let keeper = Keeper()
        #expect(try StrictJSONEncoder().encode([keeper]) == Array(#"[{"a":1}]"#.utf8))
        let other = try StrictJSONEncoder().encode([["a": 2]])
        try keeper.kept?.encode("s3cr3t", forKey: Key("b"))
        #expect(other == Array(#"[{"a":2}]"#.utf8))
        keeper.kept = nil
        #expect(try text(objects([["a", "b"]])) == #"[{"a":0,"b":1}]"#)
    }

    @Test func takesMoreNamesThanAreNoted() throws {
        let names = (0..<1000).map { "name-\($0)" }
        let value = objects([names, names, names.reversed()])
        let tree = try StrictJSONEncoder().encodeValue(value)
        #expect(try StrictJSONEncoder().encode(value) == tree.serialized())
        #expect(tree.array?.map { $0.object?.count } == [1000, 1000, 1000])
    }

    @Test func writesDecimalsAtTheirShortest() throws {
        var random = SplitMix(seed: 8785)
        for _ in 0..<5000 {
            let digits = Double(Int.random(in: -99_999_999...99_999_999, using: &random))
            for divisor in [1.0, 10, 100, 1000, 10_000, 1e5, 1e7] {
                let value = digits / divisor
                let text = String(decoding: try StrictJSONEncoder().encode([value]), as: UTF8.self)
                #expect(text == "[\(JSONNumber(value)?.text ?? "")]")
            }
        }
        let values = [
            0, -0.0, 0.5, 0.05, -0.05, 0.0005, 1e15, 999_999_999_999_999, 99_999_999_999_999.9,
        ]
        #expect(
            try text(values)
                == "[0,0,0.5,0.05,-0.05,0.0005,1000000000000000,999999999999999,99999999999999.9]")
    }

    private func text(_ values: [Double]) throws -> String {
        String(decoding: try StrictJSONEncoder().encode(values), as: UTF8.self)
    }
}

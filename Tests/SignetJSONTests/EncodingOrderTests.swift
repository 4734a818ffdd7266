import SignetJSON
import TestSupport
import Testing

/// The encoder writes the same text directly and by a tree, for every order in which a type
/// encodes.
struct EncodingOrderTests {
    /// Encodes itself by a script of random steps, in order or not.
    struct Scripted: Encodable {
        let seed: UInt64
        let depth: Int
        /// Whether each container is complete before its parent continues.
        let isOrdered: Bool

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        struct Failure: Error {}

        func encode(to encoder: any Encoder) throws {
            var random = SplitMix(seed: seed)
            var number = 0
            switch Int.random(in: 0...9, using: &random) {
            case 0: return
            case 1:
                var container = encoder.singleValueContainer()
                try container.encode("\"\(seed)\n")
                if !isOrdered { try container.encode(seed) }
            case 2, 3, 4:
                var container = encoder.unkeyedContainer()
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    try elements(&container, &random)
                }
            default:
                var container = encoder.container(keyedBy: Key.self)
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    number += 1
                    let name =
                        isOrdered ? "n\(number)" : "n\(Int.random(in: 0...3, using: &random))"
                    try member(&container, Key(stringValue: name), &random)
                }
            }
        }

        private func child(_ random: inout SplitMix) -> Scripted {
            Scripted(seed: random.next(), depth: depth + 1, isOrdered: isOrdered)
        }

        private func elements(
            _ container: inout any UnkeyedEncodingContainer, _ random: inout SplitMix
        ) throws {
            switch Int.random(in: 0...7, using: &random) {
            case 0: try container.encode(Double(Int64(bitPattern: random.next())) / 1000)
            case 1: try container.encodeNil()
            case 2 where depth < 4: try container.encode(child(&random))
            case 3 where depth < 4:
                var nested = container.nestedUnkeyedContainer()
                try elements(&nested, &random)
                if !isOrdered {
                    try container.encode(1)
                    try nested.encode(2)
                }
            case 4 where !isOrdered:
                let later = container.superEncoder()
                try container.encode("x")
                try child(&random).encode(to: later)
            case 5 where !isOrdered: try? container.encode([1, .nan])
            default: try container.encode(UInt8(truncatingIfNeeded: random.next()))
            }
        }

        private func member(
            _ container: inout KeyedEncodingContainer<Key>, _ key: Key, _ random: inout SplitMix
        ) throws {
            switch Int.random(in: 0...9, using: &random) {
            case 0: try container.encode(Int64(bitPattern: random.next()), forKey: key)
            case 1: try container.encode("é\u{1}\"", forKey: key)
            case 2: try container.encodeNil(forKey: key)
            case 3,
                4 where depth < 4:
                try container.encode(child(&random), forKey: key)
            case 5 where depth < 4:
                var nested = container.nestedContainer(keyedBy: Key.self, forKey: key)
                try member(&nested, Key(stringValue: "in"), &random)
                if !isOrdered {
                    try container.encode(true, forKey: Key(stringValue: "n0"))
                    try nested.encode(Float(0.1), forKey: Key(stringValue: "late"))
                }
            case 6 where !isOrdered: try? container.encode(Double.infinity, forKey: key)
            case 7 where !isOrdered:
                _ = container.codingPath
                _ = container.superEncoder(forKey: key)
            case 8:
                try container.encode(
                    ["a": .number(JSONNumber(text: "1e400") ?? JSONNumber(0)), "b": [nil]]
                        as JSONValue,
                    forKey: key)
            default: try container.encode(Bool.random(using: &random), forKey: key)
            }
        }
    }

    /// `encodeValue` uses the tree from the start.
    @Test(arguments: [true, false])
    func theTextIsTheTrees(_ isOrdered: Bool) throws {
        var lengths = 0
        for seed in 0..<3000 as Range<UInt64> {
            let value = Scripted(seed: seed, depth: 0, isOrdered: isOrdered)
            let text = try StrictJSONEncoder().encode(value)
            let tree = try StrictJSONEncoder().encodeValue(value)
            #expect(
                String(decoding: text, as: UTF8.self) == tree.text, "seed \(seed)")
            lengths += text.count
        }
        #expect(lengths > 100_000)
    }

    /// Asks its encoder for one container after another, of any kind.
    struct Undecided: Encodable {
        let steps: [Int]

        func encode(to encoder: any Encoder) throws {
            for step in steps {
                switch step {
                case 0: _ = encoder.container(keyedBy: Scripted.Key.self)
                case 1:
                    var container = encoder.container(keyedBy: Scripted.Key.self)
                    try container.encode(step, forKey: Scripted.Key(stringValue: "a"))
                case 2: _ = encoder.unkeyedContainer()
                case 3:
                    var container = encoder.unkeyedContainer()
                    try container.encode(Undecided(steps: [1]))
                case 4:
                    var container = encoder.singleValueContainer()
                    try container.encode("x")
                case 5: _ = encoder.codingPath
                default: throw Scripted.Failure()
                }
            }
        }
    }

    /// Behind an object another one is begun before the element asks for its container.
    @Test func anyElementMayFollowAnObject() throws {
        struct List: Encodable {
            let elements: [Undecided]

            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                for element in elements { try? container.encode(element) }
            }
        }
        for script in 0..<7 * 7 * 7 * 7 {
            let steps = [script % 7, script / 7 % 7, script / 49 % 7]
            let like = Undecided(steps: [script / 343])
            let list = List(elements: [like, Undecided(steps: steps), like, Undecided(steps: [])])
            let text = String(decoding: try StrictJSONEncoder().encode(list), as: UTF8.self)
            #expect(try StrictJSONEncoder().encodeValue(list).text == text, "\(steps)")
        }
    }

    @Test func numbersAreWrittenAsTheShortestText() throws {
        var random = SplitMix(seed: 8785)
        for _ in 0..<20_000 {
            let digits = Double(random.next() >> UInt64.random(in: 0...63, using: &random))
            let scales: [Double] = [1, 10, 100, 1000, 1e4, 1e5, 3, 1e-3]
            let scale = scales.randomElement(using: &random) ?? 1
            for value in [digits / scale, -digits / scale, Double(bitPattern: random.next())]
            where value.isFinite {
                let text = String(decoding: try StrictJSONEncoder().encode(value), as: UTF8.self)
                #expect(text == JSONNumber(value)?.text)
                #expect(Double(text) == value)
            }
        }
    }

    @Test func integersOfEachLength() throws {
        var values: [UInt64] = [0, .max]
        var power: UInt64 = 1
        for _ in 0..<19 {
            power *= 10
            values += [power - 1, power, power + 1]
        }
        for value in values {
            #expect(try StrictJSONEncoder().encode([value]) == bytes("[\(value)]"))
            let signed = Int64(truncatingIfNeeded: value)
            #expect(
                try StrictJSONEncoder().encode([signed, -signed]) == bytes("[\(signed),\(-signed)]")
            )
        }
        #expect(try StrictJSONEncoder().encode(Int64.min) == bytes("\(Int64.min)"))
    }

    @Test func aLongTextGrows() throws {
        let long = String(repeating: "x", count: 5000)
        let text = try StrictJSONEncoder().encode([long, long + "\n", "é" + long])
        #expect(
            text == bytes("[\"\(long)\",\"\(long)\\n\",\"é\(long)\"]"))
    }

    @Test func namesThatMustBeEscaped() throws {
        for length in 0..<20 {
            for odd in ["\"", "\\", "\u{0}", "\u{1f}", "\u{7f}", "é", "😀"] {
                let name = String(repeating: "a", count: length) + odd + "b"
                let text = try StrictJSONEncoder().encode([name: name])
                #expect(try JSONValue(parsing: text) == [name: .string(name)] as JSONValue)
            }
        }
    }
}

import SignetJSON
import TestSupport
import Testing

/// Arrays of objects with the same member names, for which the reader reuses names, and objects
/// that differ after the first names.
struct SimilarObjectsTests {
    /// The refused text, and the name that is wrong.
    @Test(arguments: [
        (#"[{"a":1,"b":2},{"a":1,"b":2,"a":3}]"#, 28),
        (#"[{"a":1,"b":2},{"a":1,"a":3}]"#, 22),
        (#"[{"a":1,"b":2},{"b":1,"b":3}]"#, 22),
        (#"[{"a":1},{"a":1},{"a":1,"a":1}]"#, 24),
        // The name after the template's last one belongs to the object around it.
        (#"[{"o":{"x":1},"x":1},{"o":{"x":1,"x":2},"x":1}]"#, 33),
        (#"[[{"x":1}],[{"x":1},{"x":1,"x":1}]]"#, 27),
        // The same names, one of them with an escape.
        (#"[{"a":1,"b":2},{"a":1,"b":2,"\u0061":3}]"#, 28),
        (#"[{"\u0061":1,"b":2},{"\u0061":1,"a":2}]"#, 32),
        // Longer ones than a word, than two words.
        (#"[{"abcdefgh":1,"b":2},{"abcdefgh":1,"b":2,"abcdefgh":3}]"#, 42),
        (#"[{"abcdefghijklmnopqrs":1},{"abcdefghijklmnopqrs":1,"abcdefghijklmnopqrs":3}]"#, 52),
    ])
    func refusesADuplicateName(_ text: String, _ offset: Int) {
        for depth in [Int.max, 3, 2, 1, 0] {
            let error = #expect(throws: JSONError.self) {
                try JSONReader(bytes(text), recordedDepth: depth)
            }
            #expect(error?.code == .duplicateMember, "\(text)")
            #expect(error?.offset == offset, "\(text)")
        }
    }

    /// Invalid texts that begin like the object before them.
    @Test(arguments: [
        (#"[{"a":1},{"a"}]"#, 13), (#"[{"a":1},{"a1}]"#, 15), (#"[{"a":1},{"a":}]"#, 14),
        (#"[{"a":1},{"a" 1}]"#, 14), (#"[{"a":1},{"a":1,}]"#, 16), (#"[{"a":1},{"a"#, 12),
        (#"[{"a":1},{"#, 10), (#"[{"a":1},{"a":1"#, 15), (#"[{"a":1},{a":1}]"#, 10),
    ])
    func refusesInvalidTexts(_ text: String, _ offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSONReader(bytes(text)) }
        #expect(error?.code == .malformedJSON, "\(text)")
        #expect(error?.offset == offset, "\(text)")
    }

    @Test func agreesWithASetOfNames() throws {
        var random = SplitMix(seed: 4627)
        var refused = 0
        for number in 0..<1000 {
            var document = Document(random: random)
            document.writeArray(level: 0)
            random = document.random
            let depth = number % 3 == 0 ? Int.random(in: 0...6, using: &random) : .max
            do {
                let reader = try JSONReader(document.text, recordedDepth: depth)
                #expect(
                    document.duplicate == nil, "\(String(decoding: document.text, as: UTF8.self))")
                let again = reader.value(reader.root).serialized()
                let value = try JSONValue(parsing: again)
                #expect(value.serialized() == again)
                #expect(document.names(of: value) == document.names)
            } catch {
                refused += 1
                #expect(error.code == .duplicateMember)
                #expect(
                    error.offset == document.duplicate,
                    "\(String(decoding: document.text, as: UTF8.self))")
            }
        }
        #expect((100...900).contains(refused), "\(refused) of 1000")
    }

    /// A random text of arrays and objects whose names are few and mostly come in one order.
    private struct Document {
        var random: SplitMix
        var text: [UInt8] = []
        /// All names in the order of the text.
        var names: [String] = []
        /// The position of the first duplicate name.
        var duplicate: Int?
        private let order: [String]

        init(random: SplitMix) {
            self.random = random
            var pool = [
                "a", "b", "id", "item", "amount", "x-names", "is_gift", "customer", "created-at",
                "fourteen-bytes", "fifteen-bytes--", "sixteen-bytes---", "seventeen-bytes--", "é",
                "a-name-of-more-than-twenty-four-bytes", "",
            ]
            pool.shuffle(using: &self.random)
            self.order = Array(pool.prefix(Int.random(in: 1...6, using: &self.random)))
        }

        private mutating func chance(_ part: Int) -> Bool {
            Int.random(in: 0..<part, using: &random) == 0
        }

        private mutating func space() { if chance(40) { text.append(0x20) } }

        private mutating func writeValue(level: Int) {
            switch Int.random(in: 0..<(level < 4 ? 12 : 8), using: &random) {
            case 0: text += bytes("\"a\"")
            case 1: text += bytes("null")
            case 8, 9: writeArray(level: level + 1)
            case 10, 11: writeObject(level: level + 1)
            default: text += bytes("12")
            }
        }

        mutating func writeArray(level: Int) {
            text.append(0x5b)
            for index in 0..<Int.random(in: 0...4, using: &random) {
                if index > 0 { text.append(0x2c) }
                space()
                if chance(5) { writeValue(level: level + 1) } else { writeObject(level: level + 1) }
                space()
            }
            text.append(0x5d)
        }

        private mutating func writeObject(level: Int) {
            var own = order
            if chance(8) { own.shuffle(using: &random) }
            if chance(6) { own.removeLast(Int.random(in: 0...own.count, using: &random)) }
            if chance(8), let name = order.randomElement(using: &random) { own.append(name) }
            if chance(12) { own.append("other") }
            text.append(0x7b)
            var known: Set<String> = []
            for (index, name) in own.enumerated() {
                if index > 0 { text.append(0x2c) }
                space()
                if !known.insert(name).inserted, duplicate == nil { duplicate = text.count }
                names.append(name)
                let isEscaped = name.utf8.first == 0x61 && chance(20)
                text += bytes(isEscaped ? "\"\\u0061\(name.dropFirst())\"" : "\"\(name)\"")
                space()
                text.append(0x3a)
                space()
                writeValue(level: level)
                space()
            }
            text.append(0x7d)
        }

        func names(of value: JSONValue) -> [String] {
            if let array = value.array { return array.flatMap { names(of: $0) } }
            return value.object?.flatMap { [$0.name] + names(of: $0.value) } ?? []
        }
    }
}

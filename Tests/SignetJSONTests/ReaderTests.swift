import Foundation
import SignetJSON
import TestSupport
import Testing

/// The strict reader: what it accepts and refuses, and the offsets of its errors.
struct ReaderTests {
    struct Rejected: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let hex: String
        let offset: Int
        let code: String
        var testDescription: String { name }

        var bytes: [UInt8] {
            let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            return stride(from: 0, to: digits.count, by: 2).map {
                UInt8(digits[$0] << 4 | digits[$0 + 1])
            }
        }
    }

    struct Accepted: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let compact: String
        let canonical: String
        var testDescription: String { name }
    }

    @Test func vectorsAreThere() throws {
        #expect(try VectorFile<Rejected>.load("rejected", in: .module).count > 100)
        #expect(try VectorFile<Accepted>.load("accepted", in: .module).count > 10)
    }

    @Test(arguments: try VectorFile<Rejected>.load("rejected", in: .module))
    func refusesWithCodeAndOffset(_ vector: Rejected) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: vector.bytes) }
        #expect(error?.code.name == vector.code)
        #expect(error?.offset == vector.offset)
        #expect(error?.message.contains("byte \(vector.offset)") == true)
    }

    @Test(arguments: [
        ("", "$", 0), ("1 2", "$", 2), ("{", "$", 1), ("[", "$[0]", 1), ("[1,", "$[1]", 3),
        ("[[],[{}],x]", "$[2]", 9), (#"{"a":{"b":[1,{"c":tru}]}}"#, "$.a.b[1].c", 21),
        // After a value it is that value's path; after a comma in an object, the object's path.
        (#"{"a":1 "b":2}"#, "$.a", 7), (#"{"a":1,}"#, "$", 7),
        (#"{"a":[1,2],"b":{"c":1,x"#, "$.b", 22),
        // A string without a colon after it isn't a name: it may be a misplaced value.
        (#"{"a":1,"ZZZZ"}"#, "$", 13), (#"{"a":{"ZZ"#, "$.a", 9), (#"{"a":"ZZ"#, "$.a", 8),
        (#"{"a":{"x":[1],"\u0078":1}}"#, "$.a.x", 14), (#"[{"é\n":01}]"#, #"$[0].\u{00E9}\n"#, 10),
        (#"{"a,]}":["]",",\"",{"b:":"\q"}]}"#, #"$.a,]}[2].b:"#, 26),
        (#"{"a":"\ud800"}"#, "$.a", 6),
    ])
    func refusesWithAPath(_ text: String, _ path: String, _ offset: Int) {
        for recordedDepth in [0, Int.max] {
            let error = #expect(throws: JSONError.self) {
                try JSONReader(bytes(text), recordedDepth: recordedDepth)
            }
            #expect(error?.path == path)
            #expect(error?.offset == offset)
            #expect(error?.message.hasPrefix("at \(path) (byte \(offset)): ") == true)
            #expect(error?.message.contains("ZZ") == false)
        }
    }

    @Test func aPathOfAMegabyteIsCut() {
        let name = String(repeating: "n", count: 1 << 20)
        let text = bytes(
            String(repeating: #"{"\#(name.prefix(65))":["#, count: 200) + #"{"\#(name)":x"#)
        let error = #expect(throws: JSONError.self) { try JSONReader(text) }
        #expect(error?.offset == text.count - 1)
        #expect(error?.path?.utf8.count ?? .max < 2000)
    }

    @Test(arguments: try VectorFile<Rejected>.load("rejected", in: .module))
    func refusesDeepInsideToo(_ vector: Rejected) {
        // Validation continues below the depth at which recording ends.
        let text = bytes(#"{"a":[[[[0,"#) + vector.bytes + bytes("]]]]}")
        let error = #expect(throws: JSONError.self) { try JSONReader(text, recordedDepth: 0) }
        #expect(error?.path?.hasPrefix("$.a") == true)
    }

    @Test(arguments: try VectorFile<Accepted>.load("accepted", in: .module))
    func acceptsAndWrites(_ vector: Accepted) throws {
        let value = try JSONValue(parsing: bytes(vector.text))
        #expect(value.serialized() == bytes(vector.compact))
        if vector.canonical != "-" {
            // Noncharacters are valid in JSON and refused for I-JSON.
            let isRefused = vector.name == "noncharacters" || vector.name == "highest scalar"
            let canonical = try? value.canonicalized()
            #expect(canonical == (isRefused ? nil : bytes(vector.canonical)))
            #expect(value.serialized(.canonical) == bytes(vector.canonical))
        }
        let pretty = value.serialized(.pretty)
        #expect(try JSONValue(parsing: pretty) == value)
        #expect(try JSONValue(parsing: value.serialized()) == value)
        let text = bytes(vector.text)
        #expect(try JSONValue(parsing: text.span) == value)
    }

    @Test(arguments: [0, 1, 2, 511, 512])
    func takesTheDepth(_ depth: Int) throws {
        let arrays = [UInt8](repeating: 0x5b, count: depth) + bytes(depth == 0 ? "1" : "")
        let text = arrays + [UInt8](repeating: 0x5d, count: depth)
        let value = try JSONValue(parsing: text)
        #expect(value.serialized() == text)
        guard depth > 0 else { return }
        #expect(throws: JSONError.self) { try JSONValue(parsing: text, maximumDepth: depth - 1) }
    }

    @Test(arguments: [512, 513, 100_000, Int.max])
    func refusesADepthOver512WithAnyLimit(_ limit: Int) {
        for opening in ["[", "{\"a\":"] {
            let text = Array(repeatElement(bytes(opening), count: 513).joined())
            let error = #expect(throws: JSONError.self) {
                try JSONValue(parsing: text, maximumDepth: limit)
            }
            #expect(error?.code == .tooDeep)
            #expect(error?.offset == 512 * opening.utf8.count)
        }
    }

    @Test(arguments: [1, 2, 15, 16, 17, 4096, 4097, 10_000])
    func recordsTheRequestedNumberOfValues(_ limit: Int) throws {
        let array = { (count: Int) in
            bytes("[\(repeatElement("1", count: count).joined(separator: ","))]")
        }
        for depth in [1, Int.max] {
            _ = try JSONReader(array(limit - 1), recordedDepth: depth, recordedCount: limit)
            let error = #expect(throws: JSONError.self) {
                try JSONReader(array(limit), recordedDepth: depth, recordedCount: limit)
            }
            #expect(error?.code == .tooLargeJSON)
            #expect(error?.path == "$[\(limit - 1)]")
            #expect(error?.offset == 2 * limit - 1)
        }
        // Values that aren't recorded don't count.
        let inner = bytes("[") + array(100_000) + bytes("]")
        _ = try JSONReader(inner, recordedDepth: 1, recordedCount: 3)
    }

    @Test func aLimitHoldsInObjectsToo() throws {
        let text = bytes(#"{"a":1,"b":{"c":2}}"#)
        _ = try JSONReader(text, recordedCount: 7)
        for limit in [-1, 0, 1, 2, 3, 4, 5] {
            let error = #expect(throws: JSONError.self) {
                try JSONReader(text, recordedCount: limit)
            }
            #expect(error?.code == .tooLargeJSON)
        }
    }

    @Test func refusesAMillionBracketsWithoutOverflow() {
        let text = [UInt8](repeating: 0x5b, count: 1_000_000)
        let error = #expect(throws: JSONError.self) { try JSONReader(text) }
        #expect(error?.code == .tooDeep)
    }

    @Test func everyPrefixIsRefusedAndNoneCrashes() throws {
        let text = bytes(#"{"a":[1.5e+3,"\ud83d\ude00é\n",true,false,null,{"b":{}}]}"#)
        for end in 0..<text.count {
            let error = #expect(throws: JSONError.self) {
                try JSONValue(parsing: Array(text[..<end]))
            }
            #expect((error?.offset ?? .max) <= end)
        }
        _ = try JSONValue(parsing: text)
    }

    @Test func everyByteInEveryPlaceIsReadOrRefused() {
        let text = bytes(#"{"a":[-1.5e+3,"\ud83d\ude00é",true,null],"b":{}}"#)
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                if let value = try? JSONValue(parsing: changed) {
                    #expect((try? JSONValue(parsing: value.serialized())) == value)
                }
            }
        }
    }

    @Test func largeObjectsAreReadWithoutQuadraticWork() throws {
        let count = 100_000
        var text = bytes("{")
        for index in 0..<count { text += bytes("\"member-name-\(index)\":\(index),") }
        let object = text + bytes("\"last\":0}")
        let value = try JSONValue(parsing: object)
        #expect(value.object?.count == count + 1)
        #expect(value["member-name-99999"] == 99999)
        #expect(value.serialized() == object)

        let duplicate = text + bytes("\"member-name-77777\":0}")
        let error = #expect(throws: JSONError.self) { try JSONReader(duplicate) }
        #expect(error?.code == .duplicateMember)
        #expect(error?.offset == text.count)
    }

    @Test(arguments: [23, 24, 25, 26, 63, 64, 65, 66, 300])
    func findsADuplicateAtEverySizeAndPlace(_ count: Int) {
        for place in [0, count / 2, count - 1] {
            let names = (0..<count).map { "\"n\($0)\":{\"n\($0)\":[]}" }
            let text = "{" + names.joined(separator: ",") + ",\"\\u006e\(place)\":1}"
            let error = #expect(throws: JSONError.self) { try JSONReader(bytes(text)) }
            #expect(error?.code == .duplicateMember)
            let unique = "{" + names.joined(separator: ",") + ",\"x\(place)\":1}"
            #expect((try? JSONReader(bytes(unique))) != nil)
        }
    }

    @Test func rangesAreThoseOfTheText() throws {
        let text = bytes(#" { "result" : [1, {"x":2}] , "id":"\u0061b" } "#)
        let reader = try JSONReader(text, recordedDepth: 1)
        let members = reader.members(of: reader.root)
        #expect(members.map { reader.string($0.name) } == ["result", "id"])
        #expect(reader.isString(members[0].name, equalTo: "result"))
        #expect(!reader.isString(members[0].name, equalTo: "resul"))
        #expect(reader.bytes(of: members[0].value) == bytes(#"[1, {"x":2}]"#))
        #expect(reader.elements(of: members[0].value).isEmpty)
        #expect(reader.value(members[0].value) == [1, ["x": 2]])
        #expect(reader.string(members[1].value) == "ab")
        #expect(reader.isString(members[1].value, equalTo: "ab"))
        #expect(reader.number(members[1].value) == nil)
        #expect(reader.bytes(of: reader.root).first == 0x7b)
    }
}

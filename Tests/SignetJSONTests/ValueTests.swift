import SignetJSON
import Testing

/// `JSONValue` and `JSONObject`.
struct ValueTests {
    private let composed = "\u{e9}"
    private let decomposed = "e\u{301}"

    @Test func twoUnicodeFormsAreTwoStrings() {
        #expect(composed == decomposed)  // as Swift compares
        #expect(JSONValue.string(composed) != .string(decomposed))
        #expect(Set([JSONValue.string(composed), .string(decomposed)]).count == 2)
        let object: JSONObject = [composed: 1]
        #expect(object[decomposed] == nil)
        #expect(object[composed] == 1)
    }

    @Test func objectsAreEqualInAnyOrder() throws {
        let left = try JSONValue(parsing: #"{"a":1,"b":[2]}"#)
        let right = try JSONValue(parsing: #"{"b":[2],"a":1}"#)
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(left != (["a": 1] as JSONValue))
        #expect(left != (["a": 1, "c": [2]] as JSONValue))
        #expect(left != (["a": 1, "b": [3]] as JSONValue))
        #expect(try JSONValue(parsing: "1") != JSONValue(parsing: "1.0"))
    }

    @Test(arguments: [3, 12, 13, 14, 40])
    func objectsKeepOrderThroughChanges(_ count: Int) {
        var object = JSONObject()
        for index in 0..<count { object["n\(index)"] = .number(JSONNumber(index)) }
        object["n1"] = "new"
        object["n0"] = nil
        object["none"] = nil
        object["n0"] = true
        #expect(object.count == count)
        #expect(object.memberNames == (1..<count).map { "n\($0)" } + ["n0"])
        #expect(object["n1"] == "new")
        #expect(object["n\(count - 1)"] == .number(JSONNumber(count - 1)))
        #expect(object["n0"] == true)
        #expect(object["n\(count)"] == nil)
        for index in 0..<count { object["n\(index)"] = nil }
        #expect(object.isEmpty)
        #expect(object == [:])
    }

    @Test func theLastOfTwoMembersWins() {
        #expect(JSONObject([(name: "a", value: 1), ("b", 2), ("a", 3)]) == ["a": 3, "b": 2])
    }

    @Test func literalsAndAccessors() {
        let value: JSONValue = [
            "null": nil, "bool": true, "int": -7, "double": 0.25, "string": "x", "array": [1],
        ]
        #expect(value["null"]?.isNull == true)
        #expect(value["bool"]?.bool == true)
        #expect(value["int"]?.number?.int64 == -7)
        #expect(value["double"]?.number?.text == "0.25")
        #expect(value["string"]?.string == "x")
        #expect(value["array"]?.array == [1])
        #expect(value["string"]?.number == nil)
        #expect(value["int"]?.bool == nil)
        #expect(value["int"]?["x"] == nil)
        #expect(value["array"]?.object == nil)
        #expect(
            value.text
                == #"{"null":null,"bool":true,"int":-7,"double":0.25,"string":"x","array":[1]}"#)
    }

    @Test func prettyIsTwoSpacesALevel() {
        let value: JSONValue = ["a": [1, ["b": []]], "c": [:]]
        let text = """
            {
              "a": [
                1,
                {
                  "b": []
                }
              ],
              "c": {}
            }
            """
        #expect(String(decoding: value.serialized(.pretty), as: UTF8.self) == text)
    }

    @Test func everyScalarSurvives() throws {
        var scalars = String.UnicodeScalarView()
        for code in (0...0x10ffff as ClosedRange<UInt32>) where code < 0x3000 || code % 251 == 0 {
            if let scalar = Unicode.Scalar(code) { scalars.append(scalar) }
        }
        let value = JSONValue.string(String(scalars))
        #expect(try JSONValue(parsing: value.serialized()) == value)
        let escaped = scalars.map { scalar in
            String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
        #expect(try JSONValue(parsing: "\"" + escaped + "\"") == value)
    }
}

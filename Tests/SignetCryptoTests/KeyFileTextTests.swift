import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// Adding a key to a key file's text and removing one. Every other byte stays.
@Suite struct KeyFileTextTests {
    static let root = [UInt8](repeating: 7, count: 32)
    static let old = String(repeating: "A", count: 43)
    static let new = Base64.encode(root, as: .url)

    func text(_ text: String) -> KeyFileText { KeyFileText(Array(text.utf8)) }

    func code(_ work: () throws -> Void) -> KeyError.Code? {
        do {
            try work()
            return nil
        } catch {
            return (error as? KeyError)?.code
        }
    }

    func shown(_ text: KeyFileText) -> String { String(decoding: text.bytes, as: UTF8.self) }

    func added(to before: String, behind old: String = "v1") throws -> String {
        let text = text(before)
        try text.add(root: Self.root.span, as: "v1+1", after: old)
        return shown(text)
    }

    @Test func theCopyFollowsItsOriginal() throws {
        #expect(
            try added(to: #"{"keys":[{"kty":"oct","kid":"v1","use":"enc","k":"\#(Self.old)"}]}"#)
                == #"{"keys":[{"kty":"oct","kid":"v1","use":"enc","k":"\#(Self.old)"},"#
                + #"{"kty":"oct","kid":"v1+1","use":"enc","k":"\#(Self.new)"}]}"#)
    }

    /// As a person sets a file out, with members of other programs.
    static let layout = """
        { "note" : "kept \\u0021",
          "keys" : [
            {"kid":"sig","kty":"oct","k":"c2VjcmV0"},
            { "k"   : "\(old)", "x-owner" : ["a", {"kid":"inner","k":"inner"}],
              "kty" : "oct", "use":"enc", "exp" : 1e10 , "k\\u0069d" : "v\\u0031" }
          ,
            {"kid":"v1 ","kty":"oct","use":"enc","k":"\(old)"} ],
          "x" : 1.50 }

        """

    @Test func everyOtherByteStays() throws {
        let after = try added(to: Self.layout)
        #expect(after.contains("1e10 , \"k\\u0069d\" : \"v1+1\" }"))
        let set = try KeySet(parsing: Array(after.utf8), source: "test")
        #expect(set.keys.map(\.id) == ["sig", "v1", "v1+1", "v1 "])
        #expect(set["v1+1"]?.expires == 10_000_000_000)
        #expect(try set.key(id: "v1+1").isVaultRoot(Self.root.span))
        #expect(try !set.key(id: "v1").isVaultRoot(Self.root.span))
        // After the original key is removed, its copy is in the same place.
        let text = text(after)
        try text.remove("v1")
        let parts = Self.layout.components(separatedBy: "    { \"k\"")
        let copy = parts[1].replacing("v\\u0031", with: "v1+1")
        let range = try #require(copy.firstRange(of: Self.old))
        #expect(
            shown(text) == parts[0] + "    { \"k\""
                + copy.replacingCharacters(in: range, with: Self.new))
    }

    @Test func theOriginGoesWithoutTrace() throws {
        let one = #"{"kid":"a","kty":"oct","k":"AA"}"#
        let two = #"{"kid":"b","kty":"oct","k":"AQ"}"#
        for (before, id, after) in [
            (#"{"keys":[\#(one)]}"#, "a", #"{"keys":[]}"#),
            (#"{"keys":[\#(one), \#(two)]}"#, "a", #"{"keys":[\#(two)]}"#),
            (#"{"keys":[\#(one), \#(two)]}"#, "b", #"{"keys":[\#(one)]}"#),
            ("{\"keys\":[\n  \(one),\n  \(two)\n]}\n", "a", "{\"keys\":[\n  \(two)\n]}\n"),
            ("{\"keys\":[\n  \(one),\n  \(two)\n]}\n", "b", "{\"keys\":[\n  \(one)\n]}\n"),
        ] {
            let text = text(before)
            try text.remove(id)
            #expect(shown(text) == after)
            let set = try KeySet(parsing: text.bytes, source: "test")
            #expect(set[id] == nil)
        }
    }

    @Test func anAppendedKeyLeavesEveryOtherByte() throws {
        let key = try KeyFile.generate(.hmac, id: "new\"\u{1}")
        let text = text(Self.layout)
        try text.append(key)
        let after = shown(text)
        let added = ",\n    " + String(decoding: key.bytes, as: UTF8.self)
        let range = try #require(after.firstRange(of: added))
        #expect(String(after[..<range.lowerBound] + after[range.upperBound...]) == Self.layout)
        let set = try KeySet(parsing: text.bytes, source: "test")
        #expect(set.keys.map(\.id) == ["sig", "v1", "v1 ", "new\"\u{1}"])
    }

    @Test(arguments: ["{\"keys\":[]}", "{\"keys\": [ \n ], \"x\": 1}\n"], CryptoKey.Kind.all)
    func appendsToAnEmptySet(_ before: String, _ kind: CryptoKey.Kind) throws {
        let text = text(before)
        try text.append(try KeyFile.generate(kind, id: "a"))
        try text.append(try KeyFile.generate(.hmac, id: "b"))
        let set = try KeySet(parsing: text.bytes, source: "test")
        #expect(set.keys.map(\.id) == ["a", "b"] && set["a"]?.kind == kind)
    }

    @Test func anIDIsEscaped() throws {
        let text = text(#"{"keys":[{"kty":"oct","kid":"v1","use":"enc","k":"\#(Self.old)"}]}"#)
        try text.add(root: Self.root.span, as: "a\"b\\c\u{1}é", after: "v1")
        let set = try KeySet(parsing: text.bytes, source: "test")
        #expect(set["a\"b\\c\u{1}é"] != nil)
    }

    @Test(arguments: ["none", "V1", "v1 ", "inner", ""])
    func aMissingKeyIsNamed(_ id: String) {
        let set = #"{"keys":[{"kty":"oct","kid":"v1","x":{"kid":"inner"},"k":"AA"}]}"#
        #expect(code { try text(set).remove(id) } == .unknownKey)
        #expect(
            code { try text(set).add(root: Self.root.span, as: "n", after: id) } == .unknownKey)
    }

    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":["#])
    func anInvalidSetIsRefused(_ set: String) {
        #expect(code { try text(set).remove("v1") } != nil)
        #expect(code { try text(set).append(KeyFile.generate(.hmac, id: "a")) } == .malformedKeys)
    }
}

extension KeyFile {
    /// A new key as a tree of values.
    static func tree(_ kind: CryptoKey.Kind, id: String) throws -> JSONObject {
        try #require(JSONValue(parsing: generate(kind, id: id).bytes).object)
    }
}

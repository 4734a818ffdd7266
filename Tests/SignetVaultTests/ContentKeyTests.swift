import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// A dump opened by the key that `export-key` prints.
@Suite struct ContentKeyTests {
    @Test func opensItsDumpOfAnyVersion() throws {
        let dump = try shopDump()
        let key = try dump.exportKey(with: keySet(), now: noon)
        let opened = try dump.open(withContentKey: key)
        #expect(opened.values == (try dump.open(with: keySet(), for: shop, now: noon)).values)
        #expect(!opened.isExactVersion)
    }

    @Test func anotherDumpsKeyIsWrong() throws {
        let key = try shopDump().exportKey(with: keySet(), now: noon)
        let other = try shopDump()
        #expect(code { _ = try other.open(withContentKey: key) } == "wrong-key")
    }

    @Test func anotherKeyUnderTheSameIdIsTampering() throws {
        let dump = try shopDump()
        var key = try dump.exportKey(with: keySet(), now: noon)
        key["k"] = .string(Base64.encode([UInt8](repeating: 1, count: 32), as: .url))
        #expect(code { _ = try dump.open(withContentKey: key) } == "tampered")
    }

    @Test func aChangedDumpIsTampered() throws {
        let dump = try shopDump()
        let key = try dump.exportKey(with: keySet(), now: noon)
        let parts = Parts(dump)
        for index in [2, 3, 4] {
            var bytes = try parts.decoded(index)
            bytes[0] ^= 1
            let changed = try SealedDump(parsing: parts.with(index, bytes))
            #expect(code { _ = try changed.open(withContentKey: key) } == "tampered")
        }
    }

    @Test(arguments: ["kty", "k", "kid", "alg"])
    func aKeyWithoutAMemberIsMalformed(_ member: String) throws {
        let dump = try shopDump()
        for value in [JSONValue.null, "dir", 1] {
            var key = try dump.exportKey(with: keySet(), now: noon)
            key[member] = value
            let code = code { _ = try dump.open(withContentKey: key) }
            // A text is a kid, only of another dump.
            #expect(code == (member == "kid" && value == "dir" ? "wrong-key" : "malformed-keys"))
        }
    }
}

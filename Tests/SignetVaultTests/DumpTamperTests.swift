import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// Dumps with changed parts or of another format, and the codes with which they are refused.
@Suite struct DumpTamperTests {
    /// The code with which a changed dump is refused, or nil if it opens.
    func refusal(_ bytes: [UInt8]) throws -> String? {
        let keys = try keySet()
        return code { _ = try SealedDump(parsing: bytes).open(with: keys, for: shop, now: noon) }
    }

    @Test func theUnchangedDumpOpens() throws {
        #expect(try refusal(shopDump().bytes) == nil)
    }

    @Test(arguments: [2, 3])
    func everyBitOfSaltAndCommitmentIsAWrongKey(_ part: Int) throws {
        let parts = try Parts(shopDump())
        for bit in 0..<256 {
            let changed = try parts.withKid(part) { text in
                var bytes = try #require(Base64.decode(text, from: .url))
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                return Base64.encode(bytes, as: .url)
            }
            #expect(try refusal(changed) == "wrong-key")
        }
    }

    @Test(arguments: [
        (1, "vault-2027", "unknown-key"), (4, "com.example.shoq", "wrong-app"),
        (5, "1.4.3", "newer-version"), (5, "1.4.1", "older-version"), (5, "x", "other-version"),
        (6, "signed", "wrong-system"), (7, "0.2.0", "newer-version"), (7, "0", "older-version"),
        (7, "0.1", "other-version"), (1, "", "malformed-dump"), (5, "", "malformed-dump"),
    ])
    func namesThatWereChangedAreNamed(_ part: Int, _ name: String, _ wanted: String) throws {
        let changed = try Parts(shopDump()).withKid(part) { _ in
            Base64.encode(Array(name.utf8), as: .url)
        }
        #expect(try refusal(changed) == wanted)
    }

    @Test func aChangedNameThatIsDemandedDoesNotFitItsKey() throws {
        let keys = try keySet()
        let changed = try Parts(shopDump()).withKid(5) { _ in
            Base64.encode(Array("1.4.3".utf8), as: .url)
        }
        let binding = VersionBinding(
            app: "com.example.shop", version: "1.4.3", systemVersion: "0.1.0")
        #expect(
            code { _ = try SealedDump(parsing: changed).open(with: keys, for: binding, now: noon) }
                == "wrong-key")
    }

    @Test(arguments: ["signet1p", "signet2", "signet", "Signet1", ""])
    func otherSchemesAreRefused(_ scheme: String) throws {
        let changed = try Parts(shopDump()).withKid(0) { _ in scheme }
        #expect(
            try refusal(changed) == (scheme == "signet1p" ? "unknown-key" : "malformed-dump"))
    }

    @Test(arguments: [0, 1, 4, 8, 12, 13, 14, 15, 17, 32])
    func tagsOfOtherLengthsAreMalformed(_ count: Int) throws {
        let parts = try Parts(shopDump())
        let tag = try parts.decoded(4) + [UInt8](repeating: 0, count: 16)
        #expect(try refusal(parts.with(4, Array(tag.prefix(count)))) == "malformed-dump")
    }

    @Test(arguments: [0, 1, 8, 11, 13, 16])
    func noncesOfOtherLengthsAreMalformed(_ count: Int) throws {
        let parts = try Parts(shopDump())
        let nonce = try parts.decoded(2) + [UInt8](repeating: 0, count: 4)
        #expect(try refusal(parts.with(2, Array(nonce.prefix(count)))) == "malformed-dump")
    }

    @Test(arguments: [31, 33, 0])
    func saltsOfOtherLengthsAreMalformed(_ count: Int) throws {
        for part in [2, 3] {
            let changed = try Parts(shopDump()).withKid(part) { _ in
                Base64.encode([UInt8](repeating: 1, count: count), as: .url)
            }
            #expect(try refusal(changed) == "malformed-dump")
        }
    }

    @Test(arguments: 0...4)
    func base64ThatIsNotCanonicalIsMalformed(_ part: Int) throws {
        let parts = try Parts(shopDump())
        let text = parts.parts[part]
        var others = [
            text + "=", text + "A", text + "AAAA=", " " + text, text + "\n", text + "+", "/" + text,
        ]
        // The same bytes with a last letter whose unused bits are not zero.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        if text.utf8.count % 4 != 0, let last = text.last, let at = alphabet.firstIndex(of: last) {
            others.append(String(text.dropLast()) + String(alphabet[at + 1]))
        }
        for other in others {
            let code = try refusal(parts.with(part, text: other))
            #expect(
                code == "malformed-dump" || part == 3 && code == "tampered", "\(other.suffix(8))")
        }
    }

    @Test func anEncryptedKeyIsRefused() throws {
        let parts = try Parts(shopDump())
        #expect(try refusal(parts.with(1, text: "AAAA")) == "malformed-dump")
        #expect(try refusal(parts.with(1, text: "A")) == "malformed-dump")
    }

    @Test func otherShapesAreRefused() throws {
        let dump = try shopDump().bytes
        let text = String(decoding: dump, as: UTF8.self)
        for other in [
            "", ".", "....", ".....", text + ".", "." + text, text + "\n", text + " ", "\n" + text,
            text + "\r\n", "\u{feff}" + text, text + text, text + "\0", #"{"protected":"e30"}"#,
            text.replacing(".", with: ","), "a.b.c.d.e", "....AAAAAAAAAAAAAAAAAAAAAA",
        ] {
            #expect(try refusal(Array(other.utf8)) == "malformed-dump")
        }
    }

    @Test func theHeaderIsAuthenticatedUnchanged() throws {
        let parts = try Parts(shopDump())
        let header = try JSONValue(parsing: parts.decoded(0))
        let pretty = header.serialized(.pretty)
        #expect(try refusal(parts.with(0, pretty)) == "tampered")
        let reversed = JSONObject(try #require(header.object).reversed())
        #expect(try refusal(parts.with(0, JSONValue.object(reversed).serialized())) == "tampered")
    }

    @Test func moreThan16MiBIsRefusedUnread() throws {
        let parts = try Parts(shopDump())
        let large = String(repeating: "A", count: (16 << 20) / 3 * 4 + 8)
        #expect(try refusal(parts.with(3, text: large)) == "malformed-dump")
        #expect(
            try refusal(parts.with(0, text: String(repeating: "A", count: 9000)))
                == "malformed-dump")
        #expect(try refusal([UInt8](repeating: 0x41, count: 64 << 20)) == "malformed-dump")
        let plaintext = [UInt8](repeating: 0x20, count: SealedDump.plaintextLimit + 1)
        #expect(
            code {
                _ = try SealedDump(
                    sealing: plaintext, with: .key(keySet().key(id: "vault-2026")), for: shop,
                    now: noon,
                    salt: [UInt8](repeating: 1, count: 32))
            } == "malformed-input")
    }
}

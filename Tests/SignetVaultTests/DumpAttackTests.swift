import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// Dumps made by an attacker without a key, and by one who has a dump's content key.
@Suite struct DumpAttackTests {
    /// The code with which a dump is refused, or `opened`.
    func refusal(_ bytes: [UInt8], _ keys: KeySet, _ binding: VersionBinding = shop) -> String {
        code { _ = try SealedDump(parsing: bytes).open(with: keys, for: binding, now: noon) }
            ?? "opened"
    }

    // MARK: - Without a key

    @Test func everyBeginningOfADumpIsMalformed() throws {
        let keys = try keySet()
        let small = try shopDump().bytes
        for count in 0..<small.count {
            #expect(refusal(Array(small[..<count]), keys) == "malformed-dump", "\(count) bytes")
        }
        let large = try largeDump(keys).bytes
        let ends = Array(large.count - 64..<large.count)
        for count in ends + Array(stride(from: 0, to: large.count, by: 997)) {
            #expect(refusal(Array(large[..<count]), keys) == "malformed-dump", "\(count) bytes")
        }
    }

    @Test func everyEndOfADumpIsMalformed() throws {
        let keys = try keySet()
        let dump = try shopDump().bytes
        for start in 1..<dump.count {
            #expect(refusal(Array(dump[start...]), keys) == "malformed-dump", "from \(start)")
        }
    }

    @Test func everyAppendedByteIsMalformed() throws {
        let keys = try keySet()
        let dump = try shopDump().bytes
        for byte in UInt8.min...UInt8.max {
            #expect(refusal(dump + [byte], keys) == "malformed-dump")
            #expect(refusal([byte] + dump, keys) == "malformed-dump")
            #expect(refusal(dump + [UInt8](repeating: byte, count: 4), keys) == "malformed-dump")
        }
    }

    /// A character that is removed, doubled or swapped with the next.
    @Test func everyShiftOfADumpIsRefused() throws {
        let keys = try keySet()
        let dump = try shopDump().bytes
        let point = try #require(dump.lastIndex(of: UInt8(ascii: ".")))
        for index in dump.indices {
            var shorter = dump
            shorter.remove(at: index)
            var longer = dump
            longer.insert(dump[index], at: index)
            for changed in [shorter, longer] {
                let code = refusal(changed, keys)
                #expect(["malformed-dump", "tampered"].contains(code), "byte \(index): \(code)")
                if index >= point { #expect(code == "malformed-dump") }
            }
            guard index + 1 < dump.count, dump[index] != dump[index + 1] else { continue }
            var swapped = dump
            swapped.swapAt(index, index + 1)
            #expect(refusal(swapped, keys) != "opened", "byte \(index)")
        }
    }

    @Test func doubledAndSwappedPartsAreRefused() throws {
        let keys = try keySet()
        let parts = try Parts(shopDump()).parts
        func refused(_ parts: [String]) -> String {
            refusal(Array(parts.joined(separator: ".").utf8), keys)
        }
        for part in parts.indices {
            // Repeated after itself, joined with itself, and left out.
            var doubled = parts
            doubled.insert(parts[part], at: part)
            #expect(refused(doubled) == "malformed-dump")
            var longer = parts
            longer[part] += parts[part]
            // A ciphertext of twice the length is valid too, if the spare bits of its last
            // character are 0.
            let isCiphertext = part == 3 && Base64.decode(longer[3], from: .url) != nil
            #expect(part == 1 || refused(longer) == (isCiphertext ? "tampered" : "malformed-dump"))
            var shorter = parts
            shorter.remove(at: part)
            #expect(refused(shorter) == "malformed-dump")
            for other in part + 1..<parts.count {
                var swapped = parts
                swapped.swapAt(part, other)
                #expect(refused(swapped) == "malformed-dump", "\(part) and \(other)")
            }
        }
    }

    @Test func partsOfTwoDumpsNeverMakeAThird() throws {
        let keys = try keySet()
        let newer = VersionBinding(
            app: "com.example.shop", version: "1.4.3", systemVersion: "0.1.0")
        let other = try keySet("vault-2026", root: [UInt8](repeating: 0x33, count: 32))
        for (second, ofHeader) in [
            (try shopDump(), "tampered"), (try shopDump(newer), "newer-version"),
            (try shopDump(keys: other), "wrong-key"), (try shopDump(sequence: 2), "tampered"),
        ] {
            let one = try Parts(shopDump())
            let two = Parts(second)
            // Each choice among header, nonce, ciphertext and tag but all of one dump.
            for choice in 1..<15 {
                var mixed = one
                for (bit, part) in [0, 2, 3, 4].enumerated() where choice >> bit & 1 == 1 {
                    mixed.parts[part] = two.parts[part]
                }
                let wanted = choice & 1 == 1 ? ofHeader : "tampered"
                #expect(refusal(mixed.bytes, keys) == wanted, "choice \(choice)")
            }
        }
    }

    @Test func otherSerializationsAreMalformed() throws {
        let keys = try keySet()
        let parts = try Parts(shopDump()).parts
        let flattened: JSONValue = [
            "protected": .string(parts[0]), "iv": .string(parts[2]),
            "ciphertext": .string(parts[3]), "tag": .string(parts[4]),
        ]
        let general: JSONValue = [
            "protected": .string(parts[0]), "recipients": [[:], [:]], "iv": .string(parts[2]),
            "ciphertext": .string(parts[3]), "tag": .string(parts[4]),
        ]
        for other in [flattened, general] {
            #expect(refusal(other.serialized(), keys) == "malformed-dump")
        }
    }

    // MARK: - With a dump's content key

    /// Dumps that a holder of the key of `exportKey` can make: with any header and any plaintext.
    struct Forger {
        let key: [UInt8]
        let parts: Parts

        init(_ dump: SealedDump, _ keys: KeySet) throws {
            parts = Parts(dump)
            let text = try #require(dump.exportKey(with: keys, now: noon)["k"]?.string)
            key = try #require(Base64.decode(text, from: .url))
        }

        func header() throws -> JSONObject {
            try #require(JSONValue(parsing: parts.decoded(0)).object)
        }

        private func inside() throws -> [UInt8] {
            let nonce = try parts.decoded(2)
            let ciphertext = try parts.decoded(3)
            let tag = try parts.decoded(4)
            let associated = Array(parts.parts[0].utf8)
            return try AESGCM.open(
                ciphertext: ciphertext.span, tag: tag.span, key: key.span, nonce: nonce.span,
                authenticating: associated.span)
        }

        func sealed(header: [UInt8], inside: [UInt8]? = nil) throws -> [UInt8] {
            let protected = Base64.encode(header, as: .url)
            let associated = Array(protected.utf8)
            let nonce = try parts.decoded(2)
            var text = try inside ?? self.inside()
            let tag = try AESGCM.seal(
                inPlace: &text, key: key.span, nonce: nonce.span, authenticating: associated.span)
            var copy = parts
            copy.parts[0] = protected
            copy.parts[3] = Base64.encode(text, as: .url)
            copy.parts[4] = Base64.encode(tag, as: .url)
            return copy.bytes
        }
    }

    @Test func onlyTheOrderOfAHeaderMayDiffer() throws {
        let keys = try keySet()
        let forger = try Forger(shopDump(), keys)
        let header = try forger.header()
        let members = Array(header)
        func refused(_ object: JSONObject) throws -> String {
            refusal(try forger.sealed(header: JSONValue.object(object).serialized()), keys)
        }
        #expect(try refused(header) == "opened")
        for turn in 1..<members.count {
            let turned = JSONObject(members[turn...] + members[..<turn])
            #expect(try refused(turned) == "opened")
        }
        for (name, value) in members {
            var fewer = header
            fewer[name] = nil
            #expect(try refused(fewer) == "malformed-dump", "without \(name)")
            for other: JSONValue in [nil, true, 1, "", [], [:], [value], .string("x")] {
                var changed = header
                changed[name] = other
                #expect(try refused(changed) == "malformed-dump", "\(name)")
            }
            var renamed = fewer
            renamed[name.uppercased()] = value
            #expect(try refused(renamed) == "malformed-dump", "\(name.uppercased())")
            // The same member twice: JSON libraries take the first or the last.
            let text = String(decoding: JSONValue.object(header).serialized(), as: UTF8.self)
            let member = "\"\(name)\":\(value.text)"
            for doubled in [
                text.dropLast() + "," + member + "}", text.dropLast() + ",\"\(name)\":null}",
                "{" + member + "," + text.dropFirst(),
            ] {
                let bytes = try forger.sealed(header: Array(doubled.utf8))
                #expect(refusal(bytes, keys) == "malformed-dump", "\(name) twice")
            }
        }
        for name in [
            "zip", "crit", "p2c", "p2s", "apu", "apv", "epk", "ek", "encrypted_key", "iv", "tag",
            "jwk",
            "jku", "x5c", "x5u", "x5t", "b64", "exp", "version", "",
        ] {
            for value: JSONValue in ["DEF", [], 1, nil] {
                var more = header
                more[name] = value
                #expect(try refused(more) == "malformed-dump", "with \(name)")
            }
        }
    }

    /// A content key can't turn its dump into one of another app, version, system or key.
    @Test func aContentKeyOpensNoOtherName() throws {
        let keys = try keySet()
        let more = try keySet("vault-2027")
        let forger = try Forger(shopDump(), keys)
        let kid = try #require(forger.header()["kid"]?.string)
        let names = ["", "vault-2027", "", "", "com.example.shoq", "1.4.3", "signed", "0.1.1"]
        let bindings: [Int: VersionBinding] = [
            4: VersionBinding(app: "com.example.shoq", version: "1.4.2", systemVersion: "0.1.0"),
            5: VersionBinding(app: "com.example.shop", version: "1.4.3", systemVersion: "0.1.0"),
            6: VersionBinding(
                app: .init(id: "com.example.shop", version: "1.4.2"),
                system: .init(id: "signed", version: "0.1.0")),
            7: VersionBinding(app: "com.example.shop", version: "1.4.2", systemVersion: "0.1.1"),
        ]
        for part in [1, 4, 5, 6, 7] {
            var parts = kid.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            parts[part] = Base64.encode(Array(names[part].utf8), as: .url)
            var header = try forger.header()
            header["kid"] = .string(parts.joined(separator: "."))
            let opened = try shopDump().open(with: keys, for: shop, now: noon)
            let binding = bindings[part] ?? shop
            let inside = DumpPlaintext.bytes(
                for: binding, sequence: 9, sealedAt: opened.sealedAt,
                tail: Array(#""values":{},"origins":{}}"#.utf8))
            let forged = try forger.sealed(
                header: JSONValue.object(header).serialized(), inside: inside)
            #expect(
                refusal(forged, part == 1 ? more : keys, binding) == "wrong-key", "part \(part)")
        }
    }

    /// It can replace its own dump's plaintext, as SECURITY.md says.
    @Test func aContentKeyCannotChangeTheVersions() throws {
        let keys = try keySet()
        let forger = try Forger(shopDump(), keys)
        let header = try JSONValue.object(forger.header()).serialized()
        func forged(_ binding: VersionBinding) throws -> String {
            let inside = DumpPlaintext.bytes(
                for: binding, sequence: 1, sealedAt: "2026-11-21T12:00:00Z",
                tail: Array(#""values":{},"origins":{}}"#.utf8))
            return refusal(try forger.sealed(header: header, inside: inside), keys)
        }
        #expect(try forged(shop) == "opened")
        #expect(
            try forged(
                VersionBinding(app: "com.example.shop", version: "1.4.3", systemVersion: "0.1.0"))
                == "tampered")
        for inside in ["", "{}", "null", "\0", #"{"values":{}}"#] {
            let bytes = try forger.sealed(header: header, inside: Array(inside.utf8))
            #expect(refusal(bytes, keys) == "tampered")
        }
    }

    /// A dump with a plaintext of more than 100 KiB.
    func largeDump(_ keys: KeySet) throws -> SealedDump {
        try GlobalConfiguration(
            schema: schema(#"{"text":{"type":"string"}}"#),
            defaults: .values(["text": .string(String(repeating: "value ", count: 17_200))])
        ).seal(with: keys.key(id: "vault-2026"), for: shop, now: noon)
    }
}

import Foundation
import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// Dumps with one changed bit, and the one code with which each is refused.
///
/// The expected code is computed from the dump's format with Foundation's base64, not with the code
/// under test.
@Suite struct DumpBitFlipTests {
    /// A dump whose salt is fixed, so that each run changes the same bits.
    static func dump(_ configuration: GlobalConfiguration, _ keys: KeySet) throws -> SealedDump {
        try SealedDump(
            tail: configuration.sealedTail, sequence: 1, with: .key(keys.key(id: "vault-2026")),
            for: shop, now: noon, salt: (0..<32).map { UInt8($0 * 7 + 1) })
    }

    /// The code of a changed dump; never plaintext, in the message neither.
    func refusal(_ bytes: [UInt8], _ keys: KeySet) -> String {
        let refused = error {
            _ = try SealedDump(parsing: bytes).open(with: keys, for: shop, now: noon)
        }
        #expect(refused?.message.contains("ZZZZZZcanary") != true)
        return refused?.code.name ?? "opened"
    }

    @Test func everyBitOfASmallDumpHasTheCodeOfItsPlace() throws {
        let keys = try keySet()
        let dump = try Self.dump(shopConfiguration(), keys)
        let form = DumpForm(dump.bytes)
        #expect(refusal(dump.bytes, keys) == "opened")
        var counts: [String: Int] = [:]
        for index in dump.bytes.indices {
            for bit in 0..<8 {
                var changed = dump.bytes
                changed[index] ^= 1 << UInt8(bit)
                let wanted = form.refusal(changed, index)
                #expect(refusal(changed, keys) == wanted, "bit \(bit) of byte \(index)")
                counts[wanted, default: 0] += 1
            }
        }
        // Each code that a bit can lead to was met, so the oracle is not one-sided.
        let met: Set = [
            "malformed-dump", "tampered", "wrong-key", "unknown-key", "wrong-app", "wrong-system",
            "newer-version", "older-version", "other-version",
        ]
        #expect(Set(counts.keys) == met)
    }

    @Test func bitsOfALargeDumpHaveTheCodeOfTheirPlace() throws {
        let keys = try keySet()
        let text = String(repeating: "ZZZZZZcanaryZZZZZZ ", count: 9400)
        let configuration = try GlobalConfiguration(
            schema: schema(#"{"text":{"type":"string"}}"#),
            defaults: .values(["text": .string(text)]))
        let dump = try Self.dump(configuration, keys)
        #expect(dump.plaintextByteCount > 100 << 10)
        let form = DumpForm(dump.bytes)
        let ends = Array(0..<16) + Array(dump.bytes.count - 64..<dump.bytes.count)
        let places = ends + Array(stride(from: 16, to: dump.bytes.count - 64, by: 601))
        #expect(places.count > 450)
        var changed = dump.bytes
        for index in places {
            for bit in 0..<8 {
                changed[index] ^= 1 << UInt8(bit)
                #expect(
                    refusal(changed, keys) == form.refusal(changed, index),
                    "bit \(bit) of byte \(index)")
                changed[index] = dump.bytes[index]
            }
        }
    }

    /// The same, before base64: every bit of the nonce, the ciphertext and the tag, and with every
    /// other byte in its place, for the first, a middle and the last one.
    @Test func everyByteAfterTheHeaderIsTampering() throws {
        let keys = try keySet()
        let parts = Parts(try Self.dump(shopConfiguration(), keys))
        for part in [2, 3, 4] {
            let bytes = try parts.decoded(part)
            for index in bytes.indices {
                for bit in 0..<8 {
                    var changed = bytes
                    changed[index] ^= 1 << UInt8(bit)
                    #expect(refusal(parts.with(part, changed), keys) == "tampered")
                }
            }
            for index in [0, bytes.count / 2, bytes.count - 1] {
                for byte in UInt8.min...UInt8.max where byte != bytes[index] {
                    var changed = bytes
                    changed[index] = byte
                    #expect(refusal(parts.with(part, changed), keys) == "tampered")
                }
            }
        }
    }
}

/// The positions of the parts of a dump and of its kid, found by counting.
struct DumpForm {
    private let original: [UInt8]
    private let points: [Int]
    private let header: [UInt8]
    /// The bytes of each part of the kid in the header's JSON.
    private let kidParts: [Range<Int>]

    init(_ bytes: [UInt8]) {
        original = bytes
        points = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        header = Self.decode(bytes[..<points[0]]) ?? []
        let fixed =
            #"{"alg":"dir","enc":"A256GCM","typ":"signet-dump","cty":"application/json","kid":""#
        var parts: [Range<Int>] = []
        var start = fixed.utf8.count
        for index in start..<header.count
        where header[index] == UInt8(ascii: ".") || header[index] == UInt8(ascii: "\"") {
            parts.append(start..<index)
            start = index + 1
        }
        kidParts = parts
    }

    /// The code that a change of the byte at an index must lead to.
    func refusal(_ changed: [UInt8], _ index: Int) -> String {
        let letter = changed[index]
        let isLetter =
            (0x30...0x39).contains(letter) || (0x41...0x5a).contains(letter)
            || (0x61...0x7a).contains(letter) || letter == UInt8(ascii: "-")
            || letter == UInt8(ascii: "_")
        if points.contains(index) || !isLetter { return "malformed-dump" }
        if index < points[0] { return headerRefusal(changed[..<points[0]]) }
        // Only the last characters can contain unused bits.
        guard let point = points.last(where: { $0 < index }) else { return "malformed-dump" }
        let end = points.first(where: { index < $0 }) ?? original.count
        let group = point + 1 + (index - point - 1) / 4 * 4
        return Self.decode(changed[group..<min(group + 4, end)]) == nil
            ? "malformed-dump" : "tampered"
    }

    private func headerRefusal(_ text: ArraySlice<UInt8>) -> String {
        guard let json = Self.decode(text), json.count == header.count else {
            return "malformed-dump"
        }
        let differing = json.indices.filter { json[$0] != header[$0] }
        // What is outside the kid, its scheme and its points have one spelling.
        guard let part = kidParts.firstIndex(where: { $0.contains(differing[0]) }), part > 0,
            differing.allSatisfy({ kidParts[part].contains($0) }),
            let bytes = Self.decode(json[kidParts[part]])
        else { return "malformed-dump" }
        if part == 2 || part == 3 { return "wrong-key" }
        guard let name = String(validating: bytes, as: UTF8.self),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return "malformed-dump" }
        switch part {
        case 1: return "unknown-key"
        case 4: return "wrong-app"
        case 6: return "wrong-system"
        default: return Self.versionRefusal(name, part == 5 ? [1, 4, 2] : [0, 1, 0])
        }
    }

    private static func versionRefusal(_ version: String, _ running: [Int]) -> String {
        let numbers = version.split(separator: ".", omittingEmptySubsequences: false).map {
            Int($0)
        }
        let digits = version.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2e }
        guard digits, numbers.allSatisfy({ $0 != nil }) else { return "other-version" }
        return running.lexicographicallyPrecedes(numbers.compactMap(\.self))
            ? "newer-version" : "older-version"
    }

    /// Foundation's decoding, with the canonical spelling demanded by encoding again.
    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard !text.contains(where: { [0x2b, 0x2f, 0x3d].contains($0) }) else { return nil }
        var standard = String(decoding: text, as: UTF8.self)
            .replacing("-", with: "+").replacing("_", with: "/")
        while standard.utf8.count % 4 != 0 { standard += "=" }
        guard let data = Data(base64Encoded: standard), data.base64EncodedString() == standard
        else { return nil }
        return [UInt8](data)
    }
}

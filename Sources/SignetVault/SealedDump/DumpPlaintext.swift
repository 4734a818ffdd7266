import SignetCrypto
import SignetJSON

/// The inside of a dump (CONTRACT section 3): versions, sequence, time, values and origins.
struct DumpPlaintext {
    let sequence: Int64
    let sealedAt: String
    let values: JSONObject
    let origins: JSONObject
    /// The whole, as it stood.
    let object: JSONObject

    /// Writes the inside; `tail` is a configuration's `sealedTail`.
    static func bytes(
        _ binding: VersionBinding, sequence: Int64, sealedAt: String, tail: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tail.count + 256)
        func add(_ text: StaticString) { bytes.append(contentsOf: text.description.utf8) }
        func add(_ identity: VersionBinding.Identity) {
            add(#"{"id":"#)
            bytes.append(contentsOf: JSONValue.string(identity.id).serialized())
            add(#","version":"#)
            bytes.append(contentsOf: JSONValue.string(identity.version).serialized())
            add("}")
        }
        add(#"{"app":"#)
        add(binding.app)
        add(#","system":"#)
        add(binding.system)
        add(#","sequence":"#)
        bytes.append(contentsOf: String(sequence).utf8)
        add(#","sealedAt":""#)
        bytes.append(contentsOf: sealedAt.utf8)
        add("\",")
        bytes.append(contentsOf: tail)
        return bytes
    }

    /// Reads the inside and holds it against the outside.
    ///
    /// - Throws: `tampered` where it is not of the form or disagrees with the name.
    init(parsing bytes: [UInt8], expecting binding: VersionBinding) throws(VaultError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw Self.tampered("is not strict JSON")
        }
        let members = ["app", "system", "sequence", "sealedAt", "values", "origins"]
        guard let object = value.object, object.count == members.count,
            members.allSatisfy({ object[$0] != nil })
        else { throw Self.tampered("does not have the six members it must have") }
        guard Self.identity(object["app"]) == binding.app,
            Self.identity(object["system"]) == binding.system
        else { throw Self.tampered("disagrees with the dump's name about the versions") }
        guard let sequence = object["sequence"]?.number?.int64, sequence >= 1 else {
            throw Self.tampered("has no sequence from 1")
        }
        guard let sealedAt = object["sealedAt"]?.string, Self.isTime(sealedAt) else {
            throw Self.tampered("has no time of sealing (RFC 3339)")
        }
        guard let values = object["values"]?.object, let origins = object["origins"]?.object,
            values.count == origins.count,
            values.allSatisfy({ Self.isOrigin(origins[$0.name]) })
        else { throw Self.tampered("does not have one origin for each value") }
        self.sequence = sequence
        self.sealedAt = sealedAt
        self.values = values
        self.origins = origins
        self.object = object
    }

    private static func identity(_ value: JSONValue?) -> VersionBinding.Identity? {
        guard let object = value?.object, object.count == 2, let id = object["id"]?.string,
            let version = object["version"]?.string
        else { return nil }
        return .init(id, version)
    }

    private static func isOrigin(_ value: JSONValue?) -> Bool {
        value?.string.flatMap(ConfigurationOrigin.init(rawValue:)) != nil
    }

    /// A time of RFC 3339, section 5.6, in UTC or with an offset.
    private static func isTime(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T"),
            UnixTime.parseDate(String(decoding: bytes[..<10], as: UTF8.self)) != nil,
            isClock(bytes[11..<19], limits: [23, 59, 60])
        else { return false }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !fraction.isEmpty else { return false }
            rest = rest.dropFirst(1 + fraction.count)
        }
        if rest.elementsEqual("Z".utf8) { return true }
        guard rest.count == 6, "+-".utf8.contains(rest.first!) else { return false }
        return isClock(rest.dropFirst(), limits: [23, 59])
    }

    private static func isClock(_ text: ArraySlice<UInt8>, limits: [Int]) -> Bool {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return parts.count == limits.count
            && zip(parts, limits).allSatisfy { part, limit in
                part.count == 2 && part.allSatisfy { (0x30...0x39).contains($0) }
                    && Int(String(decoding: part, as: UTF8.self))! <= limit
            }
    }

    private static func tampered(_ problem: String) -> VaultError {
        VaultError(.tampered, "the dump's inside \(problem)")
    }
}

import SignetBase
import SignetCrypto
import SignetJSON

/// The plaintext of a dump: a JSON object with the members `app`, `system`, `sequence`, `sealedAt`,
/// `values`, `origins` and, if any value was changed in the dump itself, `changed`.
///
/// The text is scanned once; values are created from it only when they are needed.
struct DumpPlaintext: Sendable {
    let sequence: Int64
    let sealedAt: String
    /// The keys whose values were changed in the dump itself; a key may have lost its value.
    let changed: [String]
    private let reader: JSONReader
    private let valuesElement: JSONReader.Element
    private let originsElement: JSONReader.Element

    var values: JSONObject { reader.value(valuesElement).object ?? JSONObject() }
    var origins: JSONObject { reader.value(originsElement).object ?? JSONObject() }
    /// The whole object, unchanged.
    var object: JSONObject { reader.value(reader.root).object ?? JSONObject() }

    /// Returns `"values":{…},"origins":{…}}`, the end of every plaintext: the part that holds the
    /// configuration. The member `changed` is left out if it would be empty.
    static func tail(
        values: JSONObject, origins: JSONObject, changed: [String] = []
    ) -> [UInt8] {
        var members: JSONObject = ["values": .object(values), "origins": .object(origins)]
        if !changed.isEmpty { members["changed"] = .array(changed.map(JSONValue.string)) }
        return Array(JSONValue.object(members).serialized().dropFirst())
    }

    /// Returns the plaintext's bytes. `tail` comes from `tail(values:origins:)`.
    static func bytes(
        for binding: VersionBinding, sequence: Int64, sealedAt: String, tail: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tail.count + 256)
        func add(_ text: String, string: String) {
            bytes += text.utf8
            bytes += JSONValue.string(string).serialized()
        }
        add(#"{"app":{"id":"#, string: binding.app.id)
        add(#","version":"#, string: binding.app.version)
        add(#"},"system":{"id":"#, string: binding.system.id)
        add(#","version":"#, string: binding.system.version)
        bytes += "},\"sequence\":\(sequence),".utf8
        add(#""sealedAt":"#, string: sealedAt)
        bytes.append(UInt8(ascii: ","))
        bytes += tail
        return bytes
    }

    /// Reads the plaintext and compares it with the header.
    ///
    /// - Throws: `tampered` if it isn't of this form or its versions differ from the header's.
    init(parsing bytes: [UInt8], expecting binding: VersionBinding) throws(VaultError) {
        let reader: JSONReader
        do {
            reader = try JSONReader(bytes)
        } catch {
            throw Self.tampered("is not strict JSON")
        }
        let members = reader.members(of: reader.root)
        func member(_ name: String) throws(VaultError) -> JSONReader.Element {
            guard
                let member = members.first(where: { reader.isString($0.name, equalTo: name) })
            else { throw Self.tampered("does not have the expected members") }
            return member.value
        }
        let changed = members.first { reader.isString($0.name, equalTo: "changed") }?.value
        // The names are unique, so the right number of members leaves no room for an unknown one.
        guard members.count == (changed == nil ? 6 : 7) else {
            throw Self.tampered("does not have the expected members")
        }
        let values = try member("values")
        let origins = try member("origins")
        guard reader.value(try member("app")) == binding.app.json,
            reader.value(try member("system")) == binding.system.json
        else { throw Self.tampered("has other versions than its header") }
        guard let sequence = reader.number(try member("sequence"))?.int64, sequence >= 1 else {
            throw Self.tampered("does not have a sequence of at least 1")
        }
        guard let sealedAt = reader.string(try member("sealedAt")), Self.isTime(sealedAt) else {
            throw Self.tampered("does not have a valid sealing time (RFC 3339)")
        }
        guard values.kind == .object, origins.kind == .object,
            Self.everyValue(of: values, hasOriginIn: origins, reader: reader)
        else { throw Self.tampered("does not have one origin for each value") }
        self.changed =
            try changed.map { names throws(VaultError) in
                guard let names = Self.names(reader.value(names)) else {
                    throw Self.tampered("does not have a list of distinct keys as \"changed\"")
                }
                return names
            } ?? []
        self.sequence = sequence
        self.sealedAt = sealedAt
        self.reader = reader
        self.valuesElement = values
        self.originsElement = origins
    }

    /// Returns the texts of a list, or nil if it isn't a list of distinct texts.
    private static func names(_ value: JSONValue) -> [String]? {
        guard let elements = value.array else { return nil }
        let names = elements.compactMap(\.string)
        guard names.count == elements.count, Set(names.map(ByteName.init)).count == names.count
        else { return nil }
        return names
    }

    private static func everyValue(
        of values: JSONReader.Element, hasOriginIn origins: JSONReader.Element, reader: JSONReader
    ) -> Bool {
        let origins = reader.members(of: origins)
        let names = Set(
            reader.members(of: values).compactMap { reader.string($0.name).map(ByteName.init) })
        // Both have the same number of names, without duplicates, so one direction is enough.
        return names.count == origins.count
            && origins.allSatisfy { name, origin in
                ConfigurationOrigin.allCases.contains {
                    reader.isString(origin, equalTo: $0.rawValue)
                } && reader.string(name).map { names.contains(ByteName($0)) } ?? false
            }
    }

    /// Returns whether a text is a time of RFC 3339, section 5.6, in UTC or with an offset.
    private static func isTime(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T"),
            UnixTime.parseDate(String(decoding: bytes[..<10], as: UTF8.self)) != nil,
            isClock(bytes[11..<19], limits: [23, 59, 60])
        else { return false }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: \.isDigit)
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
                part.count == 2 && part.allSatisfy(\.isDigit)
                    && Int(String(decoding: part, as: UTF8.self))! <= limit
            }
    }

    private static func tampered(_ problem: String) -> VaultError {
        VaultError(.tampered, "the dump's plaintext \(problem)")
    }
}

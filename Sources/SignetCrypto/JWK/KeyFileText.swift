import SignetJSON

/// The text of a key file, in which one key is added or taken out and every other byte stays: what
/// other programs keep in it, and how a person set it out.
final class KeyFileText {
    private(set) var bytes: [UInt8]

    /// - Parameter bytes: A JWK Set that `KeySet` takes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Adds a copy of a vault root behind it, with another id and another secret; its other members,
    /// dates among them, are the same.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `malformedKeys`.
    func add(root: Span<UInt8>, as id: String, behind old: String) throws(KeyError) {
        let found = try find(old)
        let key = found.keys[found.index]
        var copy: [UInt8] = []
        defer { wipe(&copy) }
        var rest = key.range.lowerBound
        for (name, value) in found.reader.members(of: key) {
            let isID = found.reader.isString(name, "kid")
            guard isID || found.reader.isString(name, "k") else { continue }
            copy.append(contentsOf: bytes[rest..<value.range.lowerBound])
            if isID {
                copy.append(contentsOf: JSONValue.string(id).serialized())
            } else {
                copy.append(UInt8(ascii: "\""))
                copy.append(contentsOf: Base64.encodeBytes(root, .url))
                copy.append(UInt8(ascii: "\""))
            }
            rest = value.range.upperBound
        }
        copy.append(contentsOf: bytes[rest..<key.range.upperBound])
        let between: [UInt8] =
            found.index > 0
            ? Array(bytes[found.keys[found.index - 1].range.upperBound..<key.range.lowerBound])
            : [UInt8(ascii: ",")] + bytes[found.start + 1..<key.range.lowerBound]
        var new: [UInt8] = []
        new.reserveCapacity(bytes.count + between.count + copy.count)
        new.append(contentsOf: bytes[..<key.range.upperBound])
        new.append(contentsOf: between)
        new.append(contentsOf: copy)
        new.append(contentsOf: bytes[key.range.upperBound...])
        replace(with: new)
    }

    /// Takes a key out.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `malformedKeys`.
    func remove(_ id: String) throws(KeyError) {
        let found = try find(id)
        let key = found.keys[found.index]
        let range: Range<Int>
        if found.index + 1 < found.keys.count {
            range = key.range.lowerBound..<found.keys[found.index + 1].range.lowerBound
        } else if found.index > 0 {
            range = found.keys[found.index - 1].range.upperBound..<key.range.upperBound
        } else {
            range = key.range
        }
        replace(with: Array(bytes[..<range.lowerBound]) + bytes[range.upperBound...])
    }

    private func replace(with new: [UInt8]) {
        wipe(&bytes)
        bytes = new
    }

    private struct Found {
        let reader: JSONReader
        let keys: [JSONReader.Element]
        /// Where the array begins.
        let start: Int
        let index: Int
    }

    private func find(_ id: String) throws(KeyError) -> Found {
        let reader: JSONReader
        do throws(JSONError) {
            reader = try JSONReader(bytes, maximumDepth: 64)
        } catch {
            throw KeyParts.malformed("no strict JSON: \(error.code.name)")
        }
        guard
            let set = reader.members(of: reader.root).first(where: {
                reader.isString($0.name, "keys")
            })?.value
        else { throw KeyParts.malformed("wanted a JWK Set: {\"keys\":[…]}") }
        let keys = reader.elements(of: set)
        let index = keys.firstIndex { key in
            reader.members(of: key).contains {
                reader.isString($0.name, "kid") && reader.isString($0.value, id)
            }
        }
        guard let index else {
            throw KeyError(
                code: .unknownKey, message: "no key has the id \"\(printable(id))\"")
        }
        return Found(reader: reader, keys: keys, start: set.range.lowerBound, index: index)
    }

    deinit { wipe(&bytes) }
}

import SignetBase
import SignetJSON
import SignetSystem

/// The text of a key file. Adding, removing or revoking a key keeps every other byte: the layout,
/// and members that other programs use.
final class KeyFileText {
    private(set) var bytes: [UInt8]

    /// - Parameter bytes: A JWK Set that `KeySet` accepts.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Adds a copy of a vault root after it, with another id and another secret. Its other members,
    /// such as dates, stay the same.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `malformedKeys`.
    func add(root: Span<UInt8>, as id: String, after old: String) throws(KeyError) {
        let found = try find(old)
        let key = found.keys[found.index]
        let between: [UInt8] =
            found.index > 0
            ? Array(bytes[found.keys[found.index - 1].upperBound..<key.lowerBound])
            : [UInt8(ascii: ",")] + bytes[found.array.lowerBound + 1..<key.lowerBound]
        var copy: [UInt8] = []
        defer { wipe(&copy) }
        copy.reserveCapacity(between.count + key.count + 6 * id.utf8.count + 64)
        copy.append(contentsOf: between)
        var rest = key.lowerBound
        for (range, isID) in found.replaced {
            copy.append(contentsOf: bytes[rest..<range.lowerBound])
            if isID {
                copy.append(contentsOf: JSONValue.string(id).serialized())
            } else {
                copy.append(UInt8(ascii: "\""))
                Base64.append(root, as: .url, to: &copy)
                copy.append(UInt8(ascii: "\""))
            }
            rest = range.upperBound
        }
        copy.append(contentsOf: bytes[rest..<key.upperBound])
        replace(key.upperBound..<key.upperBound, with: copy)
    }

    /// Adds a new key after the others.
    ///
    /// - Throws: `KeyError` with `malformedKeys`.
    func append(_ key: NewKeyText) throws(KeyError) {
        let (start, last) = try end()
        var new: [UInt8] = []
        new.reserveCapacity(bytes.count + key.bytes.count + 16)
        new.append(contentsOf: bytes[..<(last ?? start + 1)])
        new.append(contentsOf: (last == nil ? "\n    " : ",\n    ").utf8)
        new.append(contentsOf: key.bytes)
        if last == nil { new.append(contentsOf: "\n  ".utf8) }
        new.append(contentsOf: bytes[(last ?? start + 1)...])
        replace(with: new)
    }

    /// Removes a key.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `malformedKeys`.
    func remove(_ id: String) throws(KeyError) {
        let found = try find(id)
        let key = found.keys[found.index]
        let range: Range<Int>
        if found.index + 1 < found.keys.count {
            range = key.lowerBound..<found.keys[found.index + 1].lowerBound
        } else if found.index > 0 {
            range = found.keys[found.index - 1].upperBound..<key.upperBound
        } else {
            range = found.array.lowerBound + 1..<found.array.upperBound - 1
        }
        replace(range, with: [])
    }

    /// Sets a key's member `revoked` to true.
    ///
    /// - Throws: `KeyError` with `unknownKey` or `malformedKeys`.
    func revoke(_ id: String) throws(KeyError) {
        let found = try find(id)
        if let there = found.revoked { return replace(there, with: Array("true".utf8)) }
        // Lay out the new member like the last one.
        let last = found.last
        let between = Array(bytes[last.start..<last.name.lowerBound])
        let colon = Array(bytes[last.name.upperBound..<last.value.lowerBound])
        let member =
            between + Array("\"revoked\"".utf8) + colon + Array("true".utf8)
        replace(last.value.upperBound..<last.value.upperBound, with: member)
    }

    private func replace(_ range: Range<Int>, with text: [UInt8]) {
        var new: [UInt8] = []
        new.reserveCapacity(bytes.count - range.count + text.count)
        new.append(contentsOf: bytes[..<range.lowerBound])
        new.append(contentsOf: text)
        new.append(contentsOf: bytes[range.upperBound...])
        replace(with: new)
    }

    private func replace(with new: [UInt8]) {
        wipe(&bytes)
        bytes = new
    }

    /// The positions of the keys. It contains no text: if it shared the storage of `bytes`, wiping
    /// them would wipe a copy.
    private struct Found {
        let keys: [Range<Int>]
        /// The array of keys, with its brackets.
        let array: Range<Int>
        /// The index of the key in `keys`.
        let index: Int
        /// The value of the key's member `revoked`.
        let revoked: Range<Int>?
        /// The key's last member, and the end of the value before it.
        let last: (start: Int, name: Range<Int>, value: Range<Int>)
        /// The values of the key's id and secret.
        let replaced: [(range: Range<Int>, isID: Bool)]
    }

    /// Returns the position of the array and the end of its last key.
    private func end() throws(KeyError) -> (start: Int, last: Int?) {
        let (reader, set) = try array()
        return (set.range.lowerBound, reader.elements(of: set).last?.range.upperBound)
    }

    /// Returns the array of keys, with a reader that shares the storage of `bytes`.
    private func array() throws(KeyError) -> (reader: JSONReader, set: JSONReader.Element) {
        let reader: JSONReader
        do throws(JSONError) {
            reader = try JSONReader(bytes, maximumDepth: 64)
        } catch {
            throw KeyParts.malformed("not strict JSON: \(error.code.name)")
        }
        guard
            let set = reader.members(of: reader.root).first(where: {
                reader.isString($0.name, equalTo: "keys")
            })?.value, set.kind == .array
        else { throw KeyParts.malformed("expected a JWK Set: {\"keys\":[…]}") }
        return (reader, set)
    }

    private func find(_ id: String) throws(KeyError) -> Found {
        let (reader, set) = try array()
        let keys = reader.elements(of: set)
        let index = keys.firstIndex { key in
            reader.members(of: key).contains {
                reader.isString($0.name, equalTo: "kid") && reader.isString($0.value, equalTo: id)
            }
        }
        guard let index else {
            throw KeyError(.unknownKey, "no key has the id \"\(printable(id))\"")
        }
        let members = reader.members(of: keys[index])
        // A key has two members or more, kid and kty.
        guard members.count > 1, let last = members.last else {
            throw KeyParts.malformed("expected a JWK")
        }
        let replaced = members.compactMap { name, value in
            let isID = reader.isString(name, equalTo: "kid")
            return isID || reader.isString(name, equalTo: "k")
                ? (range: value.range, isID: isID) : nil
        }
        return Found(
            keys: keys.map(\.range), array: set.range, index: index,
            revoked: members.first { reader.isString($0.name, equalTo: "revoked") }?.value.range,
            last: (
                start: members[members.count - 2].value.range.upperBound,
                name: last.name.range, value: last.value.range
            ), replaced: replaced)
    }

    deinit { wipe(&bytes) }
}

import SignetJSON
import SignetSystem

/// The text of a new JWK, laid out as in a key file. It is wiped when it is destroyed.
///
/// A secret's text never becomes a `String`, because a `String` cannot be wiped.
final class NewKeyText {
    private(set) var bytes: [UInt8]

    /// Begins a key.
    ///
    /// - Parameter secretByteCount: The size of a secret that `set` will get; a key pair needs
    ///   none.
    init(id: String, secretByteCount: Int = 0) {
        bytes = [UInt8(ascii: "{")]
        // More than the longest key needs: an array that grows leaves its old bytes in memory.
        bytes.reserveCapacity(16_384 + 6 * id.utf8.count + 2 * secretByteCount)
        set("kid", to: id)
    }

    /// Adds a member that is not secret.
    func set(_ name: String, to text: String) {
        startMember(name)
        bytes.append(contentsOf: JSONValue.string(text).serialized())
    }

    /// Adds a member in base64url.
    func set(_ name: String, to number: borrowing SecretBytes) { set(name, to: number.bytes) }

    /// Adds a member in base64url.
    func set(_ name: String, to number: Span<UInt8>) {
        startMember(name)
        bytes.append(UInt8(ascii: "\""))
        Base64.append(number, as: .url, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds a member as another JWK has it.
    ///
    /// - Parameters:
    ///   - name: The name in JSON, with its quotes.
    ///   - value: The value in JSON.
    func copy(_ name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        bytes.append(contentsOf: ",\n      ".utf8)
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: ": ".utf8)
        bytes.append(contentsOf: value)
    }

    /// Ends the text. No member can be added after it.
    func end() { bytes.append(contentsOf: "\n    }".utf8) }

    private func startMember(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: "\n      \"\(name)\": ".utf8)
    }

    deinit { wipe(&bytes) }
}

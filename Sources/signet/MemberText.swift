#if Tool
import SignetJSON

/// The members of a JSON object as text, so that no tree is built of a value that may be large.
struct MemberText: Sendable {
    private var text = Array("{".utf8)

    /// Creates the text of an object's members.
    init(_ object: JSONObject = [:]) { append(object) }

    /// Appends members whose names are new.
    mutating func append(_ object: JSONObject) {
        for (name, value) in object { append(name, text: value.serialized()) }
    }

    /// Appends a member whose name is new and whose value is a JSON text.
    mutating func append(_ name: String, text value: [UInt8]) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text += JSONValue.string(name).serialized()
        text.append(UInt8(ascii: ":"))
        // With room for the end, so that the whole is not copied for it.
        text.reserveCapacity(text.count + value.count + 64)
        text += value
    }

    /// Ends the object and returns it, followed by a newline if it is a line of its own.
    mutating func close(isLine: Bool = true) -> [UInt8] {
        text += (isLine ? "}\n" : "}").utf8
        return text
    }
}
#endif

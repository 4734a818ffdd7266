public import HTTPTypes

/// A field of a recorded message, as it was sent.
public struct RecordedField: Sendable, Hashable {
    /// The name, in the letters of its sender.
    public var name: String
    /// The value's bytes.
    public var bytes: [UInt8]

    /// Creates a field.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// Creates a field of a text.
    public init(name: String, value: String) {
        self.init(name: name, bytes: Array(value.utf8))
    }

    /// The value as text. A byte that isn't UTF-8 is replaced by U+FFFD.
    public var value: String {
        get { String(decoding: bytes, as: UTF8.self) }
        set { bytes = Array(newValue.utf8) }
    }

    /// Whether the value is UTF-8.
    public var isText: Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// Whether the field has a name; letter case doesn't count.
    public func isNamed(_ name: HTTPField.Name) -> Bool {
        self.name.utf8.count == name.canonicalName.utf8.count
            && zip(self.name.utf8, name.canonicalName.utf8).allSatisfy {
                ($0.0 &- 0x41 < 26 ? $0.0 | 0x20 : $0.0) == $0.1
            }
    }
}

extension [RecordedField] {
    /// The text of the first field of a name; nil if there is none.
    public subscript(name: HTTPField.Name) -> String? { first { $0.isNamed(name) }?.value }
}

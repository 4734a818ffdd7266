public import SignetJSON

/// A call's result: validated JSON text, parsed when a type is asked for.
public struct RPCResult: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The JSON text, as the server wrote it.
    public let bytes: [UInt8]
    /// How the service writes dates and names members, for ``decode(_:)``. The client's system sets
    /// the conventions of the call.
    public var conventions = JSONConventions()

    /// The size of the text, without the text.
    public var description: String { "RPCResult(\(bytes.count) bytes)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Creates a result from JSON text that has been validated.
    package init(validated bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a result from a JSON value.
    public init(_ value: JSONValue) { self.bytes = value.serialized() }

    /// Creates a result from JSON text.
    ///
    /// - Throws: `JSONError` if the text is not strict JSON.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        let reader = try JSONReader(bytes, recordedDepth: 0)
        self.bytes = reader.bytes(of: reader.root)
    }

    /// The result as a JSON value.
    public var value: JSONValue {
        (try? JSONValue(parsing: bytes)) ?? .null  // validated before, so it is valid again
    }

    /// The bytes of `value.serialized()`, made without a tree, which may take many times the text's
    /// size.
    package var compactBytes: [UInt8] { JSONReader.compact(validated: bytes) }

    /// Decodes the result.
    ///
    /// - Throws: `JSONError` that names path and byte offset but no value.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(JSONError) -> Value {
        try StrictJSONDecoder(conventions: conventions).decode(type, from: bytes)
    }
}

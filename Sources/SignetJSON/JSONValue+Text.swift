extension JSONValue {
    /// Parses a JSON text strictly. `JSONReader` lists what it refuses.
    ///
    /// - Parameters:
    ///   - bytes: The whole text, UTF-8.
    ///   - maximumDepth: The deepest nesting of arrays and objects, in 0...512; more counts as 512.
    /// - Throws: `JSONError` with the path and the byte offset.
    public init(
        parsing bytes: [UInt8], maximumDepth: Int = JSONReader.maximumDepth
    ) throws(JSONError) {
        let reader = try JSONReader(bytes, maximumDepth: maximumDepth)
        self = reader.value(reader.root)
    }

    /// Parses a JSON text strictly, like the initialiser for an array of bytes.
    public init(
        parsing bytes: Span<UInt8>, maximumDepth: Int = JSONReader.maximumDepth
    ) throws(JSONError) {
        let reader = try JSONReader(copying: bytes, maximumDepth: maximumDepth)
        self = reader.value(reader.root)
    }

    /// Parses a JSON text strictly, like the initialiser for an array of bytes.
    public init(
        parsing text: String, maximumDepth: Int = JSONReader.maximumDepth
    ) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), maximumDepth: maximumDepth)
    }

    /// Returns the JSON text as UTF-8, without a final newline.
    public func serialized(_ style: JSONStyle = .compact) -> [UInt8] {
        var writer = JSONWriter(style)
        writer.write(self)
        return writer.finish()
    }

    /// The compact JSON text.
    public var text: String { String(decoding: serialized(), as: UTF8.self) }
}

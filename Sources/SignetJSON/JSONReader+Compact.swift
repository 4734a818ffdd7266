import SignetBase

extension JSONReader {
    /// Returns a valid JSON text in the form of `JSONValue.serialized()`: without white space,
    /// numbers as written, strings with only the required escapes.
    ///
    /// Builds no tree: it allocates at most as many bytes as the text has, and none if the text is
    /// compact.
    package static func compact(validated text: [UInt8]) -> [UInt8] {
        let bytes = text.span
        var output: [UInt8] = []
        // The start of the bytes that have not been copied yet.
        var kept = 0
        func keep(to end: Int) {
            if output.isEmpty { output.reserveCapacity(bytes.count) }
            output.append(contentsOf: text[kept..<end])
        }
        var at = 0
        while at < bytes.count {
            let byte = bytes[at]
            if byte == ASCII.quote {
                var isEscaped = false
                let end =
                    (try? JSONScanner.stringEnd(bytes, from: at, isEscaped: &isEscaped))
                    ?? bytes.count
                if isEscaped {
                    keep(to: at)
                    var string: [UInt8] = []
                    string.reserveCapacity(end - at)
                    JSONScanner.unescape(bytes, in: at + 1..<end - 1, into: &string)
                    output.append(ASCII.quote)
                    for byte in string { JSONWriter.appendEscaped(byte, to: &output) }
                    output.append(ASCII.quote)
                    kept = end
                }
                at = end
            } else if byte <= ASCII.space {
                keep(to: at)
                at = JSONScanner.skipSpace(bytes, from: at)
                kept = at
            } else {
                at &+= 1
            }
        }
        guard kept > 0 else { return text }
        keep(to: bytes.count)
        return output
    }
}

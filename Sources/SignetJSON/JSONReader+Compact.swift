extension JSONReader {
    /// Returns a valid JSON text as `JSONValue.serialized()` writes its value: without white space, numbers
    /// by their text, strings with the escapes that must be. No tree is built, so this takes at most as
    /// many bytes as the text has, and none if there is nothing to change.
    package static func compact(validated text: [UInt8]) -> [UInt8] {
        let bytes = text.span
        var output: [UInt8] = []
        // Where the bytes begin that are still to be copied as they stand.
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
                let end = (try? JSONScanner.stringEnd(bytes, at, &isEscaped)) ?? bytes.count
                if isEscaped {
                    keep(to: at)
                    var string: [UInt8] = []
                    string.reserveCapacity(end - at)
                    JSONScanner.unescape(bytes, at + 1..<end - 1, into: &string)
                    output.append(ASCII.quote)
                    for byte in string { JSONWriter.appendEscaped(byte, to: &output) }
                    output.append(ASCII.quote)
                    kept = end
                }
                at = end
            } else if byte <= ASCII.space {
                keep(to: at)
                at = JSONScanner.skipSpace(bytes, at)
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

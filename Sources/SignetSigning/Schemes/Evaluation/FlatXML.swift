/// A parser of flat XML: `<xml><name>text</name>…</xml>`.
///
/// The children of the root have text or CDATA. There are no attributes, nested elements or
/// entities other than the five of XML 1.0, section 4.6.
struct FlatXML {
    private let bytes: [UInt8]
    /// The position of the root's end tag, after `children` returned.
    private(set) var rootEnd = 0
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the root's children in order.
    ///
    /// - Throws: `malformed-message` for any other text, duplicate elements or more than 512 of
    ///   them.
    mutating func children() throws(SigningError) -> [SignableMessage.Parameter] {
        position = 0
        skipSpace()
        if skip("<?xml") {
            guard skip(past: "?>") else { throw malformed }
            skipSpace()
        }
        let root = try openTag()
        var children: [SignableMessage.Parameter] = []
        while true {
            skipSpace()
            rootEnd = position
            if skip("</") {
                guard try name() == root else { throw malformed }
                skipSpace()
                guard skip(">") else { throw malformed }
                skipSpace()
                guard position == bytes.count else { throw malformed }
                return children
            }
            let name = try openTag()
            guard !children.contains(where: { $0.name == name }) else {
                throw SigningError(
                    .malformedMessage,
                    "the body has the element \(String(decoding: name, as: UTF8.self)) twice")
            }
            guard children.count < 512 else {
                throw SigningError(.malformedMessage, "the body has more than 512 elements")
            }
            let value = try content()
            guard skip("</"), try self.name() == name else { throw malformed }
            skipSpace()
            guard skip(">") else { throw malformed }
            children.append((name, value))
        }
    }

    private mutating func openTag() throws(SigningError) -> [UInt8] {
        guard skip("<") else { throw malformed }
        let name = try name()
        skipSpace()
        guard skip(">") else { throw malformed }
        return name
    }

    private mutating func name() throws(SigningError) -> [UInt8] {
        let start = position
        while position < bytes.count, bytes[position].isNameByte { position += 1 }
        guard position > start else { throw malformed }
        return Array(bytes[start..<position])
    }

    private mutating func content() throws(SigningError) -> [UInt8] {
        var value: [UInt8] = []
        while position < bytes.count {
            if skip("<![CDATA[") {
                let start = position
                guard skip(past: "]]>") else { throw malformed }
                value.append(contentsOf: bytes[start..<(position - 3)])
            } else if bytes[position] == 0x3C {
                return value
            } else if bytes[position] == 0x26 {
                value.append(try entity())
            } else {
                value.append(bytes[position])
                position += 1
            }
        }
        throw malformed
    }

    private mutating func entity() throws(SigningError) -> UInt8 {
        for (text, byte) in [
            ("&lt;", 0x3C), ("&gt;", 0x3E), ("&amp;", 0x26), ("&quot;", 0x22), ("&apos;", 0x27),
        ] as [(String, UInt8)] where skip(text) { return byte }
        throw malformed
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }

    private mutating func skip(_ text: String) -> Bool {
        let bytes = text.utf8
        guard self.bytes.count - position >= bytes.count,
            self.bytes[position..<(position + bytes.count)].elementsEqual(bytes)
        else { return false }
        position += bytes.count
        return true
    }

    private mutating func skip(past text: String) -> Bool {
        while position < bytes.count {
            if skip(text) { return true }
            position += 1
        }
        return false
    }

    private var malformed: SigningError {
        SigningError(
            .malformedMessage, "the body is not flat XML: unexpected byte at offset \(position)")
    }
}

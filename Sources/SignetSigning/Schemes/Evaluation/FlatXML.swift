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
        let root = try tag()
        var children: [SignableMessage.Parameter] = []
        while true {
            skipSpace()
            rootEnd = position
            if bytes[position...].starts(with: "</".utf8) {
                try tag("</", named: root)
                skipSpace()
                guard position == bytes.count else { throw malformed }
                return children
            }
            let name = try tag()
            guard !children.contains(where: { $0.name == name }) else {
                throw SigningError(
                    .malformedMessage,
                    "the body has the element \(String(decoding: name, as: UTF8.self)) twice")
            }
            guard children.count < 512 else {
                throw SigningError(.malformedMessage, "the body has more than 512 elements")
            }
            let value = try content()
            try tag("</", named: name)
            children.append((name, value))
        }
    }

    /// Reads a tag with the name, or with any name if it is `nil`. Returns the name.
    @discardableResult
    private mutating func tag(
        _ start: String = "<", named expected: [UInt8]? = nil
    ) throws(SigningError) -> [UInt8] {
        guard skip(start) else { throw malformed }
        let name = Array(bytes[position...].prefix(while: \.isNameByte))
        position += name.count
        guard !name.isEmpty, name == expected ?? name else { throw malformed }
        skipSpace()
        guard skip(">") else { throw malformed }
        return name
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
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
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

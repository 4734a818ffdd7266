/// An element of an XML document, with its attributes and children.
///
/// The package has its own small reader, because Foundation's uses libxml2, whose entities
/// attackers can abuse. It expands only XML's five entities and character numbers, refuses document
/// types with declarations, and never opens a file or a connection.
package struct XMLElement: Sendable {
    package enum Child: Sendable {
        case element(XMLElement)
        case text(String)
    }

    package fileprivate(set) var name: String
    package fileprivate(set) var attributes: [(name: String, value: String)] = []
    package fileprivate(set) var children: [Child] = []
    /// The position of the end tag, in bytes; nil without one.
    package fileprivate(set) var end: Int?

    /// The child elements in order.
    package var elements: [XMLElement] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The text without that of child elements.
    package var text: String {
        children.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    /// The text without its white space.
    package var textWithoutSpace: String {
        String(decoding: text.utf8.filter { !XMLReader.isSpace($0) }, as: UTF8.self)
    }

    /// Whether the text has more than white space.
    package var hasText: Bool { !textWithoutSpace.isEmpty }

    package subscript(attribute: String) -> String? {
        attributes.first { sameBytes($0.name, attribute) }?.value
    }
}

/// The reason why a text isn't XML, with the position in bytes.
package struct XMLError: Error {
    package let message: String
}

/// Reads an XML 1.0 document in UTF-8.
package struct XMLReader {
    private let bytes: [UInt8]
    private let isFlat: Bool
    private var index = 0

    private static let maximumDepth = 64
    /// The maximum number of elements and texts in an element of a flat document.
    private static let maximumFlatCount = 2048
    private static let nameCharacters = ASCIISet(lettersDigitsAnd: ":_-.")
    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// Reads the root element.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - isFlat: Whether to refuse all but a root, its children, their text and CDATA and the
    ///     five entities of XML.
    package static func read(
        _ bytes: [UInt8], isFlat: Bool = false
    ) throws(XMLError) -> XMLElement {
        var reader = XMLReader(bytes: bytes, isFlat: isFlat)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw reader.malformed("the text isn't UTF-8")
        }
        if !isFlat, bytes.hasByteOrderMark { reader.index = 3 }
        if reader.skip("<?xml") { try reader.declaration() }
        try reader.skipMisc(allowsDoctype: true)
        guard reader.skip("<") else { throw reader.malformed("expected an element") }
        let root = try reader.element(depth: 1)
        try reader.skipMisc(allowsDoctype: false)
        guard reader.index == bytes.count else {
            throw reader.malformed("expected the end of the document")
        }
        return root
    }

    private init(bytes: [UInt8], isFlat: Bool) {
        self.bytes = bytes
        self.isFlat = isFlat
    }

    package static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// Returns a text without the white space around it.
    package static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        String(decoding: bytes.trimming(isSpace), as: UTF8.self)
    }

    private func malformed(_ what: String) -> XMLError {
        XMLError(message: "invalid XML: \(what) (byte \(index))")
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { return false }
        index += text.utf8.count
        return true
    }

    /// Skips a mark that a flat document can't have.
    private mutating func skipUnlessFlat(_ text: String) -> Bool { !isFlat && skip(text) }

    private mutating func skipSpace() {
        while let byte = next, Self.isSpace(byte) { index += 1 }
    }

    /// Returns the text before an end mark, and skips the mark.
    private mutating func text(before end: String, closing what: String) throws(XMLError) -> String
    {
        let start = index
        while index < bytes.count {
            let inside = start..<index
            if skip(end) { return String(decoding: bytes[inside], as: UTF8.self) }
            index += 1
        }
        throw malformed("\(what) isn't closed")
    }

    private mutating func declaration() throws(XMLError) {
        guard let byte = next, Self.isSpace(byte) else {
            throw malformed("expected a space in the XML declaration")
        }
        let inside = try text(before: "?>", closing: "the XML declaration").lowercased()
        if let range = inside.firstRange(of: "encoding") {
            let rest = inside[range.upperBound...].filter { !$0.isWhitespace }
            let value = rest.dropFirst(2).prefix { $0 != "\"" && $0 != "'" }
            guard rest.startsWithBytes(of: "=\"") || rest.startsWithBytes(of: "='"),
                ["utf-8", "us-ascii"].contains(String(value))
            else { throw malformed("the encoding isn't UTF-8") }
        }
    }

    /// Skips white space, comments, processing instructions and, before the root, a document type.
    private mutating func skipMisc(allowsDoctype: Bool) throws(XMLError) {
        var allowsDoctype = allowsDoctype
        while true {
            skipSpace()
            if skipUnlessFlat("<!--") {
                _ = try text(before: "-->", closing: "a comment")
            } else if skipUnlessFlat("<?") {
                _ = try text(before: "?>", closing: "a processing instruction")
            } else if allowsDoctype, skipUnlessFlat("<!DOCTYPE") {
                allowsDoctype = false
                try documentType()
            } else {
                return
            }
        }
    }

    /// Skips a document type without declarations. A file that it names is never read.
    private mutating func documentType() throws(XMLError) {
        var quote: UInt8?
        while let byte = next {
            index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw malformed(
                    "a document type with declarations, such as entities, isn't allowed")
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
        throw malformed("the document type isn't closed")
    }

    private mutating func name() throws(XMLError) -> String {
        let start = index
        guard let first = next, !"-.0123456789".utf8.contains(first) else {
            throw malformed("expected a name")
        }
        while let byte = next, byte >= 0x80 || Self.nameCharacters.contains(byte) { index += 1 }
        guard index > start else { throw malformed("expected a name") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Reads an element after its `<`.
    private mutating func element(depth: Int) throws(XMLError) -> XMLElement {
        guard depth <= (isFlat ? 2 : Self.maximumDepth) else {
            throw malformed("elements are nested too deeply")
        }
        var element = XMLElement(name: try name())
        while true {
            let before = index
            skipSpace()
            if skipUnlessFlat("/>") { return element }
            if skip(">") { break }
            guard index > before else { throw malformed("expected a space before an attribute") }
            let name = try name()
            skipSpace()
            guard skip("=") else { throw malformed("expected \"=\" after an attribute's name") }
            skipSpace()
            guard !isFlat else { throw malformed("found an attribute") }
            guard element.attributes.count < 256 else { throw malformed("too many attributes") }
            guard element[name] == nil else { throw malformed("duplicate attribute") }
            element.attributes.append((name, try attributeValue()))
        }
        try content(of: &element, depth: depth)
        return element
    }

    private mutating func attributeValue() throws(XMLError) -> String {
        guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw malformed("expected an attribute's value in quotes")
        }
        index += 1
        var value: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case quote: return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "<"): throw malformed("found \"<\" in an attribute")
            case let byte where Self.isSpace(byte): value.append(0x20)
            default: try append(byte, to: &value)
            }
        }
        throw malformed("an attribute's value isn't closed")
    }

    private mutating func content(of element: inout XMLElement, depth: Int) throws(XMLError) {
        var text: [UInt8] = []
        func flush(_ element: inout XMLElement) {
            if !text.isEmpty {
                element.children.append(.text(String(decoding: text, as: UTF8.self)))
            }
            text = []
        }
        while let byte = next {
            let start = index
            if byte != UInt8(ascii: "<") {
                index += 1
                try append(byte, to: &text)
            } else if skip("</") {
                flush(&element)
                element.end = start
                guard try name().utf8.elementsEqual(element.name.utf8) else {
                    throw malformed("expected the end of the element \(element.name)")
                }
                skipSpace()
                guard skip(">") else {
                    throw malformed("expected \">\" after the name in an element's end")
                }
                return
            } else if skipUnlessFlat("<!--") {
                _ = try self.text(before: "-->", closing: "a comment")
            } else if skip("<![CDATA[") {
                text.append(
                    contentsOf: try self.text(before: "]]>", closing: "a CDATA section").utf8)
            } else if skipUnlessFlat("<?") {
                _ = try self.text(before: "?>", closing: "a processing instruction")
            } else {
                index += 1
                flush(&element)
                guard !isFlat || element.children.count < Self.maximumFlatCount else {
                    throw malformed("found too many elements")
                }
                element.children.append(.element(try self.element(depth: depth + 1)))
            }
        }
        throw malformed("the element \(element.name) isn't closed")
    }

    /// Appends a byte, or for `&` the character of the reference that begins there.
    private mutating func append(_ byte: UInt8, to text: inout [UInt8]) throws(XMLError) {
        guard byte >= 0x20 || Self.isSpace(byte) else {
            throw malformed("found a control character")
        }
        if byte == UInt8(ascii: "&") {
            text += try reference().utf8
        } else {
            text.append(byte)
        }
    }

    /// Reads one of XML's five entities, or a character number, after its `&`.
    private mutating func reference() throws(XMLError) -> String {
        let start = index
        while let byte = next, byte != UInt8(ascii: ";"), index - start < 12 { index += 1 }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        guard skip(";") else { throw malformed("an entity isn't closed") }
        if let character = Self.entities[name] { return character }
        let digits = name.dropFirst(name.startsWithBytes(of: "#x") ? 2 : 1)
        guard !isFlat, name.startsWithBytes(of: "#"), digits.utf8.allSatisfy(\.isHexDigit),
            let number = UInt32(digits, radix: name.startsWithBytes(of: "#x") ? 16 : 10),
            number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number),
            number != 0xFFFE && number != 0xFFFF, let scalar = Unicode.Scalar(number)
        else { throw malformed("found an entity other than XML's own five") }
        return String(Character(scalar))
    }

    /// Escapes the characters of a text that have a meaning in XML.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

internal import SignetPinning
internal import SignetBase

/// An element of an XML document, with what stands in it.
///
/// A reader of our own, and a small one: Foundation's would bring libxml2 and its entities along, which
/// are the danger here. It knows no entities but the five of XML itself and numbers, reads no document
/// type with declarations inside, and never opens a file or a connection.
struct XMLElement {
    enum Child {
        case element(XMLElement)
        case text(String)
    }

    var name: String
    var attributes: [(name: String, value: String)] = []
    var children: [Child] = []

    init(name: String) { self.name = name }

    /// The elements in it, in order.
    var elements: [XMLElement] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The text in it without that of elements.
    var text: String {
        children.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    /// Whether there is text in it that is more than white space.
    var hasText: Bool { text.utf8.contains { !XMLReader.isSpace($0) } }

    subscript(attribute: String) -> String? {
        attributes.first { $0.name.utf8.elementsEqual(attribute.utf8) }?.value
    }
}

/// Reads an XML 1.0 document in UTF-8.
struct XMLReader {
    private let bytes: [UInt8]
    private var index = 0

    private static let maximumDepth = 64

    /// Reads the root element.
    ///
    /// - Throws: `PinError` with code `malformed-input` and the byte at which it stopped.
    static func read(_ bytes: [UInt8]) throws(PinError) -> XMLElement {
        var reader = XMLReader(bytes: bytes)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw reader.malformed("it is not UTF-8")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.index = 3 }
        if reader.skip("<?xml") { try reader.declaration() }
        try reader.miscellany(mayHoldType: true)
        guard reader.skip("<") else { throw reader.malformed("an element is wanted") }
        let root = try reader.element(depth: 1)
        try reader.miscellany(mayHoldType: false)
        guard reader.index == bytes.count else {
            throw reader.malformed("something stands behind the document's end")
        }
        return root
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private func malformed(_ what: String) -> PinError {
        PinError(code: .malformedInput, message: "no XML that is taken: \(what) (byte \(index))")
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { return false }
        index += text.utf8.count
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, Self.isSpace(byte) { index += 1 }
    }

    /// The bytes up to a text, which is passed over.
    private mutating func until(_ end: StaticString, _ what: String) throws(PinError) -> String {
        let wanted = Array("\(end)".utf8)
        let start = index
        while index + wanted.count <= bytes.count {
            if bytes[index...].starts(with: wanted) {
                let inside = String(decoding: bytes[start..<index], as: UTF8.self)
                index += wanted.count
                return inside
            }
            index += 1
        }
        throw malformed("\(what) does not end")
    }

    private mutating func declaration() throws(PinError) {
        guard let byte = next, Self.isSpace(byte) else {
            throw malformed("the XML declaration is broken")
        }
        let inside = try until("?>", "the XML declaration").lowercased()
        if let range = inside.firstRange(of: "encoding") {
            let rest = inside[range.upperBound...].filter { !$0.isWhitespace }
            let value = rest.dropFirst(2).prefix { $0 != "\"" && $0 != "'" }
            guard rest.hasPrefix("=\"") || rest.hasPrefix("='"),
                ["utf-8", "us-ascii"].contains(String(value))
            else { throw malformed("its encoding is not UTF-8") }
        }
    }

    /// White space, comments, processing instructions and, before the root, a document type.
    private mutating func miscellany(mayHoldType: Bool) throws(PinError) {
        var mayHoldType = mayHoldType
        while true {
            skipSpace()
            if skip("<!--") {
                _ = try until("-->", "a comment")
            } else if skip("<?") {
                _ = try until("?>", "a processing instruction")
            } else if mayHoldType, skip("<!DOCTYPE") {
                mayHoldType = false
                try documentType()
            } else {
                return
            }
        }
    }

    /// A document type that only names itself; the file it may name is never read.
    private mutating func documentType() throws(PinError) {
        var quote: UInt8?
        while let byte = next {
            index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw malformed("a document type with declarations, such as entities, is not read")
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
        throw malformed("the document type does not end")
    }

    private mutating func name() throws(PinError) -> String {
        let start = index
        while let byte = next,
            byte >= 0x80 || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "_")
                || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
                || (index > start
                    && (byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
                        || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))))
        { index += 1 }
        guard index > start else { throw malformed("a name is wanted") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// An element whose `<` is passed.
    private mutating func element(depth: Int) throws(PinError) -> XMLElement {
        guard depth <= Self.maximumDepth else { throw malformed("it is too deep") }
        var element = XMLElement(name: try name())
        while true {
            let before = index
            skipSpace()
            if skip("/>") { return element }
            if skip(">") { break }
            guard index > before else { throw malformed("a space is wanted before an attribute") }
            let name = try name()
            skipSpace()
            guard skip("=") else { throw malformed("an attribute has a value behind \"=\"") }
            skipSpace()
            guard element.attributes.count < 256 else { throw malformed("too many attributes") }
            guard element[name] == nil else { throw malformed("an attribute stands twice") }
            element.attributes.append((name, try attributeValue()))
        }
        try content(of: &element, depth: depth)
        return element
    }

    private mutating func attributeValue() throws(PinError) -> String {
        guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw malformed("an attribute's value stands in quotes")
        }
        index += 1
        var value: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case quote: return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "<"): throw malformed("\"<\" in an attribute")
            case UInt8(ascii: "&"): value.append(contentsOf: try reference().utf8)
            case let byte where Self.isSpace(byte): value.append(0x20)
            default: value.append(try printable(byte))
            }
        }
        throw malformed("an attribute's value does not end")
    }

    private mutating func content(of element: inout XMLElement, depth: Int) throws(PinError) {
        var text: [UInt8] = []
        func flush(_ element: inout XMLElement) {
            if !text.isEmpty {
                element.children.append(.text(String(decoding: text, as: UTF8.self)))
            }
            text = []
        }
        while let byte = next {
            guard byte == UInt8(ascii: "<") else {
                index += 1
                if byte == UInt8(ascii: "&") {
                    text.append(contentsOf: try reference().utf8)
                } else {
                    text.append(try printable(byte))
                }
                continue
            }
            if skip("</") {
                flush(&element)
                guard try name().utf8.elementsEqual(element.name.utf8) else {
                    throw malformed("the end of another element than \(element.name)")
                }
                skipSpace()
                guard skip(">") else { throw malformed("an element's end does not end") }
                return
            } else if skip("<!--") {
                _ = try until("-->", "a comment")
            } else if skip("<![CDATA[") {
                text.append(contentsOf: try until("]]>", "a CDATA section").utf8)
            } else if skip("<?") {
                _ = try until("?>", "a processing instruction")
            } else {
                index += 1
                flush(&element)
                element.children.append(.element(try self.element(depth: depth + 1)))
            }
        }
        throw malformed("the element \(element.name) does not end")
    }

    private func printable(_ byte: UInt8) throws(PinError) -> UInt8 {
        guard byte >= 0x20 || Self.isSpace(byte) else { throw malformed("a control character") }
        return byte
    }

    /// One of the five entities that XML has, or a character by its number; `&` is passed.
    private mutating func reference() throws(PinError) -> String {
        let start = index
        while let byte = next, byte != UInt8(ascii: ";"), index - start < 12 { index += 1 }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        guard skip(";") else { throw malformed("an entity does not end") }
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
        guard name.hasPrefix("#"), digits.utf8.allSatisfy({ hexDigit($0) != nil }),
            let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
            number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number),
            number != 0xFFFE && number != 0xFFFF, let scalar = Unicode.Scalar(number)
        else { throw malformed("entities other than XML's own five are not expanded") }
        return String(Character(scalar))
    }

    /// A text with what XML would read otherwise escaped.
    static func escaped(_ text: String) -> String {
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

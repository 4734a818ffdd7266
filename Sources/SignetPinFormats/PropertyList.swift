import SignetBase
import SignetJSON
import SignetPinning

/// Reads Apple's property lists as JSON values.
enum PropertyList {
    /// The largest list that is read, in bytes.
    static let sizeLimit = 16 << 20

    /// Reads a list, binary or XML.
    ///
    /// - Throws: `PinError` with code `malformed-input`.
    static func read(_ bytes: [UInt8]) throws(PinError) -> JSONValue {
        guard bytes.count <= sizeLimit else { throw malformed("found more than 16 MiB") }
        if bytes.starts(with: "bplist".utf8) { return try BinaryPropertyList.read(bytes) }
        return try XMLPropertyList.read(bytes)
    }

    static func malformed(_ what: String) -> PinError {
        PinError(.malformedInput, "invalid property list: \(what)")
    }

    /// Creates a dictionary, and refuses duplicate keys.
    static func dictionary(_ entries: [(String, JSONValue)]) throws(PinError) -> JSONValue {
        var object = JSONObject()
        for (key, value) in entries {
            guard object[key] == nil else { throw malformed("duplicate key") }
            object[key] = value
        }
        return .object(object)
    }
}

/// Property lists in XML (Apple's PropertyList-1.0 document type).
enum XMLPropertyList {
    static func read(_ bytes: [UInt8]) throws(PinError) -> JSONValue {
        let root = try XMLElement.root(of: bytes)
        let values = root.elements
        guard root.name == "plist", values.count == 1, !root.hasText else {
            throw PropertyList.malformed("expected <plist> with one value")
        }
        return try value(values[0])
    }

    private static func value(_ element: XMLElement) throws(PinError) -> JSONValue {
        switch element.name {
        case "dict", "array":
            guard !element.hasText else {
                throw PropertyList.malformed("found text between the values")
            }
            return try element.name == "dict"
                ? dictionary(element) : .array(element.elements.map(value))
        default: break
        }
        guard element.elements.isEmpty else {
            throw PropertyList.malformed(
                "found a value inside another that isn't a <dict> or an <array>")
        }
        switch element.name {
        case "string", "date", "data": return .string(element.text)
        case "true", "false":
            guard element.children.isEmpty else {
                throw PropertyList.malformed("found text in a boolean")
            }
            return .bool(element.name == "true")
        case "integer":
            guard let number = Int64(XMLReader.trimmed(element.text.utf8)) else {
                throw PropertyList.malformed("found an <integer> that isn't an integer")
            }
            return .number(JSONNumber(number))
        case "real":
            guard let number = Double(XMLReader.trimmed(element.text.utf8)), number.isFinite else {
                throw PropertyList.malformed("found a <real> that isn't a finite number")
            }
            return .init(floatLiteral: number)
        default: throw PropertyList.malformed("unknown element")
        }
    }

    private static func dictionary(_ element: XMLElement) throws(PinError) -> JSONValue {
        let items = element.elements
        let entries = try stride(from: 0, to: items.count, by: 2).map { (index) throws(PinError) in
            guard items[index].name == "key", items[index].elements.isEmpty else {
                throw PropertyList.malformed("expected a <key> before each value of a <dict>")
            }
            guard index + 1 < items.count else {
                throw PropertyList.malformed("found a key without a value")
            }
            return (items[index].text, try value(items[index + 1]))
        }
        return try PropertyList.dictionary(entries)
    }

    /// Writes the types of TrustKit's configuration: dictionaries, arrays, strings and booleans.
    static func write(_ list: JSONValue) -> [UInt8] {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        append(list, indent: "", to: &text)
        return Array((text + "</plist>\n").utf8)
    }

    private static func append(_ value: JSONValue, indent: String, to text: inout String) {
        switch value {
        case .object(let object):
            text += "\(indent)<dict>\n"
            for (name, value) in object {
                text += "\(indent)\t<key>\(XMLReader.escaped(name))</key>\n"
                append(value, indent: indent + "\t", to: &text)
            }
            text += "\(indent)</dict>\n"
        case .array(let values):
            text += "\(indent)<array>\n"
            for value in values { append(value, indent: indent + "\t", to: &text) }
            text += "\(indent)</array>\n"
        case .bool(let flag): text += "\(indent)<\(flag)/>\n"
        case .string(let string):
            text += "\(indent)<string>\(XMLReader.escaped(string))</string>\n"
        case .number(let number): text += "\(indent)<real>\(number.text)</real>\n"
        case .null: text += "\(indent)<string></string>\n"
        }
    }
}

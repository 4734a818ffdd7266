/// What schemes read and change of a message besides its fields.
extension SignableMessage {
    /// A parameter of a query, a form or a flat XML body.
    typealias Parameter = (name: [UInt8], value: [UInt8])

    /// Whether the body is of type `application/x-www-form-urlencoded`.
    var hasForm: Bool {
        let type = value(of: Array("content-type".utf8)) ?? []
        let essence = type.prefix { $0 != ASCII.semicolon && $0 != ASCII.space }
        return essence.map(\.lowercased).elementsEqual("application/x-www-form-urlencoded".utf8)
    }

    /// The query's parameters of one name, decoded.
    func queryValues(of name: [UInt8]) -> [[UInt8]] {
        guard let request, let query = request.query else { return [] }
        var values: [[UInt8]] = []
        for part in request.target[query].split(separator: 0x26) {
            let equals = part.firstIndex(of: ASCII.equals) ?? part.endIndex
            guard PercentCoding.decoded(part[..<equals]) == name else { continue }
            values.append(PercentCoding.decoded(part[equals...].dropFirst()))
        }
        return values
    }

    /// Adds a parameter at the query's end, percent-encoded.
    mutating func appendQuery(_ name: [UInt8], _ value: [UInt8]) {
        guard let request else { return }
        var target = request.target
        target.append(request.query == nil ? ASCII.question : 0x26)
        if target.last == 0x26, request.query?.isEmpty == true { target.removeLast() }
        PercentCoding.append(name, .unreserved, to: &target)
        target.append(ASCII.equals)
        PercentCoding.append(value, .unreserved, to: &target)
        replaceTarget(target)
    }

    /// Takes every parameter of a name out of the query.
    mutating func removeQuery(_ name: [UInt8]) {
        guard let request, let query = request.query else { return }
        let parts = request.target[query].split(
            separator: 0x26, omittingEmptySubsequences: false)
        let kept = parts.filter { part in
            PercentCoding.decoded(part.prefix { $0 != ASCII.equals }) != name
        }
        guard kept.count < parts.count else { return }
        var target = Array(request.target[..<query.lowerBound])
        if kept.isEmpty { target.removeLast() }
        target.append(contentsOf: kept.joined(separator: [0x26]))
        replaceTarget(target)
    }

    private mutating func replaceTarget(_ target: [UInt8]) {
        guard let request else { return }
        start = .request(request.withTarget(target))
    }
}

// MARK: - Flat XML

extension SignableMessage {
    /// The children of the root of a flat XML body, such as WeChat Pay v2 sends: elements with text or
    /// CDATA, no attributes, no declarations of entities, nothing inside one another.
    ///
    /// - Throws: `malformed-message` for any other body, and `body-not-held`.
    func xmlChildren() throws(SigningError) -> [Parameter] {
        var reader = FlatXML(bytes: try content.held())
        return try reader.children()
    }

    /// Adds a child as the last of the root.
    ///
    /// - Throws: As `xmlChildren`, and for a child of that name that is there already.
    mutating func appendXML(_ name: [UInt8], _ value: [UInt8]) throws(SigningError) {
        var reader = FlatXML(bytes: try content.held())
        guard try !reader.children().contains(where: { $0.name == name }) else {
            throw SigningError(
                .malformedMessage,
                "the body has a \(String(decoding: name, as: UTF8.self)) already")
        }
        guard value.firstRange(of: Array("]]>".utf8)) == nil else {
            throw SigningError(
                .invalidValue,
                "the value of element \(String(decoding: name, as: UTF8.self)) holds ]]>, which "
                    + "would end it")
        }
        var child = Array("<".utf8) + name + Array("><![CDATA[".utf8)
        child += value
        child += Array("]]></".utf8) + name + Array(">".utf8)
        body.insert(contentsOf: child, at: reader.rootEnd)
    }
}

/// Reads `<xml><name>text</name>…</xml>` and nothing else; entities are the five of XML 1.0, section 4.6.
private struct FlatXML {
    let bytes: [UInt8]
    private(set) var rootEnd = 0
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func children() throws(SigningError) -> [SignableMessage.Parameter] {
        position = 0
        skipSpace()
        if take("<?xml") {
            guard skip(past: "?>") else { throw malformed }
            skipSpace()
        }
        let root = try openTag()
        var children: [SignableMessage.Parameter] = []
        while true {
            skipSpace()
            rootEnd = position
            if take("</") {
                guard try name() == root else { throw malformed }
                skipSpace()
                guard take(">") else { throw malformed }
                skipSpace()
                guard position == bytes.count else { throw malformed }
                return children
            }
            let name = try openTag()
            guard !children.contains(where: { $0.name == name }) else {
                throw SigningError(
                    .malformedMessage,
                    "the body has two \(String(decoding: name, as: UTF8.self))")
            }
            guard children.count < 512 else {
                throw SigningError(.malformedMessage, "the body has more than 512 elements")
            }
            let value = try content()
            guard take("</"), try self.name() == name else { throw malformed }
            skipSpace()
            guard take(">") else { throw malformed }
            children.append((name, value))
        }
    }

    private mutating func openTag() throws(SigningError) -> [UInt8] {
        guard take("<") else { throw malformed }
        let name = try name()
        skipSpace()
        guard take(">") else { throw malformed }
        return name
    }

    private mutating func name() throws(SigningError) -> [UInt8] {
        let start = position
        while position < bytes.count,
            bytes[position].lowercased.isLowercaseLetter || bytes[position].isDigit
                || bytes[position] == 0x5F || bytes[position] == ASCII.minus
        { position += 1 }
        guard position > start else { throw malformed }
        return Array(bytes[start..<position])
    }

    private mutating func content() throws(SigningError) -> [UInt8] {
        var value: [UInt8] = []
        while position < bytes.count {
            if take("<![CDATA[") {
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
        ] as [(String, UInt8)] where take(text) { return byte }
        throw malformed
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }

    private mutating func take(_ text: String) -> Bool {
        let bytes = text.utf8
        guard self.bytes.count - position >= bytes.count,
            self.bytes[position..<(position + bytes.count)].elementsEqual(bytes)
        else { return false }
        position += bytes.count
        return true
    }

    private mutating func skip(past text: String) -> Bool {
        while position < bytes.count {
            if take(text) { return true }
            position += 1
        }
        return false
    }

    private var malformed: SigningError {
        SigningError(
            .malformedMessage, "the body is no flat XML: an unexpected byte at \(position)")
    }
}

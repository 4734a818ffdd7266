import SignetBase

/// The parameters of a query, a form or a flat XML body, as schemes read and write them.
extension SignableMessage {
    typealias Parameter = (name: [UInt8], value: [UInt8])

    /// Whether the body is of type `application/x-www-form-urlencoded`.
    var hasForm: Bool {
        let type = value(of: Array("content-type".utf8)) ?? []
        let essence = type.prefix { $0 != ASCII.semicolon && $0 != ASCII.space }
        return essence.map(\.lowercased).elementsEqual("application/x-www-form-urlencoded".utf8)
    }

    /// Returns the decoded values of the query's parameters with one name.
    func queryValues(of name: [UInt8]) -> [[UInt8]] {
        guard let request, let query = request.query else { return [] }
        return request.target[query].queryParameters
            .filter { Self.decoded($0.name) == name }.map { Self.decoded($0.value) }
    }

    /// Returns the decoded values of a form body's parameters with one name; none for another body.
    ///
    /// - Throws: `body-not-held`.
    func formValues(of name: [UInt8]) throws(SigningError) -> [[UInt8]] {
        guard hasForm else { return [] }
        return try content.held()[...].queryParameters
            .filter { Self.decoded($0.name, plusIsSpace: true) == name }
            .map { Self.decoded($0.value, plusIsSpace: true) }
    }

    private static func decoded(
        _ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false
    ) -> [UInt8] {
        var result: [UInt8] = []
        PercentCoding.appendDecoded(bytes, plusIsSpace: plusIsSpace, to: &result)
        return result
    }

    /// Appends a percent-encoded parameter to the query.
    mutating func appendQuery(name: [UInt8], value: [UInt8]) {
        guard let request else { return }
        var target = request.target
        target.append(request.query == nil ? ASCII.question : 0x26)
        if target.last == 0x26, request.query?.isEmpty == true { target.removeLast() }
        Self.append(name: name, value: value, to: &target)
        start = .request(request.withTarget(target))
    }

    /// Appends a percent-encoded parameter to a form body.
    ///
    /// - Throws: `malformed-message` for another body, `body-not-held`.
    mutating func appendForm(name: [UInt8], value: [UInt8]) throws(SigningError) {
        guard hasForm else {
            throw SigningError(
                .malformedMessage,
                "found another body than a form, expected Content-Type: "
                    + "application/x-www-form-urlencoded")
        }
        var form = try content.held()
        if !form.isEmpty { form.append(0x26) }
        Self.append(name: name, value: value, to: &form)
        replaceBody(by: form)
    }

    /// Replaces the body. A Content-Length gets the new length.
    private mutating func replaceBody(by bytes: [UInt8]) {
        body = bytes
        for (index, field) in fields.enumerated()
        where field.name.isSame(ignoringCaseOf: "Content-Length") {
            fields[index] = Field(known: field.name, value: Array("\(bytes.count)".utf8))
        }
    }

    private static func append(name: [UInt8], value: [UInt8], to text: inout [UInt8]) {
        PercentCoding.append(name[...], keeping: PercentCoding.unreserved, to: &text)
        text.append(ASCII.equals)
        PercentCoding.append(value[...], keeping: PercentCoding.unreserved, to: &text)
    }

    /// Removes the parameters of the slots that are written after signing from the query and from
    /// a form body: the signed text doesn't contain them.
    mutating func removeParameters(of slots: [CompiledScheme.Slot]) {
        for slot in slots {
            for location in slot.locations {
                switch location {
                case .query(let name): removeQuery(named: name)
                case .form(let name): removeForm(named: name)
                case .header, .xml: break
                }
            }
        }
    }

    /// Removes all parameters with one name from the query.
    private mutating func removeQuery(named name: [UInt8]) {
        guard let request, let query = request.query,
            let kept = Self.parameters(in: request.target[query], without: name)
        else { return }
        var target = Array(request.target[..<query.lowerBound])
        if kept.isEmpty { target.removeLast() }
        target.append(contentsOf: kept.joined(separator: [0x26]))
        start = .request(request.withTarget(target))
    }

    /// Removes all parameters with one name from a form body.
    private mutating func removeForm(named name: [UInt8]) {
        guard hasForm, let form = heldBody,
            let kept = Self.parameters(in: form[...], without: name, plusIsSpace: true)
        else { return }
        body = Array(kept.joined(separator: [0x26]))
    }

    /// Returns the pieces between `&` except those with one name, or `nil` if no piece has it.
    private static func parameters(
        in text: ArraySlice<UInt8>, without name: [UInt8], plusIsSpace: Bool = false
    ) -> [ArraySlice<UInt8>]? {
        let parts = text.split(separator: 0x26, omittingEmptySubsequences: false)
        let kept = parts.filter { part in
            decoded(part.prefix { $0 != ASCII.equals }, plusIsSpace: plusIsSpace) != name
        }
        return kept.count < parts.count ? kept : nil
    }
}

// MARK: - Flat XML

extension SignableMessage {
    /// Returns the children of the root of a flat XML body, as WeChat Pay v2 sends it.
    ///
    /// - Throws: `malformed-message` for any other body, `body-not-held`.
    func xmlChildren() throws(SigningError) -> [Parameter] { try flatXML().children }

    /// Reads `<xml><name>text</name>…</xml>`: a root of at most 512 elements with different names,
    /// which contain text or CDATA. Returns them, and the position of the root's end tag.
    private func flatXML() throws(SigningError) -> (children: [Parameter], end: Int) {
        func malformed(_ problem: String) -> SigningError {
            SigningError(.malformedMessage, "the body is not flat XML: \(problem)")
        }
        let bytes = try content.held()
        let root: XMLElement
        do throws(XMLError) {
            root = try XMLReader.read(bytes, isFlat: true)
        } catch {
            throw malformed(error.message)
        }
        let children = root.elements
        guard children.count <= 512 else { throw malformed("found more than 512 elements") }
        guard !root.hasText else { throw malformed("found text between the elements") }
        guard Set(children.map { ByteName($0.name) }).count == children.count else {
            throw malformed("found an element twice")
        }
        return (children.map { (Array($0.name.utf8), Array($0.text.utf8)) }, root.end ?? 0)
    }

    /// Appends a child to the root of a flat XML body.
    ///
    /// - Throws: As `xmlChildren`; `malformed-message` also for a duplicate element,
    ///   `invalid-value` for a value with `]]>`.
    mutating func appendXML(name: [UInt8], value: [UInt8]) throws(SigningError) {
        let xml = try flatXML()
        guard !xml.children.contains(where: { $0.name == name }) else {
            throw SigningError(
                .malformedMessage,
                "the body already has an element \(String(decoding: name, as: UTF8.self))")
        }
        guard value.firstRange(of: Array("]]>".utf8)) == nil else {
            throw SigningError(
                .invalidValue,
                "the value of element \(String(decoding: name, as: UTF8.self)) contains ]]>, which "
                    + "would end it")
        }
        var child = Array("<".utf8) + name + Array("><![CDATA[".utf8)
        child += value
        child += Array("]]></".utf8) + name + Array(">".utf8)
        var bytes = body
        bytes.insert(contentsOf: child, at: xml.end)
        replaceBody(by: bytes)
    }
}

internal import SignetBase

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

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        PercentCoding.appendDecoded(bytes, to: &result)
        return result
    }

    /// Appends a percent-encoded parameter to the query.
    mutating func appendQuery(name: [UInt8], value: [UInt8]) {
        guard let request else { return }
        var target = request.target
        target.append(request.query == nil ? ASCII.question : 0x26)
        if target.last == 0x26, request.query?.isEmpty == true { target.removeLast() }
        PercentCoding.append(name[...], keeping: PercentCoding.unreserved, to: &target)
        target.append(ASCII.equals)
        PercentCoding.append(value[...], keeping: PercentCoding.unreserved, to: &target)
        start = .request(request.withTarget(target))
    }

    /// Removes the query parameters of the slots that are written after signing: the signed text
    /// doesn't contain them.
    mutating func removeQuery(of slots: [CompiledScheme.Slot]) {
        for slot in slots {
            if case .query(let name) = slot.location { removeQuery(named: name) }
        }
    }

    /// Removes all parameters with one name from the query.
    private mutating func removeQuery(named name: [UInt8]) {
        guard let request, let query = request.query else { return }
        let parts = request.target[query].split(separator: 0x26, omittingEmptySubsequences: false)
        let kept = parts.filter { part in
            Self.decoded(part.prefix { $0 != ASCII.equals }) != name
        }
        guard kept.count < parts.count else { return }
        var target = Array(request.target[..<query.lowerBound])
        if kept.isEmpty { target.removeLast() }
        target.append(contentsOf: kept.joined(separator: [0x26]))
        start = .request(request.withTarget(target))
    }
}

// MARK: - Flat XML

extension SignableMessage {
    /// Returns the children of the root of a flat XML body, as WeChat Pay v2 sends it.
    ///
    /// - Throws: `malformed-message` for any other body, `body-not-held`.
    func xmlChildren() throws(SigningError) -> [Parameter] {
        var reader = FlatXML(try content.held())
        return try reader.children()
    }

    /// Appends a child to the root of a flat XML body.
    ///
    /// - Throws: As `xmlChildren`; `malformed-message` also for a duplicate element,
    ///   `invalid-value` for a value with `]]>`.
    mutating func appendXML(name: [UInt8], value: [UInt8]) throws(SigningError) {
        var reader = FlatXML(try content.held())
        guard try !reader.children().contains(where: { $0.name == name }) else {
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
        body.insert(contentsOf: child, at: reader.rootEnd)
    }
}

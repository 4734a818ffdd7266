import SignetBase
import SignetJSON

/// Replaces the secrets of a JSON text. What isn't secret keeps its bytes.
struct JSONRedactor {
    private let reader: JSONReader
    private let texts: any NestedTexts
    private var judge: SecretJudge { texts.judge }
    private let place: String
    /// The names on the way to the present value, joined by dots.
    private var path: [UInt8] = []
    /// The replacements of values, in their order.
    private var changes: [(range: Range<Int>, text: [UInt8])] = []

    /// - Parameter texts: Redacts the strings.
    init(_ reader: JSONReader, texts: any NestedTexts, place: String) {
        self.reader = reader
        self.texts = texts
        self.place = place
    }

    /// - Parameter name: The name of the whole text; empty for none.
    mutating func redacted(named name: [UInt8], in log: inout RedactionLog) -> [UInt8] {
        path = name
        walk(reader.root, in: &log)
        guard !changes.isEmpty else { return reader.bytes }
        var result: [UInt8] = []
        result.reserveCapacity(reader.bytes.count)
        var kept = 0
        for change in changes {
            result += reader.bytes[kept..<change.range.lowerBound]
            result += change.text
            kept = change.range.upperBound
        }
        return result + reader.bytes[kept...]
    }

    private mutating func walk(_ element: JSONReader.Element, in log: inout RedactionLog) {
        switch element.kind {
        case .null, .bool: return
        case .number:
            let bytes = reader.bytes(of: element)
            if judge.isSecret(number: bytes, named: path) { replace(element, bytes, in: &log) }
        case .string:
            let bytes = reader.contents(of: element)
            if let redacted = texts.redacted(bytes, named: path, at: shownPlace, in: &log) {
                let text = JSONValue.string(String(decoding: redacted, as: UTF8.self))
                changes.append((element.range, text.serialized()))
            }
        case .array: walk(array: element, in: &log)
        case .object: walk(object: element, in: &log)
        }
    }

    private mutating func walk(array element: JSONReader.Element, in log: inout RedactionLog) {
        let elements = reader.elements(of: element)
        // The elements together may be a secret: the bytes of a key, or names and their values.
        // Each is judged here once: a list of lists of lists is judged by its parts.
        if elements.count > 1 || elements.first?.kind == .array,
            elements.allSatisfy({ isValue($0) || isList(of: $0) }),
            judge.isSecret(
                list: reader.value(element), of: element.range.count, named: path)
        {
            return replace(element, reader.bytes(of: element), in: &log)
        }
        for element in elements { walk(element, in: &log) }
    }

    private func isValue(_ element: JSONReader.Element) -> Bool {
        element.kind != .array && element.kind != .object
    }

    /// Whether an element is a list of values.
    private func isList(of element: JSONReader.Element) -> Bool {
        element.kind == .array && reader.elements(of: element).allSatisfy(isValue)
    }

    private mutating func walk(object element: JSONReader.Element, in log: inout RedactionLog) {
        let members = reader.members(of: element)
        let names = members.map { reader.contents(of: $0.name) }
        let isWholeSecret =
            names.contains { judge.isSecret(name: $0) }
            || judge.mayBeSecretWhole(names: names)
                && judge.isSecretWhole(shallow(members, names))
        if isWholeSecret { return replace(element, reader.bytes(of: element), in: &log) }
        let length = path.count
        for (index, member) in members.enumerated() {
            // The names on the way count too: an `access` below `tokens` is secret.
            if length > 0 { path.append(ASCII.dot) }
            path += names[index]
            let named = names[index]
            if member.value.kind == .array || member.value.kind == .object,
                judge.isSecret(member: named) || isSecretPair(named, of: members, named: names)
            {
                replace(member.value, reader.bytes(of: member.value), in: &log)
            } else if member.value.kind == .string || member.value.kind == .number,
                isSecretPair(named, of: members, named: names)
            {
                replace(member.value, contents(of: member.value), in: &log)
            } else {
                walk(member.value, in: &log)
            }
            path.removeSubrange(length...)
        }
    }

    private func contents(of element: JSONReader.Element) -> [UInt8] {
        element.kind == .string ? reader.contents(of: element) : reader.bytes(of: element)
    }

    /// Whether a member has the value of a secret that another one names by a rule:
    /// `{"name":"iban","value":"…"}`.
    private func isSecretPair(
        _ name: [UInt8], of members: [(name: JSONReader.Element, value: JSONReader.Element)],
        named names: [[UInt8]]
    ) -> Bool {
        guard name.elementsEqual("value".utf8) else { return false }
        return zip(members, names).contains { member, other in
            member.value.kind == .string
                && ["name", "key", "field"].contains { other.elementsEqual($0.utf8) }
                && judge.isSecret(assigned: reader.contents(of: member.value))
        }
    }

    /// The object with empty lists in the places of lists and objects, which are judged later.
    private func shallow(
        _ members: [(name: JSONReader.Element, value: JSONReader.Element)], _ names: [[UInt8]]
    ) -> JSONValue {
        .object(
            JSONObject(
                zip(members, names).map { member, name in
                    (
                        name: String(decoding: name, as: UTF8.self),
                        value: isValue(member.value) ? reader.value(member.value) : .array([])
                    )
                }))
    }

    private var shownPlace: String {
        path.isEmpty ? place : "\(place).\(String(decoding: path, as: UTF8.self))"
    }

    private mutating func replace(
        _ element: JSONReader.Element, _ secret: [UInt8], in log: inout RedactionLog
    ) {
        let mark = log.mark(secret, at: shownPlace, isWhole: element.kind != .string)
        changes.append((element.range, [ASCII.quote] + Array(mark.utf8) + [ASCII.quote]))
    }
}

import SignetBase
import SignetJSON
import SignetVault

/// Replaces the secrets of a JSON text. What isn't secret keeps its bytes.
final class JSONRedactor {
    private let reader: JSONReader
    /// Whether the text may have known values.
    private let mayHaveKnown: Bool
    private let texts: any NestedTexts
    private let judge: SecretJudge
    private let place: String
    /// The replacements of values, in their order.
    private var changes: [(range: Range<Int>, text: [UInt8])] = []

    /// - Parameter texts: Redacts the strings.
    init(_ reader: JSONReader, texts: any NestedTexts, place: String) {
        self.reader = reader
        self.texts = texts
        self.place = place
        judge = texts.judge
        mayHaveKnown = judge.known.mayOccur(inPartsOf: reader.bytes)
    }

    /// - Parameter name: The name of the whole text; empty for none.
    func redacted(named name: [UInt8], in log: inout RedactionLog) -> [UInt8] {
        walk(reader.root, named: judge.judged(name), in: &log)
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

    private func walk(
        _ element: JSONReader.Element, named name: JudgedName, in log: inout RedactionLog
    ) {
        switch element.kind {
        case .null, .bool: return
        case .number:
            if isPlain(element.range, named: name) { return }
            let bytes = reader.bytes(of: element)
            if judge.isSecret(number: bytes, named: name.path) {
                replace(element, bytes, named: name, in: &log)
            }
        case .string:
            if let range = reader.unescapedRange(of: element), isPlain(range, named: name) {
                return
            }
            let bytes = reader.contents(of: element)
            if let redacted = texts.redacted(
                bytes, named: name.path, at: shownPlace(of: name), in: &log)
            {
                let text = JSONValue.string(String(decoding: redacted, as: UTF8.self))
                changes.append((element.range, text.serialized()))
            }
        case .array: walk(array: element, named: name, in: &log)
        case .object: walk(object: element, named: name, in: &log)
        }
    }

    private func isPlain(_ range: Range<Int>, named name: JudgedName) -> Bool {
        let bytes = reader.bytes[range]
        return judge.isPlain(bytes, named: name)
            && !(mayHaveKnown && judge.known.occur(in: Array(bytes)))
    }

    private func walk(
        array element: JSONReader.Element, named name: JudgedName, in log: inout RedactionLog
    ) {
        let elements = reader.elements(of: element)
        // The elements together may be a secret: the bytes of a key, or names and their values.
        // Each is judged here once: a list of lists of lists is judged by its parts.
        if elements.count > 1 || elements.first?.kind == .array,
            elements.allSatisfy({ isValue($0) || isList(of: $0) }),
            !(name.isInnocent && isShortOfNumbers(elements)),
            judge.isSecret(
                list: reader.value(element), of: element.range.count, named: name.path)
        {
            return replace(element, reader.bytes(of: element), named: name, in: &log)
        }
        for element in elements { walk(element, named: name, in: &log) }
    }

    private func isValue(_ element: JSONReader.Element) -> Bool {
        element.kind != .array && element.kind != .object
    }

    /// Whether elements are numbers, or booleans and null, and fewer than the bytes of a key.
    private func isShortOfNumbers(_ elements: [JSONReader.Element]) -> Bool {
        elements.count < 16
            && elements.allSatisfy { isValue($0) && $0.kind != .string }
    }

    /// Whether an element is a list of values.
    private func isList(of element: JSONReader.Element) -> Bool {
        element.kind == .array && reader.elements(of: element).allSatisfy(isValue)
    }

    private func walk(
        object element: JSONReader.Element, named name: JudgedName, in log: inout RedactionLog
    ) {
        let members = reader.members(of: element)
        let known = name.names
        // The names on the way count too: an `access` below `tokens` is secret.
        let names = members.enumerated().map { index, member in
            judge.judged(bytes(ofName: member.name), below: name, among: known, at: index)
        }
        let mayDepend = names.contains(where: \.dependsOnOthers)
        if names.contains(where: \.isSecret) || mayDepend && isSecretWhole(members) {
            return replace(element, reader.bytes(of: element), named: name, in: &log)
        }
        for (member, name) in zip(members, names) {
            let value = member.value
            let isSecret =
                name.isOfSecret && (value.kind == .array || value.kind == .object)
                || mayDepend && value.kind != .null && value.kind != .bool
                    && isSecretPair(member.name, of: members)
            if isSecret {
                replace(value, contents(of: value), named: name, in: &log)
            } else {
                walk(value, named: name, in: &log)
            }
        }
    }

    private func bytes(ofName name: JSONReader.Element) -> ArraySlice<UInt8> {
        reader.unescapedRange(of: name).map { reader.bytes[$0] } ?? reader.contents(of: name)[...]
    }

    private func contents(of element: JSONReader.Element) -> [UInt8] {
        element.kind == .string ? reader.contents(of: element) : reader.bytes(of: element)
    }

    /// Whether a member has the value of a secret that another one names by a rule:
    /// `{"name":"iban","value":"…"}`.
    private func isSecretPair(
        _ name: JSONReader.Element,
        of members: [(name: JSONReader.Element, value: JSONReader.Element)]
    ) -> Bool {
        guard reader.isString(name, equalTo: "value") else { return false }
        return members.contains { name, value in
            value.kind == .string
                && ["name", "key", "field"].contains { reader.isString(name, equalTo: $0) }
                && judge.isSecret(assigned: reader.contents(of: value))
        }
    }

    /// Whether an object's members are a secret together. Lists and objects in it are judged later.
    private func isSecretWhole(
        _ members: [(name: JSONReader.Element, value: JSONReader.Element)]
    ) -> Bool {
        SecretSearch.isSecretWhole(
            JSONObject(
                members.map { name, value in
                    (
                        name: reader.string(name) ?? "",
                        value: isValue(value) ? reader.value(value) : .array([])
                    )
                }))
    }

    private func shownPlace(of name: JudgedName) -> String {
        name.path.isEmpty ? place : "\(place).\(String(decoding: name.path, as: UTF8.self))"
    }

    private func replace(
        _ element: JSONReader.Element, _ secret: [UInt8], named name: JudgedName,
        in log: inout RedactionLog
    ) {
        let mark = log.mark(secret, at: shownPlace(of: name), isWhole: element.kind != .string)
        changes.append((element.range, [ASCII.quote] + Array(mark.utf8) + [ASCII.quote]))
    }
}

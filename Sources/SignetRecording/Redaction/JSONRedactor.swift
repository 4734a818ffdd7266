import SignetBase
import SignetJSON

/// Replaces the secrets of a JSON text. What isn't secret keeps its bytes.
struct JSONRedactor {
    private let reader: JSONReader
    private let judge: SecretJudge
    private let place: String
    /// The names on the way to the present value, joined by dots.
    private var path: [UInt8] = []
    /// The replacements of values, in their order.
    private var changes: [(range: Range<Int>, text: [UInt8])] = []

    init(_ reader: JSONReader, judge: SecretJudge, place: String) {
        self.reader = reader
        self.judge = judge
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
            if let redacted = judge.redacted(bytes, named: path, at: shownPlace, in: &log) {
                let text = JSONValue.string(String(decoding: redacted, as: UTF8.self))
                changes.append((element.range, text.serialized()))
            }
        case .array: walk(array: element, in: &log)
        case .object: walk(object: element, in: &log)
        }
    }

    private mutating func walk(array element: JSONReader.Element, in log: inout RedactionLog) {
        let elements = reader.elements(of: element)
        let isOfValues = !elements.contains { $0.kind == .object }
        // The elements together may be a secret: the bytes of a key, or a name and its value.
        if isOfValues, elements.count > 1,
            judge.isSecret(list: reader.value(element), of: element.range, named: path)
        {
            return replace(element, reader.bytes(of: element), in: &log)
        }
        for element in elements { walk(element, in: &log) }
    }

    private mutating func walk(object element: JSONReader.Element, in log: inout RedactionLog) {
        let members = reader.members(of: element)
        let names = members.map { reader.contents(of: $0.name) }
        let isWholeSecret =
            names.contains { judge.isSecret(name: $0) }
            || judge.mayBeSecretWhole(names: names)
                && judge.isSecretWhole(reader.value(element))
        if isWholeSecret { return replace(element, reader.bytes(of: element), in: &log) }
        let length = path.count
        for (index, member) in members.enumerated() {
            // The names on the way count too: an `access` below `tokens` is secret.
            if length > 0 { path.append(ASCII.dot) }
            path += names[index]
            if member.value.kind == .array || member.value.kind == .object,
                judge.isSecret(member: path)
            {
                replace(member.value, reader.bytes(of: member.value), in: &log)
            } else {
                walk(member.value, in: &log)
            }
            path.removeSubrange(length...)
        }
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

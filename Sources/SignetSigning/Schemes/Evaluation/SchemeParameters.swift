import SignetBase

/// The parameters that a scheme signs. One buffer contains all names and values.
struct SchemeParameters {
    private struct Pair {
        var name: Range<Int>
        var value: Range<Int>
        /// The pair's index in the message's order.
        let number: Int
    }

    private var buffer: [UInt8] = []
    private var pairs: [Pair] = []

    init() {
        buffer.reserveCapacity(256)
        pairs.reserveCapacity(8)
    }

    /// Adds the parameters of a query or a form.
    mutating func add(
        _ text: ArraySlice<UInt8>, plusIsSpace: Bool, by rule: CompiledScheme.ParameterRule
    ) {
        for (name, value) in text.queryParameters {
            let name = append(name, plusIsSpace: plusIsSpace, decodes: rule.decodes)
            let value = append(value, plusIsSpace: plusIsSpace, decodes: rule.decodes)
            append(name: name, value: value, by: rule)
        }
    }

    /// Adds a parameter without decoding it.
    mutating func add(
        name: [UInt8], value: [UInt8], by rule: CompiledScheme.ParameterRule
    ) {
        let name = append(name[...], plusIsSpace: false, decodes: false)
        let value = append(value[...], plusIsSpace: false, decodes: false)
        append(name: name, value: value, by: rule)
    }

    private mutating func append(
        _ text: ArraySlice<UInt8>, plusIsSpace: Bool, decodes: Bool
    ) -> Range<Int> {
        let start = buffer.count
        if decodes {
            PercentCoding.appendDecoded(text, plusIsSpace: plusIsSpace, to: &buffer)
        } else {
            buffer.append(contentsOf: text)
        }
        return start..<buffer.count
    }

    /// Adds a pair, encoded if the rule says so, unless the rule excludes it.
    private mutating func append(
        name: Range<Int>, value: Range<Int>, by rule: CompiledScheme.ParameterRule
    ) {
        guard !(rule.skipsEmpty && value.isEmpty) else { return }
        for other in rule.except where buffer[name].elementsEqual(other) { return }
        var pair = Pair(name: name, value: value, number: pairs.count)
        if rule.encodes {
            pair.name = encode(name)
            pair.value = encode(value)
        }
        pairs.append(pair)
    }

    private mutating func encode(_ range: Range<Int>) -> Range<Int> {
        if buffer[range].allSatisfy(\.isUnreserved) { return range }
        let start = buffer.count
        PercentCoding.append(
            Array(buffer[range])[...], keeping: PercentCoding.unreserved, to: &buffer)
        return start..<buffer.count
    }

    /// Returns the parameters as one text, in the rule's order.
    mutating func text(by rule: CompiledScheme.ParameterRule) -> [UInt8] {
        switch rule.order {
        case .none: break
        case .key: sort { [$0.name] }
        case .keyValue:
            sort { [$0.name, $0.value] }
            if rule.isUnique { dropRepeatedPairs() }
        case .pair: return writtenPairs(by: rule)
        }
        var text: [UInt8] = []
        text.reserveCapacity(buffer.count + 2 * pairs.count)
        for (index, pair) in pairs.enumerated() {
            if index > 0 { text.append(contentsOf: rule.separator) }
            append(pair, by: rule, to: &text)
        }
        return text
    }

    private func append(
        _ pair: Pair, by rule: CompiledScheme.ParameterRule, to text: inout [UInt8]
    ) {
        text.append(contentsOf: buffer[pair.name])
        text.append(contentsOf: rule.assign)
        text.append(contentsOf: buffer[pair.value])
    }

    /// Sorts by bytes; equal pairs keep their order.
    private mutating func sort(by keys: (Pair) -> [Range<Int>]) {
        guard pairs.count > 1 else { return }
        let buffer = buffer
        pairs.sort { left, right in
            for (a, b) in zip(keys(left), keys(right)) {
                if buffer[a].lexicographicallyPrecedes(buffer[b]) { return true }
                if buffer[b].lexicographicallyPrecedes(buffer[a]) { return false }
            }
            return left.number < right.number
        }
    }

    /// Drops sorted pairs that equal the one before them.
    private mutating func dropRepeatedPairs() {
        var kept: [Pair] = []
        for pair in pairs {
            if let last = kept.last, buffer[last.name].elementsEqual(buffer[pair.name]),
                buffer[last.value].elementsEqual(buffer[pair.value])
            {
                continue
            }
            kept.append(pair)
        }
        pairs = kept
    }

    private func writtenPairs(by rule: CompiledScheme.ParameterRule) -> [UInt8] {
        let written = pairs.map { pair in
            var text: [UInt8] = []
            append(pair, by: rule, to: &text)
            return text
        }
        return Array(
            written.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: rule.separator))
    }
}

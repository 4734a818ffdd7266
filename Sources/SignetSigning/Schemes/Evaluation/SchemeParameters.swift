/// The parameters that a scheme signs: one buffer for all names and values, and where each lies in it.
struct SchemeParameters {
    private struct Pair {
        var name: Range<Int>
        var value: Range<Int>
        /// Its place among those that came.
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
        var start = text.startIndex
        while start < text.endIndex {
            var end = start
            var equals: Int?
            while end < text.endIndex, text[end] != 0x26 {
                if equals == nil, text[end] == ASCII.equals { equals = end }
                end += 1
            }
            if end > start {
                let name = text[start..<(equals ?? end)]
                let value = equals.map { text[($0 + 1)..<end] } ?? text[end..<end]
                let first = append(name, plusIsSpace, rule.decodes)
                keep(first, append(value, plusIsSpace, rule.decodes), rule)
            }
            start = end + 1
        }
    }

    /// Adds a parameter as it is.
    mutating func add(
        _ name: [UInt8], _ value: [UInt8], by rule: CompiledScheme.ParameterRule
    ) {
        let first = append(name[...], false, false)
        keep(first, append(value[...], false, false), rule)
    }

    private mutating func append(
        _ text: ArraySlice<UInt8>, _ plusIsSpace: Bool, _ decodes: Bool
    ) -> Range<Int> {
        let start = buffer.count
        if decodes {
            PercentCoding.appendDecoded(text, plusIsSpace: plusIsSpace, to: &buffer)
        } else {
            buffer.append(contentsOf: text)
        }
        return start..<buffer.count
    }

    /// Keeps a pair, where the rule does not leave it out; in the form in which it is written.
    private mutating func keep(
        _ name: Range<Int>, _ value: Range<Int>, _ rule: CompiledScheme.ParameterRule
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
        PercentCoding.append(Array(buffer[range]), .unreserved, to: &buffer)
        return start..<buffer.count
    }

    /// The parameters in their order, as the rule writes them.
    mutating func text(by rule: CompiledScheme.ParameterRule) -> [UInt8] {
        switch rule.order {
        case .none: break
        case .key: sort { [$0.name] }
        case .keyValue: sort { [$0.name, $0.value] }
        case .pair: return writtenPairs(rule)
        }
        var text: [UInt8] = []
        text.reserveCapacity(buffer.count + 2 * pairs.count)
        for index in pairs.indices {
            if index > 0 { text.append(contentsOf: rule.separator) }
            append(pairs[index], rule, to: &text)
        }
        return text
    }

    private func append(
        _ pair: Pair, _ rule: CompiledScheme.ParameterRule, to text: inout [UInt8]
    ) {
        text.append(contentsOf: buffer[pair.name])
        text.append(contentsOf: rule.assign)
        text.append(contentsOf: buffer[pair.value])
    }

    /// Sorts by bytes, and leaves what is equal in its order.
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

    private func writtenPairs(_ rule: CompiledScheme.ParameterRule) -> [UInt8] {
        var written: [[UInt8]] = []
        for pair in pairs {
            var text: [UInt8] = []
            append(pair, rule, to: &text)
            written.append(text)
        }
        written.sort { $0.lexicographicallyPrecedes($1) }
        return Array(written.joined(separator: rule.separator))
    }
}

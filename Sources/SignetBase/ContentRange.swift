/// The contents of a Content-Range field (RFC 9110, section 14.4).
package struct ContentRange: Sendable, Hashable {
    /// Nil in the response to a range that cannot be had (416).
    package var range: ClosedRange<Int64>?
    /// The length of the whole content; nil if the server doesn't know it.
    package var total: Int64?

    /// Reads `bytes 0-9/100`, `bytes 0-9/*` or `bytes */100`; nil for any other form.
    package init?(_ text: String?) {
        let unit = "bytes "
        // The unit is compared without case (section 14.1).
        guard let bytes = text.map({ Array($0.utf8) }),
            bytes.prefix(unit.utf8.count).map(\.lowercased).elementsEqual(unit.utf8)
        else { return nil }
        let parts = bytes.dropFirst(unit.utf8.count).split(
            separator: ASCII.slash, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if !parts[1].elementsEqual("*".utf8) {
            guard let total = Self.number(parts[1]) else { return nil }
            self.total = total
        }
        if parts[0].elementsEqual("*".utf8) {
            guard total != nil else { return nil }
            return
        }
        let ends = parts[0].split(separator: ASCII.minus, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        range = first...last
    }

    /// Reads digits; nil if there is another byte, none, or more than 18.
    package static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - ASCII.zero) }
    }
}

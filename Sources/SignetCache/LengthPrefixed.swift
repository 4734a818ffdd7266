package import HTTPTypes
import SignetBase

/// Writes numbers of eight bytes, and blocks after their length, so that no two lists give the same
/// bytes.
package struct BlockWriter {
    /// All that was written.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func add(_ number: Int) {
        let number = UInt64(bitPattern: Int64(number))
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    /// Adds a block; nil differs from an empty one.
    package mutating func add(_ block: [UInt8]?) {
        add(block?.count ?? -1)
        if let block { bytes += block }
    }

    package mutating func add(_ text: String) {
        add(text.utf8.count)
        bytes += text.utf8
    }

    /// Adds fields, with their names in lower case.
    package mutating func add(_ fields: HTTPFields) {
        add(fields.count)
        for field in fields {
            add(field.name.canonicalName)
            add(field.value)
        }
    }
}

/// Reads what a `BlockWriter` has written. Each function returns nil for bytes of another form.
package struct BlockReader {
    private var bytes: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    /// Whether all was read.
    package var isAtEnd: Bool { bytes.isEmpty }

    package mutating func number() -> Int? {
        guard bytes.count >= 8 else { return nil }
        defer { bytes = bytes.dropFirst(8) }
        return Int(
            truncatingIfNeeded: bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    package mutating func block() -> [UInt8]? { slice().map { Array($0) } }

    package mutating func text() -> String? {
        slice().flatMap { String(validating: $0, as: UTF8.self) }
    }

    private mutating func slice() -> ArraySlice<UInt8>? {
        guard let count = number(), count >= 0, count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    package mutating func optionalText() -> String?? {
        var ahead = self
        if ahead.number() == -1 {
            self = ahead
            return .some(nil)
        }
        return text().map { .some($0) }
    }

    package mutating func list<Element>(
        _ element: (inout BlockReader) -> Element?
    ) -> [Element]? {
        guard let count = number(), count >= 0, count <= bytes.count else { return nil }
        var elements: [Element] = []
        for _ in 0..<count {
            guard let element = element(&self) else { return nil }
            elements.append(element)
        }
        return elements
    }

    package mutating func fields() -> HTTPFields? {
        list { reader -> HTTPField? in
            guard let name = reader.text().flatMap({ HTTPField.Name($0) }) else { return nil }
            return reader.text().map { HTTPField(name: name, value: $0) }
        }.map { HTTPFields($0) }
    }
}

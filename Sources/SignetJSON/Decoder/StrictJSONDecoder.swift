/// Decodes Swift types from strict JSON.
///
/// - Integers are exact: a number with a fraction or an exponent is none, and one that does not fit
///   is `out-of-range`, with its path.
/// - `Double` and `Float` are the nearest value; a number without a finite one is `not-finite`.
/// - `Bool` comes from `true` and `false` only, never from a number.
/// - A member of the JSON text that the type does not ask for is ignored.
/// - `JSONValue` and `JSONNumber` are taken as they stand.
///
/// Errors name code, path and byte offset, and never a value, also where a type's own decoder threw.
public struct StrictJSONDecoder: Sendable {
    /// What `Decoder.userInfo` gives to the types that are decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder.
    public init() {}

    /// Decodes a type from a whole JSON text.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - bytes: The text, UTF-8; see `JSONReader` for what is refused.
    /// - Returns: The decoded value.
    /// - Throws: `JSONError`; `offset` is that of the value that does not fit.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8]
    ) throws(JSONError) -> Value {
        try decode(type, JSONDocument(reader: JSONReader(bytes), hasOffsets: true, userInfo))
    }

    /// Decodes a type from a value that has been read before.
    ///
    /// - Throws: `JSONError`, without an offset.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from value: JSONValue
    ) throws(JSONError) -> Value {
        let reader = try JSONReader(value.serialized())
        return try decode(type, JSONDocument(reader: reader, hasOffsets: false, userInfo))
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, _ document: JSONDocument
    ) throws(JSONError) -> Value {
        do {
            return try document.value(type, at: 0, nil, nil)
        } catch {
            throw .withoutValues(error)
        }
    }
}

/// A text that is being decoded: its nodes, and how a node becomes a Swift value.
final class JSONDocument {
    let reader: JSONReader
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let hasOffsets: Bool

    init(reader: JSONReader, hasOffsets: Bool, _ userInfo: [CodingUserInfoKey: any Sendable]) {
        self.reader = reader
        self.hasOffsets = hasOffsets
        self.userInfo = userInfo
    }

    // MARK: Values. `path` leads to the container, `key` from there to the value.

    func value<Value: Decodable>(
        _ type: Value.Type, at index: Int, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws -> Value {
        if type == String.self, let text = try string(at: index, path, key) as? Value {
            return text
        }
        if type == JSONValue.self {
            var next = index
            if let value = reader.value(at: &next) as? Value { return value }
        }
        if type == JSONNumber.self, reader.nodes[index].kind == .number,
            let number = reader.number(at: index) as? Value
        {
            return number
        }
        let path = key.map { CodingPathNode($0, in: path) } ?? path
        return try Value(from: ValueDecoder(document: self, index: index, path: path))
    }

    func isNull(at index: Int) -> Bool { reader.nodes[index].kind == .null }

    func bool(
        at index: Int, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws(JSONError) -> Bool {
        switch reader.nodes[index].kind {
        case .true: return true
        case .false: return false
        default: throw mismatch("a boolean", at: index, path, key)
        }
    }

    func string(
        at index: Int, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws(JSONError) -> String {
        guard reader.nodes[index].kind == .string else {
            throw mismatch("a string", at: index, path, key)
        }
        return reader.string(at: index)
    }

    func integer<Integer: FixedWidthInteger>(
        _ type: Integer.Type, at index: Int, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws(JSONError) -> Integer {
        let node = reader.nodes[index]
        guard node.kind == .number else { throw mismatch("an integer", at: index, path, key) }
        let bytes = reader.bytes
        var at = Int(node.start)
        let end = Int(node.end)
        let isNegative = bytes[at] == ASCII.minus
        if isNegative { at += 1 }
        var value: Integer = 0
        var overflows = false
        while at < end {
            guard ASCII.isDigit(bytes[at]) else {
                throw error(
                    .typeMismatch,
                    "found a number with a fraction or an exponent, wanted an integer",
                    at: index, path, key)
            }
            let digit = Integer(truncatingIfNeeded: bytes[at] &- ASCII.zero)
            let (product, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) =
                isNegative
                ? product.subtractingReportingOverflow(digit)
                : product.addingReportingOverflow(digit)
            value = sum
            overflows = overflows || first || second
            at += 1
        }
        guard !overflows else {
            throw error(
                .outOfRange, "found an integer that does not fit \(Integer.self)", at: index, path,
                key)
        }
        return value
    }

    func double(
        at index: Int, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws(JSONError) -> Double {
        guard reader.nodes[index].kind == .number else {
            throw mismatch("a number", at: index, path, key)
        }
        let range = reader.nodes[index].range
        let bytes = reader.bytes
        let exact = JSONNumber.exactDouble(bytes.span, range)
        if let exact { return exact }
        guard let value = reader.number(at: index).double else {
            throw error(
                .notFinite, "found a number without a finite Double", at: index, path, key)
        }
        return value
    }

    func float(
        at index: Int, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws(JSONError) -> Float {
        guard reader.nodes[index].kind == .number else {
            throw mismatch("a number", at: index, path, key)
        }
        guard let value = Float(reader.number(at: index).text), value.isFinite else {
            throw error(.notFinite, "found a number without a finite Float", at: index, path, key)
        }
        return value
    }

    // MARK: Errors

    func mismatch(
        _ wanted: String, at index: Int, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) -> JSONError {
        let found =
            switch reader.nodes[index].kind {
            case .null: "null"
            case .true, .false: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        return error(.typeMismatch, "found \(found), wanted \(wanted)", at: index, path, key)
    }

    func error(
        _ code: JSONError.Code, _ what: String, at index: Int, _ path: CodingPathNode?,
        _ key: (any CodingKey)?
    ) -> JSONError {
        let keys = CodingPathNode.keys(path) + (key.map { [$0] } ?? [])
        let offset = hasOffsets ? Int(reader.nodes[index].start) : nil
        let place = JSONError.text(of: keys) + (offset.map { " (byte \($0))" } ?? "")
        return JSONError(code: code, message: "at \(place): \(what)", offset: offset)
    }
}

extension JSONNumber {
    /// The value of a number's bytes where one rounding is sure to give the nearest, else nil.
    ///
    /// That is so with at most 15 digits and a power of ten that binary64 holds exactly (Clinger 1990).
    static func exactDouble(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Double? {
        guard range.count <= 17 else { return nil }
        var at = range.lowerBound
        let isNegative = bytes[at] == ASCII.minus
        if isNegative { at += 1 }
        var digits: UInt64 = 0
        var count = 0
        var fraction = 0
        var sawPoint = false
        while at < range.upperBound {
            let byte = bytes[at]
            if ASCII.isDigit(byte) {
                digits = digits &* 10 &+ UInt64(byte &- ASCII.zero)
                count += 1
                if sawPoint { fraction += 1 }
            } else if byte == ASCII.point {
                sawPoint = true
            } else {
                return nil
            }
            at += 1
        }
        guard count <= 15 else { return nil }
        let value = Double(digits) / powersOfTen[fraction]
        return isNegative ? -value : value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}

import SignetBase
import SignetCrypto
package import SignetJSON

/// The types that a configuration value can have.
package enum ValueType: String, Sendable, CaseIterable {
    case string, integer, number, boolean, array, object, duration, url, bytes

    /// Whether `--launch KEY=VALUE` and environment variables write it as plain text, not as JSON.
    var isText: Bool { self == .string || self == .url || self == .bytes }

    /// The expected form, for a message.
    var expectation: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer (no fraction, no exponent)"
        case .number: "a number"
        case .boolean: "true or false"
        case .array: "an array"
        case .object: "an object"
        case .duration: "a duration (seconds as a number, or text such as \"1.5s\" or \"1h30m\")"
        case .url: "an absolute URL (scheme, // and host)"
        case .bytes: "bytes as canonical base64 with padding"
        }
    }
}

/// A checked configuration value of a certain type.
package enum TypedValue: Sendable {
    /// A member of a map.
    package typealias Member = (name: String, value: CheckedValue)

    case string(String)
    case integer(Int64)
    case number(Double, JSONNumber)
    case boolean(Bool)
    case array([CheckedValue])
    case object([Member])
    case duration(Duration)
    case url(ConfigurationURL)
    case bytes([UInt8])
    /// `null`, or a number beyond binary64, in a list or a map without a rule for its items.
    case other

    /// The reason that a JSON value can't be read as a type.
    enum Mismatch: Error {
        case wrongType, outOfRange
    }

    /// Reads a JSON value as a type. No rule applies to the elements of lists and maps.
    init(_ value: JSONValue, as type: ValueType) throws(Mismatch) {
        switch (type, value) {
        case (.string, .string(let text)): self = .string(text)
        case (.integer, .number(let number)) where number.isInteger:
            guard let integer = number.int64 else { throw .outOfRange }
            self = .integer(integer)
        case (.number, .number(let number)):
            guard let double = number.double else { throw .outOfRange }
            self = .number(double, number)
        case (.boolean, .bool(let bool)): self = .boolean(bool)
        case (.array, .array), (.object, .object): self.init(untyped: value)
        case (.duration, _):
            guard let duration = DurationText.duration(value) else { throw .wrongType }
            self = .duration(duration)
        case (.url, .string(let text)):
            guard let url = ConfigurationURL(text) else { throw .wrongType }
            self = .url(url)
        case (.bytes, .string(let text)):
            let encoded = Array(text.utf8)
            guard let bytes = Base64.decode(encoded.span, from: .standard) else { throw .wrongType }
            self = .bytes(bytes)
        default: throw .wrongType
        }
    }

    /// Reads a JSON value as its own JSON type, if no rule names a type.
    init(untyped value: JSONValue) {
        switch value {
        case .null: self = .other
        case .bool(let bool): self = .boolean(bool)
        case .string(let text): self = .string(text)
        case .number(let number):
            if let integer = number.int64 {
                self = .integer(integer)
            } else if let double = number.double {
                self = .number(double, number)
            } else {
                self = .other
            }
        case .array(let elements): self = .array(elements.map(CheckedValue.init(untyped:)))
        case .object(let object):
            self = .object(object.map { ($0.name, CheckedValue(untyped: $0.value)) })
        }
    }

    /// The number of a text's Unicode scalars, or the number of bytes.
    var length: Int? {
        switch self {
        case .string(let text): text.unicodeScalars.count
        case .url(let url): url.text.unicodeScalars.count
        case .bytes(let bytes): bytes.count
        default: nil
        }
    }

    /// Returns whether both are the same value of their type: 1 and 1.0 are the same number, `90s`
    /// and `1m30s` the same duration. Texts are compared as bytes.
    func isSame(as other: TypedValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): sameBytes(left, right)
        case (.integer(let left), .integer(let right)): left == right
        case (.number(_, let left), .number(_, let right)):
            DecimalNumber(left) == DecimalNumber(right)
        case (.boolean(let left), .boolean(let right)): left == right
        case (.array(let left), .array(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count && Self.haveSameMembers(left, right)
        case (.duration(let left), .duration(let right)): left == right
        case (.url(let left), .url(let right)): sameBytes(left.text, right.text)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }

    private static func haveSameMembers(_ left: [Member], _ right: [Member]) -> Bool {
        let members = Dictionary(
            right.map { (ByteName($0.name), $0.value) }, uniquingKeysWith: { first, _ in first })
        return left.allSatisfy { member in
            members[ByteName(member.name)]?.isSame(as: member.value) == true
        }
    }

    /// Returns whether this is less than another value of the same ordered type; false for other
    /// types.
    func isBelow(_ other: TypedValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.number(_, let left), .number(_, let right)):
            DecimalNumber(left) < DecimalNumber(right)
        case (.duration(let left), .duration(let right)): left < right
        default: false
        }
    }
}

internal import SignetBase
import SignetCrypto
package import SignetJSON

/// The types a configuration's value can have.
package enum ValueType: String, Sendable, CaseIterable {
    case string, integer, number, boolean, array, object, duration, url, bytes

    /// Whether `--launch KEY=VALUE` and environment variables give it as plain text, not as JSON.
    var isText: Bool { self == .string || self == .url || self == .bytes }
    /// Whether a minimum and a maximum make sense.
    var isOrdered: Bool { self == .integer || self == .number || self == .duration }
    /// Whether a pattern makes sense.
    var isMatchable: Bool { self == .string || self == .url }

    /// Whether a length makes sense.
    var hasLength: Bool { isText }

    /// What is wanted, for a message.
    var wanted: String {
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

/// A value of the configuration in the form of its type, checked.
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
    /// `null`, or a number beyond binary64, somewhere in a list or a map without a rule for its items.
    case other

    /// Why a JSON value is not of a type.
    enum Mismatch: Error {
        case wrongType, beyondType
    }

    /// Takes a JSON value as a type; elements of lists and maps have no rule.
    init(_ value: JSONValue, as type: ValueType) throws(Mismatch) {
        switch (type, value) {
        case (.string, .string(let text)): self = .string(text)
        case (.integer, .number(let number)) where number.isInteger:
            guard let integer = number.int64 else { throw .beyondType }
            self = .integer(integer)
        case (.number, .number(let number)):
            guard let double = number.double else { throw .beyondType }
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
            guard let bytes = Base64.decode(encoded.span, .standard) else { throw .wrongType }
            self = .bytes(bytes)
        default: throw .wrongType
        }
    }

    /// The type; nil for an element that has none.
    package var type: ValueType? {
        switch self {
        case .string: .string
        case .integer: .integer
        case .number: .number
        case .boolean: .boolean
        case .array: .array
        case .object: .object
        case .duration: .duration
        case .url: .url
        case .bytes: .bytes
        case .other: nil
        }
    }

    /// Takes a JSON value by its own type, where no rule names one.
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

    /// How many scalars a text, or bytes a run of bytes, has.
    var length: Int? {
        switch self {
        case .string(let text): text.unicodeScalars.count
        case .url(let url): url.text.unicodeScalars.count
        case .bytes(let bytes): bytes.count
        default: nil
        }
    }

    /// Whether both are the same value of their type: 1 and 1.0 are one number, `90s` and `1m30s`
    /// one duration, and texts are compared as bytes.
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

    /// Whether this is below another of the same ordered type; false for other types.
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

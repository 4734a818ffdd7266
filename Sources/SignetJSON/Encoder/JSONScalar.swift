/// A value to be written as a whole.
enum JSONScalar {
    case null
    case bool(Bool)
    case signed(Int64)
    case unsigned(UInt64)
    /// A finite number.
    case double(Double)
    /// A number, as its text.
    case number(JSONNumber)
    case string(String)
    /// A tree.
    case tree(JSONValue)

    /// Creates a number from an integer of at most 64 bits.
    @inline(__always)
    init<Integer: FixedWidthInteger>(_ value: Integer) {
        self = Integer.isSigned ? .signed(Int64(value)) : .unsigned(UInt64(value))
    }

    /// Creates a number with the shortest text of a `Float`, which is shorter than that of its
    /// value as `Double`; nil if it isn't finite.
    init?(_ value: Float) {
        guard value.isFinite, let nearest = Double(value.description) else { return nil }
        self = .double(nearest)
    }

    /// The value as a tree.
    var value: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .signed(let value): .number(JSONNumber(value))
        case .unsigned(let value): .number(JSONNumber(value))
        case .double(let value): .number(JSONNumber(validText: JSONNumber.text(of: value)))
        case .number(let number): .number(number)
        case .string(let text): .string(text)
        case .tree(let value): value
        }
    }
}

public import SignetJSON
import Synchronization

/// The id that connects a response to its call: a string or a number, never null.
///
/// Two ids are equal if their types and bytes are: `1`, `"1"` and `1.0` are three ids.
public enum RPCID: Sendable, Hashable {
    /// A string.
    case string(String)
    /// A number, compared by its text.
    case number(JSONNumber)

    /// The id as JSON.
    public var json: JSONValue {
        switch self {
        case .string(let text): .string(text)
        case .number(let number): .number(number)
        }
    }

    /// Returns whether both have the same type and the same bytes.
    public static func == (left: RPCID, right: RPCID) -> Bool { left.json == right.json }

    /// Hashes type and bytes.
    public func hash(into hasher: inout Hasher) { json.hash(into: &hasher) }

    /// The number's text as a string id, as some gateways send it back.
    var stringified: RPCID? {
        if case .number(let number) = self { .string(number.text) } else { nil }
    }
}

/// A source of ids: numbers in 1..<2^53, which every peer can represent exactly, or strings of 1 to
/// 128 bytes.
public struct RPCIDGenerator: Sendable {
    /// The largest id: 2^53 − 1.
    public static let largest: Int64 = 1 << 53 - 1

    /// The longest string id, in bytes.
    public static let longest = 128

    private let make: @Sendable () -> RPCID?

    /// Creates a generator of numeric ids. `make` is called once per call, from any thread.
    public init(_ make: @escaping @Sendable () -> Int64) {
        self.make = {
            let id = make()
            return (1...Self.largest).contains(id) ? .number(JSONNumber(id)) : nil
        }
    }

    /// Creates a generator of string ids. `make` is called once per call, from any thread.
    public init(strings make: @escaping @Sendable () -> String) {
        self.make = {
            let id = make()
            return (1...Self.longest).contains(id.utf8.count) ? .string(id) : nil
        }
    }

    /// Returns a generator of 128 random bits as hexadecimal digits, which no peer can guess.
    public static func random() -> RPCIDGenerator {
        RPCIDGenerator(strings: UInt128.randomDigits)
    }

    /// Returns a generator that counts up from `first` and starts at 1 again after the largest id.
    public static func counting(from first: Int64 = 1) -> RPCIDGenerator {
        RPCIDGenerator(Counter(first).next)
    }

    /// Returns the next id.
    ///
    /// - Throws: `PayloadError` with code `invalid-id` if the source returns a number outside
    ///   1..<2^53, or a string that is empty or longer than 128 bytes.
    public func next() throws(PayloadError) -> RPCID {
        guard let id = make() else {
            throw PayloadError(
                .invalidCallID,
                "the id generator returned an invalid id, expected a number in 1..<2^53 or a "
                    + "string of 1 to \(Self.longest) bytes")
        }
        return id
    }

    private final class Counter: Sendable {
        private let value: Mutex<Int64>

        init(_ first: Int64) { value = Mutex(first) }

        func next() -> Int64 {
            value.withLock { value in
                defer { value = value >= largest ? 1 : value + 1 }
                return value
            }
        }
    }
}

extension UnsignedInteger where Self: FixedWidthInteger {
    /// Returns the hexadecimal digits of a random number, with leading zeros.
    static func randomDigits() -> String {
        let digits = String(random(in: 0 ... .max), radix: 16)
        return String(repeating: "0", count: bitWidth / 4 - digits.utf8.count) + digits
    }
}

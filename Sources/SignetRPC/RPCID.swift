public import SignetJSON
import Synchronization

/// What joins a response to its call: a string or a number, never null, a boolean or a fraction.
///
/// Two ids are the same where type and bytes are: `1`, `"1"` and `1.0` are three.
public enum RPCID: Sendable, Hashable {
    /// A string.
    case string(String)
    /// A number by its text.
    case number(JSONNumber)

    /// The id as JSON.
    public var json: JSONValue {
        switch self {
        case .string(let text): .string(text)
        case .number(let number): .number(number)
        }
    }

    /// Whether both have the same type and the same bytes.
    public static func == (left: RPCID, right: RPCID) -> Bool { left.json == right.json }

    /// Feeds type and bytes.
    public func hash(into hasher: inout Hasher) { json.hash(into: &hasher) }

    /// The string that a gateway makes of a number.
    var stringified: RPCID? {
        if case .number(let number) = self { .string(number.text) } else { nil }
    }
}

/// Where ids come from: numbers in 1..<2^53, so that no peer rounds one, or strings of 1 to 128 bytes.
public struct RPCIDGenerator: Sendable {
    /// The largest id: 2^53 − 1.
    public static let largest: Int64 = 1 << 53 - 1

    /// The longest string id, in bytes.
    public static let longest = 128

    private let make: @Sendable () -> RPCID?

    /// Takes a source of ids; it is called once a call, from any thread.
    public init(_ make: @escaping @Sendable () -> Int64) {
        self.make = {
            let id = make()
            return (1...Self.largest).contains(id) ? .number(JSONNumber(id)) : nil
        }
    }

    /// Takes a source of string ids; it is called once a call, from any thread.
    public init(strings make: @escaping @Sendable () -> String) {
        self.make = {
            let id = make()
            return (1...Self.longest).contains(id.utf8.count) ? .string(id) : nil
        }
    }

    /// Strings of 128 random bits in hexadecimal digits, which no peer can guess ahead.
    public static func random() -> RPCIDGenerator {
        RPCIDGenerator(strings: {
            let digits = String(UInt128.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 32 - digits.utf8.count) + digits
        })
    }

    /// Counts up from a first id, and begins at 1 again behind the largest.
    public static func counting(from first: Int64 = 1) -> RPCIDGenerator {
        let counter = Counter(first)
        return RPCIDGenerator { counter.next() }
    }

    /// The next id.
    ///
    /// - Throws: `RPCError` with code `invalid-id` where the source gives a number outside 1..<2^53, or
    ///   a string that is empty or longer than 128 bytes.
    public func next() throws(RPCError) -> RPCID {
        guard let id = make() else {
            throw RPCError(
                code: .invalidID,
                message: "the id generator gave a number that is not in 1..<2^53, or a string that "
                    + "has not 1 to \(Self.longest) bytes")
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

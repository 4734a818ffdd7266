public import SignetJSON
import Synchronization

/// What joins a reply to its call: a string or a number, never null, a boolean or a fraction.
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

/// Where ids come from. Each must be in 1..<2^53, so that no peer rounds it.
public struct RPCIDGenerator: Sendable {
    /// The largest id: 2^53 − 1.
    public static let largest: Int64 = 1 << 53 - 1

    private let make: @Sendable () -> Int64

    /// Takes a source of ids; it is called once a call, from any thread.
    public init(_ make: @escaping @Sendable () -> Int64) { self.make = make }

    /// Counts up from a first id, and begins at 1 again behind the largest.
    public static func counting(from first: Int64 = 1) -> RPCIDGenerator {
        let counter = Counter(first)
        return RPCIDGenerator { counter.next() }
    }

    /// The next id.
    ///
    /// - Throws: `RPCError` with code `invalid-id` where the source gives one outside 1..<2^53.
    public func next() throws(RPCError) -> RPCID {
        let id = make()
        guard (1...Self.largest).contains(id) else {
            throw RPCError(
                code: .invalidID, message: "the id generator gave a number that is not in 1..<2^53")
        }
        return .number(JSONNumber(id))
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

import FoundationEssentials

/// Foundation's types that have a JSON form of their own.
///
/// Their `Codable` conformances would write an object of a mantissa's parts, an array of bytes or a
/// number of seconds since 2001.
enum FoundationTypes {
    @inline(__always)
    static func contains<Value>(_ type: Value.Type) -> Bool {
        type == Decimal.self || type == URL.self || type == Data.self || type == Date.self
    }
}

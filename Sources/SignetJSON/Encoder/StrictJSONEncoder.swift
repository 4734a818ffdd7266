/// Encodes Swift types as strict JSON.
///
/// Integers are written exactly, a `Double` as the shortest text that gives it back (RFC 8785, section
/// 3.2.2.3); an infinity or a NaN is refused. `JSONValue` and `JSONNumber` are written as they stand.
/// Members stand in the order in which the type encodes them; one that is encoded twice has its last
/// value. A type that encodes nothing is `{}`.
public struct StrictJSONEncoder: Sendable {
    /// How `encode` lays out the text.
    public var style: JSONStyle
    /// What `Encoder.userInfo` gives to the types that are encoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder.
    public init(style: JSONStyle = .compact) { self.style = style }

    /// Encodes a value as a JSON text, without a final newline.
    ///
    /// - Throws: `JSONError` that names the path: `not-finite`, or `refused` where a type's own
    ///   `encode(to:)` threw.
    public func encode(_ value: some Encodable) throws(JSONError) -> [UInt8] {
        guard style == .compact else { return try encodeValue(value).serialized(style) }
        var writer = JSONWriter(.compact)
        try item(value).write(to: &writer)
        return writer.bytes
    }

    /// Encodes a value as a tree; otherwise as `encode(_:)`.
    public func encodeValue(_ value: some Encodable) throws(JSONError) -> JSONValue {
        try item(value).value
    }

    private func item(_ value: some Encodable) throws(JSONError) -> EncodedItem {
        do {
            return try EncodedItem.of(value, userInfo, nil, nil)
        } catch {
            throw .withoutValues(error)
        }
    }
}

/// What has been encoded at one place: a finished value, or a container that may still grow.
enum EncodedItem {
    case value(JSONValue)
    case container(EncodedContainer)
    case encoder(ValueEncoder)

    var value: JSONValue {
        switch self {
        case .value(let value): value
        case .container(let container): container.value
        case .encoder(let encoder): encoder.item.value
        }
    }

    /// Writes the compact text without a tree in between.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .value(let value): writer.write(value)
        case .container(let container): container.write(to: &writer)
        case .encoder(let encoder): encoder.item.write(to: &writer)
        }
    }

    static func of<Value: Encodable>(
        _ value: Value, _ userInfo: [CodingUserInfoKey: any Sendable],
        _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws -> EncodedItem {
        if Value.self == String.self, let text = value as? String { return .value(.string(text)) }
        if Value.self == JSONValue.self, let value = value as? JSONValue { return .value(value) }
        if Value.self == JSONNumber.self, let number = value as? JSONNumber {
            return .value(.number(number))
        }
        let path = key.map { CodingPathNode($0, in: path) } ?? path
        let encoder = ValueEncoder(userInfo: userInfo, path: path)
        try value.encode(to: encoder)
        return encoder.item
    }

    static func of(
        _ value: Double, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws(JSONError) -> EncodedItem {
        guard let number = JSONNumber(value) else {
            let keys = CodingPathNode.keys(path) + (key.map { [$0] } ?? [])
            throw .at(keys, .notFinite, "found an infinity or a NaN, wanted a finite number")
        }
        return .value(.number(number))
    }

    /// A `Float` by its own shortest text, which is shorter than that of the same value as `Double`.
    static func of(
        _ value: Float, _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws(JSONError) -> EncodedItem {
        try of(value.isFinite ? Double(value.description) ?? .nan : .nan, path, key)
    }
}

/// An array or an object that is being encoded.
final class EncodedContainer {
    private static let unindexedCount = 16

    let isObject: Bool
    private var names: [String] = []
    private var items: [EncodedItem] = []
    private var index: [JSONName: Int] = [:]

    init(isObject: Bool) {
        self.isObject = isObject
        items.reserveCapacity(8)
        if isObject { names.reserveCapacity(8) }
    }

    var count: Int { items.count }

    func append(_ item: EncodedItem) { items.append(item) }

    func set(_ name: String, _ item: EncodedItem) {
        if let position = position(of: name) {
            items[position] = item
            return
        }
        names.append(name)
        items.append(item)
        if names.count == Self.unindexedCount {
            for (position, name) in names.enumerated() { index[JSONName(name)] = position }
        } else if names.count > Self.unindexedCount {
            index[JSONName(name)] = names.count - 1
        }
    }

    private func position(of name: String) -> Int? {
        if names.count >= Self.unindexedCount { return index[JSONName(name)] }
        for position in names.indices where sameBytes(names[position], name) { return position }
        return nil
    }

    var value: JSONValue {
        guard isObject else { return .array(items.map(\.value)) }
        var object = JSONObject(reserving: names.count)
        for (name, item) in zip(names, items) { object.appendUnique(name, item.value) }
        return .object(object)
    }

    /// Writes the compact text without a tree in between.
    func write(to writer: inout JSONWriter) {
        writer.append(isObject ? ASCII.openBrace : ASCII.openBracket)
        for position in items.indices {
            if position > 0 { writer.append(ASCII.comma) }
            if isObject {
                writer.write(names[position])
                writer.append(ASCII.colon)
            }
            items[position].write(to: &writer)
        }
        writer.append(isObject ? ASCII.closeBrace : ASCII.closeBracket)
    }
}

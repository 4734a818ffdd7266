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
        try encodeValue(value).serialized(style)
    }

    /// Encodes a value as a tree; otherwise as `encode(_:)`.
    public func encodeValue(_ value: some Encodable) throws(JSONError) -> JSONValue {
        do {
            return try EncodedItem.of(value, userInfo, nil, nil).value
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

    static func of(
        _ value: some Encodable, _ userInfo: [CodingUserInfoKey: any Sendable],
        _ path: CodingPathNode?, _ key: (any CodingKey)?
    ) throws -> EncodedItem {
        switch value {
        case let value as String: return .value(.string(value))
        case let value as JSONValue: return .value(value)
        case let value as JSONNumber: return .value(.number(value))
        default:
            let path = key.map { CodingPathNode($0, in: path) } ?? path
            let encoder = ValueEncoder(userInfo: userInfo, path: path)
            try value.encode(to: encoder)
            return encoder.item
        }
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
    private enum Content {
        case array([EncodedItem])
        case object([String], [EncodedItem], [JSONName: Int])
    }

    private var content: Content

    init(isObject: Bool) { content = isObject ? .object([], [], [:]) : .array([]) }

    var isObject: Bool { if case .object = content { true } else { false } }

    var count: Int { if case .array(let items) = content { items.count } else { 0 } }

    func append(_ item: EncodedItem) {
        guard case .array(var items) = content else { return }
        content = .array([])  // the one reference to the items is ours, so they grow in place
        items.append(item)
        content = .array(items)
    }

    func set(_ name: String, _ item: EncodedItem) {
        guard case .object(var names, var items, var index) = content else { return }
        content = .array([])
        let position =
            index.isEmpty
            ? names.firstIndex { sameBytes($0, name) } : index[JSONName(name)]
        if let position {
            items[position] = item
        } else {
            names.append(name)
            items.append(item)
            if names.count == 16 {
                for (position, name) in names.enumerated() { index[JSONName(name)] = position }
            } else if names.count > 16 {
                index[JSONName(name)] = names.count - 1
            }
        }
        content = .object(names, items, index)
    }

    var value: JSONValue {
        switch content {
        case .array(let items): return .array(items.map(\.value))
        case .object(let names, let items, _):
            var object = JSONObject(reserving: names.count)
            for (name, item) in zip(names, items) { object.appendUnique(name, item.value) }
            return .object(object)
        }
    }
}

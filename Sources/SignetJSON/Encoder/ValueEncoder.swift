/// A place that is about to be encoded, as `Encodable` sees it.
final class ValueEncoder: Encoder, SingleValueEncodingContainer {
    private let shared: [CodingUserInfoKey: any Sendable]
    private let path: CodingPathNode?
    private var current: EncodedItem?

    init(userInfo: [CodingUserInfoKey: any Sendable], path: CodingPathNode?) {
        self.shared = userInfo
        self.path = path
    }

    /// What has been encoded; nothing is an empty object.
    var item: EncodedItem { current ?? .container(EncodedContainer(isObject: true)) }

    var codingPath: [any CodingKey] { CodingPathNode.keys(path) }
    var userInfo: [CodingUserInfoKey: Any] { shared }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            KeyedEncoding<Key>(container: container(isObject: true), userInfo: shared, path: path))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedEncoding(container: container(isObject: false), userInfo: shared, path: path)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// The container that has been begun here, or a new one.
    private func container(isObject: Bool) -> EncodedContainer {
        if case .container(let container) = current, container.isObject == isObject {
            return container
        }
        let container = EncodedContainer(isObject: isObject)
        current = .container(container)
        return container
    }

    func encodeNil() { current = .value(.null) }
    func encode(_ value: Bool) { current = .value(.bool(value)) }
    func encode(_ value: String) { current = .value(.string(value)) }
    func encode(_ value: Double) throws { current = try .of(value, path, nil) }
    func encode(_ value: Float) throws { current = try .of(value, path, nil) }
    func encode(_ value: Int) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: Int8) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: Int16) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: Int32) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: Int64) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: UInt) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: UInt8) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: UInt16) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: UInt32) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: UInt64) { current = .value(.number(JSONNumber(value))) }
    func encode(_ value: some Encodable) throws {
        current = try .of(value, shared, path, nil)
    }
}

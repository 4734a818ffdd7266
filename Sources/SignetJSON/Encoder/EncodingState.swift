import Synchronization

/// What has been encoded so far, for the encoders and containers of one text, which name a place by its
/// number: a nested value costs no object, and containers may be filled in any order.
///
/// The lock is never contended and no user's code runs in it. It is here because the guard that Swift puts
/// around each way into a class's variable takes three times as long.
final class EncodingState: Sendable {
    static let root = 0

    let userInfo: [CodingUserInfoKey: any Sendable]
    private let written: Mutex<EncodedText>
    /// The element that was an object as soon as it was made, until it becomes something else.
    private let object = Atomic<Int>(-1)

    /// - Parameter isDirect: Whether to write a compact text at once.
    init(_ userInfo: [CodingUserInfoKey: any Sendable], isDirect: Bool) {
        self.userInfo = userInfo
        self.written = Mutex(EncodedText(isDirect: isDirect))
    }

    // MARK: Values of any type

    func encode<Value: Encodable>(_ value: Value, at place: Int) throws {
        if let plain = Self.plain(value) { return set(plain, at: place) }
        try encodeParts(value, at: place)
    }

    /// Encodes a value of a type that has an encoder of its own.
    @inline(__always)
    private func encodeParts<Value: Encodable>(_ value: Value, at place: Int) throws {
        if FoundationTypes.has(Value.self) { return try encodeFoundation(value, at: place) }
        do {
            try value.encode(to: ValueEncoder(state: self, place: place))
        } catch {
            drop(place)
            throw error
        }
    }

    func encodeMember<Value: Encodable>(_ name: String, _ value: Value, of parent: Int) throws {
        if let plain = Self.plain(value) { return setMember(name, plain, of: parent) }
        try encodeParts(value, at: member(name, of: parent))
    }

    func encodeElement<Value: Encodable>(_ value: Value, of parent: Int) throws {
        if let plain = Self.plain(value) { return append(plain, to: parent) }
        try encodeParts(value, at: element(of: parent))
    }

    /// The types that need no encoder of their own.
    @inline(__always)
    private static func plain<Value: Encodable>(_ value: Value) -> JSONScalar? {
        if Value.self == String.self { return (value as? String).map(JSONScalar.string) }
        if Value.self == JSONValue.self { return (value as? JSONValue).map(JSONScalar.tree) }
        if Value.self == JSONNumber.self { return (value as? JSONNumber).map(JSONScalar.number) }
        return nil
    }

    // MARK: Values without parts

    func set(_ value: JSONScalar, at place: Int) {
        object.store(-1, ordering: .relaxed)
        written.withLock { $0.set(value, at: place) }
    }

    @inline(__always)
    func setMember(_ name: String, _ value: JSONScalar, of parent: Int) {
        written.withLock { $0.setMember(name, value, of: parent) }
    }

    func append(_ value: JSONScalar, to parent: Int) {
        written.withLock { $0.append(value, to: parent) }
    }

    /// Leaves a place out, because its value is not finite, and gives the error to throw.
    func notFinite(at place: Int) -> JSONError {
        drop(place)
        return .at(
            path(to: place), .notFinite, "found an infinity or a NaN, wanted a finite number")
    }

    /// Leaves a place out.
    private func drop(_ place: Int) {
        object.store(-1, ordering: .relaxed)
        written.withLock { $0.drop(place) }
    }

    // MARK: Places

    /// Makes a place an array, unless it is one already.
    func beginArray(at place: Int) {
        object.store(-1, ordering: .relaxed)
        written.withLock { $0.begin(.array, at: place) }
    }

    /// Makes a place an object, unless it is one already.
    func beginObject(at place: Int) {
        guard object.load(ordering: .relaxed) != place else { return }
        written.withLock { $0.begin(.object, at: place) }
    }

    /// The number of elements that an array has.
    func count(of place: Int) -> Int { written.withLock { $0.count(of: place) } }

    /// A new element of an array.
    func element(of parent: Int) -> Int {
        written.withLock { text in
            let place = text.element(of: parent)
            object.store(text.isObject ? place : -1, ordering: .relaxed)
            return place
        }
    }

    /// The member of an object by this name, emptied, or a new one.
    func member(_ name: String, of parent: Int) -> Int {
        written.withLock { $0.member(name, of: parent) }
    }

    func path(to place: Int) -> [any CodingKey] { written.withLock { $0.path(to: place) } }

    // MARK: The result

    /// The tree of the whole.
    func value() throws(JSONError) -> JSONValue {
        try written.withLock { (text) throws(JSONError) in try text.value() }
    }

    /// The compact text of the whole.
    func bytes() throws(JSONError) -> [UInt8] {
        try written.withLock { (text) throws(JSONError) in try text.bytes() }
    }
}

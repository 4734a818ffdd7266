import Synchronization

/// What has been encoded so far, for the encoders and containers of one text, which name a place by its
/// number: a nested value costs no object, and containers may be filled in any order.
///
/// As every encoder it belongs to one thread at a time; Swift 6 sees to that, since neither encoders nor
/// containers are `Sendable`.
final class EncodingState {
    static let root = 0

    let userInfo: [CodingUserInfoKey: any Sendable]
    /// One text in an array, which is one word to take out; nil while `change` has it.
    private var written: [EncodingStorage]?
    /// The element that was an object as soon as it was made, until it becomes something else.
    private let object = Atomic<Int>(-1)

    /// - Parameter isDirect: Whether to write a compact text at once.
    init(_ userInfo: [CodingUserInfoKey: any Sendable], isDirect: Bool) {
        self.userInfo = userInfo
        let spare = isDirect ? Self.spare.withLockIfAvailable { $0.take() } ?? nil : nil
        self.written = spare ?? [EncodingStorage(isDirect: isDirect)]
    }

    /// The room of a text that is done, for the next one, which has five allocations less to make; no value
    /// of what was written is in it.
    private static let spare = Mutex<[EncodingStorage]?>(nil)

    deinit {
        guard var text = written.take(), text[0].reset() else { return }
        _ = Self.spare.withLockIfAvailable { $0 = text }
    }

    /// Takes what is written out, changes it and puts it back.
    ///
    /// Swift guards each way into a class's variable at run time while code runs that the compiler does not
    /// see; taken out there is no such time, and the guard falls away. By a profile a lock takes as long as
    /// writing a short member, the guard more. No user's code runs in `body`; where it did, it would find nil.
    @inline(__always)
    private func change<Result, Failure>(
        _ body: (inout EncodingStorage) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard var text = written.take() else { preconditionFailure() }
        do {
            let result = try body(&text[0])
            written = consume text
            return result
        } catch {
            written = consume text
            throw error
        }
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
        change { $0.set(value, at: place) }
    }

    @inline(__always)
    func setMember(_ name: String, _ value: JSONScalar, of parent: Int) {
        change { $0.setMember(name, value, of: parent) }
    }

    func append(_ value: JSONScalar, to parent: Int) {
        change { $0.append(value, to: parent) }
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
        change { $0.drop(place) }
    }

    // MARK: Places

    /// Makes a place an array, unless it is one already.
    func beginArray(at place: Int) {
        object.store(-1, ordering: .relaxed)
        change { $0.begin(.array, at: place) }
    }

    /// Makes a place an object, unless it is one already.
    func beginObject(at place: Int) {
        guard object.load(ordering: .relaxed) != place else { return }
        change { $0.begin(.object, at: place) }
    }

    /// The number of elements that an array has.
    func count(of place: Int) -> Int { change { $0.count(of: place) } }

    /// A new element of an array.
    func element(of parent: Int) -> Int {
        change { text in
            let place = text.element(of: parent)
            object.store(text.isObject ? place : -1, ordering: .relaxed)
            return place
        }
    }

    /// The member of an object by this name, emptied, or a new one.
    func member(_ name: String, of parent: Int) -> Int {
        change { $0.member(name, of: parent) }
    }

    func path(to place: Int) -> [any CodingKey] { change { $0.path(to: place) } }

    // MARK: The result

    /// The tree of the whole.
    func value() throws(JSONError) -> JSONValue {
        try change { (text) throws(JSONError) in try text.value() }
    }

    /// The compact text of the whole.
    func bytes() throws(JSONError) -> [UInt8] {
        try change { (text) throws(JSONError) in try text.bytes() }
    }
}

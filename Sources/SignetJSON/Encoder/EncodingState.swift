/// The values encoded so far, shared by the encoders and containers of one text.
///
/// Each call goes to an `EncodingStorage`. That writes compact text with a `StreamingWriter`, which
/// fills a `UTF8Buffer`, and switches to an `EncodingTree` if a value comes out of order.
///
/// Encoders and containers refer to a place by its number, so that a nested value needs no object
/// and containers can be filled in any order. Only one thread at a time uses it: encoders and
/// containers aren't `Sendable`.
final class EncodingState {
    let userInfo: [CodingUserInfoKey: any Sendable]
    let conventions: JSONConventions
    /// The storage, in an array that is one word to move out; nil while `change` uses it.
    private var written: [EncodingStorage]?

    /// - Parameter isStreaming: Whether to write a compact text while encoding.
    init(
        userInfo: [CodingUserInfoKey: any Sendable], conventions: JSONConventions,
        isStreaming: Bool
    ) {
        self.userInfo = userInfo
        self.conventions = conventions
        self.written = [EncodingStorage(isStreaming: isStreaming)]
    }

    /// Moves the storage out, changes it and moves it back.
    ///
    /// This avoids Swift's exclusivity check of a class's variable, which takes longer than writing
    /// a short member; a lock takes as long as that. `body` must not run user code, because the
    /// storage is nil meanwhile.
    @inline(__always)
    func change<Result, Failure>(
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

    // MARK: Values without parts

    func set(_ value: JSONScalar, at place: Int) {
        change { $0.set(value, at: place) }
    }

    @inline(__always)
    func setMember(_ name: String, to value: JSONScalar, of parent: Int) {
        change { $0.setMember(name, to: value, of: parent) }
    }

    func append(_ value: JSONScalar, to parent: Int) {
        change { $0.append(value, to: parent) }
    }

    /// Removes a place whose value is not finite, and returns the error to throw.
    func notFinite(at place: Int) -> JSONError {
        failure(
            .notFinite, because: "found an infinity or a NaN, expected a finite number", at: place)
    }

    /// Removes a place whose value cannot be written, and returns the error to throw.
    func failure(
        _ code: JSONError.Code, because problem: String, at place: Int
    ) -> JSONError {
        change { $0.remove(place) }
        return JSONError(code, problem, at: path(to: place))
    }

    // MARK: Places

    /// Adds an element to an array, and returns its place.
    func element(of parent: Int) -> Int {
        change { $0.element(of: parent) }
    }

    /// Returns the place of an object's member: the one with this name, cleared, or a new one.
    func member(_ name: String, of parent: Int) -> Int {
        change { $0.member(name, of: parent) }
    }

    func path(to place: Int) -> [any CodingKey] { change { $0.path(to: place) } }

    // MARK: The result

    /// Returns everything as a tree.
    func value() throws(JSONError) -> JSONValue {
        try change { (text) throws(JSONError) in try text.value() }
    }

    /// Returns everything as a compact text.
    func bytes() throws(JSONError) -> [UInt8] {
        try change { (text) throws(JSONError) in try text.bytes() }
    }
}

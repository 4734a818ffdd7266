public import SignetBase

/// An error of reading, writing, decoding or encoding JSON.
///
/// The message says what was found, what was expected and where. Of the input it holds only the
/// member names on the path and never a value, so it can go to a log even if the input is a key
/// set.
public struct JSONError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    /// The kind of the error.
    public let code: Code
    /// The error in words: found, expected and where.
    public var message: String { place + problem }
    /// The start of the message, with the path; empty if `problem` is the whole message.
    private let place: String
    /// The rest of the message: found and expected.
    private let problem: String
    /// The byte offset in the input, from zero; nil if unknown.
    public let offset: Int?
    /// The path to the value, such as `$.orders[2].price`; nil if unknown. In a stream it begins at
    /// the record.
    ///
    /// For a malformed text it leads to the value that is open at the offset, or that ended last.
    /// Names that aren't printable ASCII are escaped; long names and paths are shortened.
    public let path: String?
    /// The number of the record in a stream, from one; nil outside a stream.
    public let record: Int?

    /// Creates an error; `message` must not hold a value of the input.
    public init(
        _ code: Code, _ message: String, offset: Int? = nil, path: String? = nil,
        record: Int? = nil
    ) {
        self.init(
            code, place: "", problem: message, offset: offset, path: path, record: record)
    }

    /// Creates an error whose message begins with its place.
    init(
        _ code: Code, place: String, problem: String, offset: Int? = nil, path: String? = nil,
        record: Int? = nil
    ) {
        self.code = code
        self.place = place
        self.problem = problem
        self.offset = offset
        self.path = path
        self.record = record
    }

    /// The message without the path, for inputs whose member names are confidential too.
    package var messageWithoutNames: String {
        (offset.map { "at byte \($0): " } ?? "") + problem
    }

    /// The message, which includes the path and the offset.
    public var description: String { message }
}

extension SignetErrorCode {
    /// The bytes are not a JSON text of RFC 8259.
    public static let malformedJSON = usage("malformed")
    /// An object has a duplicate member name. Names are compared as bytes, unescaped. RFC 8259,
    /// section 4, says that names SHOULD be unique; here they must be.
    public static let duplicateMember = usage("duplicate-member")
    /// Arrays and objects are nested deeper than the limit.
    public static let tooDeep = usage("too-deep")
    /// The text has 2 GiB − 1 bytes or more, or the text, a record or the number of values
    /// exceeds a limit that the caller set.
    public static let tooLargeJSON = usage("too-large")
    /// A number has no finite binary64 value, but the caller requested one.
    public static let notFinite = usage("not-finite")
    /// An object lacks a requested member, or an array a requested element.
    public static let missingMember = usage("missing-member")
    /// A type's own `init(from:)` or `encode(to:)` threw, or a string with a noncharacter has
    /// no canonical form.
    public static let refusedByType = usage("refused")
    /// A stream, or one of its records, ends within a value.
    public static let truncatedJSON = usage("truncated")
}

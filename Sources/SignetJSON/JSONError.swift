/// What went wrong while JSON was read, written, decoded or encoded.
///
/// The message says what was found, what was wanted and where, and never repeats a value of the
/// input: a configuration or a key set can be refused in a log that everybody reads. Of the input it
/// holds only the member names on the path.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    ///
    /// More may be added, so a `switch` over it needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case malformed
            case duplicateMember = "duplicate-member"
            case tooDeep = "too-deep"
            case tooLarge = "too-large"
            case notFinite = "not-finite"
            case outOfRange = "out-of-range"
            case typeMismatch = "type-mismatch"
            case missingMember = "missing-member"
            case refused
            case truncated
        }

        private let value: Value

        /// The bytes are no JSON text of RFC 8259.
        public static let malformed = Code(value: .malformed)
        /// An object holds one member name twice (RFC 8259, section 4, says names SHOULD be unique;
        /// here they must be), compared as bytes after unescaping.
        public static let duplicateMember = Code(value: .duplicateMember)
        /// Arrays and objects are nested deeper than the limit.
        public static let tooDeep = Code(value: .tooDeep)
        /// The text is longer than offsets can count (2 GiB − 1), or it, or what it holds, is more than a
        /// limit that was given.
        public static let tooLarge = Code(value: .tooLarge)
        /// A number has no finite binary64 value, and one was asked for.
        public static let notFinite = Code(value: .notFinite)
        /// An integer does not fit the type that was asked for, or `Decimal` does not hold a number exactly.
        public static let outOfRange = Code(value: .outOfRange)
        /// A value of another JSON type than the one asked for.
        public static let typeMismatch = Code(value: .typeMismatch)
        /// An object lacks a member that was asked for.
        public static let missingMember = Code(value: .missingMember)
        /// A type's own decoder or encoder refused the value.
        public static let refused = Code(value: .refused)

        /// A stream, or a record of one, ends within a value.
        public static let truncated = Code(value: .truncated)

        /// The code's name in kebab-case, as the tool prints it.
        public var name: String { value.rawValue }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of the error.
    public let code: Code
    /// Found, wanted and where, for people; never a value of the input.
    public var message: String { place + problem }
    /// Where, as the message begins; empty where it was given whole.
    private let place: String
    /// Found and wanted.
    private let problem: String
    /// The byte offset in the input, from zero, where there is one.
    public let offset: Int?
    /// The path to the value, `$.orders[2].price`, where there is one; in a stream it begins at the
    /// record.
    ///
    /// Of a text that ends or breaks off it leads to the value that is open there or came last. Names
    /// that are not plain ASCII are escaped, long ones and long paths shortened.
    public let path: String?
    /// The number of the record in a stream, from one, where there is one.
    public let record: Int?

    /// Makes an error; `message` must not hold a value of the input.
    public init(
        code: Code, message: String, offset: Int? = nil, path: String? = nil, record: Int? = nil
    ) {
        self.init(
            code: code, place: "", problem: message, offset: offset, path: path, record: record)
    }

    /// Makes an error whose message begins with its place.
    init(
        code: Code, place: String, problem: String, offset: Int? = nil, path: String? = nil,
        record: Int? = nil
    ) {
        self.code = code
        self.place = place
        self.problem = problem
        self.offset = offset
        self.path = path
        self.record = record
    }

    /// The message with the offset alone, for inputs whose member names are not to be told either.
    package var messageWithoutNames: String {
        (offset.map { "at byte \($0): " } ?? "") + problem
    }

    /// The message; the path and the offset are part of it.
    public var description: String { message }
}

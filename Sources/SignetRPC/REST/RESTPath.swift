import SignetBase

/// The path of a REST resource, written as a string with values: `"/orders/\(id)/items"`.
///
/// Literal text is used unchanged. Each interpolated value is percent-encoded (RFC 6570, section
/// 3.2.2), so it cannot add a segment, a query or a fragment. A value that would make its segment
/// empty, `.` or `..` cannot be escaped and is refused.
public struct RESTPath: Sendable, Hashable, ExpressibleByStringInterpolation {
    private var text = ""
    /// The path with `{}` in place of each value, for logs.
    package private(set) var template = ""
    private var problem: String?

    /// Creates an empty path: the service's own URL.
    public init() {}

    /// Creates a path from escaped text.
    init(escaped text: String) { (self.text, template) = (text, "{}") }

    /// Creates a path from a literal. Put text that isn't a literal into an interpolation.
    public init(stringLiteral text: String) { (self.text, template) = (text, text) }

    /// Creates a path with interpolated values.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.path }

    /// Returns whether both are the same path, however its values were given.
    public static func == (left: Self, right: Self) -> Bool {
        sameBytes(left.text, right.text) && left.problem == right.problem
    }

    /// Hashes the path.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Returns the path with a segment added that contains only `value`.
    public func appending(segment value: String) -> RESTPath {
        var path = self
        if path.text.utf8.last != UInt8(ascii: "/") { path.append(literal: "/") }
        path.append(value: value)
        return path
    }

    /// Returns the escaped path, beginning with `/`; empty if it adds nothing to the service's URL.
    ///
    /// - Throws: `PayloadError` with code `invalid-path`. The message contains no value.
    public func encoded() throws(PayloadError) -> String {
        if let problem { throw .invalidPath(problem) }
        try Self.check(text)
        return text
    }

    /// Collects the pieces of a path with interpolated values.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var path = RESTPath()

        /// Creates an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends literal text, unchanged.
        public mutating func appendLiteral(_ literal: String) { path.append(literal: literal) }

        /// Appends a value: text, a number or a boolean.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            path.append(value: value.description)
        }
    }

    mutating func append(literal: String) {
        text += literal
        template += literal
    }

    mutating func append(value: String) {
        if value.isEmpty, problem == nil {
            problem = "a value is empty, which would name another resource"
        }
        text += PercentCoding.encoded(value)
        template += "{}"
    }

    /// Appends the values of one expression, separated by commas.
    mutating func append(values: [String]) {
        if values.isEmpty || values.contains("") { return append(value: "") }
        text += values.map { PercentCoding.encoded($0) }.joined(separator: ",")
        template += "{}"
    }

    private static let allowed = ASCIISet(lettersDigitsAnd: "-._~!$&'()*+,;=:@/")

    /// Refuses invalid paths (RFC 3986, section 3.3), and those that a server would resolve to
    /// another one.
    private static func check(_ text: String) throws(PayloadError) {
        guard !text.isEmpty else { return }
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "/") else {
            throw .invalidPath("it doesn't begin with /")
        }
        guard bytes.count <= 16384 else { throw .invalidPath("it is longer than 16384 bytes") }
        guard bytes.count < 2 || bytes[1] != UInt8(ascii: "/") else {
            throw .invalidPath("it begins with two slashes, like a host")
        }
        for (index, byte) in bytes.enumerated() where !allowed.contains(byte) {
            guard byte != UInt8(ascii: "?") else {
                throw .invalidPath(
                    "found \"?\" at byte \(index); write the parameters as `query:`")
            }
            guard byte == UInt8(ascii: "%") else {
                throw .invalidPath("byte \(index) is not allowed unescaped in a path")
            }
            guard bytes.hasPercentEscape(at: index) else {
                throw .invalidPath("found \"%\" without two hexadecimal digits at byte \(index)")
            }
        }
        for segment in text.split(separator: "/")
        where segment.first == "." || segment.first == "%" {
            let plain = segment.lowercased().replacing("%2e", with: ".")
            guard plain != ".", plain != ".." else {
                throw .invalidPath("a segment is . or .., which would name another resource")
            }
        }
    }
}

extension PayloadError {
    static func invalidPath(_ what: String) -> PayloadError {
        PayloadError(.invalidPath, "the path is invalid: \(what)")
    }
}

/// The path of a REST resource, in which a value can be nothing but a value.
///
/// It is written as a string: `"/orders/\(id)/items"`. What stands there literally is the path's own;
/// what is interpolated is percent-encoded whole (RFC 6570, section 3.2.2), so that no value adds a
/// segment, a query or a fragment. A value that would leave its segment empty or make it `.` or `..`
/// cannot be escaped, and is refused.
public struct RESTPath: Sendable, Hashable, ExpressibleByStringInterpolation {
    private var text = ""
    private var defect: String?

    /// The service's own URL, with nothing added.
    public init() {}

    /// A path that is escaped already.
    init(escaped text: String) { self.text = text }

    /// A path without values; a text that is not written in the program belongs in an interpolation.
    public init(stringLiteral text: String) { self.text = text }

    /// A path with values.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.path }

    /// Adds a segment that is one value.
    public func appending(segment value: String) -> RESTPath {
        var path = self
        path.text += path.text.utf8.last == UInt8(ascii: "/") ? "" : "/"
        path.append(value: value)
        return path
    }

    /// The path, escaped, beginning with `/`; empty where nothing is added to the service's URL.
    ///
    /// - Throws: `RPCError` with code `invalid-path`; a value is not repeated.
    public func encoded() throws(RPCError) -> String {
        if let defect { throw .invalidPath(defect) }
        try Self.check(text)
        return text
    }

    /// Collects the pieces of a path that is written with values.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var path = RESTPath()

        /// Begins a path.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Takes what stands there literally, escapes and slashes and all.
        public mutating func appendLiteral(_ literal: String) { path.text += literal }

        /// Takes a value: text, a number or a boolean.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            path.append(value: value.description)
        }
    }

    mutating func append(literal: String) { text += literal }

    mutating func append(value: String) {
        if value.isEmpty, defect == nil {
            defect = "a value is empty, which would name another resource"
        }
        text += PercentEncoding.encode(value)
    }

    /// Adds values of one expression, which stand with commas between.
    mutating func append(values: [String]) {
        if values.isEmpty || values.contains("") { return append(value: "") }
        text += values.map(PercentEncoding.encode).joined(separator: ",")
    }

    /// Refuses what is no path (RFC 3986, section 3.3), and what a server would resolve to another one.
    private static func check(_ text: String) throws(RPCError) {
        guard !text.isEmpty else { return }
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "/") else {
            throw .invalidPath("it begins with another character than /")
        }
        guard bytes.count <= 16384 else { throw .invalidPath("it is longer than 16384 bytes") }
        guard bytes.count < 2 || bytes[1] != UInt8(ascii: "/") else {
            throw .invalidPath("it begins with two slashes, as a host does")
        }
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = bytes.dropFirst(index + 1).prefix(2)
                guard digits.count == 2,
                    digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
                else { throw .invalidPath("a percent sign at byte \(index) begins no escape") }
            case _
            where PercentEncoding.isAlphanumeric(byte) || "-._~!$&'()*+,;=:@/".utf8.contains(byte):
                break
            default:
                throw .invalidPath("byte \(index) is none that a path holds as it stands")
            }
        }
        for segment in text.split(separator: "/") {
            let plain = segment.lowercased().replacing("%2e", with: ".")
            guard plain != ".", plain != ".." else {
                throw .invalidPath("a segment is . or .., which would name another resource")
            }
        }
    }
}

extension RPCError {
    static func invalidPath(_ what: String) -> RPCError {
        RPCError(code: .invalidPath, message: "the path cannot be used: \(what)")
    }
}

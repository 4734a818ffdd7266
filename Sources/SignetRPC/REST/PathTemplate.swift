import SignetBase
public import SignetJSON

/// A path with named places for values, such as `/orders/{id}/items/{item}` (RFC 6570, simple
/// expansion).
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
///
/// let template: PathTemplate = "/orders/{id}/items/{item}"
/// let path = try template.expanded(["id": 7, "item": "a/b"])  // "/orders/7/items/a%2Fb"
/// ```
///
/// `{a,b}` takes two values and `{list}` an array, joined by commas. `*`, `:N`, reserved expansion
/// and all other operators are refused, because with them a value could leave its place.
public struct PathTemplate: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible
{
    private enum Piece: Sendable, Hashable {
        case literal(String)
        case names([String])

        var names: [String] { if case .names(let names) = self { names } else { [] } }
    }

    private let pieces: [Piece]
    /// Whether the template is a path without a value. It has no pieces then, because an endpoint
    /// makes its template for each call.
    private let isPlain: Bool
    /// The template's text.
    public let description: String
    /// The error of a literal that isn't a valid template; nil for any other template.
    private var problem: PayloadError?

    /// Parses a template.
    ///
    /// - Throws: `PayloadError` with code `invalid-path` that names the invalid part.
    public init(_ text: String) throws(PayloadError) {
        description = text
        isPlain = Self.isPlain(text)
        guard !isPlain else {
            pieces = []
            return
        }
        var pieces: [Piece] = []
        var rest = text[...]
        while let brace = rest.utf8.firstIndex(where: Self.isBrace) {
            guard rest.utf8[brace] == UInt8(ascii: "{"),
                let end = rest.utf8[brace...].firstIndex(of: UInt8(ascii: "}"))
            else { throw .invalidPath("found an unmatched brace in the template") }
            if brace > rest.startIndex { pieces.append(.literal(String(rest[..<brace]))) }
            pieces.append(.names(try Self.names(rest[rest.utf8.index(after: brace)..<end])))
            rest = rest[rest.utf8.index(after: end)...]
        }
        if !rest.isEmpty { pieces.append(.literal(String(rest))) }
        self.pieces = pieces
        // With valid values the template must expand to a valid path.
        _ = try expanded { (_) throws(PayloadError) -> [String] in ["x"] }
    }

    /// Creates a template from a literal. An invalid literal makes each expansion throw.
    ///
    /// For text that isn't a literal use `init(_:)`, which throws at once.
    public init(stringLiteral text: String) {
        do throws(PayloadError) {
            try self.init(text)
        } catch {
            self.init(invalid: text, problem: error)
        }
    }

    private init(invalid text: String, problem: PayloadError) {
        description = text
        (pieces, isPlain) = ([], false)
        self.problem = problem
    }

    /// The names in the template's order.
    public var names: [String] {
        pieces.flatMap(\.names)
    }

    /// Returns the path with values in place of the names: strings, numbers, booleans or arrays of
    /// them.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` if a name has no value or one of another
    ///   type, or `invalid-path` if a value is empty or makes a dot segment.
    public func expanded(_ values: JSONObject) throws(PayloadError) -> String {
        if let problem { throw problem }
        return try expanded { (name) throws(PayloadError) -> [String] in
            guard let value = values[name] else {
                throw .invalidParameters("the path's \(quoted(name)) has no value")
            }
            return try value.texts(of: "the path's", named: name)
        }
    }

    /// Returns the path with the parameters' values in place of the names, and the remaining
    /// parameters.
    ///
    /// - Parameters:
    ///   - parameters: By name; nil if there aren't any.
    ///   - keepsUsed: Whether the parameters in the path also remain.
    /// - Throws: As `expanded(_:)`; `invalid-params` also for parameters by position, if the path
    ///   names any.
    package func filled(
        from parameters: RPCParameters?, keepingUsed keepsUsed: Bool = false
    ) throws(PayloadError) -> (path: String, rest: RPCParameters?) {
        guard !isPlain else { return (description, parameters) }
        guard case .object(var object)? = parameters else {
            guard names.isEmpty || parameters == nil else {
                throw .invalidParameters(
                    "found parameters by position, expected them by name for the path")
            }
            return (try expanded([:]), parameters)
        }
        let path = try expanded(object)
        guard !keepsUsed, !names.isEmpty else { return (path, parameters) }
        for name in names { object[name] = nil }
        return (path, object.isEmpty ? nil : .object(object))
    }

    private func expanded(
        _ values: (String) throws(PayloadError) -> [String]
    ) throws(PayloadError) -> String {
        if isPlain { return description }
        var path = RESTPath()
        for piece in pieces {
            switch piece {
            case .literal(let text): path.append(literal: text)
            case .names(let names):
                var all: [String] = []
                for name in names {
                    let some = try values(name)
                    all += some.isEmpty ? [""] : some
                }
                path.append(values: all)
            }
        }
        return try path.encoded()
    }

    private static let nameCharacters = ASCIISet(lettersDigitsAnd: "_.-")
    /// Those that a path has unescaped; without the dot, two of which would be a segment that leads
    /// elsewhere.
    private static let plainBytes = ASCIISet(lettersDigitsAnd: "_-~/")

    private static func isPlain(_ text: String) -> Bool {
        text.startsWithBytes(of: "/") && !text.startsWithBytes(of: "//") && text.utf8.count < 1024
            && text.utf8.allSatisfy { plainBytes.contains($0) }
    }

    private static func isBrace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
    }

    private static func names(_ expression: Substring) throws(PayloadError) -> [String] {
        let names = expression.split(separator: ",", omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(nameCharacters.contains) })
        else {
            throw .invalidPath(
                "found an expression of other characters than letters, digits, _, . and - in the "
                    + "template; operators and modifiers are not supported")
        }
        return names.map(String.init)
    }
}

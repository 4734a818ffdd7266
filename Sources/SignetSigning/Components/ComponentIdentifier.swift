import SignetBase

/// A component of a message that a signature covers (RFC 9421, section 2): a lower-case field name,
/// or a derived component such as `@method`, with parameters.
public struct ComponentIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// One parameter of a component.
    public enum Parameter: Sendable, Hashable {
        /// `sf`: the field is structured and signed in its strict serialization (section 2.1.1).
        case sf
        /// `key`: one member of a dictionary field (section 2.1.2).
        case key(String)
        /// `bs`: each line of the field as base64 (section 2.1.3).
        case bs
        /// `tr`: the field is a trailer (section 2.1.4).
        case tr
        /// `req`: the component is taken from the related request of a response (section 2.4).
        case req
        /// `name`: one query parameter, form-encoded (section 2.2.8).
        case name(String)
    }

    /// The name without quotes.
    public let name: String
    /// The parameters in the order of writing; most components have none.
    public let parameters: [Parameter]
    let nameBytes: [UInt8]
    let source: Source
    /// The same for components that differ only in the order of their parameters.
    private let identity: [UInt8]

    /// The source of a component's value. The raw values are the names of derived components.
    enum Source: String, Sendable, CaseIterable {
        case method = "@method"
        case authority = "@authority"
        case scheme = "@scheme"
        case targetURI = "@target-uri"
        case requestTarget = "@request-target"
        case path = "@path"
        case query = "@query"
        case queryParameter = "@query-param"
        case status = "@status"
        case field
    }

    /// Creates a component identifier.
    ///
    /// - Parameters:
    ///   - name: A field name in lower case, or one of `@method`, `@authority`, `@scheme`,
    ///     `@target-uri`, `@request-target`, `@path`, `@query`, `@query-param` and `@status`.
    ///   - parameters: The parameters in the order of writing.
    /// - Throws: `SigningError`: `unsupported-component` for another derived component, and for a
    ///   parameter that the component doesn't allow or that can't be combined with another;
    ///   `malformed-component` for a name that isn't a lower-case token, for a repeated parameter,
    ///   and for an invalid `key` or `name`.
    public init(_ name: String, parameters: [Parameter] = []) throws(SigningError) {
        let nameBytes = Array(name.utf8)
        let source: Source
        if nameBytes.first == ASCII.at {
            guard let derived = Source.named(name) else {
                throw SigningError(
                    .unsupportedComponent,
                    nameBytes.allSatisfy { $0.isToken || $0 == ASCII.at }
                        ? "\(name) cannot be covered: expected a field or one of "
                            + Source.allCases.map(\.rawValue).filter { $0 != "field" }
                            .sorted().joined(separator: " ")
                        : "found an unknown derived component")
            }
            source = derived
        } else {
            guard !nameBytes.isEmpty,
                nameBytes.allSatisfy({ $0.isToken && $0.lowercased == $0 })
            else {
                throw SigningError(
                    .malformedComponent, "a covered field's name isn't a token in lower case")
            }
            source = .field
        }
        try Self.check(parameters, of: name, source: source)
        self.init(source, name: name, parameters: parameters)
    }

    private init(_ source: Source, name: String, parameters: [Parameter] = []) {
        self.name = name
        self.nameBytes = Array(name.utf8)
        self.source = source
        self.parameters = parameters
        self.identity =
            parameters.isEmpty
            ? nameBytes
            : parameters.map(\.serialized).sorted { $0.lexicographicallyPrecedes($1) }
                .reduce(nameBytes, +)
    }

    /// Creates a field's identifier from a name that is known to be a token in lower case.
    init(field name: String) {
        self.init(.field, name: name)
    }

    /// The same field as a trailer. Drops other parameters.
    var inTrailers: ComponentIdentifier {
        ComponentIdentifier(source, name: name, parameters: [.tr])
    }

    /// Creates the identifier of a derived component.
    init(derived source: Source) {
        self.init(source, name: source.rawValue)
    }

    /// The identifier as written in RFC 9421: the name in quotes, then the parameters.
    public var description: String { String(decoding: serialized, as: UTF8.self) }

    /// The bytes of `description`.
    var serialized: [UInt8] {
        var text: [UInt8] = []
        text.append(quoted: nameBytes)
        return parameters.map(\.serialized).reduce(text, +)
    }

    /// The identifier as written in lists (``list(parsing:)``): the bare name, or the form of RFC
    /// 9421 if there are parameters.
    public var listed: String { parameters.isEmpty ? name : description }

    /// Whether both identify the same component. The order of parameters doesn't matter (RFC 9421,
    /// section 2).
    public static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

    /// Hashes the values that `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension ComponentIdentifier {
    var isStrict: Bool { parameters.contains(.sf) }
    var isBinary: Bool { parameters.contains(.bs) }
    var isTrailer: Bool { parameters.contains(.tr) }
    var isOfRequest: Bool { parameters.contains(.req) }

    /// The value of `key`.
    var key: String? {
        for case .key(let key) in parameters { return key }
        return nil
    }

    /// The value of `name`.
    var queryName: String? {
        for case .name(let name) in parameters { return name }
        return nil
    }

    /// Whether a signature over this component also fixes the value of another one, both without
    /// parameters. `@target-uri` includes scheme, authority, path and query; `@request-target`
    /// includes path and query.
    func includes(_ other: ComponentIdentifier) -> Bool {
        if self == other { return true }
        guard parameters.isEmpty, other.parameters.isEmpty else { return false }
        switch source {
        case .targetURI: return [.scheme, .authority, .path, .query].contains(other.source)
        case .requestTarget: return [.path, .query].contains(other.source)
        default: return false
        }
    }

    private static func check(
        _ parameters: [Parameter], of name: String, source: Source
    ) throws(SigningError) {
        guard !parameters.isEmpty || source == .queryParameter else { return }
        var seen: Set<String> = []
        for parameter in parameters {
            guard seen.insert(parameter.word).inserted else {
                throw SigningError(
                    .malformedComponent, "\(name): found the parameter \(parameter.word) twice")
            }
            try parameter.check(name)
        }
        func refuse(_ word: String, because reason: String) throws(SigningError) {
            guard seen.contains(word) else { return }
            throw SigningError(.unsupportedComponent, "\(name): \(word) \(reason)")
        }
        if source == .field {
            try refuse("name", because: "is only for @query-param")
            if seen.contains("bs") {
                try refuse("sf", because: "cannot be combined with bs")
                try refuse("key", because: "cannot be combined with bs")
            }
            return
        }
        for word in ["sf", "key", "bs", "tr"] { try refuse(word, because: "is only for fields") }
        if source == .status { try refuse("req", because: "names a request, which has no status") }
        guard source == .queryParameter else {
            return try refuse("name", because: "is only for @query-param")
        }
        guard seen.contains("name") else {
            throw SigningError(
                .malformedComponent, "@query-param: expected a name, such as ;name=\"q\"")
        }
    }
}

extension ComponentIdentifier.Parameter {
    /// The parameter's name.
    var word: String {
        switch self {
        case .sf: "sf"
        case .key: "key"
        case .bs: "bs"
        case .tr: "tr"
        case .req: "req"
        case .name: "name"
        }
    }

    /// The parameter with its semicolon, as written in RFC 9651.
    var serialized: [UInt8] {
        var text = [ASCII.semicolon] + word.utf8
        switch self {
        case .sf, .bs, .tr, .req: break
        case .key(let value), .name(let value):
            text.append(ASCII.equals)
            text.append(quoted: value.utf8)
        }
        return text
    }

    fileprivate func check(_ component: String) throws(SigningError) {
        switch self {
        case .sf, .bs, .tr, .req: return
        case .key(let key):
            guard Array(key.utf8).isKey else {
                throw SigningError(
                    .malformedComponent, "\(component): expected a key of RFC 9651, section 3.1.2")
            }
        case .name(let name):
            guard FormURLEncoding.isEncoded(Array(name.utf8)) else {
                throw SigningError(
                    .malformedComponent,
                    "\(component): expected a form-encoded name, with %20 for a space")
            }
        }
    }
}

/// A list of at most ``ComponentIdentifier/maximumCount`` different components.
struct DistinctComponents {
    private(set) var list: [ComponentIdentifier] = []
    private var seen: Set<ComponentIdentifier> = []

    init() {}

    /// Creates a list. Checks its length first.
    ///
    /// - Throws: `SigningError` with `malformed-component` if the list is too long, and with
    ///   `duplicate-component`.
    init(_ components: [ComponentIdentifier]) throws(SigningError) {
        guard components.count <= ComponentIdentifier.maximumCount else {
            throw ComponentIdentifier.tooMany(components.count)
        }
        for component in components { try add(component) }
    }

    /// Appends a component that isn't in the list yet.
    mutating func add(_ component: ComponentIdentifier) throws(SigningError) {
        guard list.count < ComponentIdentifier.maximumCount else {
            throw ComponentIdentifier.tooMany(list.count + 1)
        }
        guard seen.insert(component).inserted else {
            throw SigningError(.duplicateComponent, "\(component.listed) is listed twice")
        }
        list.append(component)
    }
}

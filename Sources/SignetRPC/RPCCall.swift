import SignetBase
public import SignetJSON

/// The name of a remote method; with REST, the HTTP method.
///
/// Names are case-sensitive and compare as bytes.
public struct RPCMethod: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, as it is sent.
    public let name: String

    /// Creates a method from its name.
    public init(_ name: String) { self.name = name }

    /// Creates a method from a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// Whether the name begins with `rpc.`, which JSON-RPC 2.0, section 4, reserves.
    public var isReserved: Bool { name.utf8.starts(with: "rpc.".utf8) }

    /// The name.
    public var description: String { name }

    /// Compares the names' bytes.
    public static func == (left: RPCMethod, right: RPCMethod) -> Bool {
        sameBytes(left.name, right.name)
    }

    /// Hashes the name's bytes.
    public func hash(into hasher: inout Hasher) { ByteName(name).hash(into: &hasher) }
}

/// A call's parameters, by position or by name. JSON-RPC allows no scalar and no null here.
public enum RPCParameters: Sendable, Hashable {
    /// By position.
    case array([JSONValue])
    /// By name.
    case object(JSONObject)

    /// Creates parameters from an array or an object.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for any other type.
    public init(_ value: JSONValue) throws(PayloadError) {
        switch value {
        case .array(let values): self = .array(values)
        case .object(let object): self = .object(object)
        default:
            throw .invalidParameters(
                "found parameters of type \(value.typeName), expected an array or an object")
        }
    }

    /// Parses parameters from strict JSON text.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` and the byte offset if the text is not
    ///   strict JSON, or neither an array nor an object.
    public init(parsing text: [UInt8]) throws(PayloadError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: text)
        } catch {
            throw .invalidParameters("the parameters are not strict JSON: \(error.message)")
        }
        try self.init(value)
    }

    /// Encodes a value, which must become an array or an object.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - conventions: How dates are written, and how members are named. Defaults to those of the
    ///     call whose `parameters()` encodes the value.
    /// - Throws: `PayloadError` with code `invalid-params` if the value becomes neither an array
    ///   nor an object, or if a part of it can't be encoded. The message names that part's path.
    public init(
        encoding value: some Encodable, conventions: JSONConventions? = nil
    ) throws(PayloadError) {
        try self.init(Self.encoded(value, conventions: conventions))
    }

    /// Whether there are no parameters.
    public var isEmpty: Bool {
        switch self {
        case .array(let values): values.isEmpty
        case .object(let object): object.isEmpty
        }
    }

    /// Returns the parameters by name.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for parameters by position.
    func members(for what: String) throws(PayloadError) -> JSONObject {
        guard case .object(let members) = self else {
            throw .invalidParameters("found parameters by position, expected them by name \(what)")
        }
        return members
    }

    /// The parameter of a name; nil if there is none, or if they are by position.
    public subscript(name: String) -> JSONValue? { json[name] }

    /// The parameters as JSON.
    public var json: JSONValue {
        switch self {
        case .array(let values): .array(values)
        case .object(let object): .object(object)
        }
    }
}

/// A call before it is boxed.
public struct RPCCall: Sendable, Hashable {
    /// The method; with REST, the HTTP method.
    public var method: RPCMethod
    /// The parameters, or nil if there aren't any.
    public var parameters: RPCParameters?
    /// Whether the server must not respond (JSON-RPC 2.0, section 4.1).
    public var isNotification: Bool
    /// The content of the response that the caller can read; JSON-RPC has only JSON.
    public var responseContent = ResponseContent.json

    /// Creates a call.
    public init(
        _ method: RPCMethod, parameters: RPCParameters? = nil, isNotification: Bool = false
    ) {
        self.method = method
        self.parameters = parameters
        self.isNotification = isNotification
    }
}

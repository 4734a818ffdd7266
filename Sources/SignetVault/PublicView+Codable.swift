internal import SignetBase
public import SignetJSON

extension PublicView {
    /// A public key, with what its value is where one is set.
    public struct Entry: Sendable, Hashable {
        /// What the schema says of the key.
        public let key: Schema.Key
        /// The value as it stood in its input; nil where no input set it.
        public let value: JSONValue?
        /// Where the value came from; nil where there is none.
        public let origin: ConfigurationOrigin?
    }

    /// Every public key, in the order of the schema, also those without a value.
    public var entries: [Entry] {
        checked.map { rule, value in
            Entry(
                key: Schema.Key(rule), value: value?.json,
                origin: origins[rule.name]?.string.flatMap(ConfigurationOrigin.init))
        }
    }

    /// How the keys' dotted names become the names of members.
    public enum MemberNames: Sendable, Hashable {
        /// Each dot opens an object: `orders.timeout` is the member `timeout` of the member `orders`.
        case nested
        /// The whole name is one member: `case timeout = "orders.timeout"` in the type's `CodingKeys`.
        case flat
    }

    /// Decodes the public values, or those behind a prefix, as a type of the program's own.
    ///
    /// ```swift
    /// struct Orders: Decodable { var baseURL: ConfigurationURL; var timeout: Duration; var attempts: Int? }
    /// let orders = try configuration.public.decode(Orders.self, at: "services.orders")
    /// ```
    ///
    /// A value is decoded as what a typed key reads: a duration as `Duration`, a URL as
    /// `ConfigurationURL` or `String`, bytes as `[UInt8]`, a number as `Double` or `DecimalNumber`. Secret keys
    /// are not there: a member that asks for one is missing.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - prefix: Only keys that begin with it and a dot, without both; nil is all.
    ///   - names: How names with dots are taken.
    /// - Returns: The decoded value.
    /// - Throws: `missing-value` where a member has no value; `wrong-type` where a value does not fit, or
    ///   one key's name is the beginning of another's, so that it would have to be a value and an
    ///   object at once. The message names the member, never a value.
    public func decode<Value: Decodable>(
        _ type: Value.Type, at prefix: String? = nil, names: MemberNames = .nested
    ) throws(VaultError) -> Value {
        var root = Branch()
        for (rule, value) in checked {
            guard let value, let name = Self.name(rule.name, behind: prefix) else { continue }
            let path =
                names == .flat
                ? [name]
                : name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard root.insert(value.codableForm, at: path[...]) else {
                throw VaultError(
                    .wrongType,
                    "key \(quoted(rule.name)): its name and another key's cannot both be nested "
                        + "objects; decode with flat names")
            }
        }
        do throws(JSONError) {
            return try StrictJSONDecoder().decode(type, from: .object(root.object))
        } catch {
            throw VaultError(
                error.code == .missingMember ? .missingValue : .wrongType,
                "the public view as \(Value.self): \(error.message)")
        }
    }

    private static func name(_ name: String, behind prefix: String?) -> String? {
        guard let prefix else { return name }
        let bytes = name.utf8
        guard bytes.starts(with: "\(prefix).".utf8) else { return nil }
        return String(name[bytes.index(bytes.startIndex, offsetBy: prefix.utf8.count + 1)...])
    }

    /// An object that is being put together of dotted names.
    private struct Branch {
        private enum Member {
            case value(JSONValue)
            case branch(Branch)
        }

        private var members: [ByteName: Member] = [:]
        private var order: [ByteName] = []

        /// False where a value stands where an object must be, or the other way round.
        mutating func insert(_ value: JSONValue, at path: ArraySlice<String>) -> Bool {
            guard let first = path.first.map(ByteName.init) else { return false }
            if path.count == 1 {
                guard members[first] == nil else { return false }
                members[first] = .value(value)
                order.append(first)
                return true
            }
            var branch = Branch()
            switch members[first] {
            case .value?: return false
            case .branch(let present)?: branch = present
            case nil: order.append(first)
            }
            members[first] = nil
            let isInserted = branch.insert(value, at: path.dropFirst())
            members[first] = .branch(branch)
            return isInserted
        }

        var object: JSONObject {
            JSONObject(
                order.map { name in
                    switch members[name] {
                    case .value(let value)?: (name.text, value)
                    case .branch(let branch)?: (name.text, .object(branch.object))
                    case nil: (name.text, .null)
                    }
                })
        }
    }
}

extension PublicView: Encodable {
    /// Encodes the public values by their whole names, each as it stood in its input.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(values).encode(to: encoder)
    }
}

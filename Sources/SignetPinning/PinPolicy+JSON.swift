import SignetBase
import SignetJSON

extension PinPolicy {
    /// Reads a policy document, and refuses every member and value that it doesn't know.
    ///
    /// ```swift
    /// let document = """
    ///     {
    ///       "hosts": {
    ///         "api.example.com": {
    ///           "pins": [
    ///             "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
    ///             "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="
    ///           ],
    ///           "includeSubdomains": true, "expires": "2027-06-30", "mode": "report"
    ///         },
    ///         "status.example.com": {"exclude": true}
    ///       },
    ///       "unlisted": "refuse"
    ///     }
    ///     """
    /// let policy = try PinPolicy(parsing: Array(document.utf8))
    /// print(policy.rules.map(\.pattern))
    /// ```
    ///
    /// `unlisted` is `refuse` (the default) or `allow`. A rule has `pins` or `"exclude": true`.
    /// `mode` is `enforce` (the default) or `report`, `afterExpiry` is `refuse` (the default) or
    /// `allow`. `caFile` names a file of CAs, which for the rule's hosts replace the CAs that are
    /// trusted for all hosts. With `"caMode": "add"` both are trusted.
    ///
    /// - Parameters:
    ///   - bytes: The whole JSON text.
    ///   - directory: The directory that a relative `caFile` starts from, usually that of the
    ///     policy's file; nil refuses policies with a `caFile`.
    /// - Throws: `PinError` with code `unreadable-file` for a CA file that can't be read, otherwise
    ///   with code `malformed-policy`. The message names the host.
    public init(parsing bytes: [UInt8], filesIn directory: String? = nil) throws(PinError) {
        let document = try Self.document(parsing: bytes)
        let top = try Self.object(document, named: "the pin policy", members: Self.policyMembers)
        guard let hosts = top["hosts"] else {
            throw Self.malformed("the pin policy has no member \"hosts\"")
        }
        let unlisted = try Self.choice("unlisted", of: top, default: Unlisted.refuse)
        guard let entries = hosts.object else {
            throw Self.malformed("\"hosts\": found \(hosts.shown), expected an object")
        }
        var files = AuthorityFiles(directory: directory)
        let rules = try entries.enumerated().map { (position, entry) throws(PinError) in
            try Self.rule(
                for: entry.name, from: entry.value, position: position + 1, files: &files)
        }
        try self.init(rules: rules, unlisted: unlisted)
    }

    /// Parses a document as strict JSON.
    static func document(parsing bytes: [UInt8]) throws(PinError) -> JSONValue {
        do {
            return try JSONValue(parsing: bytes, maximumDepth: 16)
        } catch {
            throw malformed("the pin policy isn't valid JSON: \(error.message)")
        }
    }

    static let policyMembers = ["hosts", "unlisted"]
    static let ruleMembers = [
        "pins", "includeSubdomains", "expires", "afterExpiry", "mode", "exclude", "caFile",
        "caMode",
    ]
    /// The members that a rule with `"exclude": true` can't have.
    static let pinMembers = ["pins", "expires", "afterExpiry", "mode"]

    /// The CA files of one policy. Reads each file once.
    private struct AuthorityFiles {
        let directory: String?
        var known: [PinAuthorities] = []

        mutating func read(
            _ file: String, mode: PinAuthorities.Mode
        ) throws(PinError) -> PinAuthorities {
            if let same = known.first(where: { sameBytes($0.file, file) && $0.mode == mode }) {
                return same
            }
            guard let directory else {
                throw malformed("\"caFile\" is allowed only in a policy that is read from a file")
            }
            let names = Set(known.map { ByteName($0.file) } + [ByteName(file)])
            guard names.count <= PinAuthorities.maximumFileCount else {
                throw malformed(
                    "found more than \(PinAuthorities.maximumFileCount) CA files, the limit of a"
                        + " policy")
            }
            let read = try PinAuthorities(file: file, mode: mode, in: directory)
            known.append(read)
            return read
        }
    }

    private static func authorities(
        of members: JSONObject, files: inout AuthorityFiles
    ) throws(PinError) -> PinAuthorities? {
        let mode = try choice("caMode", of: members, default: PinAuthorities.Mode.replace)
        return try authorityFile(of: members).map { (file) throws(PinError) in
            try files.read(file, mode: mode)
        }
    }

    /// Returns the path of a rule's CA file.
    static func authorityFile(of members: JSONObject) throws(PinError) -> String? {
        guard let file = try text("caFile", of: members) else {
            guard members["caMode"] == nil else {
                throw malformed("\"caMode\" needs a \"caFile\"")
            }
            return nil
        }
        guard !file.isEmpty, !file.utf8.contains(0) else {
            throw malformed("\"caFile\": expected the path of a file")
        }
        return file
    }

    private static func rule(
        for key: String, from value: JSONValue, position: Int, files: inout AuthorityFiles
    ) throws(PinError) -> PinRule {
        // The key may contain user info, which messages never repeat.
        let place =
            key.utf8.contains(UInt8(ascii: "@"))
            ? "entry \(position) of \"hosts\"" : "host \"\(key)\""
        do throws(PinError) {
            let members = try object(value, named: "the entry", members: ruleMembers)
            let includesSubdomains = try flag("includeSubdomains", of: members)
            let authorities = try authorities(of: members, files: &files)
            if try flag("exclude", of: members) {
                for name in pinMembers where members[name] != nil {
                    throw malformed("\"\(name)\" isn't allowed together with \"exclude\":true")
                }
                return try PinRule(
                    excluding: key, includesSubdomains: includesSubdomains,
                    authorities: authorities)
            }
            return try PinRule(
                host: key, pins: try pins(from: members["pins"]),
                includesSubdomains: includesSubdomains, expires: try text("expires", of: members),
                afterExpiry: try choice("afterExpiry", of: members, default: .refuse),
                mode: try choice("mode", of: members, default: .enforce),
                authorities: authorities)
        } catch {
            throw PinError(
                error.code == .unreadableFile ? .unreadableFile : .malformedPolicy,
                "\(place): \(error.message)")
        }
    }

    private static func pins(from value: JSONValue?) throws(PinError) -> [Pin] {
        guard let value else { throw malformed("the entry has no member \"pins\"") }
        guard let items = value.array, !items.isEmpty else {
            throw malformed("\"pins\": expected an array of at least one pin")
        }
        return try items.enumerated().map { (index, item) throws(PinError) in
            guard let text = item.string else {
                throw malformed("pin \(index + 1): found \(item.shown), expected a string")
            }
            do throws(PinError) {
                return try Pin(parsing: text)
            } catch {
                throw malformed("pin \(index + 1): \(error.message)")
            }
        }
    }

    private static func object(_ value: JSONValue, named subject: String, members: [String])
        throws(PinError) -> JSONObject
    {
        guard let object = value.object else {
            throw malformed("\(subject): found \(value.shown), expected an object")
        }
        if object["payload"] != nil, object["protected"] != nil {
            throw malformed(
                "\(subject) is a signed policy: signet pins verify checks it, and prints the policy"
                    + " in it")
        }
        for name in object.memberNames
        where !members.contains(where: { sameBytes($0, name) }) {
            throw malformed(
                "\(subject) has an unknown member \"\(name)\"; the known ones are"
                    + " \(members.joined(separator: ", "))")
        }
        return object
    }

    static func flag(_ name: String, of members: JSONObject) throws(PinError) -> Bool {
        guard let value = members[name] else { return false }
        guard let flag = value.bool else {
            throw malformed("\"\(name)\": found \(value.shown), expected true or false")
        }
        return flag
    }

    private static func text(_ name: String, of members: JSONObject) throws(PinError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else {
            throw malformed("\"\(name)\": found \(value.shown), expected a string")
        }
        return text
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, of members: JSONObject, default standard: Value
    ) throws(PinError) -> Value {
        guard let value = members[name] else { return standard }
        guard let choice = value.string.flatMap(Value.init(rawValue:)) else {
            throw malformed(
                "\"\(name)\": found \(value.shown), expected"
                    + " \(Value.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        return choice
    }

    static func malformed(_ message: String) -> PinError {
        PinError(.malformedPolicy, message)
    }
}

extension JSONValue {
    /// The value for a message: a string in quotation marks and cut short, any other by its type.
    var shown: String {
        switch self {
        case .null: typeName
        case .array, .object: "an \(typeName)"
        case .bool, .number: "a \(typeName)"
        case .string(let text): ExpiryDate.shown(text)
        }
    }
}

internal import SignetJSON

extension PinPolicy {
    /// Reads a policy document (CONTRACT, section 6), strictly.
    ///
    /// - Parameters:
    ///   - bytes: The whole JSON text.
    ///   - directory: The folder of the policy's file, from which a rule's relative `"caFile"` counts;
    ///     nil takes no policy that names files.
    /// - Throws: `PinError` with code `malformed-policy` for whatever the contract does not name: an
    ///   unknown member or value, a bad pin, date or host, a duplicate; `unreadable-file` for a CA file.
    ///   The message names the place.
    public init(parsing bytes: [UInt8], filesIn directory: String? = nil) throws(PinError) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, maximumDepth: 16)
        } catch {
            throw Self.malformed("the pin policy is no strict JSON: \(error.message)")
        }
        let top = try Self.object(document, "the pin policy", members: ["hosts", "unlisted"])
        guard let hosts = top["hosts"] else {
            throw Self.malformed("the pin policy lacks its member \"hosts\"")
        }
        let unlisted = try Self.choice(
            top["unlisted"], "\"unlisted\"", Unlisted.refuse, ["refuse": .refuse, "allow": .allow])
        guard let entries = hosts.object else {
            throw Self.malformed("\"hosts\" is an object, not of type \(hosts.typeName)")
        }
        var rules: [PinRule] = []
        var files = AuthorityFiles(directory: directory)
        for (position, entry) in entries.enumerated() {
            rules.append(try Self.rule(entry.name, entry.value, position: position + 1, &files))
        }
        try self.init(rules: rules, unlisted: unlisted)
    }

    static let ruleMembers = [
        "pins", "includeSubdomains", "expires", "afterExpiry", "mode", "exclude", "caFile",
        "caMode",
    ]

    /// The CA files of one policy, each read once.
    private struct AuthorityFiles {
        let directory: String?
        private var known: [PinAuthorities] = []

        init(directory: String?) { self.directory = directory }

        mutating func read(
            _ file: String, _ mode: PinAuthorities.Mode
        ) throws(PinError) -> PinAuthorities {
            func isOf(_ other: PinAuthorities) -> Bool {
                other.file.utf8.elementsEqual(file.utf8)
            }
            if let same = known.first(where: { isOf($0) && $0.mode == mode }) { return same }
            guard let directory else {
                throw malformed(
                    "\"caFile\" names a file, and this policy is none: only a policy that is read from"
                        + " a file names others")
            }
            let isNew = !known.contains(where: isOf)
            let count = Set(known.map { Array($0.file.utf8) }).count
            guard !isNew || count < PinAuthorities.maximumFileCount else {
                throw malformed(
                    "a policy names at most \(PinAuthorities.maximumFileCount) CA files")
            }
            let read = try PinAuthorities(file: file, mode: mode, in: directory)
            known.append(read)
            return read
        }
    }

    private static func authorities(
        _ members: JSONObject, _ files: inout AuthorityFiles
    ) throws(PinError) -> PinAuthorities? {
        let mode = try choice(
            members["caMode"], "\"caMode\"", PinAuthorities.Mode.replace,
            ["add": .add, "replace": .replace])
        guard let file = try text(members["caFile"], "\"caFile\"") else {
            guard members["caMode"] == nil else {
                throw malformed("\"caMode\" has no place without \"caFile\"")
            }
            return nil
        }
        guard !file.isEmpty, !file.utf8.contains(0) else {
            throw malformed("\"caFile\" is the path of a file")
        }
        return try files.read(file, mode)
    }

    private static func rule(
        _ key: String, _ value: JSONValue, position: Int, _ files: inout AuthorityFiles
    ) throws(PinError) -> PinRule {
        // A key that may hold user info is never repeated.
        let place =
            key.utf8.contains(UInt8(ascii: "@"))
            ? "entry \(position) of \"hosts\"" : "host \"\(key)\""
        do throws(PinError) {
            let members = try object(value, "the entry", members: ruleMembers)
            let below = try flag(members["includeSubdomains"], "\"includeSubdomains\"")
            let authorities = try authorities(members, &files)
            if try flag(members["exclude"], "\"exclude\"") {
                for name in ["pins", "expires", "afterExpiry", "mode"] where members[name] != nil {
                    throw malformed("\"\(name)\" has no place beside \"exclude\":true")
                }
                return try PinRule(
                    excluding: key, includesSubdomains: below, authorities: authorities)
            }
            return try PinRule(
                host: key, pins: try pins(members["pins"]), includesSubdomains: below,
                expires: try text(members["expires"], "\"expires\""),
                afterExpiry: try choice(
                    members["afterExpiry"], "\"afterExpiry\"", .refuse,
                    ["refuse": .refuse, "allow": .allow]),
                mode: try choice(
                    members["mode"], "\"mode\"", .enforce, ["enforce": .enforce, "report": .report]),
                authorities: authorities)
        } catch {
            throw PinError(
                code: error.code == .unreadableFile ? .unreadableFile : .malformedPolicy,
                message: "\(place): \(error.message)")
        }
    }

    private static func pins(_ value: JSONValue?) throws(PinError) -> [Pin] {
        guard let value else { throw malformed("the entry lacks its member \"pins\"") }
        guard let items = value.array, !items.isEmpty else {
            throw malformed("\"pins\" is an array of one pin or more")
        }
        var pins: [Pin] = []
        for (index, item) in items.enumerated() {
            guard let text = item.string else {
                throw malformed("pin \(index + 1) is a string, not of type \(item.typeName)")
            }
            do {
                pins.append(try Pin(parsing: text))
            } catch {
                throw malformed("pin \(index + 1): \(error.message)")
            }
        }
        return pins
    }

    private static func object(_ value: JSONValue, _ what: String, members: [String])
        throws(PinError) -> JSONObject
    {
        guard let object = value.object else {
            throw malformed("\(what) is an object, not of type \(value.typeName)")
        }
        for name in object.memberNames
        where !members.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
            throw malformed(
                "\(what) has an unknown member \"\(name)\"; known are \(members.joined(separator: ", "))"
            )
        }
        return object
    }

    private static func flag(_ value: JSONValue?, _ what: String) throws(PinError) -> Bool {
        guard let value else { return false }
        guard let flag = value.bool else {
            throw malformed("\(what) is true or false, not of type \(value.typeName)")
        }
        return flag
    }

    private static func text(_ value: JSONValue?, _ what: String) throws(PinError) -> String? {
        guard let value else { return nil }
        guard let text = value.string else {
            throw malformed("\(what) is a string, not of type \(value.typeName)")
        }
        return text
    }

    private static func choice<Value>(
        _ value: JSONValue?, _ what: String, _ standard: Value, _ choices: [String: Value]
    ) throws(PinError) -> Value {
        guard let text = try text(value, what) else { return standard }
        guard let choice = choices.first(where: { $0.key.utf8.elementsEqual(text.utf8) }) else {
            throw malformed(
                "\(what) is one of \(choices.keys.sorted().joined(separator: ", ")), not"
                    + " \(ExpiryDate.shown(text))")
        }
        return choice.value
    }

    private static func malformed(_ message: String) -> PinError {
        PinError(code: .malformedPolicy, message: message)
    }
}

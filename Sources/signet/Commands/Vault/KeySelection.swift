#if Tool
import SignetBase
import SignetJSON
import SignetVault

/// The keys that a person chose: each by its name, or as a group by the start of their names.
struct KeySelection {
    /// The words that were typed: `smtp.host` is a key, `smtp.` is every key below it.
    let words: [String]

    /// Returns whether a word is a key's name, not a group that contains it.
    func names(_ key: String) -> Bool { words.contains { sameBytes($0, key) } }

    /// Returns the chosen entries: the words in their order, a group's keys in the dump's order,
    /// each key once.
    ///
    /// - Throws: `no-value` if a key has no value or a group no key; `unknown-config-key` if the
    ///   schema lacks the key.
    func entries(
        in contents: DumpContents, schema: Schema? = nil
    ) throws -> [(name: String, entry: DumpContents.Entry)] {
        var chosen: [(name: String, entry: DumpContents.Entry)] = []
        var seen: Set<ByteName> = []
        for word in words {
            let isGroup = word.utf8.last == ASCII.dot && contents[word] == nil
            let names = isGroup ? Self.keys(below: word, in: contents.names) : [word]
            guard !names.isEmpty else {
                throw ToolError(
                    .noValue,
                    "the dump has no value below \(quoted(word))"
                        + NearestName.suggestion(for: word, among: Self.groups(contents.names)))
            }
            for name in names where seen.insert(ByteName(name)).inserted {
                guard let entry = contents[name] else {
                    throw Self.missing(name, from: contents.names, schema: schema)
                }
                chosen.append((name, entry))
            }
        }
        return chosen
    }

    /// Returns the chosen values, as `entries` does.
    func values(in contents: DumpContents) throws -> JSONObject {
        JSONObject(try entries(in: contents).map { ($0.name, $0.entry.value) })
    }

    /// Returns the error for a key that the schema lacks, with the nearest one that it has.
    static func unknown(_ name: String, among names: [String]) -> VaultError {
        VaultError(
            .unknownConfigKey,
            "\(quoted(name)): not in the schema"
                + NearestName.suggestion(for: name, among: names))
    }

    /// Returns the beginnings of names that end with a dot, once each.
    private static func groups(_ names: [String]) -> [String] {
        var seen: Set<ByteName> = []
        return names.flatMap { name in
            name.utf8.indices.filter { name.utf8[$0] == ASCII.dot }
                .map { String(name[...$0]) }
        }.filter { seen.insert(ByteName($0)).inserted }
    }

    private static func keys(below group: String, in names: [String]) -> [String] {
        names.filter { $0.utf8.count > group.utf8.count && $0.utf8.starts(with: group.utf8) }
    }

    private static func missing(
        _ name: String, from names: [String], schema: Schema?
    ) -> any Error {
        if !keys(below: name + ".", in: names).isEmpty {
            return ToolError(
                .noValue,
                "\(quoted(name)) is the start of other keys; \(quoted(name + ".")) means all of them"
            )
        }
        let known = schema.map(\.keys) ?? names
        if let schema, schema.rule(named: name) == nil { return unknown(name, among: known) }
        let suggestion = NearestName.suggestion(for: name, among: known)
        return ToolError(.noValue, "the dump has no value for \(quoted(name))\(suggestion)")
    }
}
#endif

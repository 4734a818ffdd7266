import SignetBase
package import SignetJSON

/// The keys of a dump, each with its value and origin.
///
/// This is a plain value for comparing, merging and editing. It's checked against a schema only by
/// `requireAllowed(by:)`.
package struct DumpContents: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// A key's value and origin.
    package struct Entry: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        package let value: JSONValue
        package let origin: ConfigurationOrigin

        package init(_ value: JSONValue, from origin: ConfigurationOrigin) {
            self.value = value
            self.origin = origin
        }

        /// The origin, without the value.
        package var description: String { "Entry(\(origin.rawValue), redacted)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// All values, including secret ones.
    package private(set) var values = JSONObject()
    /// The origin of each value.
    package private(set) var origins = JSONObject()
    /// The keys that were changed in the dump itself since it was sealed from a configuration, in
    /// order. A removed key is among them.
    package private(set) var changed: [String] = []
    private var marked: Set<ByteName> = []

    /// Creates contents without keys.
    package init() {}

    /// Creates the contents of an opened dump.
    package init(_ opened: OpenedDump) {
        values = opened.values
        origins = opened.origins
        markChanged(opened.changed)
    }

    /// Creates the contents that a dump of a configuration would have.
    package init(_ configuration: GlobalConfiguration) {
        (values, origins) = configuration.winners
    }

    /// A key's entry. A new entry is appended; nil removes the entry.
    package subscript(name: String) -> Entry? {
        get {
            // Opening has checked that each value has one of the three origins.
            guard let value = values[name],
                let origin = origins[name]?.string.flatMap(ConfigurationOrigin.init)
            else { return nil }
            return Entry(value, from: origin)
        }
        set {
            values[name] = newValue?.value
            origins[name] = newValue.map { .string($0.origin.rawValue) }
        }
    }

    /// The keys that have a value, in order.
    package var names: [String] { values.memberNames }
    /// The number of keys that have a value.
    package var count: Int { values.count }

    /// `"values":{…},"origins":{…}}`, the end of a dump's plaintext.
    var sealedTail: [UInt8] {
        DumpPlaintext.tail(values: values, origins: origins, changed: changed)
    }

    /// Returns whether both have the same keys, values and origins, in any order. Ignores
    /// `changed`.
    package static func == (left: DumpContents, right: DumpContents) -> Bool {
        left.values == right.values && left.origins == right.origins
    }

    /// The number of keys, without the values.
    package var description: String { "DumpContents(\(count) values, redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Changes by hand

extension DumpContents {
    /// Adds keys to those that were changed in the dump itself.
    package mutating func markChanged(_ names: [String]) {
        for name in names where marked.insert(ByteName(name)).inserted { changed.append(name) }
    }

    /// Returns these contents without a key's value.
    package func removing(_ name: String) -> DumpContents {
        guard self[name] != nil else { return self }
        var contents = self
        contents[name] = nil
        contents.markChanged([name])
        return contents
    }

    /// Returns these contents with the changes that were made in another dump: its values of its
    /// `changed` keys. A changed key that has no value there is removed here too.
    ///
    /// - Throws: `would-lose-changes`, naming each key whose value the schema no longer allows;
    ///   `would-lose-values`, naming each other key that has a value only there.
    func keepingChanges(
        of old: DumpContents, allowedBy schema: Schema
    ) throws(VaultError) -> DumpContents {
        var contents = self
        var problems: [VaultError] = []
        for name in old.changed {
            // There is nothing to keep if the value was removed and the schema lacks the key.
            guard old[name] != nil || schema.rule(named: name) != nil else { continue }
            contents[name] = old[name]
            contents.markChanged([name])
            do throws(VaultError) {
                try contents.requireAllowed(name, by: schema)
            } catch {
                problems.append(
                    VaultError(
                        .wouldLoseChanges,
                        "\(quoted(name)) was changed in the dump, and the schema no longer allows "
                            + "its value (\(error.message))", key: name))
            }
        }
        try problems.throwJoined()
        problems = contents.namesWithoutValue(of: old.names).filter { !old.isChanged($0) }.map {
            VaultError(
                .wouldLoseValues,
                "\(quoted($0)) has a value in the dump, and this run gives none", key: $0)
        }
        try problems.throwJoined()
        return contents
    }

    /// Returns whether a key was changed in the dump itself.
    package func isChanged(_ name: String) -> Bool { marked.contains(ByteName(name)) }

    /// Returns those of some keys that have no value.
    package func namesWithoutValue(of names: [String]) -> [String] {
        names.filter { self[$0] == nil }
    }

    /// Returns the keys of an older dump whose value, or change by hand, these contents lack.
    func droppedNames(of old: DumpContents) -> [String] {
        let changed = old.changed.filter { !isChanged($0) && self[$0] != old[$0] }
        return namesWithoutValue(of: old.names.filter { !changed.contains($0) }) + changed
    }

    /// Checks that the keys that a schema requires have a value.
    ///
    /// - Throws: `missing-value`, naming each key that has none.
    func requireValues(
        of schema: Schema, in place: String = "the configuration"
    ) throws(VaultError) {
        try schema.requireValues(in: place) { self[$0] != nil }
    }

    /// Checks every value and origin against a schema.
    ///
    /// - Throws: As the merging initializer of `GlobalConfiguration`, naming the key and the
    ///   origin; `missing-value`.
    package func requireAllowed(by schema: Schema) throws(VaultError) {
        var problems: [VaultError] = []
        for name in names { problems.collect(try requireAllowed(name, by: schema)) }
        problems.collect(try requireValues(of: schema, in: "the dump"))
        try problems.throwJoined()
    }

    private func requireAllowed(_ name: String, by schema: Schema) throws(VaultError) {
        guard let entry = self[name] else { return }
        let place = "the dump (\(entry.origin.rawValue))"
        _ = try schema.checked(
            .init(name: name, value: entry.value, place: place), from: entry.origin)
    }

    /// Returns these contents with one value changed.
    ///
    /// The value's origin is the given one; else the key's previous origin; else the first of
    /// launch, defaults and fetched that the schema lets set the key. An unchanged value keeps its
    /// origin unless one is given.
    package func setting(
        _ name: String, to value: JSONValue, as origin: ConfigurationOrigin? = nil,
        schema: Schema
    ) -> DumpContents {
        var contents = self
        let old = self[name]
        if let old, old.value == value, origin == nil { return self }
        let allowed = schema.rule(named: name)?.setBy ?? []
        let usual = ([old?.origin].compactMap(\.self) + [.launch, .defaults, .fetched])
            .first(where: allowed.contains)
        let entry = Entry(value, from: origin ?? usual ?? .launch)
        guard entry != old else { return self }
        contents[name] = entry
        contents.markChanged([name])
        return contents
    }

    /// Returns these contents with all values replaced by those that a user wrote. Keys that
    /// `values` lacks are removed; the others are set as by `setting(_:to:as:schema:)`.
    package func replacing(with values: JSONObject, schema: Schema) -> DumpContents {
        var contents = self
        for name in names where values[name] == nil { contents = contents.removing(name) }
        for (name, value) in values {
            contents = contents.setting(name, to: value, schema: schema)
        }
        return contents
    }

    /// Returns these contents in the order of a schema. Keys that the schema lacks come last.
    package func ordered(by schema: Schema) -> DumpContents {
        var contents = DumpContents()
        for name in schema.keys { contents[name] = self[name] }
        for name in names { contents[name] = self[name] }
        contents.markChanged(changed)
        return contents
    }
}

extension KeyRule {
    /// Returns whether a value may be shown: the key is public, and the value passes its rule,
    /// which refuses values that look like a secret.
    package func allowsShowing(_ value: JSONValue) -> Bool {
        isPublic && (try? checked(value, from: "the dump")) != nil
    }
}

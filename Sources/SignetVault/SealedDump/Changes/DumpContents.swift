internal import SignetBase
package import SignetJSON

/// What a dump holds: for each key a value and where it came from.
///
/// A plain value, to be compared, merged and changed by hand. Nothing of it is checked against a
/// schema until `requireAllowed(by:)`.
package struct DumpContents: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// A key's value and origin, which belong together.
    package struct Entry: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        package let value: JSONValue
        package let origin: ConfigurationOrigin

        package init(_ value: JSONValue, _ origin: ConfigurationOrigin) {
            self.value = value
            self.origin = origin
        }

        /// The origin, and not the value.
        package var description: String { "Entry(\(origin.rawValue), redacted)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The keys that have a value, in order.
    package private(set) var names: [String] = []
    private var entries: [ByteName: Entry] = [:]

    /// No key.
    package init() {}

    /// What an opened dump holds.
    package init(_ opened: OpenedDump) {
        let origins = opened.origins
        for (name, value) in opened.values {
            // Opening has made sure that there is one of the three for each.
            guard let origin = origins[name]?.string.flatMap(ConfigurationOrigin.init) else {
                continue
            }
            self[name] = Entry(value, origin)
        }
    }

    /// What a dump of a configuration would hold.
    package init(_ configuration: GlobalConfiguration) {
        for (name, value) in configuration.values {
            guard let origin = configuration.origin(of: name) else { continue }
            self[name] = Entry(value, origin)
        }
    }

    /// A key's entry. A new one comes last; nil removes it.
    package subscript(name: String) -> Entry? {
        get { entries[ByteName(name)] }
        set {
            let old = entries[ByteName(name)]
            entries[ByteName(name)] = newValue
            if old == nil, newValue != nil { names.append(name) }
            if old != nil, newValue == nil { names.removeAll { sameBytes($0, name) } }
        }
    }

    /// How many keys have a value.
    package var count: Int { names.count }

    /// All values, secret ones too.
    package var values: JSONObject {
        JSONObject(names.compactMap { name in self[name].map { (name: name, value: $0.value) } })
    }

    /// Where each value came from.
    package var origins: JSONObject {
        JSONObject(
            names.compactMap { name in
                self[name].map { (name: name, value: .string($0.origin.rawValue)) }
            })
    }

    /// The end of a dump's plaintext.
    var sealedTail: [UInt8] { DumpPlaintext.tail(values: values, origins: origins) }

    /// Whether both hold the same keys, values and origins, in any order.
    package static func == (left: DumpContents, right: DumpContents) -> Bool {
        left.entries == right.entries
    }

    /// How many keys there are, and no value.
    package var description: String { "DumpContents(\(count) values, redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Changes by hand

extension DumpContents {
    /// Checks every value and origin.
    ///
    /// - Throws: As the merging initializer of `GlobalConfiguration`, naming key and origin.
    package func requireAllowed(by schema: Schema) throws(VaultError) {
        for name in names {
            guard let entry = self[name] else { continue }
            let place = "the dump (\(entry.origin.rawValue))"
            _ = try GlobalConfiguration.check(
                .init(name: name, value: entry.value, place: place), entry.origin, schema)
        }
    }

    /// These contents with one value set by hand.
    ///
    /// The origin of a value that is set by hand is the one that was asked for; else the one that
    /// the key had, so that nothing changes but the value; else the first of launch, defaults and
    /// fetched that the schema lets set the key. A value that is the same as before keeps its origin
    /// unless another is asked for.
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
        contents[name] = Entry(value, origin ?? usual ?? .launch)
        return contents
    }

    /// These contents with all values replaced by those that a person wrote: a key that is gone is
    /// removed, and the others are set as by `setting(_:to:as:schema:)`.
    package func replacing(with values: JSONObject, schema: Schema) -> DumpContents {
        var contents = self
        for name in names where values[name] == nil { contents[name] = nil }
        for (name, value) in values {
            contents = contents.setting(name, to: value, schema: schema)
        }
        return contents
    }

    /// These contents as a configuration, checked.
    ///
    /// - Throws: As the merging initializer of `GlobalConfiguration`.
    package func configuration(_ schema: Schema) throws(VaultError) -> GlobalConfiguration {
        func input(_ origin: ConfigurationOrigin) -> ConfigurationInput {
            .values(
                JSONObject(
                    names.compactMap { name in
                        self[name].flatMap { entry in
                            entry.origin == origin ? (name: name, value: entry.value) : nil
                        }
                    }))
        }
        return try GlobalConfiguration(
            schema: schema, defaults: input(.defaults), launch: input(.launch),
            fetched: input(.fetched))
    }

    /// These contents in the order of a schema; keys that it does not know come last.
    package func ordered(by schema: Schema) -> DumpContents {
        var contents = DumpContents()
        for name in schema.keys { contents[name] = self[name] }
        for name in names { contents[name] = self[name] }
        return contents
    }
}

extension KeyRule {
    /// A text as a value of the key's type, read as a launch value is; not checked any further.
    ///
    /// - Throws: `wrong-type`, naming the key and the place.
    package func value(ofText text: String, from place: String) throws(VaultError) -> JSONValue {
        try ConfigurationInput.entry(text, self, place).value
    }

    /// Whether a value may be shown: the key is public, and the value passes its rule, which refuses
    /// what looks like a secret.
    package func allowsShowing(_ value: JSONValue) -> Bool {
        isPublic && (try? checked(value, from: "the dump")) != nil
    }
}

import SignetBase

/// The differences between two dumps, key by key.
package struct DumpDiff: Sendable {
    /// The kind of a difference.
    package enum Kind: String, Sendable {
        case added, removed, changed
        /// The same value from another origin.
        case origin
    }

    /// A key that differs.
    package struct Change: Sendable, CustomStringConvertible, CustomReflectable {
        package let name: String
        package let before: DumpContents.Entry?
        package let after: DumpContents.Entry?

        package var kind: Kind {
            guard let before else { return .added }
            guard let after else { return .removed }
            return before.value == after.value ? .origin : .changed
        }

        /// The name and the kind, without the values.
        package var description: String { "\(kind.rawValue) \(quoted(name))" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The keys that differ: those of the first dump in its order, then the added ones.
    package let changes: [Change]

    /// Compares values as JSON, numbers by their texts, and origins. Ignores the order of keys.
    package init(from before: DumpContents, to after: DumpContents) {
        let new = after.names.filter { before[$0] == nil }
        self.changes = (before.names + new).compactMap { name in
            let change = Change(name: name, before: before[name], after: after[name])
            return change.before == change.after ? nil : change
        }
    }

    /// Whether the dumps have the same keys, values and origins.
    package var isEmpty: Bool { changes.isEmpty }
}

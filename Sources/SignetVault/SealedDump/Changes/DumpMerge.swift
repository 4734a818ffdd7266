import SignetBase

/// A three-way merge of the contents of two dumps and their common ancestor.
///
/// A key is merged as a whole. A change on only one side, or the same change on both, is accepted;
/// anything else is a conflict. Values are never merged in part, because a mix of two tokens isn't
/// a valid token.
package struct DumpMerge: Sendable {
    package enum Side: String, Sendable, CaseIterable {
        case ours, theirs
    }

    /// A key that both sides changed in different ways.
    package struct Conflict: Sendable {
        package let name: String
        /// Our change since the ancestor.
        package let ours: DumpDiff.Kind
        /// Their change since the ancestor.
        package let theirs: DumpDiff.Kind

        /// The key and the two changes, without the values.
        package var words: String {
            ours == theirs
                ? "\(quoted(name)): \(ours.words) on both sides, differently"
                : "\(quoted(name)): \(ours.words) by ours, \(theirs.words) by theirs"
        }
    }

    /// The merged contents, in our order, with the `changed` keys of both sides. A key in conflict
    /// has our entry.
    package let merged: DumpContents
    /// The keys in conflict; empty if the merge succeeded.
    package let conflicts: [Conflict]

    /// Merges two dumps.
    ///
    /// - Parameters:
    ///   - base: The common ancestor, or empty contents.
    ///   - ours: The side whose order is kept.
    ///   - theirs: The other side.
    ///   - resolve: Called for each key. Returns the side whose entry to use, or nil to merge.
    package init(
        base: DumpContents, ours: DumpContents, theirs: DumpContents,
        resolving resolve: (_ name: String, _ isConflict: Bool) -> Side? = { _, _ in nil }
    ) {
        var merged = ours
        merged.markChanged(theirs.changed)
        var conflicts: [Conflict] = []
        let new = theirs.names.filter { ours[$0] == nil }
        for name in ours.names + new + base.names.filter({ ours[$0] == nil && theirs[$0] == nil }) {
            let (old, our, their) = (base[name], ours[name], theirs[name])
            let isConflict = our != their && our != old && their != old
            switch resolve(name, isConflict) {
            case .ours?: continue
            case .theirs?: merged[name] = their
            case nil where isConflict:
                conflicts.append(
                    Conflict(
                        name: name, ours: Self.kind(from: old, to: our),
                        theirs: Self.kind(from: old, to: their)))
            case nil where our == old: merged[name] = their
            case nil: continue
            }
        }
        self.merged = merged
        self.conflicts = conflicts
    }

    private static func kind(
        from old: DumpContents.Entry?, to new: DumpContents.Entry?
    ) -> DumpDiff.Kind {
        DumpDiff.Change(name: "", before: old, after: new).kind
    }
}

extension DumpDiff.Kind {
    /// The kind as words of a sentence.
    var words: String {
        switch self {
        case .added, .removed, .changed: rawValue
        case .origin: "given another origin"
        }
    }
}

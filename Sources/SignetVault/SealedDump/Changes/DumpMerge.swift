internal import SignetBase

/// The contents of two dumps joined, by what each changed since a common ancestor.
///
/// A key is merged as a whole: what only one side changed is taken from it, what both changed to the
/// same is taken once, and anything else is a conflict. Values are never merged inside, because a
/// half of one token and a half of another is no token.
package struct DumpMerge: Sendable {
    /// Whose entry of a key.
    package enum Side: String, Sendable, CaseIterable {
        case ours, theirs
    }

    /// A key that both sides changed, each in its own way.
    package struct Conflict: Sendable {
        package let name: String
        /// What our side did to it since the ancestor.
        package let ours: DumpDiff.Kind
        /// What their side did to it.
        package let theirs: DumpDiff.Kind

        /// The key and what was done to it; no value.
        package var words: String {
            ours == theirs
                ? "\(quoted(name)): \(ours.words) on both sides, differently"
                : "\(quoted(name)): \(ours.words) by ours, \(theirs.words) by theirs"
        }
    }

    /// The joined contents, in our order; a key in conflict stands as ours has it.
    package let merged: DumpContents
    /// The keys in conflict; empty where the merge is whole.
    package let conflicts: [Conflict]

    /// Merges.
    ///
    /// - Parameters:
    ///   - base: The common ancestor; empty where there is none.
    ///   - ours: The side whose order is kept.
    ///   - theirs: The other side.
    ///   - resolve: Asked for each key; a side takes the key from it, conflict or not.
    package init(
        base: DumpContents, ours: DumpContents, theirs: DumpContents,
        resolving resolve: (_ name: String, _ isConflict: Bool) -> Side? = { _, _ in nil }
    ) {
        var merged = ours
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

    /// What a side did to a key that it did not leave alone.
    private static func kind(
        from old: DumpContents.Entry?, to new: DumpContents.Entry?
    ) -> DumpDiff.Kind {
        DumpDiff.Change(name: "", before: old, after: new).kind
    }
}

extension DumpDiff.Kind {
    /// The kind in a sentence.
    var words: String {
        switch self {
        case .added, .removed, .changed: rawValue
        case .origin: "given another origin"
        }
    }
}

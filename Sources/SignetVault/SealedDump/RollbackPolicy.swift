/// The comparison of an opened dump with the highest sequence in the state file.
public struct RollbackCheck: Sendable, Hashable {
    /// The dump's sequence.
    public let sequence: Int64
    /// The highest sequence seen before. Nil if the state file or its entry is missing: at the
    /// first use, or because somebody removed it.
    public let highestSeen: Int64?

    /// Whether no sequence was seen before.
    public var isFirstUse: Bool { highestSeen == nil }
    /// Whether the dump is older than one that was seen.
    public var isRolledBack: Bool { highestSeen.map { sequence < $0 } ?? false }
}

/// The treatment of a dump whose sequence is lower than one that was seen before.
public struct RollbackPolicy: Sendable, Hashable {
    private enum Value { case refuse, report }
    private let value: Value

    /// Refuses the dump (`rolled-back`).
    public static let refuse = RollbackPolicy(value: .refuse)
    /// Opens the dump and reports it in ``OpenedDump/rollback``. The highest sequence seen stays
    /// the same.
    public static let report = RollbackPolicy(value: .report)
}

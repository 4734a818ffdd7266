/// What a file that holds the highest sequence seen says of a dump that was opened.
public struct RollbackCheck: Sendable, Hashable {
    /// The dump's sequence.
    public let sequence: Int64
    /// The highest that was seen before, or nil where the file or its entry was not there: the first
    /// use, or somebody took it away.
    public let highestSeen: Int64?

    /// Whether nothing was seen before.
    public var isFirstUse: Bool { highestSeen == nil }
    /// Whether the dump is older than one that was seen.
    public var isRolledBack: Bool { highestSeen.map { sequence < $0 } ?? false }
}

/// What becomes of a dump with a lower sequence than one that was seen.
public struct RollbackPolicy: Sendable, Hashable {
    private enum Value { case refuse, report }
    private let value: Value

    /// It is refused (`rolled-back`).
    public static let refuse = RollbackPolicy(value: .refuse)
    /// It opens, and `OpenedDump.rollback` says so; the highest sequence seen stays as it is.
    public static let report = RollbackPolicy(value: .report)
}

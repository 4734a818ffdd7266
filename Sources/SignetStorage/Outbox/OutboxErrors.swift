public import SignetBase

extension SignetErrorCode {
    /// An outbox can't be opened: its folder belongs to another user or others may write to it, its
    /// name is invalid, or its file is another program's.
    public static let unusableOutbox = usage("unusable-outbox")
    /// An outbox was sealed with another key, or the key isn't a vault's.
    public static let wrongOutboxKey = usage("wrong-outbox-key")
    /// The records couldn't be stored, such as for a full disk. What was stored before is still
    /// there.
    public static let outboxNotWritten = usage("outbox-not-written")
    /// A record takes more than half of the outbox's limit, or records that are added at once more
    /// than the limit.
    public static let recordTooLarge = usage("record-too-large")
    /// A record can't be encoded as JSON, or is nested too deep to be read again.
    public static let invalidRecord = usage("invalid-record")
    /// The outbox was closed.
    public static let outboxClosed = usage("outbox-closed")
}

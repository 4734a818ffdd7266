public import SignetClient

/// The limits of a recording. When one is reached, the oldest calls are dropped.
public struct RecordingLimits: Sendable, Hashable {
    /// The largest body that is kept, in bytes; of a larger one the size alone. Defaults to 1 MiB.
    public var bodySize = 1 << 20
    /// The number of calls. Defaults to 10,000.
    public var calls = 10_000
    /// The size of all calls together, in bytes, about. Defaults to 64 MiB.
    public var size = 64 << 20
    /// The age of a call; nil for any.
    public var age: Duration?

    /// The defaults.
    public init() {}
}

/// The settings of a recorder.
///
/// ```swift
/// var options = RecordingOptions()
/// options.limits.calls = 100
/// options.isRecorded = { call in call.service == "orders" }
/// ```
public struct RecordingOptions: Sendable {
    /// The limits.
    public var limits = RecordingLimits()
    /// The rules by which secrets are recognised. The secret values of a system's configuration are
    /// always added.
    public var redaction = RedactionRules()
    /// Decides about each call when its first request is sent; nil records all.
    public var isRecorded: (@Sendable (CallIdentity) -> Bool)?
    /// Whether calls are recorded in the run mode production. Defaults to `false`: starting a
    /// recorder there throws `recording-in-production`.
    public var recordsInProduction = false

    /// The defaults.
    public init() {}
}

/// The engine that sent a request, and the reason why this one did.
public struct EngineUse: Sendable, Hashable, CustomStringConvertible {
    /// A reason for the choice of an engine.
    ///
    /// New reasons may be added.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The reason's name.
        public let name: String

        /// The call chose no engine.
        public static let standard = Reason(name: "standard")
        /// The options of the call, its service or the system name the engine.
        public static let chosen = Reason(name: "chosen")
        /// The call belongs to the share of a trial.
        public static let trial = Reason(name: "trial")
        /// The engine was the fastest one.
        public static let speed = Reason(name: "speed")
        /// The engine that would have been used fails.
        public static let fallback = Reason(name: "fallback")

        /// The reason's name.
        public var description: String { name }
    }

    /// The engine's name.
    public let engine: EngineName
    /// The reason.
    public let reason: Reason

    /// The engine and the reason: `http1 (trial)`.
    public var description: String { engine.name + " (" + reason.name + ")" }

    static let standard = EngineUse(engine: .standard, reason: .standard)
}

/// The name of an engine in `NetworkSystem.Options.engines`.
public struct EngineName: Sendable, Hashable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The engine of every call that chooses no other: `NetworkSystem.Options.engine`, or libcurl.
    public static let standard: EngineName = "standard"

    /// The name.
    public let name: String

    /// Names an engine.
    public init(_ name: String) { self.name = name }

    /// Names an engine by a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// The name.
    public var description: String { name }
}

/// The details of a verification, for someone who compares what both sides computed, and for the
/// log. Don't send it to the sender of the message.
///
/// It contains values of the message, but no key and no expected MAC.
public struct Explanation: Sendable, Hashable {
    /// The reason why the message isn't verified; nil if its signature is valid. Nonces aren't
    /// checked.
    public let reason: SigningError?
    /// The signature base that the verifier computed; nil if that failed.
    public let base: [UInt8]?
    /// The parts of the message in the base. If the base is nil, the parts up to the failure.
    ///
    /// For a scheme document these are the placeholders of its text, such as `{method}`, including
    /// those that are only hashed. If the body is hashed, the part is the hash, not the body.
    public let parts: [MessagePart]

    /// A base, or its beginning if there was a failure.
    struct Draft {
        var base: [UInt8]
        var parts: [MessagePart]
        /// The reason why the base is incomplete.
        var failure: SigningError?
    }

    init(reason: SigningError?, draft: Draft?) {
        self.reason = reason
        self.base = draft.flatMap { $0.failure == nil ? $0.base : nil }
        self.parts = draft?.parts ?? []
    }

    /// The explanation as text: the reason, each part's name and value, and the base between two
    /// lines of dashes.
    public var lines: [String] {
        var lines = [reason.map { "not verified: \($0)" } ?? "the signature is valid"]
        for part in parts { lines += part.lines.map { "  " + $0 } }
        guard let base else {
            lines.append("no base could be computed")
            return lines
        }
        lines.append("the base that was computed, \(base.count) bytes:")
        lines.append("--------")
        lines += String(decoding: base, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
        lines.append("--------")
        return lines
    }
}

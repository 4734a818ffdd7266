/// A named part of a signed text, such as a covered component.
public struct MessagePart: Sendable, Hashable {
    /// The identifier, without quotes if it has no parameters.
    public let identifier: String
    /// The value that was signed.
    public let value: [UInt8]
}

/// A signed text and the ranges of the message's parts in it.
struct SignedText: Sendable, Hashable {
    var bytes: [UInt8] = []
    /// The names of the parts.
    var names: [String] = []
    /// The ranges of the parts' values. If the text is incomplete, there are fewer than names.
    var values: [Range<Int>] = []

    var parts: [MessagePart] {
        zip(names, values).map { MessagePart(identifier: $0, value: Array(bytes[$1])) }
    }
}

/// The parameters of a signature.
struct SignatureClaims: Sendable {
    var keyID: String
    var created: Int64
    var expiration: Int64?
    var nonce: String?
    var tag: String?
    /// Whether `expiration` alone bounds the age, not the policy's maximum age.
    var ignoresMaximumAge = false
}

extension MessagePart {
    /// The part as text: `name: value`, or the lines of the value below the name if there are
    /// several.
    public var lines: [String] {
        let lines = String(decoding: value, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 1 else { return ["\(identifier): \(lines.first ?? "")"] }
        return ["\(identifier):"] + lines.map { "    | \($0)" }
    }
}

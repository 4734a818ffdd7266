/// What a verifier made of a message: for a person who compares two sides, and for a log; never for the
/// message's sender.
///
/// It holds values of the message, and neither a key nor a MAC that was expected.
public struct Explanation: Sendable, Hashable {
    /// Why the message is not verified; nil where its signature holds. Nonce stores are not asked.
    public let reason: SigningError?
    /// The bytes that the verifier computed; nil where the message does not yield them.
    public let base: [UInt8]?
    /// The parts of the message in the base, each with its name; as far as it came where there is no
    /// base.
    ///
    /// By a scheme's document these are the places of its text as the document names them, such as
    /// `{method}`, also those that a hash hides; a body that is hashed is no part, its hash is.
    public let parts: [MessagePart]

    /// A base, or its beginning.
    struct Draft {
        var base: [UInt8]
        var names: [String]
        var values: [Range<Int>]
        /// The parts where they are not all pieces of the base.
        var parts: [MessagePart]?
        /// Why there is no more of it.
        var failure: SigningError?
    }

    init(reason: SigningError?, draft: Draft?) {
        self.reason = reason
        self.base = draft.flatMap { $0.failure == nil ? $0.base : nil }
        self.parts =
            draft.map { $0.parts ?? MessagePart.all(named: $0.names, at: $0.values, in: $0.base) }
            ?? []
    }

    /// The whole as text: the reason, each part's name and value, and the base between two lines of
    /// dashes.
    public var lines: [String] {
        var lines = [reason.map { "not verified: \($0)" } ?? "the signature holds"]
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

extension MessagePart {
    /// The part for a person: its name and its value on one line, or a value of several lines below its
    /// name.
    public var lines: [String] {
        let lines = String(decoding: value, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 1 else { return ["\(identifier): \(lines.first ?? "")"] }
        return ["\(identifier):"] + lines.map { "    | \($0)" }
    }
}

extension Verifier {
    /// Verifies a message and tells what was computed on the way. No nonce is remembered or looked up.
    ///
    /// - Parameters:
    ///   - message: As it arrived.
    ///   - now: The time, in seconds since 1970.
    /// - Returns: The reason of a failure, the base and its parts.
    public func explain(_ message: SignableMessage, now: Int64) -> Explanation {
        var reason: SigningError?
        do throws(SigningError) {
            _ = try check(message, now: now)
        } catch {
            reason = error
        }
        let draft: Explanation.Draft?
        do throws(SigningError) {
            draft =
                switch scheme.kind {
                case .rfc9421: try draftRFC9421(message)
                case .saltedHMAC: try draftSaltedHMAC(message)
                case .document(let plan): try draftScheme(plan, message)
                }
        } catch {
            draft = nil
        }
        return Explanation(reason: reason, draft: draft)
    }
}

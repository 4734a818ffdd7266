import Synchronization

/// A schema's pattern, compiled once; the whole value must match it.
///
/// Matching goes by Unicode scalars, so that no combining mark hides in a character. A `Regex` is not
/// `Sendable`, which is why it sits behind a lock; it is used while a configuration is made, not
/// while it is read.
final class ValuePattern: Sendable {
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// - Throws: The regex parser's error where the text is no regular expression.
    init(_ text: String) throws {
        self.regex = Mutex(try Regex(text).matchingSemantics(.unicodeScalar))
    }

    /// Whether all of the text matches.
    func matches(_ text: String) -> Bool {
        regex.withLock { regex in ((try? regex.wholeMatch(in: text)) ?? nil) != nil }
    }
}

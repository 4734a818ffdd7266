import SignetVault

/// The characters that libyaml changes although YAML 1.2 takes them for text (sections 5.2 and 5.4).
///
/// libyaml takes three of them for line breaks, as YAML 1.1 does, and drops a byte-order mark at the
/// beginning of each line. While it reads the text, other characters stand in their places.
struct YAMLCharacters {
    private static let changed: [Unicode.Scalar] = ["\u{85}", "\u{2028}", "\u{2029}", "\u{FEFF}"]

    private var replacements: [Unicode.Scalar: Unicode.Scalar] = [:]
    private var originals: [Unicode.Scalar: Unicode.Scalar] = [:]

    /// Chooses replacements for the characters that the text has.
    init(for text: String) throws(MalformedSource) {
        let found = Self.changed.filter(text.unicodeScalars.contains)
        guard !found.isEmpty else { return }
        for (original, other) in zip(found, try UnusedCharacters.choose(found.count, for: text)) {
            replacements[original] = other
            originals[other] = original
        }
    }

    /// The text for libyaml.
    func masked(_ text: String) -> String { Self.replaced(text, by: replacements) }

    /// A text that libyaml read, with its own characters.
    func restored(_ text: String) -> String { Self.replaced(text, by: originals) }

    private static func replaced(
        _ text: String, by table: [Unicode.Scalar: Unicode.Scalar]
    ) -> String {
        guard !table.isEmpty else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(table[scalar] ?? scalar) }
        return String(result)
    }
}

/// Folds letters that people write in several ways, so that words can be compared.
enum LetterFolding {
    /// Returns a word with full-width forms as ASCII and Latin and Greek letters without accents.
    ///
    /// - Parameter word: A word in lower case.
    static func fold(_ word: String) -> String {
        guard !word.utf8.allSatisfy({ $0 < 0x80 }) else { return word }
        var folded = String.UnicodeScalarView()
        for scalar in word.unicodeScalars {
            switch scalar.value {
            // Accents that follow their letter.
            case 0x0300...0x036F: continue
            case 0xFF01...0xFF5E: folded.append(Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar)
            default: folded.append(letters[scalar] ?? scalar)
            }
        }
        return String(folded)
    }

    private static let letters: [Unicode.Scalar: Unicode.Scalar] = {
        let forms: [(Unicode.Scalar, String)] = [
            ("a", "àáâãäåāăąậẩạả"), ("c", "çćč"), ("d", "ďđ"), ("e", "èéêëēėęě"), ("g", "ğ"),
            ("i", "ìíîïīįı"), ("l", "łľĺ"), ("n", "ñńň"), ("o", "òóôõöøőō"), ("r", "řŕ"),
            ("s", "śşšș"), ("t", "ţťț"), ("u", "ùúûüūůűų"), ("y", "ýÿ"), ("z", "źżž"),
            ("α", "ά"), ("ε", "έ"), ("η", "ή"), ("ι", "ίϊΐ"), ("ο", "ό"), ("υ", "ύϋΰ"), ("ω", "ώ"),
            ("σ", "ς"),
        ]
        return Dictionary(
            forms.flatMap { base, others in others.unicodeScalars.map { ($0, base) } },
            uniquingKeysWith: { first, _ in first })
    }()
}

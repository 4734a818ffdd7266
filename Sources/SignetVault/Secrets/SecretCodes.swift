import SignetBase
import SignetJSON

/// Recognises whole texts that are a secret: codes in groups, card numbers, logins, key bytes and
/// recovery phrases.
enum SecretCodes {
    /// Returns whether a list is exactly the bytes of a key, in no order.
    static func isKeyBytes(_ elements: [JSONValue]) -> Bool {
        guard [16, 24, 32, 64].contains(elements.count) else { return false }
        let numbers = elements.compactMap { $0.number?.int64 }
        return numbers.count == elements.count && numbers.allSatisfy { (0...255).contains($0) }
            && Set(numbers).count >= 4 && numbers.sorted() != numbers
    }

    /// Returns whether a text is the number of a payment card, in groups or not (ISO/IEC 7812).
    static func isCardNumber(_ text: ArraySlice<UInt8>) -> Bool {
        guard (15...19).contains(text.count),
            text.allSatisfy({ $0.isDigit || $0 == 0x20 || $0 == UInt8(ascii: "-") })
        else { return false }
        let digits = text.filter(\.isDigit).map { Int($0 - 0x30) }
        let isIssued =
            digits.count == 16 && [2, 4, 5, 6].contains(digits[0])
            || digits.count == 15 && digits[0] == 3 && [4, 7].contains(digits[1])
        let sum = digits.reversed().enumerated().reduce(0) { sum, item in
            let (index, digit) = item
            guard !index.isMultiple(of: 2) else { return sum + digit }
            return sum + (digit > 4 ? digit * 2 - 9 : digit * 2)
        }
        return isIssued && sum.isMultiple(of: 10)
    }

    /// Returns whether a text is a licence key: three groups or more of four to six capitals and
    /// digits. With three, it has both, because a name may be in capitals.
    static func isLicenseKey(_ text: ArraySlice<UInt8>) -> Bool {
        guard (14...80).contains(text.count) else { return false }
        let groups = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.count >= 3
            && groups.allSatisfy { group in
                (4...6).contains(group.count)
                    && group.allSatisfy { $0.isUppercaseLetter || $0.isDigit }
            }
            && text.contains(where: \.isLetter)
            && (groups.count > 3 || text.contains(where: \.isDigit))
    }

    /// Returns whether words are a code in groups of four: base32, or small letters.
    static func isGrouped(_ words: [ArraySlice<UInt8>]) -> Bool {
        guard (4...16).contains(words.count), words.allSatisfy({ $0.count == 4 }) else {
            return false
        }
        return words.count == 4 && words.joined().allSatisfy(\.isLowercaseLetter)
            || SecretPatterns.isBase32(Array(words.joined())[...])
    }

    /// Returns whether the words of a text are like those of a recovery phrase (BIP 39): 12, 15,
    /// 18, 21 or 24 words of three to eight letters in one case, which may be numbered.
    static func isRecoveryPhrase(_ words: [ArraySlice<UInt8>]) -> Bool {
        let words = words.flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .filter { !$0.allSatisfy { $0.isDigit || ".):".utf8.contains($0) } }
        return [12, 15, 18, 21, 24].contains(words.count)
            && words.allSatisfy { (3...8).contains($0.count) }
            && (words.joined().allSatisfy(\.isLowercaseLetter)
                || words.joined().allSatisfy(\.isUppercaseLetter))
    }

    // MARK: - Logins

    /// Returns whether a text is `USER/PASSWORD@DATABASE`, and not the version of a repository.
    static func isOracleLogin(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count <= 200, let at = text.lastIndex(of: UInt8(ascii: "@")),
            let slash = text[..<at].firstIndex(of: UInt8(ascii: "/"))
        else { return false }
        let user = text[..<slash]
        let database = String(decoding: text[(at + 1)...], as: UTF8.self)
        return user.first?.isLetter == true && user.allSatisfy { $0.isLetterOrDigit || $0 == 0x5F }
            && !text[(slash + 1)..<at].isEmpty
            && text[(slash + 1)..<at].allSatisfy { $0.isVisible && $0 != UInt8(ascii: "/") }
            && database.utf8.first?.isLetter == true
            && database.utf8.allSatisfy { $0.isLetterOrDigit || "_.".utf8.contains($0) }
            && !branches.contains(database.lowercased())
            && !(database.startsWithBytes(of: "v") && database.dropFirst().first?.isNumber == true)
    }

    private static let branches: Set<String> = [
        "dev", "develop", "head", "latest", "main", "master", "next", "release", "stable", "trunk",
    ]

    /// Returns whether a text is a line of .pgpass (`HOST:PORT:DATABASE:USER:PASSWORD`), or a name
    /// and the 13 characters of a hash of crypt(3).
    static func isPasswordLine(_ text: ArraySlice<UInt8>) -> Bool {
        guard (8...300).contains(text.count), text.allSatisfy(\.isVisible) else { return false }
        let fields = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard let last = fields.last, fields.allSatisfy({ !$0.isEmpty }) else { return false }
        if fields.count == 5 {
            return last.count >= 3
                && (fields[1] == [UInt8(ascii: "*")]
                    || (4...5).contains(fields[1].count) && fields[1].allSatisfy(\.isDigit))
        }
        return fields.count == 2 && last.count == 13
            && last.allSatisfy { $0.isLetterOrDigit || "./".utf8.contains($0) }
            && last.contains(where: \.isUppercaseLetter)
            && last.contains(where: \.isLowercaseLetter)
            && last.contains { !$0.isLetter }
    }

    /// Returns whether the name of a member is `USER:PASSWORD`, with letters and digits in the
    /// password.
    static func isUserAndPassword(_ name: ArraySlice<UInt8>) -> Bool {
        let parts = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].contains(where: \.isLetter), parts[1].count >= 6 else {
            return false
        }
        return parts.joined().allSatisfy(\.isVisible) && !parts[1].contains(UInt8(ascii: "/"))
            && parts[1].contains(where: \.isLetter) && parts[1].contains(where: \.isDigit)
    }

    /// Returns whether bytes are `USER:PASSWORD`, as base64 encodes them for a registry.
    static func isCredential(_ bytes: [UInt8]) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].count >= 2 && parts[1].count >= 3
            && parts[0].allSatisfy { $0.isLetterOrDigit || "._@-".utf8.contains($0) }
            && parts[1].allSatisfy(\.isVisible) && parts[1].first != UInt8(ascii: "/")
    }
}
